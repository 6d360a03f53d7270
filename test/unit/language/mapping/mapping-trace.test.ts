/** The trace of a mapping: what each entry found and where it wrote, with the same output as without a trace. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Json, JsonObject } from '../../../../src/core/json.ts'
import { collectInto } from '../../../../src/core/lint.ts'
import { compileMapping } from '../../../../src/language/mapping/mapping.ts'
import { createMappingTrace, type TracedEntry } from '../../../../src/language/mapping/mapping-trace.ts'
import { object, outcomeOf, path, target, transform, tree } from '../../../support/any-mapping.ts'
import fc from '../../../support/fast-check.ts'
import { LONG } from '../../../support/form.ts'
import { all, append, freeze, source, through } from './frozen-source.ts'

function trace(
  mapping: JsonObject,
  from: JsonObject,
): Readonly<{ output: JsonObject; entries: readonly TracedEntry[] }> {
  const traced = createMappingTrace()
  const output = compileMapping(mapping, collectInto([], 'inputMapping'), traced).apply(from)
  return { output, entries: traced.entries }
}

/** `found`, then for each target what it wrote: `value 2 /a/0 /a/1`. */
const shown = ({ found, targets }: TracedEntry): string =>
  [
    String(found),
    ...targets.map(({ wrote, count, defaults, places }) =>
      [wrote, count, ...(defaults === 0 ? [] : [`(${defaults})`]), ...places].join(' '),
    ),
  ].join(' | ')

describe('the trace of a mapping', () => {
  const cases: readonly (readonly [why: string, mapping: JsonObject, entries: readonly string[]])[] = [
    ['a value', { 'b.name': 'a.b' }, ['true | value 1 /a/b']],
    ['nothing', { 'b.gone': 'a.b' }, ['false | nothing 0']],
    ['null', { 'b.nothing': 'a' }, ['false | nothing 0']],
    ['null written', { 'b.nothing': 'a?' }, ['false | null 1 (1) /a']],
    ['a default', { 'b.gone': { key: 'a', default: 7 } }, ['false | default 1 (1) /a']],
    [
      'a default where the function gives nothing',
      { 'b.name': { key: 'a', default: 7, transform: 'numberify' } },
      ['true | default 1 (1) /a'],
    ],
    [
      'a function that cannot convert the value, with a default of nothing',
      { 'b.name': { key: 'a', transform: 'numberify', default: null } },
      ['true | nothing 0'],
    ],
    [
      'a function that gives a value for nothing',
      { 'b.gone': [['a', { function: 'mapCodes', parameters: { null: 'N' } }]] },
      ['false | value 1 /a'],
    ],
    ['several targets', { 'b.name': ['x', 'y[1]'] }, ['true | value 1 /x | value 1 /y/1']],
    ['an array, spread', { 'b.rows.id': 'e[].id' }, ['true | value 3 /e/0/id /e/1/id /e/2/id']],
    ['an array with a missing element, spread', { 'b.rows.code': 'e[].c' }, ['true | value 2 /e/0/c /e/2/c']],
    [
      'an array with a missing element, spread with a default',
      { 'b.rows.code': { key: 'e[].c', default: '?' } },
      ['true | value 3 (1) /e/0/c /e/1/c /e/2/c'],
    ],
    [
      'an array of missing elements',
      { 'b.rows.gone': { key: 'e[].c', default: '?' } },
      ['false | default 3 (3) /e/0/c /e/1/c /e/2/c'],
    ],
    ['an empty array', { 'b.empty': 'e[].c' }, ['true | nothing 0']],
    ['a single value where arrays are spread', { 'b.name': 'e[].c' }, ['true | value 1 /e/0/c']],
    ['appended', { 'b.name': 'e[]', 'b.age': 'e[]' }, ['true | value 1 /e/0', 'true | value 1 /e/1']],
    [
      'appended element by element',
      { 'b.name': 'e[]', 'b.names': { key: 'e', transform: append } },
      ['true | value 1 /e/0', 'true | value 2 /e/1 /e/2'],
    ],
    [
      'one value for all elements',
      { 'b.rows.id': 'e[].id', 'b.name': { key: 'e[].n', transform: all } },
      ['true | value 3 /e/0/id /e/1/id /e/2/id', 'true | value 3 /e/0/n /e/1/n /e/2/n'],
    ],
    [
      'one value for all elements, of which there are none',
      { 'b.name': { key: 'e[].n', transform: all } },
      ['true | nothing 0'],
    ],
    ['the fields of an object, but refused ones', { 'b.hostile': { transform: through } }, ['true | value 1 /a']],
    ['names with signs of JSON Pointer', { 'b.name': 'a/b~c' }, ['true | value 1 /a~1b~0c']],
  ]
  for (const [why, mapping, entries] of cases) {
    it(why, () => assert.deepEqual(trace(freeze(mapping), source).entries.map(shown), entries))
  }

  it('keeps the first places of many', () => {
    const rows = Array.from({ length: 100 }, (_, id) => ({ id }))
    const { entries } = trace({ 'b.id': 'e[].id' }, { b: rows })
    assert.equal(entries.map(shown).join(), 'true | value 100 /e/0/id /e/1/id /e/2/id /e/3/id /e/4/id')
  })

  it('reports entries that did not run as such, also after one that failed', () => {
    const traced = createMappingTrace()
    const mapping = { 'b.name': 'a', 'b.age': 'a.b', 'b.names': 'c' }
    const { apply } = compileMapping(mapping, collectInto([]), traced)
    assert.deepEqual(traced.entries.map(shown), ['undefined |  0', 'undefined |  0', 'undefined |  0'])
    assert.throws(() => apply(source), /"a.b" needs an object/)
    assert.deepEqual(traced.entries.map(shown), ['true | value 1 /a', 'true | nothing 0', 'undefined |  0'])
  })
})

