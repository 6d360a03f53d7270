/** Which leaves of a message some paths do not read: found by the readers themselves, through a view of the message. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Json, JsonObject } from '../../../../src/core/json.ts'
import { createReadRecorder, type ReadRecorder } from '../../../../src/document/reads/read-recorder.ts'
import { parsePath, type SourcePath } from '../../../../src/language/paths/path.ts'
import { pathText } from '../../../../src/language/paths/path-steps.ts'
import fc from '../../../support/fast-check.ts'

function pathOf(text: string): SourcePath {
  const parsed = parsePath(text)
  if (!parsed.ok) throw new Error(parsed.message)
  return parsed.value
}

function unread(source: JsonObject, paths: readonly string[], leftOut: readonly string[] = []) {
  const recorder = createReadRecorder(source)
  for (const path of paths) recorder.note(pathOf(path).read)
  return leavesOf(recorder, Object.keys(source), leftOut)
}

/** By path, how many leaves are unread; undefined if there is too much to find out. */
function leavesOf(recorder: ReadRecorder, roots: readonly string[], leftOut: readonly string[] = []) {
  const counts = new Map<string, number>()
  const isComplete = recorder.unread(
    roots,
    (steps) => leftOut.includes(pathText(steps)),
    (steps) => void counts.set(pathText(steps), (counts.get(pathText(steps)) ?? 0) + 1),
  )
  return isComplete ? [...counts].map(([path, count]) => ({ path, count })) : undefined
}

describe('the leaves that paths do not read', () => {
  const source = {
    r: { a: 1, b: { c: 'x', d: null }, list: [{ n: 1, t: 'p' }, { n: 2 }], texts: ['u', 'v'], empty: {}, 'x.y': true },
  }
  const cases: readonly (readonly [paths: readonly string[], unread: Readonly<Record<string, number>>])[] = [
    [['r'], {}],
    [
      [],
      {
        'r.a': 1,
        'r.b.c': 1,
        'r.b.d': 1,
        'r.list[].n': 2,
        'r.list[].t': 1,
        'r.texts[]': 2,
        'r.empty': 1,
        'r.x\\.y': 1,
      },
    ],
    [['r.a', 'r.b', 'r.texts[]', 'r.empty', 'r.x\\.y', 'r.list'], {}],
    [
      ['r.a', 'r.b.c', 'r.texts[0]', 'r.empty', 'r.list.n'],
      { 'r.b.d': 1, 'r.list[].t': 1, 'r.texts[]': 1, 'r.x\\.y': 1 },
    ],
    [['r.*'], {}],
    [
      ['r.b.*', 'r.list[1].n'],
      { 'r.a': 1, 'r.list[].n': 1, 'r.list[].t': 1, 'r.texts[]': 2, 'r.empty': 1, 'r.x\\.y': 1 },
    ],
    // A value on the way of a path that ends below it is taken, though nothing is found.
    [['r.a.deeper', 'r.b', 'r.list', 'r.texts', 'r.empty', 'r.x\\.y'], {}],
  ]
  for (const [paths, expected] of cases) {
    it(`of ${paths.join(', ') || 'no paths'}`, () => {
      const found = unread(source, paths) ?? []
      assert.deepEqual(Object.fromEntries(found.map(({ path, count }) => [path, count])), expected)
    })
  }

  it('leaves out what it is asked to', () => {
    assert.deepEqual(unread({ r: { a: 1, h: { b: 2 } } }, [], ['r.h']), [{ path: 'r.a', count: 1 }])
  })

  it('takes frozen values as read whole', () => {
    assert.deepEqual(unread({ r: { a: Object.freeze({ b: 1 }), c: 2 } }, ['r.a.b']), [{ path: 'r.c', count: 1 }])
  })

  it('does not tell of messages with too many values, and stops readers that take too long', () => {
    const list = Array.from({ length: 400_000 }, (_, n) => n)
    assert.equal(unread({ r: { list } }, []), undefined)
    const rows = Array.from({ length: 10_000 }, (_, n) => ({ n }))
    const paths = Array.from({ length: 500 }, () => 'r.rows.n')
    assert.equal(unread({ r: { rows } }, paths), undefined)
  })

  it('is empty where every leaf has a path, and a view reads as its value', () => {
    const name = fc.constantFrom('a', 'b', 'c.d', '0', 'é', 'toString', 'length')
    const tree = fc.letrec<{ value: Json }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.constantFrom<Json>(null, true, 0, '', 'text'),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(name, tie('value'), { maxKeys: 4, noNullPrototype: true }),
      ),
    })).value
    const bracket = fc.constantFrom('', '', '[]', '[0]')
    const step = fc.tuple(fc.constantFrom('a', 'b', 'c\\.d', '0', 'é', 'length', '*'), bracket)
    const path = fc
      .array(
        step.map((parts) => parts.join('')),
        { maxLength: 3 },
      )
      .map((steps) => ['r', ...steps].join('.'))
    fc.assert(
      fc.property(
        fc.dictionary(name, tree, { noNullPrototype: true }),
        fc.array(path, { maxLength: 4 }),
        (r, paths) => {
          const plain = structuredClone(r)
          const recorder = createReadRecorder({ r })
          for (const text of paths) {
            const { read } = pathOf(text)
            recorder.note((view: never) => {
              const result = read(view)
              assert.deepEqual(
                JSON.parse(JSON.stringify(result ?? null)),
                JSON.parse(JSON.stringify(read({ r }) ?? null)),
              )
              return result
            })
          }
          assert.deepEqual(r, plain)
          const left = leavesOf(recorder, ['r']) ?? []
          // Reading the paths that it names as well leaves nothing.
          const all = createReadRecorder({ r })
          for (const text of [...paths, ...left.map(({ path: leaf }) => leaf)]) all.note(pathOf(text).read)
          assert.deepEqual(
            leavesOf(all, ['r'])?.filter(({ path: leaf }) => !leaf.includes('[][]')),
            [],
          )
        },
      ),
      { numRuns: 1_000 },
    )
  })
})
