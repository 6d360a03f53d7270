/** Edits of the mapping view, as text: they change the entry that is meant and not one byte beside it. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Edit } from '../../../../console/src/draft/draft.ts'
import {
  addTarget,
  changeFill,
  changeKey,
  changeSource,
  changeTransform,
  type Edited,
  removeTarget,
} from '../../../../console/src/pages/mapping/model/entry-edits.ts'
import { type MappingText, readMapping } from '../../../../console/src/pages/mapping/model/mapping-entries.ts'
import { blocksOf, codeIn } from '../../../support/docs/page.ts'
import fc from '../../../support/fast-check.ts'

/** What is added and removed again leaves no byte behind. */
function opensAndSaves(text: string): void {
  const before = read(text)
  for (const { target } of before.lines) assert.notEqual(target.form, 'unknown')
  if (before.object === undefined) return
  const added = applied(text, addTarget(before, 'requestBody.added', { key: 'added' }))
  const now = read(added)
  assert.equal(applied(added, removeTarget(now, line(now, now.lines.length - 1))), text)
}

const root = fileURLToPath(new URL('../../../..', import.meta.url))

function read(text: string): MappingText {
  const mapping = readMapping(text)
  assert.ok(typeof mapping !== 'string', String(mapping))
  return mapping
}

function applied(text: string, edited: Edited): string {
  assert.ok(edited.ok, edited.ok ? '' : edited.why)
  return edited.edits
    .toSorted((one, other) => other.from - one.from || (other.to ?? other.from) - (one.to ?? one.from))
    .reduce((now, { from, to = from, insert = '' }) => now.slice(0, from) + insert + now.slice(to), text)
}

type Change = (mapping: MappingText) => Edited
const line = (mapping: MappingText, at = 0) => {
  const found = mapping.lines[at]
  assert.ok(found)
  return found
}

/** A target with `each`, in a form that nobody would write. */
const EACH = '{ "each":{"item.a" :"b"},  "when": "item.x=1.50", "key": "e[].r" }'
const WITH_EACH = `{"inputMapping": {"requestBody.a[]": ${EACH}, "c": "d"}}`

const LINES = '{\n  "name": "x",\n  "inputMapping": {\n    "requestBody.a": "b"\n  }\n}\n'

