/** The trees, the proposed entries and the lines of the mapping view, without a browser. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { FieldNode, FieldTree } from '../../../../console/src/pages/mapping/model/field-tree.ts'
import {
  layOutLines,
  scrollTo,
  shownRows,
  visibleRow,
} from '../../../../console/src/pages/mapping/model/line-layout.ts'
import { readMapping } from '../../../../console/src/pages/mapping/model/mapping-entries.ts'
import {
  findSourceNode,
  findTargetNode,
  sourceTree,
  targetTree,
} from '../../../../console/src/pages/mapping/model/mapping-trees.ts'
import { proposalsFor, proposalsIn } from '../../../../console/src/pages/mapping/model/proposals.ts'
import { computeCoverage } from '../../../../console/src/pages/mapping/model/run-coverage.ts'
import { filterTree, matchWords } from '../../../../console/src/pages/mapping/model/shown-fields.ts'
import type { Json } from '../../../../src/core/json.ts'
import { parseTarget } from '../../../../src/language/mapping/target.ts'
import { parsePath } from '../../../../src/language/paths/path.ts'
import { collectFields } from '../../../../src/try/dry-run/shown-values.ts'
import fc from '../../../support/fast-check.ts'
import { names } from '../../../support/fuzz/arbitraries.ts'

const fields = (value: Json) => collectFields(value, undefined).fields
const shape = (nodes: readonly FieldNode[]): Json =>
  Object.fromEntries(
    nodes.map(({ name, index, lists, count, isUnknown, children }) => [
      `${name}${index === undefined ? '' : `[${index}]`}${'[]'.repeat(lists)}${isUnknown ? '' : ` ${count}`}`,
      shape(children),
    ]),
  )
const pathsOf = ({ nodes }: FieldTree) => [...nodes.values()].map(({ path }) => path)

describe('the tree of what can be read', () => {
  test('has one node for the elements of a list, and counts them', () => {
    const body = {
      id: 1,
      items: [
        { nr: 1, tags: ['a', 'b'] },
        { nr: 2, tags: [] },
      ],
      none: [],
      matrix: [[1], [2, 3]],
    }
    const tree = sourceTree(
      fields({ requestBody: body }),
      ['query', 'requestBody'],
      ['query.a[0].b', 'requestBody.items.0.nr'],
    )
    assert.deepEqual(shape(tree.roots), {
      'requestBody 1': { 'id 1': {}, 'items[] 2': { 'nr 2': {}, 'tags[] 2': {} }, 'none[] 0': {}, 'matrix[][] 3': {} },
      query: { 'a[]': { b: {} } },
    })
    assert.deepEqual(pathsOf(tree).toSorted(), [
      'query',
      'query.a',
      'query.a[].b',
      'requestBody',
      'requestBody.id',
      'requestBody.items',
      'requestBody.items[].nr',
      'requestBody.items[].tags',
      'requestBody.matrix',
      'requestBody.none',
    ])
    assert.equal(tree.nodes.get(findSourceNode(tree, 'requestBody.items[1].nr') ?? '')?.path, 'requestBody.items[].nr')
    assert.equal(tree.nodes.get(findSourceNode(tree, 'requestBody.items.0.nr') ?? '')?.path, 'requestBody.items[].nr')
    assert.equal(tree.nodes.get(findSourceNode(tree, 'requestBody.gone.x') ?? '')?.path, 'requestBody')
  })
})

describe('the tree of what is written', () => {
  test('has outputs, what is wanted, and targets', () => {
    const tree = targetTree(
      fields({ a: { b: [1, 2] } }),
      [{ path: 'c[].d', types: ['string'] }],
      ['a.b[]', 'e.f?', 'g[].h[]+'],
    )
    assert.deepEqual(shape(tree.roots), {
      'c[]': { 'd undefined': {} },
      'a 1': { 'b[] 2': {} },
      e: { f: {} },
      'g[]': { 'h[]': {} },
    })
  })

  test('keeps elements apart that are written by their index', () => {
    const output = fields({ entry: [{ id: 1 }, { name: 'x' }], list: [{ x: 1 }] })
    const tree = targetTree(output, [], ['entry[0].id', 'entry[1].name', 'list[0].x', 'list[].y'])
    assert.deepEqual(shape(tree.roots), {
      'list[] 1': { 'x 1': {}, y: {} },
      'entry[0]': { id: {} },
      'entry[1]': { name: {} },
      'list[0]': { x: {} },
    })
    assert.equal(tree.nodes.get(findTargetNode(tree, 'entry[1].name?') ?? '')?.path, 'entry[1].name')
  })

  test('has names with signs as targets write them', () => {
    const tree = targetTree(fields({ 'a.b': { 'q?': 1 } }), [], [])
    assert.deepEqual(pathsOf(tree), ['a\\.b.q\\?', 'a\\.b'])
  })
})

describe('a tree of any message', () => {
  const value = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom<Json>(null, true, 1, 'text'),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(fc.oneof(names, fc.string()), tie('value'), { maxKeys: 3 }),
    ),
  })).value

  test('has a node for every field, and every proposal is an entry', () => {
    fc.assert(
      fc.property(value, value, fc.nat(), fc.nat(), (from, to, one, other) => {
        const sources = sourceTree(fields({ requestBody: from }), ['query'], [])
        for (const { path } of fields({ requestBody: from })) assert.ok(findSourceNode(sources, path))
        const targets = targetTree(fields({ out: to }), [], [])
        const pick = ({ nodes }: FieldTree, at: number) => [...nodes.values()][at % nodes.size]
        const [source, target] = [pick(sources, one), pick(targets, other)]
        assert.ok(source && target)
        const all = proposalsFor(source, target)
        assert.ok(all.length <= 5)
        for (const proposal of all) {
          assert.ok(parsePath(proposal.source).ok, proposal.source)
          // Names that the service refuses are refused by it.
          if (!/__proto__|constructor|prototype/.test(proposal.key))
            assert.ok(parseTarget(proposal.key).ok, proposal.key)
        }
      }),
    )
  })
})

const message = {
  requestBody: { id: 1, tags: ['a'], items: [{ nr: 1, codes: [{ v: 1 }], words: ['w'] }], address: { town: 'x' } },
}
const output = { id: 1, given: ['a'], list: [{ nr: 1, parts: [{ v: 1 }], names: ['x'] }], person: { town: 'x' } }

/** Paths of the two fields → the proposed entries. */
const proposed: readonly (readonly [source: string, target: string, ...entries: string[]])[] = [
  ['requestBody.id', 'id', 'requestBody.id → id'],
  ['requestBody.address', 'person', 'requestBody.address → person'],
  ['requestBody.id', 'given', 'requestBody.id → given[]'],
  ['requestBody.id', 'list[].nr', 'requestBody.id → list[].nr', 'requestBody.id → list[].nr oneToAllElements'],
  ['requestBody.tags', 'given', 'requestBody.tags → given'],
  ['requestBody.tags', 'list[].nr', 'requestBody.tags → list[].nr'],
  ['requestBody.items', 'list', 'requestBody.items → list'],
  ['requestBody.items[].nr', 'list[].nr', 'requestBody.items[].nr → list[].nr'],
  ['requestBody.items[].nr', 'given', 'requestBody.items[].nr → given'],
  ['requestBody.items[].nr', 'id', 'requestBody.items[0].nr → id', 'requestBody.items[].nr → id'],
  [
    'requestBody.items[].nr',
    'person.town',
    'requestBody.items[0].nr → person.town',
    'requestBody.items[].nr → person.town',
    'requestBody.items[].nr → person[].town',
  ],
  ['requestBody.tags', 'list[].names', 'requestBody.tags → list[0].names', 'requestBody.tags → list[].names[]'],
  [
    'requestBody.items[].nr',
    'list[].names',
    'requestBody.items[].nr → list[].names[]',
    'requestBody.items[].nr → list[0].names',
  ],
  [
    'requestBody.items[].words',
    'list[].names',
    'requestBody.items[].words[] → list[].names',
    'requestBody.items[].words → list[].names[]',
    'requestBody.items[].words → list[0].names',
  ],
  [
    'requestBody.id',
    'list[].names',
    'requestBody.id → list[].names[]',
    'requestBody.id → list[].names[] oneToAllElements',
  ],
  ['requestBody.tags', 'id', 'requestBody.tags[0] → id', 'requestBody.tags → id'],
  [
    'requestBody.items[].codes[].v',
    'list[].nr',
    'requestBody.items[].codes[].v → list[].nr',
    'requestBody.items[0].codes[].v → list[].nr',
    'requestBody.items[].codes[0].v → list[].nr',
  ],
  [
    'requestBody.items[].nr',
    'list[].parts[].v',
    'requestBody.items[].nr → list[].parts[].v',
    'requestBody.items[].nr → list[].parts[0].v',
    'requestBody.items[].nr → list[0].parts[].v',
  ],
  [
    'requestBody.items[].codes[].v',
    'list[].parts[].v',
    'requestBody.items[] → list[] { item.codes[].v → parts[].v }',
    'requestBody.items[].codes[].v → list[].parts[].v',
    'requestBody.items[].codes[].v → list[].parts[0].v',
    'requestBody.items[].codes[].v → list[0].parts[].v',
    'requestBody.items[0].codes[].v → list[].parts[].v',
  ],
  [
    'requestBody.items[].codes[].v',
    'list[].names',
    'requestBody.items[] → list[] { item.codes[].v → names }',
    'requestBody.items[].codes[].v → list[].names[]',
    'requestBody.items[].codes[].v → list[0].names',
  ],
]

