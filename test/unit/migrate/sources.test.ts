import assert from 'node:assert/strict'
import { mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { readSources } from '../../../migrate/import/read-sources.ts'
import type { Json } from '../../../src/core/json.ts'
import { type Files, folderWith, peerDocument } from '../../support/migrate/import-rig.ts'

const OPTIONS = { output: '/nowhere', timeoutMs: 5_000 }

const one = peerDocument({ name: 'One' })
const two = peerDocument({ name: 'Two' })
const text = (value: object) => JSON.stringify(value)
const utf16 = (value: string, mark = '\ufeff') => Buffer.from(mark + value, 'utf16le')

const oid = (digit: string) => ({ $oid: digit.repeat(24) })
const exported = (name: string, digit: string) => ({ ...one, _id: oid(digit), name })

type Case = Readonly<{
  files: Files
  /** Relative to the folder; the folder itself by default. */
  sources?: readonly string[]
  /** Names of documents by their source. */
  documents?: Readonly<Record<string, string>>
  /** Sources of what is skipped, with a part of the reason. */
  skipped?: Readonly<Record<string, RegExp>>
  faults?: readonly RegExp[]
}>

const FILES: Readonly<Record<string, Case>> = {
  'a document': { files: { 'a.json': one }, sources: ['a.json'], documents: { 'a.json': 'One' } },
  'an array': {
    files: { 'a.json': [one, two] },
    sources: ['a.json'],
    documents: { 'a.json': 'One', 'a.json#2': 'Two' },
  },
  'JSON lines': {
    files: { 'a.jsonl': `${text(one)}\r\n\r\n${text(two)}\r\n` },
    sources: ['a.jsonl'],
    documents: { 'a.jsonl': 'One', 'a.jsonl#2': 'Two' },
  },
  'UTF-16': { files: { 'a.json': utf16(text(one)) }, documents: { 'a.json': 'One' } },
  'UTF-16 without a mark': { files: { 'a.json': utf16(text(one), '') }, documents: { 'a.json': 'One' } },
  'a comment': {
    files: { 'a.json': '{\n  "a": 1,\n  // why\n  "b": 2 }' },
    sources: ['a.json'],
    faults: [/^a\.json: .* at line 3, column 3: JSON has no comments/],
  },
  'a comma before a bracket': {
    files: { 'a.json': `${text(one)}\n{"a":[1,2,\n]}` },
    sources: ['a.json'],
    faults: [/^a\.json: .* at line 3, column 1: there is a comma before/],
  },
  'what a shell of MongoDB prints': {
    files: { 'a.json': '{"_id": ObjectId("1")}' },
    sources: ['a.json'],
    faults: [/line 1, column 9: names and texts are in double quotes/],
  },
  'a file that ends too early': {
    files: { 'a.json': '{"a":\n{' },
    sources: ['a.json'],
    faults: [/^a\.json: The JSON ends before it is complete, at line 2, column 2\.$/],
  },
  'an empty file': { files: { 'a.json': ' \n' }, sources: ['a.json'], faults: [/^a\.json: The file is empty\.$/] },
  'no such file': { files: {}, sources: ['a.json'], faults: [/^There is no file a\.json\.$/] },
  'all faults at once': {
    files: { 'a.json': '{', 'b.json': '[' },
    sources: ['a.json', 'b.json'],
    faults: [/^a\.json/, /^b\.json/],
  },
  'a file that is given twice, once in its folder': {
    files: { 'f/a.json': one },
    sources: ['f', 'f/a.json'],
    documents: { 'f/a.json': 'One' },
    faults: [/^f\/a\.json was given twice\.$/],
  },
}

const FOLDERS: Readonly<Record<string, Case>> = {
  'documents among other JSON': {
    files: {
      'package.json': { name: 'mapper', version: '1.0.0' },
      'endpoints/a.json': one,
      'endpoints/deep/er/b.JSON': two,
      'schemas/order.json': { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object' },
      'test/payload.json': { endpoint: 'x' },
      'test/broken.json': '{ "a": // comment\n 1 }',
      'README.md': '# Mapper',
      'node_modules/x/c.json': one,
      '.git/d.json': one,
    },
    documents: { 'endpoints/a.json': 'One', 'endpoints/deep/er/b.JSON': 'Two' },
    skipped: {
      'package.json': /^No endpoint document\.$/,
      'schemas/order.json': /^No endpoint document\.$/,
      'test/payload.json': /^No endpoint document\.$/,
      'test/broken.json': /not readable as JSON.*line 1/,
      node_modules: /not yours/,
      '.git': /not yours/,
    },
  },
  'a folder without documents': {
    files: { 'package.json': {} },
    faults: [/has no endpoint document/],
    skipped: { 'package.json': /./ },
  },
  'the parts of version 0.2': {
    files: {
      'orders/meta.json': {
        name: 'One',
        endpoint: { pattern: '/one' },
        transformation: { input: 'JSON', output: 'JSON' },
      },
      'orders/input-mapping.json': { 'requestBody.a': 'b' },
      'orders/input-validation.json': { type: 'object' },
      'orders/constants.json': { c: 1 },
      'orders/output.json': { b: 1 },
      'other/meta.json': { title: 'of another program' },
      'other/constants.json': { a: 1 },
      'third/meta.json': '{ broken',
      'third/constants.json': { a: 1 },
    },
    documents: { orders: 'One' },
    skipped: {
      'orders/output.json': /./,
      'other/meta.json': /./,
      'other/constants.json': /./,
      'third/meta.json': /./,
      'third/constants.json': /./,
    },
  },
  'the main part of version 0.2 that cannot be read': {
    files: { 'orders/meta.json': '{,', 'orders/input-mapping.json': {} },
    faults: [/^orders\/meta\.json: .* line 1, column 2/],
  },
}

describe('sources', () => {
  for (const [title, given] of Object.entries({ ...FILES, ...FOLDERS })) {
    const { files, sources = ['.'], documents = {}, skipped = {}, faults = [] } = given

    test(title, async (context) => {
      const folder = folderWith(files, context)
      const reading = await readSources(
        sources.map((source) => join(folder, source)),
        OPTIONS,
      )
      const relative = (path: string) => path.replaceAll(`${folder}/`, '')
      const found = reading.documents.map(({ source, document }) => [relative(source), document.name])
      assert.deepEqual(Object.fromEntries(found), documents)
      assert.deepEqual(reading.skipped.map(({ source }) => relative(source)).sort(), Object.keys(skipped).sort())
      for (const { source, reason } of reading.skipped) assert.match(reason, skipped[relative(source)] ?? /$^/)
      assert.equal(reading.faults.length, faults.length, reading.faults.join('\n'))
      for (const [index, fault] of reading.faults.entries()) assert.match(relative(fault), faults[index] ?? /$^/)
    })
  }

  test('a folder of version 0.2 is one document, for that version', async (context) => {
    const folder = folderWith(
      {
        'meta.json': '{"name":"One","name":"Two","endpoint":{"pattern":"/one"}}',
        'input-mapping.json': '{"a.b":"x","a.b":"y"}',
        'constants.json': { c: 1 },
      },
      context,
    )
    const { documents } = await readSources([folder], OPTIONS)
    assert.deepEqual(documents, [
      {
        source: folder,
        document: { name: 'Two', endpoint: { pattern: '/one' }, constants: { c: 1 }, inputMapping: { 'a.b': 'y' } },
        duplicateNames: [
          { path: 'name', dropped: 'One' },
          { path: 'inputMapping.a\\.b', dropped: 'x' },
        ],
        isCanonical: false,
        peerVersion: '0.2.0',
      },
    ])
  })

  test('links to files are followed, links to folders and circles are not', async (context) => {
    const folder = folderWith({ 'a/a.json': one, 'outside.txt': two }, context)
    mkdirSync(join(folder, 'a/b'))
    symlinkSync('..', join(folder, 'a/b/up'))
    symlinkSync(folder, join(folder, 'a/b/up.json'))
    symlinkSync('loop.json', join(folder, 'a/loop.json'))
    symlinkSync(join(folder, 'outside.txt'), join(folder, 'a/link.json'))
    const { documents, skipped, faults } = await readSources([join(folder, 'a')], OPTIONS)
    assert.deepEqual(
      documents.map(({ document }) => document.name),
      ['One', 'Two'],
    )
    assert.deepEqual(
      skipped.map(({ source }) => source.slice(folder.length)),
      ['/a/b/up.json', '/a/loop.json'],
    )
    assert.deepEqual(faults, [])
  })

  test('a file of more than 100 MB is refused, and left out of a folder', async (context) => {
    const folder = folderWith({ 'a.json': one, 'b.json': '' }, context)
    truncateSync(join(folder, 'b.json'), 100 * 1024 * 1024 + 1)
    const named = await readSources([join(folder, 'b.json')], OPTIONS)
    assert.match(named.faults.join(), /b\.json: it has more than 100 MB; divide it/)
    const found = await readSources([folder], OPTIONS)
    assert.deepEqual(found.faults, [])
    assert.match(found.skipped[0]?.reason ?? '', /more than 100 MB/)
  })

  test('the folder that the import writes to is a source only by its name', async (context) => {
    const folder = folderWith({ 'a.json': one, 'out/b.json': two }, context)
    const output = join(folder, 'out')
    const below = await readSources([folder], { ...OPTIONS, output })
    assert.deepEqual(
      below.documents.map(({ document }) => document.name),
      ['One'],
    )
    const named = await readSources([output], { ...OPTIONS, output })
    assert.deepEqual(
      named.documents.map(({ document }) => document.name),
      ['Two'],
    )
  })
})

describe('exports of MongoDB', () => {
  const folder = folderWith({})
  after(() => rmSync(folder, { recursive: true }))
  const read = async (name: string, content: string) => {
    writeFileSync(join(folder, name), content)
    return readSources([join(folder, name)], OPTIONS)
  }
  const relaxed = {
    ...exported('Relaxed', 'a'),
    constants: {
      whole: 5,
      part: 1.5,
      large: { $numberLong: '9007199254740991' },
      schema: { $id: 'a', $ref: '#/b' },
      $: { $x: 1 },
    },
    createdAt: { $date: '2021-03-04T05:06:07.089Z' },
    __v: 0,
  }
  const canonical = {
    ...exported('Canonical', 'b'),
    constants: {
      whole: { $numberInt: '5' },
      part: { $numberDouble: '1.5' },
      large: { $numberLong: '9007199254740991' },
      schema: { $id: 'a', $ref: '#/b' },
      $: { $x: { $numberInt: '1' } },
    },
    createdAt: { $date: { $numberLong: '1614834367089' } },
    __v: { $numberInt: '0' },
  }
  const constants = { whole: 5, part: 1.5, large: 9007199254740991, schema: { $id: 'a', $ref: '#/b' }, $: { $x: 1 } }

  for (const [form, content] of [
    ['lines', `${text(relaxed)}\n${text(canonical)}\n`],
    ['an array', text([relaxed, canonical])],
  ] as const) {
    test(`of endpoints as ${form}, relaxed and canonical`, async () => {
      const { documents, faults } = await read(`endpoints-${form}.json`, content)
      assert.deepEqual(faults, [])
      for (const [index, digit] of ['a', 'b'].entries()) {
        const { _id, createdAt, __v, ...rest } = documents[index]?.document ?? {}
        assert.deepEqual(
          { _id, createdAt, __v },
          { _id: digit.repeat(24), createdAt: '2021-03-04T05:06:07.089Z', __v: 0 },
        )
        assert.deepEqual(rest.constants, constants)
        assert.deepEqual(rest.inputMapping, one.inputMapping)
      }
    })
  }

  const VALUES: Readonly<Record<string, Readonly<{ extended: Json; plain: Json }>>> = {
    'NaN is null': { extended: { $numberDouble: 'NaN' }, plain: null },
    'a decimal': { extended: { $numberDecimal: '0.1' }, plain: 0.1 },
    'a date of version 1': { extended: { $date: 0 }, plain: '1970-01-01T00:00:00.000Z' },
    'a member beside it makes it data': { extended: { $numberInt: '5', a: 1 }, plain: { $numberInt: '5', a: 1 } },
    'a date that is none is data': { extended: { $date: 'never' }, plain: { $date: 'never' } },
    'within arrays': { extended: [{ $oid: 'a' }, [{ $numberInt: '1' }]], plain: ['a', [1]] },
  }
  for (const [title, { extended, plain }] of Object.entries(VALUES)) {
    test(title, async () => {
      const { documents } = await read('value.json', text({ ...exported('Value', 'c'), constants: { extended } }))
      assert.deepEqual(documents[0]?.document.constants, { extended: plain })
    })
  }

  test('a document that is no export keeps what looks like one', async () => {
    const { documents } = await read('plain.json', text({ ...one, _id: 'x', constants: { $numberInt: '5' } }))
    assert.deepEqual(documents[0]?.document.constants, { $numberInt: '5' })
  })

  test('of states', async () => {
    const state = { requestBody: { last: 5 }, lookupHttpStatus: 200, system: { timestamps: { endpointStart: 'x' } } }
    const { states } = await read(
      'states.json',
      [
        { _id: oid('1'), _endpointReference: oid('a'), ...state, createdAt: { $date: '2021-01-01T00:00:00Z' }, __v: 0 },
        { _id: oid('2'), _endpointReference: 'b', updatedAt: { $date: { $numberLong: '1' } } },
        { _endpointReference: 'b', lookupHttpStatus: { $numberInt: '200' } },
      ]
        .map(text)
        .join('\n'),
    )
    const source = join(folder, 'states.json')
    assert.deepEqual(states, [
      { source, endpointId: 'a'.repeat(24), createdAt: '2021-01-01T00:00:00.000Z', state },
      { source: `${source}#2`, endpointId: 'b', createdAt: '1988-02-24T00:51:46.000Z', state: {} },
      {
        source: `${source}#3`,
        endpointId: 'b',
        createdAt: '1970-01-01T00:00:00.000Z',
        state: { lookupHttpStatus: { $numberInt: '200' } },
      },
    ])
  })
})