type Case = readonly [name: string, before: string, change: Change, after: string]
const cases: readonly Case[] = [
  [
    'gives a target with each another key',
    WITH_EACH,
    (m) => changeKey(m, line(m), 'f[]'),
    WITH_EACH.replace('e[].r', 'f[]'),
  ],
  [
    'lets a target with each read another source',
    WITH_EACH,
    (m) => changeSource(m, line(m), 'c'),
    `{"inputMapping": {"c": ["d", ${EACH}]}}`,
  ],
  [
    'adds a target beside one with each',
    WITH_EACH,
    (m) => addTarget(m, 'requestBody.a[]', { key: 'n' }),
    WITH_EACH.replace(EACH, `[${EACH}, "n"]`),
  ],
  ['removes a target with each', WITH_EACH, (m) => removeTarget(m, line(m)), '{"inputMapping": {"c": "d"}}'],
  [
    'adds an entry on a line of its own',
    LINES,
    (m) => addTarget(m, 'requestBody.c', { key: 'd' }),
    '{\n  "name": "x",\n  "inputMapping": {\n    "requestBody.a": "b",\n    "requestBody.c": "d"\n  }\n}\n',
  ],
  [
    'adds an entry in a document on one line',
    '{"inputMapping":{"a":"b"}}',
    (m) => addTarget(m, 'c', { key: 'd', transform: 'numberify' }),
    '{"inputMapping":{"a":"b","c":{"key":"d","transform":"numberify"}}}',
  ],
  [
    'adds the first entry',
    '{\n\t"inputMapping": {}\n}',
    (m) => addTarget(m, 'a', { key: 'b' }),
    '{\n\t"inputMapping": {\n\t\t"a": "b"\n\t}\n}',
  ],
  [
    'adds the mapping',
    '{\n  "name": "x"\n}\n',
    (m) => addTarget(m, 'a', { key: 'b' }),
    '{\n  "name": "x",\n  "inputMapping": {\n    "a": "b"\n  }\n}\n',
  ],
  [
    'adds the mapping on one line',
    '{ "name": "x" }',
    (m) => addTarget(m, 'a', { key: 'b' }),
    '{ "name": "x", "inputMapping": { "a": "b" } }',
  ],
  [
    'keeps line feeds of another system',
    '{\r\n    "inputMapping": {}\r\n}',
    (m) => addTarget(m, 'a', { key: 'b' }),
    '{\r\n    "inputMapping": {\r\n        "a": "b"\r\n    }\r\n}',
  ],
  [
    'makes a list of one target',
    LINES,
    (m) => addTarget(m, 'requestBody.a', { key: 'd' }),
    '{\n  "name": "x",\n  "inputMapping": {\n    "requestBody.a": ["b", "d"]\n  }\n}\n',
  ],
  [
    'adds to a list of targets',
    '{"inputMapping":{"a": [["b", "numberify"], { "key": "c" }]}}',
    (m) => addTarget(m, 'a', { key: 'd' }),
    '{"inputMapping":{"a": [["b", "numberify"], { "key": "c" }, "d"]}}',
  ],
  [
    'removes a target of several',
    '{"inputMapping":{"a": [["b", "numberify"], { "key": "c" }]}}',
    (m) => removeTarget(m, line(m)),
    '{"inputMapping":{"a": [{ "key": "c" }]}}',
  ],
  [
    'removes an entry',
    '{\n  "inputMapping": {\n    "a": "b",\n    "c": "d"\n  }\n}',
    (m) => removeTarget(m, line(m, 1)),
    '{\n  "inputMapping": {\n    "a": "b"\n  }\n}',
  ],
  [
    'changes a source, and keeps the order',
    '{"inputMapping": {"a" : "b", "c": "d"}}',
    (m) => changeSource(m, line(m), 'x"y'),
    '{"inputMapping": {"x\\"y" : "b", "c": "d"}}',
  ],
  [
    'moves a target to the entry of another source',
    '{"inputMapping": {"a": "b", "c": "d"}}',
    (m) => changeSource(m, line(m, 1), 'a'),
    '{"inputMapping": {"a": ["b", "d"]}}',
  ],
  [
    'moves one of several targets to an entry of its own',
    '{"inputMapping": {"a": ["b", ["c", null, 1.50]]}}',
    (m) => changeSource(m, line(m, 1), 'x'),
    '{"inputMapping": {"a": ["b"], "x": { "key": "c", "default": 1.50 }}}',
  ],
  [
    'changes the key of an object',
    '{"inputMapping": {"a": {"default":  1.50, "key" : "b"}}}',
    (m) => changeKey(m, line(m), 'c'),
    '{"inputMapping": {"a": {"default":  1.50, "key" : "c"}}}',
  ],
  [
    'gives a text a function',
    '{"inputMapping": {"a": "b"}}',
    (m) => changeTransform(m, line(m), 'numberify'),
    '{"inputMapping": {"a": { "key": "b", "transform": "numberify" }}}',
  ],
  [
    'gives a short form a default',
    '{"inputMapping": {"a": [["b", "numberify"], "c"]}}',
    (m) => changeFill(m, line(m), ' 12 '),
    '{"inputMapping": {"a": [{ "key": "b", "transform": "numberify", "default": 12 }, "c"]}}',
  ],
  [
    'removes a default',
    '{"inputMapping": {"a": {"key": "b", "default": {"x": []}}}}',
    (m) => changeFill(m, line(m), undefined),
    '{"inputMapping": {"a": {"key": "b"}}}',
  ],
  [
    'changes a function',
    '{"inputMapping": {"a": {"key": "b", "transform": {"function": "stringify"}}}}',
    (m) => changeTransform(m, line(m), 'numberify'),
    '{"inputMapping": {"a": {"key": "b", "transform": "numberify"}}}',
  ],
  [
    'gives a text a function with parameters',
    '{"inputMapping":{"a":"b"}}',
    (m) => changeTransform(m, line(m), 'mapCodes', '{"M":"male"}'),
    '{"inputMapping":{"a":{"key":"b","transform":{"function":"mapCodes","parameters":{"M":"male"}}}}}',
  ],
]