type Proposed = ReturnType<typeof proposalsFor>[number]
const entryText = ({ source, key, transform, each }: Pick<Proposed, 'source' | 'key' | 'transform' | 'each'>): string =>
  `${source} → ${key}${transform ? ` ${transform}` : ''}${each ? ` { ${entryText(each)} }` : ''}`

/** In a mapping with an `each` of items, and another one of their codes in it. */
const IN_EACH = {
  inputMapping: {
    'requestBody.items[]': {
      key: 'list[]',
      each: { 'item.codes[]': { key: 'parts[]', each: { 'item.v': 'x' } } },
    },
  },
}
const proposedInEach: typeof proposed = [
  ['requestBody.items[].nr', 'list[].nr', 'item.nr → nr'],
  ['requestBody.items[].codes[].v', 'list[].parts[].v', 'item.v → v'],
  ['requestBody.items[].nr', 'list[].parts[].v', 'outer.nr → v'],
  ['requestBody.items[].words', 'list[].names', 'item.words → names'],
  ['requestBody.items[].codes[].v', 'list[].nr', 'item.codes[0].v → nr', 'item.codes[].v → nr'],
  ['requestBody.items[].nr', 'id', 'requestBody.items[0].nr → id', 'requestBody.items[].nr → id'],
]

describe('the entries that are proposed', () => {
  const sources = sourceTree(fields(message), [], [])
  const targets = targetTree(fields(output), [], [])
  for (const [source, target, ...entries] of proposed) {
    test(`from ${source} to ${target}`, () => {
      const from = [...sources.nodes.values()].find(({ path }) => path === source)
      const to = [...targets.nodes.values()].find(({ path }) => path === target)
      assert.ok(from && to)
      assert.deepEqual(proposalsFor(from, to).map(entryText), entries)
    })
  }
  const mapping = readMapping(JSON.stringify(IN_EACH))
  for (const [source, target, ...entries] of proposedInEach) {
    test(`from ${source} to ${target} where an each has both`, () => {
      const from = [...sources.nodes.values()].find(({ path }) => path === source)
      const to = [...targets.nodes.values()].find(({ path }) => path === target)
      assert.ok(from && to && typeof mapping !== 'string')
      assert.deepEqual(proposalsIn(mapping, from, to).map(entryText), entries)
    })
  }
})

