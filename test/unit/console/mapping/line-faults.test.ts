/** The sentences of the mapping view on entries that write one place, and on types that do not fit. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { findLineFaults } from '../../../../console/src/pages/mapping/model/line-faults.ts'
import { readMapping } from '../../../../console/src/pages/mapping/model/mapping-entries.ts'
import { sourceTree, targetTree } from '../../../../console/src/pages/mapping/model/mapping-trees.ts'
import { computeCoverage, type ReportedRun } from '../../../../console/src/pages/mapping/model/run-coverage.ts'
import { connectLines } from '../../../../console/src/pages/mapping/model/shown-fields.ts'
import type { Json } from '../../../../src/core/json.ts'
import { collectFields } from '../../../../src/try/dry-run/shown-values.ts'

const writesToo = (source: string, key: string) =>
  `${source} writes ${key} too. If both find a value, the later entry replaces the other value.`
const misfit = (type: string, meant: string) =>
  `It writes ${type}, but the output has ${meant} here. Choose a function that converts it.`

type Wrote = Readonly<Record<string, readonly [place: string, sample: Json]>>
/** The mapping, what each `source target` wrote, the sample of the output, the faults of the service → by target. */
const cases: readonly (readonly [string, object, Wrote, Json, readonly (readonly [string, string])[], object])[] = [
  ['nothing', { a: 'x', b: 'y' }, {}, {}, [], {}],
  [
    'one place twice',
    { a: 'x.y', b: ['x.y', 'z'] },
    {},
    {},
    [],
    { 'a x.y': [writesToo('b', 'x.y')], 'b x.y': [writesToo('a', 'x.y')] },
  ],
  ['elements that are appended', { a: 'x[]', b: 'x[]' }, {}, {}, [], {}],
  [
    'what the service says, at the target that it means',
    { a: 'x', b: ['y', 'x'] },
    {},
    {},
    [['inputMapping.b[1]', 'This writes the same target.']],
    { 'a x': [writesToo('b', 'x')], 'b x': ['This writes the same target.'] },
  ],
  [
    'a fault of an entry, at each of its targets',
    { 'a.b': ['y', 'x'] },
    {},
    {},
    [['inputMapping.a\\.b', 'No.']],
    { 'a.b y': ['No.'], 'a.b x': ['No.'] },
  ],
  ['a fault elsewhere', { a: 'x' }, {}, {}, [['inputTransforms.a', 'No.']], {}],
  ['a text for a number', { a: 'x' }, { 'a x': ['/x', '17'] }, { x: 1 }, [], { 'a x': [misfit('a text', 'a number')] }],
  ['a number for a number', { a: 'x' }, { 'a x': ['/x', 17] }, { x: 1 }, [], {}],
  [
    'a value of an element',
    { a: 'n[].v' },
    { 'a n[].v': ['/n/0/v', true] },
    { n: [{ v: 'x' }] },
    [],
    { 'a n[].v': [misfit('true or false', 'a text')] },
  ],
  ['a value for a list', { a: 'n' }, { 'a n': ['/n', 'x'] }, { n: ['x'] }, [], { 'a n': [misfit('a text', 'a list')] }],
  ['an element of a list', { a: 'n[]' }, { 'a n[]': ['/n/0', 'x'] }, { n: ['x'] }, [], {}],
  ['a list for a value', { a: 'n' }, { 'a n': ['/n', ['x']] }, { n: 'x' }, [], { 'a n': [misfit('a list', 'a text')] }],
  ['one of several types', { a: 'n[].v' }, { 'a n[].v': ['/n/1/v', 'x'] }, { n: [{ v: 1 }, { v: 'x' }] }, [], {}],
  [
    'null, or a large value',
    { a: 'x', b: 'y' },
    { 'a x': ['/x', null], 'b y': ['/y', '[… 900 elements]'] },
    { x: 1, y: [1] },
    [],
    {},
  ],
  [
    'a name with signs',
    { a: 'x/y' },
    { 'a x/y': ['/x~1y', 'x'] },
    { 'x/y': 1 },
    [],
    { 'a x/y': [misfit('a text', 'a number')] },
  ],
]

describe('sentences on an entry', () => {
  for (const [name, inputMapping, wrote, output, faults, expected] of cases) {
    test(`of ${name}`, () => {
      const mapping = readMapping(JSON.stringify({ inputMapping, inputTransforms: { a: '1' } }))
      assert.ok(typeof mapping !== 'string')
      const entries = Object.entries(wrote).map(([line, [place, sample]]) => {
        const [source = '', target = ''] = line.split(' ')
        return {
          source,
          found: true,
          targets: [{ target, wrote: 'value', count: 1, places: [place], samples: [sample] }],
        }
      })
      const coverage = computeCoverage([{ ran: true, mapping: { entries } } as ReportedRun])
      const lines = connectLines(mapping.lines, sourceTree([], [], []), targetTree([], [], []), coverage)
      const wanted = collectFields(output, undefined).fields
      const found = findLineFaults(
        mapping,
        lines,
        faults.map(([path, message]) => ({ path, message })),
        wanted,
      )
      assert.deepEqual(
        Object.fromEntries([...found].map(([id, sentences]) => [id.replace('\n', ' '), sentences])),
        expected,
      )
    })
  }
})