const TWICE = '{"inputMapping": {"a": "b", "a": "c"}}'
const refusals: readonly (readonly [name: string, before: string, change: Change, why: RegExp])[] = [
  ['a function beside each', WITH_EACH, (m) => changeTransform(m, line(m), 'stringify'), /in the editor/],
  ['a default beside each', WITH_EACH, (m) => changeFill(m, line(m), '1'), /in the editor/],
  ['the same target again', LINES, (m) => addTarget(m, 'requestBody.a', { key: 'b' }), /already/],
  ['a source that stands twice', TWICE, (m) => removeTarget(m, line(m)), /twice/],
  ['more for a source that stands twice', TWICE, (m) => addTarget(m, 'a', { key: 'x' }), /twice/],
  ['a default that is no JSON', LINES, (m) => changeFill(m, line(m), 'x'), /JSON/],
  ['an entry of another form', '{"inputMapping": {"a": 1}}', (m) => addTarget(m, 'a', { key: 'x' }), /editor/],
]

describe('an edit of the mapping view', () => {
  for (const [name, before, change, after] of cases) {
    test(name, () => assert.equal(applied(before, change(read(before))), after))
  }
  for (const [name, before, change, why] of refusals) {
    test(`refuses ${name}`, () => {
      const edited = change(read(before))
      assert.ok(!edited.ok)
      assert.match(edited.why, why)
    })
  }
})

describe('a document that is not shown', () => {
  for (const [text, why] of [
    ['{"a": 1,}', /not JSON at line 1, character 9/],
    ['{\n// x\n}', /not JSON at line 2/],
    ['[]', /not an object/],
    ['', /not JSON/],
    ['{"inputMapping": []}', /not an object/],
    ['{"inputMapping": {}, "inputMapping": {}}', /twice/],
  ] as const) {
    test(JSON.stringify(text), () => assert.match(String(readMapping(text)), why))
  }
})

/** JSON as anybody may have written it: with any white space between its tokens. */
const space = fc.constantFrom('', '', ' ', '\n', '\n  ', '\r\n\t', '   ')
const path = fc.oneof(
  fc.constantFrom('requestBody.a', 'requestBody.b[].c', 'x', 'dotted\\.key', '__proto__', 'ä"\\', 'y.z'),
  fc.string({ minLength: 1 }),
)
const spaced = (open: string, close: string) => (items: readonly (readonly [string, string, string])[]) =>
  `${open}${items.map(([before, text, after]) => `${before}${text}${after}`).join(',')}${items.length === 0 ? ' ' : ''}${close}`
const arrayOf = (item: fc.Arbitrary<string>, least = 0) =>
  fc.array(fc.tuple(space, item, space), { minLength: least, maxLength: 3 }).map(spaced('[', ']'))
const memberOf = (name: fc.Arbitrary<string>, value: fc.Arbitrary<string>) =>
  fc
    .tuple(name, space, space, value)
    .map(([key, before, after, text]) => `${JSON.stringify(key)}${before}:${after}${text}`)
const objectOf = (members: fc.Arbitrary<readonly string[]>) =>
  members.chain((list) =>
    fc
      .tuple(...list.map((member) => fc.tuple(space, fc.constant(member), space)))
      .map((items) => spaced('{', '}')(items)),
  )
const scalar = fc.constantFrom('1.50', '"x"', 'null', '12345678901234567890', 'true', '"\\u00e4"')
const transform = fc.constantFrom('"numberify"', 'null', '{"function": "mapCodes", "parameters": {"a":1.0}}')
const targetText = path.map((key) => JSON.stringify(key))
const targetObject = objectOf(
  fc
    .tuple(
      memberOf(fc.constant('key'), targetText),
      memberOf(fc.constant('default'), scalar),
      memberOf(fc.constant('transform'), transform),
    )
    .chain((all) => fc.shuffledSubarray(all, { minLength: 1 })),
)
const targetEach = objectOf(
  fc
    .tuple(
      memberOf(fc.constant('key'), targetText),
      memberOf(fc.constant('each'), objectOf(fc.array(memberOf(path, targetText), { maxLength: 2 }))),
      memberOf(fc.constant('when'), scalar),
    )
    .chain((all) => fc.shuffledSubarray(all, { minLength: 2 })),
)
const item = fc.oneof(
  targetText,
  targetEach,
  targetObject,
  fc.tuple(targetText, transform, scalar).map(([key, one, fill]) => `[${key},${one}, ${fill}]`),
)
const value = fc.oneof(targetText, targetObject, targetEach, arrayOf(item, 1), scalar)
const mapping = objectOf(fc.array(memberOf(path, value), { maxLength: 6 }))
const documentText = objectOf(
  fc
    .tuple(
      fc.array(memberOf(fc.constantFrom('name', 'constants', 'x'), scalar), { maxLength: 2 }),
      fc.option(memberOf(fc.constant('inputMapping'), mapping), { nil: undefined }),
      fc.array(memberOf(fc.constantFrom('later', 'y'), arrayOf(scalar)), { maxLength: 2 }),
    )
    .map(([before, own, after]) => [...before, ...(own === undefined ? [] : [own]), ...after]),
)
const wrapped = fc.tuple(space, documentText, space).map((parts) => parts.join(''))

