/** `each`: what it writes, what it refuses, and that it maps as a plain loop does. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as nextIteration } from 'node:timers/promises'
import type { Json, JsonObject } from '../../../../src/core/json.ts'
import { collectInto, type Lint } from '../../../../src/core/lint.ts'
import { compileMapping } from '../../../../src/language/mapping/mapping.ts'
import { createMappingTrace } from '../../../../src/language/mapping/mapping-trace.ts'
import { object, outcomeOf, path, target, tree } from '../../../support/any-mapping.ts'
import fc from '../../../support/fast-check.ts'
import { LONG } from '../../../support/form.ts'
import { createMappingEngine } from '../../../support/mapping-engine.ts'
import { all, append, freeze, type Row, through } from './frozen-source.ts'

const source: JsonObject = freeze({
  c: { system: 's', none: [], list: [{ k: 1 }, { k: 2 }], big: 'x'.repeat(200_000) },
  b: {
    name: 'Jane',
    nothing: null,
    one: { id: 9, ids: { value: 'z' } },
    texts: ['p', 'q'],
    patients: [
      { id: 1, voided: false, ids: [{ value: 'a' }, { value: 'b', codes: ['x', 'y'] }] },
      { id: 2, voided: true },
      { id: 3, voided: false, ids: [] },
    ],
    wards: [{ nr: 'A', beds: [{ no: 1 }, { no: 2 }] }, { nr: 'B' }, { nr: 'C', beds: { no: 3 } }],
    matrix: [[1, 2], [3]],
    mixed: [{ id: 1 }, null, 'text', { id: 2 }],
  },
})

const compile = (mapping: JsonObject) => {
  const lints: Lint[] = []
  return { mapping: compileMapping(mapping, collectInto(lints), undefined, createMappingEngine()), lints }
}

describe('each', () => {
  const ids = { 'item.id': 'id' }
  const cases: readonly Row[] = [
    ['a list', { 'b.patients[]': { key: 'e[]', each: ids } }, { e: [{ id: 1 }, { id: 2 }, { id: 3 }] }],
    ['a list without brackets', { 'b.patients': { key: 'e[]+', each: ids } }, { e: [{ id: 1 }, { id: 2 }, { id: 3 }] }],
    [
      'steps behind the list',
      { 'b.texts': { key: 'e[].a.f[1].g', each: { item: 'v' } } },
      { e: ['p', 'q'].map((v) => ({ a: { f: [null, { g: { v } }] } })) },
    ],
    [
      'the last list of several',
      { 'b.texts': { key: 'e[].a.f[].g', each: { item: 'v' } } },
      { e: [{ a: { f: [{ g: { v: 'p' } }, { g: { v: 'q' } }] } }] },
    ],
    ['a single object', { 'b.one[]': { key: 'e[]', each: ids } }, { e: [{ id: 9 }] }],
    [
      'a single text whose entries read it whole',
      { 'b.name[]': { key: 'e[]', each: { item: 'n' } } },
      { e: [{ n: 'Jane' }] },
    ],
    ['nothing', { 'b.gone[]': { key: 'e[]', each: ids }, 'b.nothing': { key: 'f[]', each: ids } }, {}],
    ['an empty list, which makes no list', { 'c.none[]': { key: 'e[]', each: ids } }, {}],
    [
      'elements that are no objects; null makes none, and counts as a place',
      { 'b.mixed[]': { key: 'e[].r', each: { ...ids, index: 'at', 'item.gone': { key: 'd', default: '-' } } } },
      { e: [{ r: { id: 1, at: 0, d: '-' } }, { r: { at: 2, d: '-' } }, { r: { id: 2, at: 3, d: '-' } }] },
    ],
    [
      'nothing but null, which makes no list and asks no condition',
      { 'b.wards[].gone[]': { key: 'e[]', when: '$error("asked")', each: { index: 'at' } } },
      {},
    ],
    [
      'lists of all parents as one',
      { 'b.wards[].beds[]': { key: 'e[]', each: { 'item.no': 'no', index: 'i' } } },
      {
        e: [
          { no: 1, i: 0 },
          { no: 2, i: 1 },
          { no: 3, i: 3 },
        ],
      },
    ],
    [
      'lists of lists',
      { 'b.matrix[]': { key: 'e[]', each: { item: 'row', 'item[0]': 'first' } } },
      {
        e: [
          { row: [1, 2], first: 1 },
          { row: [3], first: 3 },
        ],
      },
    ],
    [
      'an each in an each, with all roots',
      {
        'b.patients[]': {
          key: 'entry[].resource',
          when: 'item.voided = false',
          each: {
            'item.id': 'id',
            index: 'nr',
            'item.ids[]': {
              key: 'identifier[]',
              each: {
                'item.value': 'value',
                'outer.id': 'owner',
                'c.system': 'system',
                'item.codes[]': { key: 'k[]', each: { item: 'v', 'outer.value': 'of' } },
              },
            },
          },
        },
      },
      {
        entry: [
          {
            resource: {
              id: 1,
              nr: 0,
              identifier: [
                { value: 'a', owner: 1, system: 's' },
                {
                  value: 'b',
                  owner: 1,
                  system: 's',
                  k: [
                    { v: 'x', of: 'b' },
                    { v: 'y', of: 'b' },
                  ],
                },
              ],
            },
          },
          { resource: { id: 3, nr: 2 } },
        ],
      },
    ],
    [
      'two into one list, one behind the other',
      { 'b.texts': { key: 'e[].r', each: { item: 'v' } }, 'b.patients[]': { key: 'e[].r', each: ids } },
      { e: [{ r: { v: 'p' } }, { r: { v: 'q' } }, { r: { id: 1 } }, { r: { id: 2 } }, { r: { id: 3 } }] },
    ],
    [
      'behind elements of other entries, and before them',
      {
        'b.name': 'e[].n',
        'b.texts': [{ key: 'e[]', each: { item: 'v' } }, 'e[].t'],
        'c.system': { key: 'e[].s', transform: all },
      },
      {
        e: [
          { n: 'Jane', t: 'p', s: 's' },
          { v: 'p', t: 'q', s: 's' },
          { v: 'q', s: 's' },
        ],
      },
    ],
    [
      'a list that is part of the message, which stays',
      { 'b.texts': 'e', 'b.patients[]': { key: 'e[]', each: ids } },
      { e: ['p', 'q', { id: 1 }, { id: 2 }, { id: 3 }] },
    ],
    [
      'later entries that write into what it made',
      { 'b.patients[]': { key: 'e[].r', each: { 'item.ids': 'ids' } }, 'b.texts': ['e[].r.t', 'e[].u'] },
      {
        e: [
          { r: { ids: [{ value: 'a' }, { value: 'b', codes: ['x', 'y'] }], t: 'p' }, u: 'p' },
          { r: { t: 'q' }, u: 'q' },
          { r: { ids: [] } },
        ],
      },
    ],
    [
      'targets of all kinds in its entries',
      {
        'b.patients[]': {
          key: 'e[]',
          each: {
            'item.id': [{ key: 'n', transform: 'stringify' }, ['m', null, 0]],
            'item.gone': { key: 'd', default: '-' },
            'item.ids[].value': 'id[].v',
            'c.list': { key: 'l', transform: append },
            'c.system': 'l[]',
          },
        },
      },
      {
        e: [
          { n: '1', m: 1, d: '-', id: [{ v: 'a' }, { v: 'b' }], l: [{ k: 1 }, { k: 2 }, 's'] },
          { n: '2', m: 2, d: '-', l: [{ k: 1 }, { k: 2 }, 's'] },
          { n: '3', m: 3, d: '-', id: [], l: [{ k: 1 }, { k: 2 }, 's'] },
        ],
      },
    ],
    [
      'an object passed through into the element',
      { 'c.list[]': { key: 'e[]', each: { item: { transform: through }, index: 'i' } } },
      {
        e: [
          { k: 1, i: 0 },
          { k: 2, i: 1 },
        ],
      },
    ],
    [
      'a list of the message for each element',
      { 'b.texts[]': { key: 'e[]', each: { 'c.list[]': { key: 'k[]', each: { 'item.k': 'k', outer: 't' } } } } },
      {
        e: ['p', 'q'].map((t) => ({
          k: [
            { k: 1, t },
            { k: 2, t },
          ],
        })),
      },
    ],
  ]
  for (const [why, mapping, gives] of cases) {
    it(why, () => {
      const { mapping: compiled, lints } = compile(freeze(mapping))
      assert.deepEqual(
        lints.filter(({ severity }) => severity === 'error'),
        [],
      )
      for (let run = 0; run < 2; run += 1) assert.deepEqual(compiled.apply(source), gives)
    })
  }

  const failures: readonly (readonly [why: string, mapping: JsonObject, code: string, path: string, says: RegExp])[] = [
    [
      'a text whose fields are read',
      { 'b.name[]': { key: 'e[]', each: ids } },
      'MAPPING_FAILED',
      'b\\.name[]',
      /"b\.name\[\]" gave the string "Jane"\. Read a list/,
    ],
    [
      'an entry that fails',
      { 'b.patients[]': { key: 'e[]', each: { 'item.ids': { key: 'n', transform: 'numberify' } } } },
      'MAPPING_FAILED',
      'b\\.patients[].each.item\\.ids',
      /numberify cannot convert the array that "item\.ids" gave/,
    ],
    [
      'another shape where its list goes',
      { 'b.name': 'e', 'b.texts': { key: 'e[]', each: { item: 'v' } } },
      'MAPPING_FAILED',
      'b\\.texts',
      /needs a list where an earlier entry wrote a single value/,
    ],
    [
      'a condition that is a number',
      { 'b.patients[]': { key: 'e[]', each: ids, when: 'item.id' } },
      'TRANSFORM_FAILED',
      'b\\.patients[].when',
      /gave a value of type number, which is neither true nor false/,
    ],
    [
      'more than a message may grow by, as values of the message are written again and again',
      { 'b.many[]': { key: 'e[]', each: { 'c.big': 'big' } } },
      'OUTPUT_TOO_LARGE',
      'b\\.many[].each.c\\.big',
      /would add more than 64 MiB/,
    ],
    [
      'the same, by lists of the message in a list',
      { 'b.many[]': { key: 'e[]', each: { 'b.many[]': { key: 'f[]', each: { index: 'i' } } } } },
      'OUTPUT_TOO_LARGE',
      'b\\.many[].each.b\\.many[]',
      /would add more than 64 MiB/,
    ],
    [
      'the same, by a default',
      { 'b.many[]': { key: 'e[]', each: { 'item.x': { key: 'x', default: 'x'.repeat(50_000) } } } },
      'OUTPUT_TOO_LARGE',
      'b\\.many[].each.item\\.x',
      /would add more than 64 MiB/,
    ],
  ]
  for (const [why, mapping, code, place, says] of failures) {
    it(`fails at ${why}`, () => {
      const many = Array.from({ length: 2_000 }, () => ({}))
      const outcome = outcomeOf(() =>
        compile(mapping).mapping.apply({ ...source, b: { ...(source.b as JsonObject), many } }),
      )
      assert.ok('failure' in outcome)
      const [foundCode, foundPlace, sentence] = outcome.failure
      assert.deepEqual([foundCode, foundPlace], [code, place])
      assert.match(sentence, says)
    })
  }
})

describe('each at fault', () => {
  type Fault = readonly [place: string, says: RegExp]
  const each = { item: 'v' }
  const cases: readonly (readonly [
    why: string,
    target: Json,
    errors: readonly Fault[],
    warnings?: readonly Fault[],
  ])[] = [
    [
      'no list',
      { key: 'a.b', each },
      [['b[].key', /adds elements to a list, and "a\.b" has none; .* such as "a\.b\[\]"\.$/]],
    ],
    ['no key', { each }, [['b[].key', /this is nothing/]]],
    ['null for no value', { key: 'a[]?', each }, [['b[].key', /remove the "\?"/]]],
    [
      'a function and a default',
      { key: 'a[]', each, transform: 'stringify', default: 1 },
      [
        ['b[].default', /no meaning beside "each"/],
        ['b[].transform', /no meaning beside "each"/],
      ],
    ],
    ['a condition without it', { key: 'a', when: 'true' }, [['b[].when', /this target has no "each"/]]],
    ['a condition that is no text', { key: 'a[]', each, when: true }, [['b[].when', /the text of an expression/]]],
    ['a condition that does not parse', { key: 'a[]', each, when: 'item.' }, [['b[].when', /./]]],
    ['no entries', { key: 'a[]', each: {} }, [['b[].each', /an entry for each value/]]],
    ['entries that are no object', { key: 'a[]', each: ['x'] }, [['b[].each', /an entry for each value/]]],
    ['an unknown key', { key: 'a[]', each, wen: 'x' }, [['b[].wen', /did you mean "when"\?/]]],
    [
      'every entry of it, and the target',
      [{ key: 'x', each: { 'item..a': 'b', item: 'c..d' } }],
      [
        ['b[][0].each.item\\.\\.a', /lacks a name/],
        ['b[][0].each.item', /lacks a name/],
        ['b[][0].key', /adds elements to a list/],
      ],
    ],
    [
      'too many steps',
      { key: `a[]${'.x'.repeat(70)}`, each: { item: { key: `b[]${'.y'.repeat(70)}`, each } } },
      [['b[].each.item.key', /more than 128 steps/]],
    ],
    [
      'entries in it that write one place',
      { key: 'a[]', each: { 'item.x': 'y', 'item.z': 'y' } },
      [],
      [['b[].each.item\\.z', /writes the same target as b\[\]\.each\.item\\\.x/]],
    ],
  ]
  for (const [why, declared, errors, warnings = []] of cases) {
    it(why, () => {
      const { lints } = compile({ 'b[]': declared })
      for (const [severity, faults] of [['error', errors] as const, ['warning', warnings] as const]) {
        const found = lints.filter((lint) => lint.severity === severity)
        assert.deepEqual(
          found.map(({ path: place }) => place).sort(),
          faults.map(([place]) => place).sort(),
          JSON.stringify(lints),
        )
        for (const [place, says] of faults) {
          assert.ok(
            found.some((lint) => lint.path === place && says.test(lint.message)),
            JSON.stringify(found),
          )
        }
      }
    })
  }

  it('names all its sources, with how many each are around', () => {
    const { sources } = compileMapping(
      { 'b.a[]': [{ key: 'x.', each: { 'item.b': { key: 'c[]', each: { outer: 'o' } } } }, 'y'] },
      collectInto([], 'inputMapping'),
    )
    assert.deepEqual(
      sources.map(({ text, depth, lint }) => [text, depth, lint.path]),
      [
        ['b.a[]', 0, 'inputMapping.b\\.a[]'],
        ['item.b', 1, 'inputMapping.b\\.a[][0].each.item\\.b'],
        ['outer', 2, 'inputMapping.b\\.a[][0].each.item\\.b.each.outer'],
      ],
    )
  })

  it('needs an engine for a condition', () => {
    const lints: Lint[] = []
    compileMapping({ 'b[]': { key: 'a[]', each, when: 'true' } }, collectInto(lints))
    assert.deepEqual(
      lints.map(({ path: place, severity }) => [place, severity]),
      [['b[].when', 'error']],
    )
  })
})

describe('each over what takes time', () => {
  const rows = (count: number) => ({
    b: Array.from({ length: count }, (_, id) => ({ id, of: [{ id }, { id: -1 - id }] })),
  })
  /** `$sum` is left to the engine of JSONata, which gives promises. */
  const mapping = {
    'b[]': {
      key: 'e[].r',
      when: '$sum([item.id, 0]) % 2 = 0',
      each: {
        'item.id': 'id',
        'item.of[]': { key: 'of[]', when: '$sum([item.id, 1]) > 0', each: { 'item.id': 'id', 'outer.id': 'o' } },
        index: 'i',
      },
    },
    'b[0].id': 'last',
  }
  const expected = (count: number) => ({
    e: rows(count).b.flatMap(({ id, of }, i) =>
      id % 2 === 0 ? [{ r: { id, of: of.filter((one) => one.id >= 0).map((one) => ({ ...one, o: id })), i } }] : [],
    ),
    last: 0,
  })

  it('waits for conditions, and keeps the order', async () => {
    const { mapping: compiled } = compile(mapping)
    const found = compiled.apply(rows(20))
    assert.ok(found instanceof Promise)
    assert.deepEqual(JSON.parse(JSON.stringify(await found)), JSON.parse(JSON.stringify(expected(20))))
  })

  it('fails at a condition that fails later', async () => {
    const { mapping: compiled } = compile({ 'b[]': { key: 'e[]', when: '$sum([item.id])', each: { 'item.id': 'id' } } })
    await assert.rejects(async () => compiled.apply(rows(2)), { code: 'TRANSFORM_FAILED' })
  })

  it('keeps two messages apart that are mapped at once', async () => {
    const { mapping: compiled } = compile(mapping)
    const [one, other] = await Promise.all([compiled.apply(rows(9)), compiled.apply(rows(30))])
    assert.deepEqual(
      [one, other],
      [expected(9), expected(30)].map((all) => JSON.parse(JSON.stringify(all))),
    )
  })

  it('pauses whenever it is asked to, at any level', async () => {
    let pauses = 0
    const pausing = createMappingEngine(() => {
      pauses += 1
      return nextIteration()
    })
    const plain = { 'b[]': { key: 'e[]', each: { 'item.of[]': { key: 'of[]', each: { 'item.id': 'id' } } } } }
    const compiled = compileMapping(plain, collectInto([]), undefined, pausing)
    const found = compiled.apply(rows(100))
    assert.ok(found instanceof Promise)
    assert.deepEqual(await found, { e: rows(100).b.map(({ of }) => ({ of: of.map(({ id }) => ({ id })) })) })
    assert.ok(pauses >= 30, String(pauses))
  })
})