describe('a mapping with a trace, for any mapping and message', () => {
  const anyTarget = fc.oneof(
    target,
    fc.record({ key: target, default: tree, transform }, { requiredKeys: ['key'], noNullPrototype: true }),
  )
  const mappings = fc.dictionary(path, anyTarget, { maxKeys: 6, noNullPrototype: true })

  // One without takes the short ways of fields and lists.
  it('gives the output of one without', () => {
    fc.assert(
      fc.property(mappings, object, (mapping, from) => {
        freeze(from)
        const plain = outcomeOf(() => compileMapping(mapping, collectInto([], 'inputMapping')).apply(from))
        assert.deepEqual(
          outcomeOf(() => trace(mapping, from).output),
          plain,
        )
      }),
      { numRuns: LONG ? 2_000 : 400 },
    )
  })

  it('names only places that one entry alone did write', () => {
    fc.assert(
      fc.property(path, anyTarget, object, (from, to, message) => {
        const outcome = outcomeOf(() => trace({ [from]: to }, message))
        if ('failure' in outcome) return
        const { output, entries } = outcome.gives
        for (const { targets } of entries) {
          for (const { places, count, defaults, wrote } of targets) {
            assert.equal(count === 0, wrote === 'nothing')
            assert.ok(defaults <= count && places.length <= count)
            for (const place of places) assert.notEqual(at(output, place), undefined, place)
          }
        }
        const wrote = entries.some(({ targets }) => targets.some(({ count }) => count > 0))
        if (!wrote) assert.deepEqual(leaves(output), [])
      }),
      { numRuns: LONG ? 2_000 : 400 },
    )
  })

  const at = (value: Json, pointer: string): Json | undefined =>
    pointer
      .split('/')
      .slice(1)
      .reduce<Json | undefined>((inner, step) => {
        const step1 = step.replaceAll('~1', '/').replaceAll('~0', '~')
        return typeof inner === 'object' && inner !== null && Object.hasOwn(inner, step1)
          ? (inner as JsonObject)[step1]
          : undefined
      }, value)

  /** All but containers and the nulls that fill arrays. */
  const leaves = (value: Json): readonly Json[] => {
    if (value === null) return []
    return typeof value === 'object' ? Object.values(value).flatMap(leaves) : [value]
  }
})