/** What stands outside of the edits is what stood there. */
function onlyThere(before: string, after: string, edits: readonly Edit[]): void {
  const ordered = edits.toSorted((one, other) => one.from - other.from)
  const from = ordered[0]?.from ?? before.length
  const to = Math.max(...ordered.map((edit) => edit.to ?? edit.from), from)
  assert.ok(after.startsWith(before.slice(0, from)))
  assert.ok(after.endsWith(before.slice(to)))
}

const change = fc.record({
  kind: fc.constantFrom('add', 'remove', 'key', 'source', 'transform', 'fill'),
  at: fc.nat(20),
  path,
  key: path,
  transform: fc.constantFrom(undefined, 'numberify', 'stringify'),
  fill: fc.constantFrom(undefined, '1', '"x"', '{"a": [1]}'),
})
type AnyChange = typeof change extends fc.Arbitrary<infer One> ? One : never

function make(now: MappingText, { kind, at, path: source, key, ...rest }: AnyChange): Edited | undefined {
  const one = now.lines[at % Math.max(1, now.lines.length)]
  if (kind === 'add') return addTarget(now, source, { key, transform: rest.transform })
  if (one === undefined) return undefined
  if (kind === 'remove') return removeTarget(now, one)
  if (kind === 'key') return changeKey(now, one, key)
  if (kind === 'source') return changeSource(now, one, source)
  return kind === 'transform' ? changeTransform(now, one, rest.transform) : changeFill(now, one, rest.fill)
}

/** Source, key, function and default of every target, and what is shown in another way. */
const summary = ({ lines }: MappingText) =>
  lines.map(({ entry, target }) =>
    JSON.stringify([entry.source, target.key, target.transform?.text, target.fill?.replace(/\s/g, ''), target.nested]),
  )

describe('a document of any form', () => {
  test('opens, and each edit changes its entry only', () => {
    fc.assert(
      fc.property(wrapped, change, (text, changed) => {
        const before = read(text)
        const edited = make(before, changed)
        if (edited === undefined || !edited.ok) return
        const after = applied(text, edited)
        onlyThere(text, after, edited.edits)
        JSON.parse(after)
        const now = read(after)
        // Everything beside the mapping is the same value, too.
        const rest = (whole: string) => ({ ...(JSON.parse(whole) as object), inputMapping: undefined })
        assert.deepEqual(rest(after), rest(text))
        const [was, is] = [summary(before), summary(now)]
        const gone = was.filter((one) => !is.includes(one))
        const come = is.filter((one) => !was.includes(one))
        assert.ok(gone.length <= 1 && come.length <= 1, `${gone.join()} became ${come.join()}`)
        if (changed.kind === 'add')
          assert.ok(come.length === 1 && come[0]?.startsWith(JSON.stringify([changed.path, changed.key]).slice(0, -1)))
        if (changed.kind === 'remove') assert.equal(is.length, was.length - 1)
      }),
      { numRuns: 1_000 },
    )
  })
})

describe('examples of docs/mapping.md', () => {
  const blocks = blocksOf(readFileSync(`${root}/docs/mapping.md`, 'utf8'))
  const rows = blocks.flatMap((block) => (block.kind === 'table' && block.header[0] === 'mapping' ? block.rows : []))
  for (const { cells, line: at } of rows) {
    const [given = ''] = codeIn(cells[0] ?? '')
    test(`line ${at}`, () => opensAndSaves(`{\n  "inputMapping": { ${given} }\n}\n`))
  }
})
