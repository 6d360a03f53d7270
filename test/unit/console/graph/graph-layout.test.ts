/** Where the nodes and lines of a graph are placed. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type GraphLine, layOut } from '../../../../console/src/ui/graph/graph-layout.ts'
import fc from '../../../support/fast-check.ts'

const SIZES = { depth: 10, breadth: 30, depthGap: 5, breadthGap: 4 }
const LAYER = SIZES.depth + SIZES.depthGap
const layersOf = (ids: readonly string[], lines: readonly GraphLine[]) =>
  Object.fromEntries([...layOut(ids, lines, SIZES).nodes].map(([id, { along }]) => [id, along / LAYER]))

test('each node is behind those that lead to it, and what only reads is right before its reader', () => {
  const lines = [
    { from: 'a', to: 'b' },
    { from: 'b', to: 'c' },
    { from: 'a', to: 'c' },
    { from: 't', to: 'c', reads: true },
  ] as const
  assert.deepEqual(layersOf(['a', 'b', 't', 'c'], lines), { a: 0, b: 1, t: 1, c: 2 })
  assert.deepEqual(layersOf(['t', 'a'], [{ from: 't', to: 'a', reads: true }]), { t: 0, a: 1 })
  assert.deepEqual(layersOf([], []), {})
})

const graphs = fc.integer({ min: 1, max: 14 }).chain((size) => {
  const ids = Array.from({ length: size }, (_, index) => `n${index}`)
  const id = fc.constantFrom(...ids)
  const line = fc.oneof(
    fc.record({ from: id, to: id }),
    fc.record({ from: id, to: id, reads: fc.constant(true as const) }),
  )
  return fc.record({ ids: fc.constant(ids), lines: fc.array(line, { maxLength: 24 }) })
})

test('no two nodes overlap, all are within the picture, and lines join their nodes, in circles too', () => {
  fc.assert(
    fc.property(graphs, ({ ids, lines }) => {
      const { nodes, lines: drawn, along, across } = layOut(ids, lines, SIZES)
      const places = [...nodes.values()]
      for (const [index, one] of places.entries()) {
        assert.ok(one.along >= 0 && one.along + SIZES.depth <= along)
        assert.ok(one.across >= -1e-6 && one.across + SIZES.breadth <= across + 1e-6)
        for (const other of places.slice(index + 1)) {
          assert.ok(
            one.along !== other.along || Math.abs(one.across - other.across) >= SIZES.breadth + SIZES.breadthGap - 1e-6,
          )
        }
      }
      for (const { line, points } of drawn) {
        const [from, to] = [nodes.get(line.from), nodes.get(line.to)]
        assert.equal(points[0]?.along, (from?.along ?? 0) + SIZES.depth)
        assert.equal(points.at(-1)?.along, to?.along)
        assert.equal(points.at(-1)?.across, (to?.across ?? 0) + SIZES.breadth / 2)
      }
    }),
    { numRuns: 200 },
  )
})
