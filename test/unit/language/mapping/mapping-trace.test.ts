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
  const cases: readonly Readonly<{ why: string; mapping: JsonObject; entries: readonly string[] }>[] = [
    { why: 'a value', mapping: { 'b.name': 'a.b' }, entries: ['true | value 1 /a/b'] },
    { why: 'nothing', mapping: { 'b.gone': 'a.b' }, entries: ['false | nothing 0'] },
    { why: 'null', mapping: { 'b.nothing': 'a' }, entries: ['false | nothing 0'] },
    { why: 'null written', mapping: { 'b.nothing': 'a?' }, entries: ['false | null 1 (1) /a'] },
    { why: 'a default', mapping: { 'b.gone': { key: 'a', default: 7 } }, entries: ['false | default 1 (1) /a'] },
    {
      why: 'a default where the function gives nothing',
      mapping: { 'b.name': { key: 'a', default: 7, transform: 'numberify' } },
      entries: ['true | default 1 (1) /a'],
    },
    {
      why: 'a function that cannot convert the value, with a default of nothing',
      mapping: { 'b.name': { key: 'a', transform: 'numberify', default: null } },
      entries: ['true | nothing 0'],
    },
    {
      why: 'a function that gives a value for nothing',
      mapping: { 'b.gone': [['a', { function: 'mapCodes', parameters: { null: 'N' } }]] },
      entries: ['false | value 1 /a'],
    },
    { why: 'several targets', mapping: { 'b.name': ['x', 'y[1]'] }, entries: ['true | value 1 /x | value 1 /y/1'] },
    {
      why: 'an array, spread',
      mapping: { 'b.rows.id': 'e[].id' },
      entries: ['true | value 3 /e/0/id /e/1/id /e/2/id'],
    },
    {
      why: 'an array with a missing element, spread',
      mapping: { 'b.rows.code': 'e[].c' },
      entries: ['true | value 2 /e/0/c /e/2/c'],
    },
    {
      why: 'an array with a missing element, spread with a default',
      mapping: { 'b.rows.code': { key: 'e[].c', default: '?' } },
      entries: ['true | value 3 (1) /e/0/c /e/1/c /e/2/c'],
    },
    {
      why: 'an array of missing elements',
      mapping: { 'b.rows.gone': { key: 'e[].c', default: '?' } },
      entries: ['false | default 3 (3) /e/0/c /e/1/c /e/2/c'],
    },
    { why: 'an empty array', mapping: { 'b.empty': 'e[].c' }, entries: ['true | nothing 0'] },
    {
      why: 'a single value where arrays are spread',
      mapping: { 'b.name': 'e[].c' },
      entries: ['true | value 1 /e/0/c'],
    },
    {
      why: 'appended',
      mapping: { 'b.name': 'e[]', 'b.age': 'e[]' },
      entries: ['true | value 1 /e/0', 'true | value 1 /e/1'],
    },
    {
      why: 'appended element by element',
      mapping: { 'b.name': 'e[]', 'b.names': { key: 'e', transform: append } },
      entries: ['true | value 1 /e/0', 'true | value 2 /e/1 /e/2'],
    },
    {
      why: 'one value for all elements',
      mapping: { 'b.rows.id': 'e[].id', 'b.name': { key: 'e[].n', transform: all } },
      entries: ['true | value 3 /e/0/id /e/1/id /e/2/id', 'true | value 3 /e/0/n /e/1/n /e/2/n'],
    },
    {
      why: 'one value for all elements, of which there are none',
      mapping: { 'b.name': { key: 'e[].n', transform: all } },
      entries: ['true | nothing 0'],
    },
    {
      why: 'the fields of an object, but refused ones',
      mapping: { 'b.hostile': { transform: through } },
      entries: ['true | value 1 /a'],
    },
    { why: 'names with signs of JSON Pointer', mapping: { 'b.name': 'a/b~c' }, entries: ['true | value 1 /a~1b~0c'] },
  ]
  for (const { why, mapping, entries } of cases) {
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