describe('the trace of an each', () => {
  it('has the entries in it, over all elements', () => {
    const trace = createMappingTrace()
    const mapping = {
      'b.patients[]': {
        key: 'entry[].resource',
        when: 'item.voided = false',
        each: {
          'item.id': 'id',
          'item.ids[]': { key: 'i[]', each: { 'item.value': 'v', 'item.gone': { key: 'g', default: 1 } } },
        },
      },
      'b.gone[]': { key: 'f[]', each: { 'item.x': 'x' } },
      'b.wards[].gone[]': { key: 'h[]', each: { item: 'x' } },
      'b.wards[].beds[]': { key: 'w[]', each: { index: 'i' } },
      'b.name': 'n',
    }
    const output = compileMapping(mapping, collectInto([]), trace, createMappingEngine()).apply(source)
    assert.ok(!(output instanceof Promise))
    assert.deepEqual(
      trace.entries.map(({ path: place, found, targets }) => [
        place,
        found,
        ...targets.map(({ wrote, count, places }) => `${wrote} ${count} ${places.join(' ')}`),
      ]),
      [
        ['b\\.patients[]', true, 'value 2 /entry/0 /entry/1'],
        ['b\\.patients[].each.item\\.id', true, 'value 2 /entry/0/resource/id /entry/1/resource/id'],
        ['b\\.patients[].each.item\\.ids[]', true, 'value 2 /entry/0/resource/i/0 /entry/0/resource/i/1'],
        [
          'b\\.patients[].each.item\\.ids[].each.item\\.value',
          true,
          'value 2 /entry/0/resource/i/0/v /entry/0/resource/i/1/v',
        ],
        [
          'b\\.patients[].each.item\\.ids[].each.item\\.gone',
          false,
          'default 2 /entry/0/resource/i/0/g /entry/0/resource/i/1/g',
        ],
        ['b\\.gone[]', false, 'nothing 0 '],
        ['b\\.gone[].each.item\\.x', undefined, 'undefined 0 '],
        ['b\\.wards[]\\.gone[]', false, 'nothing 0 '],
        ['b\\.wards[]\\.gone[].each.item', undefined, 'undefined 0 '],
        ['b\\.wards[]\\.beds[]', true, 'value 3 /w/0 /w/1 /w/2'],
        ['b\\.wards[]\\.beds[].each.index', true, 'value 3 /w/0/i /w/1/i /w/2/i'],
        ['b\\.name', true, 'value 1 /n'],
      ],
    )
  })
})

