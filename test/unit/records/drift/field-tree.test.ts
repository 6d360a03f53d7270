/** The bounds of the tree of unread fields hold for any fields, and no count is lost within them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createUnreadFields, HOURS, toSlot } from '../../../../src/records/drift/field-tree.ts'
import fc from '../../../support/fast-check.ts'

const sumOf = (counts: Uint32Array): number => counts.reduce((sum, count) => sum + count, 0)

test('any fields stay within the bounds, and are all counted unless the tree is full', () => {
  const name = fc.oneof(
    fc.constantFrom('[]', '.*', '.a', '.b'),
    fc.integer({ min: 0, max: 80 }).map((n) => `.n${n}`),
  )
  const field = fc.array(name, { minLength: 1, maxLength: 4 })
  const hour = fc.integer({ min: 0, max: HOURS - 1 })
  fc.assert(
    fc.property(fc.array(fc.tuple(field, hour), { minLength: 1, maxLength: 600, size: 'max' }), (added) => {
      const tree = createUnreadFields()
      let counted = 0
      for (const [keys, at] of added) {
        const leaf = tree.leafAt(['.requestBody', ...keys])
        assert.ok(leaf !== undefined || tree.isFull)
        if (leaf === undefined) continue
        counted += 1
        leaf.counts[toSlot(at)] = (leaf.counts[toSlot(at)] as number) + 1
      }
      const leaves = tree.leaves()
      assert.ok(leaves.length <= 250)
      assert.equal(
        leaves.reduce((sum, { counts }) => sum + sumOf(counts), 0),
        counted,
      )
      const names = Map.groupBy(
        new Set(leaves.flatMap(({ keys }) => keys.map((_, at) => JSON.stringify(keys.slice(0, at + 1))))),
        (path) => JSON.stringify(JSON.parse(path).slice(0, -1)),
      )
      for (const siblings of names.values()) assert.ok(siblings.length <= 51, `${siblings.length}`)
      tree.clear(Array.from({ length: HOURS }, (_, slot) => slot))
      assert.deepEqual(tree.leaves(), [])
    }),
    { numRuns: 200 },
  )
})