describe('a filtered tree', () => {
  const tree = sourceTree(fields({ a: { b: { c: 1, d: { e: 2 } } }, f: { g: 3 } }), [], [])
  const cases: readonly (readonly [name: string, kept: readonly string[], opened: readonly string[], shown: Json])[] = [
    ['a field and those that it is in', ['c'], [], { 'a 1': { 'b 1': { 'c 1': {} } } }],
    ['an object without its fields', ['b'], [], { 'a 1': { 'b 1': {} } }],
    ['the fields of an opened object', ['b'], ['b'], { 'a 1': { 'b 1': { 'c 1': {}, 'd 1': {} } } }],
    [
      'the fields of an opened object beside the one that is found',
      ['c'],
      ['b'],
      { 'a 1': { 'b 1': { 'c 1': {}, 'd 1': {} } } },
    ],
    ['an opened object that is found no more', [], ['f'], { 'f 1': { 'g 1': {} } }],
  ]
  for (const [name, kept, opened, shown] of cases) {
    test(`has ${name}`, () => {
      const ids = [...tree.nodes.values()].filter((node) => opened.includes(node.name)).map(({ id }) => id)
      const filtered = filterTree(tree, ({ name: of }) => kept.includes(of), new Set(ids))
      assert.deepEqual(shape(filtered.roots), shown)
      const empty = [...filtered.nodes.values()].filter(({ children }) => children.length === 0)
      for (const { id, isClosed } of empty) assert.equal(isClosed === true, tree.nodes.get(id)?.children.length !== 0)
    })
  }
  test('has what has each of the words in its path', () => {
    const { nodes } = filterTree(tree, matchWords('A c'), new Set())
    assert.deepEqual(pathsOf({ ...tree, nodes }).toSorted(), ['a', 'a.b', 'a.b.c'])
  })
})