describe('each, for any tree', () => {
  /** A list in a list, to four levels; elements of any kind are between. */
  const anyList = (levels: number): fc.Arbitrary<Json> =>
    fc.oneof(
      { weight: 5, arbitrary: fc.array(anyElement(levels), { maxLength: 4 }) },
      { weight: 1, arbitrary: anyElement(levels) },
      { weight: 1, arbitrary: fc.constantFrom<Json>(null, '', []) },
    )
  const anyElement = (levels: number): fc.Arbitrary<Json> =>
    fc.oneof(
      {
        weight: 6,
        arbitrary: fc.record(
          {
            id: fc.constantFrom(null, 1, 2, 'x'),
            keep: fc.boolean(),
            ...(levels === 0 ? {} : { of: anyList(levels - 1) }),
          },
          { requiredKeys: [], noNullPrototype: true },
        ) as fc.Arbitrary<Json>,
      },
      { weight: 1, arbitrary: fc.constantFrom<Json>(null, '') },
    )
  type Level = Readonly<{ key: string; when: string | undefined; name: string }>
  const anyLevel = fc.record({
    key: fc.constantFrom('l[]', 'l[].x', 'l[].x[1].y', 'p[].l[].x', 'l[]+'),
    when: fc.constantFrom(undefined, undefined, 'item.keep = true', '$sum([1]) = 1 and $not(item.id = 2)'),
    name: fc.constantFrom('id', 'keep', 'gone'),
  })

  const mappingOf = ([level, ...inner]: readonly Level[], from: string, depth: number): JsonObject =>
    level === undefined
      ? {}
      : {
          [from]: {
            key: level.key,
            ...(level.when === undefined ? {} : { when: level.when }),
            each: {
              index: 'at',
              [`item.${level.name}`]: 'got',
              'c.system': 'system',
              ...(depth === 0 ? {} : { 'outer.id': 'owner' }),
              ...mappingOf(inner, depth % 2 === 0 ? 'item.of[]' : 'item.of', depth + 1),
            },
          },
        }

  /** The same as a loop. */
  function loop(
    [level, ...inner]: readonly Level[],
    list: Json | undefined,
    outer: Json | undefined,
    into: Record<string, Json>,
  ): void {
    if (level === undefined || list === undefined || list === null) return
    const field = (of: Json | undefined, name: string): Json | undefined =>
      typeof of === 'object' && of !== null && Object.hasOwn(of, name)
        ? ((of as JsonObject)[name] ?? undefined)
        : undefined
    for (const [at, item] of (Array.isArray(list) ? list : [list]).entries()) {
      if (item === null) continue
      const id = field(item, 'id')
      if (level.when === 'item.keep = true' && field(item, 'keep') !== true) continue
      if (level.when?.startsWith('$') && id === 2) continue
      const got = field(item, level.name)
      const owner = field(outer, 'id')
      const mapped: Record<string, Json> = {
        at,
        ...(got === undefined ? {} : { got }),
        system: 's',
        ...(outer === undefined || owner === undefined ? {} : { owner }),
      }
      loop(inner, field(item, 'of'), item, mapped)
      const wraps: Record<string, () => void> = {
        'l[]': () => push(into, mapped),
        'l[]+': () => push(into, mapped),
        'l[].x': () => push(into, { x: mapped }),
        'l[].x[1].y': () => push(into, { x: [null, { y: mapped }] }),
        'p[].l[].x': () => {
          into.p ??= [{}]
          push((into.p as Record<string, Json>[])[0] as Record<string, Json>, { x: mapped })
        },
      }
      wraps[level.key]?.()
    }
  }
  const push = (into: Record<string, Json>, element: Json): void => {
    into.l ??= []
    ;(into.l as Json[]).push(element)
  }

  it('equals a plain loop', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyLevel, { minLength: 1, maxLength: 4 }),
        anyList(3),
        fc.boolean(),
        async (levels, list, pauses) => {
          const mapping = mappingOf(levels, 'b.of[]', 0)
          const message = freeze({ b: { of: list }, c: { system: 's' } })
          const pause = pauses ? () => Promise.resolve() : undefined
          const compiled = compileMapping(freeze(mapping), collectInto([]), undefined, createMappingEngine(pause))
          const expected: Record<string, Json> = {}
          loop(levels, list, undefined, expected)
          assert.deepEqual(await compiled.apply(message), expected)
          const trace = createMappingTrace()
          assert.deepEqual(
            await compileMapping(mapping, collectInto([]), trace, createMappingEngine()).apply(message),
            expected,
          )
        },
      ),
      { numRuns: LONG ? 3_000 : 300 },
    )
  })

  it('leaves entries without it as they are, also beside it', () => {
    const mappings = fc.dictionary(path, target, { maxKeys: 5, noNullPrototype: true })
    fc.assert(
      fc.property(mappings, object, tree, (mapping, from, list) => {
        const plain = outcomeOf(() => compileMapping(mapping, collectInto([])).apply(freeze(from)))
        const message = freeze({ ...from, zz: Array.isArray(list) ? list : [list] })
        const beside = { ...mapping, zz: { key: 'zz[]', each: { item: 'v' } } }
        const both = outcomeOf(() => compile(beside).mapping.apply(message) as JsonObject)
        if ('failure' in both || 'failure' in plain) return assert.deepEqual(both, plain)
        const { zz: _zz, ...others } = both.gives
        assert.deepEqual(others, plain.gives)
      }),
      { numRuns: LONG ? 2_000 : 400 },
    )
  })
})