describe('lines', () => {
  const tree = sourceTree(fields({ requestBody: { a: { b: 1, c: 2 }, d: 3 } }), [], [])
  const id = (path: string) => findSourceNode(tree, path) ?? ''

  test('end at the closed node that a field is in', () => {
    const open = shownRows(tree, new Set([id('requestBody'), id('requestBody.a')]))
    assert.deepEqual(
      open.rows.map(({ node, depth }) => `${depth} ${node.name}`),
      ['0 requestBody', '1 a', '2 b', '2 c', '1 d'],
    )
    assert.equal(visibleRow(open, tree, id('requestBody.a.c')), 3)
    const closed = shownRows(tree, new Set([id('requestBody')]))
    assert.equal(visibleRow(closed, tree, id('requestBody.a.c')), 1)
  })

  test('are drawn where an end can be seen, and others are counted', () => {
    const pane = { rowHeight: 10, scrollTop: 100, height: 50 }
    const { lines, source, target } = layOutLines(
      [
        { id: 'both', from: 10, to: 12 },
        { id: 'half', from: 14, to: 30 },
        { id: 'other half', from: 2, to: 11 },
        { id: 'neither', from: 2, to: 30 },
        { id: 'without an end', from: undefined, to: 11 },
      ],
      pane,
      pane,
    )
    assert.deepEqual(lines, [
      { id: 'both', fromY: 5, toY: 25, isWhole: true },
      { id: 'half', fromY: 45, toY: 50, isWhole: false },
      { id: 'other half', fromY: 0, toY: 15, isWhole: false },
    ])
    assert.deepEqual({ source, target }, { source: { above: 1, below: 0 }, target: { above: 0, below: 1 } })
    assert.equal(scrollTo(12, pane), undefined)
    assert.equal(scrollTo(100, pane), 980)
    assert.equal(scrollTo(0, pane), 0)
  })
})

test('what runs did counts for entries of inputMapping, not for those of an each or of a request', () => {
  const target = { target: 'x', wrote: 'value' as const, count: 1, places: [] }
  const entry = (path: string) => ({ path, source: 'constants.x', found: true, targets: [target] })
  const paths = ['constants\\.x', 'requestBody\\.each\\.x', 'requestBody\\.a[].each.constants\\.x']
  const entries = [
    ...paths.map((path) => entry(`inputMapping.${path}`)),
    entry('requests.response[0].mapping.constants\\.x'),
  ]
  const { lines } = computeCoverage([{ ran: true, mapping: { entries } }])
  assert.deepEqual(
    [...lines.values()].map(({ runs }) => runs),
    [2],
  )
})
