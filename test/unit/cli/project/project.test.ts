/** `crosswalk.json`, the documents that it names, and what is filled into them. */
import assert from 'node:assert/strict'
import { mkdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, test } from 'node:test'
import { createJsonPositions, formatLint, locateLints } from '../../../../src/cli/project/located-lint.ts'
import {
  escapeValues,
  fillValues,
  findDocuments,
  listFiles,
  readDocuments,
} from '../../../../src/cli/project/project-documents.ts'
import { chooseTarget, findProject, type Project, readProject } from '../../../../src/cli/project/project-file.ts'
import { changeTexts, type Json } from '../../../../src/core/json.ts'
import { collectInto, documentPath, type Lint } from '../../../../src/core/lint.ts'
import { DOCUMENT, folderOf } from '../../../support/cli/project/folder.ts'
import fc from '../../../support/fast-check.ts'
import { LONG } from '../../../support/form.ts'

const PROJECT = {
  endpoints: ['endpoints/**/*.json', '!endpoints/data/**'],
  labels: { project: 'lab' },
  targets: {
    test: { url: 'http://127.0.0.1:3003/', values: { HOST: 'http://lab.test', PATH_1: 'v1' } },
    prod: { url: 'https://crosswalk.example', values: { HOST: 'https://lab.example' } },
  },
}

describe('crosswalk.json', () => {
  test('is read with its defaults', (context) => {
    const { project, faults } = readProject(join(folderOf(context, { 'crosswalk.json': {} }), 'crosswalk.json'))
    assert.deepEqual(faults, [])
    assert.deepEqual(
      { ...project, folder: '' },
      { folder: '', endpoints: ['endpoints/**/*.json'], labels: {}, targets: [] },
    )
  })

  test('reports every fault at its place', (context) => {
    const text = `{
  "endpoint": [],
  "endpoints": ["/abs", "../up", "a/../b", "!../c", "a/..b", ""],
  "labels": { "a": 1 },
  "targets": {
    "prod": { "url": "ftp://x", "values": { "a-b": "1", "C": 2 } },
    "test": { "values": {} },
    "keys": { "url": "https://user:key@host/?q" }
  },
  "labels": {}
}`
    const { project, faults } = readProject(join(folderOf(context, { 'crosswalk.json': text }), 'crosswalk.json'))
    assert.equal(project, undefined)
    assert.deepEqual(
      faults.map(({ line, column, path }) => `${line}:${column} ${path}`),
      [
        '2:3 endpoint',
        '3:17 endpoints[0]',
        '3:25 endpoints[1]',
        '3:34 endpoints[2]',
        '3:44 endpoints[3]',
        '3:62 endpoints[5]',
        '6:15 targets.prod.url',
        '6:45 targets.prod.values.a-b',
        '6:57 targets.prod.values.C',
        '7:5 targets.test.url',
        '8:15 targets.keys.url',
        '8:15 targets.keys.url',
        '10:3 labels',
      ],
    )
  })

  const unreadable: readonly (readonly [text: string, says: RegExp])[] = [
    ['{ "labels": {},\n  }', /^\S+:2:3: error: The JSON is not well-formed/],
    ['[]', /^\S+:1:1: error: The file must be an object/],
    ['', /:1:1: error: The JSON is empty/],
  ]
  for (const [text, says] of unreadable) {
    test(`that is ${JSON.stringify(text)} is one fault`, (context) => {
      const { project, faults } = readProject(join(folderOf(context, { 'crosswalk.json': text }), 'crosswalk.json'))
      assert.deepEqual([project, faults.length], [undefined, 1])
      assert.match(formatLint(faults[0] as (typeof faults)[number]), says)
    })
  }

  test('is read as the guide shows it', (context) => {
    const page = readFileSync(new URL('../../../../docs/cli.md', import.meta.url), 'utf8')
    const [, text = ''] = /```text\n(\{[\s\S]*?)```/.exec(page) ?? []
    const { project, faults } = readProject(join(folderOf(context, { 'crosswalk.json': text }), 'crosswalk.json'))
    assert.deepEqual(faults, [])
    assert.equal(project?.targets.length, 2)
  })

  test('is found from a folder below', (context) => {
    const folder = folderOf(context, { 'crosswalk.json': {} })
    mkdirSync(join(folder, 'a/b'), { recursive: true })
    assert.equal(findProject(join(folder, 'a/b')), join(folder, 'crosswalk.json'))
    assert.equal(findProject('/'), undefined)
  })

  test('never throws, whatever it has', (context) => {
    const value = fc.oneof(
      fc.json(),
      fc.string(),
      fc.object().map((object) => JSON.stringify({ ...PROJECT, ...object })),
    )
    const part = fc.constantFrom('endpoints', 'labels', 'targets')
    const wrong = fc.tuple(part, fc.jsonValue()).map(([name, inner]) => JSON.stringify({ ...PROJECT, [name]: inner }))
    fc.assert(
      fc.property(fc.oneof(value, wrong), (text) => {
        const { project, faults } = readProject(join(folderOf(context, { 'crosswalk.json': text }), 'crosswalk.json'))
        assert.equal(
          project === undefined,
          faults.some(({ severity }) => severity === 'error'),
        )
      }),
      { numRuns: LONG ? 200 : 50 },
    )
  })
})

describe('a target', () => {
  const { project } = { project: { folder: '/', endpoints: [], labels: {}, targets: [] } as Project }
  const some = { ...project, targets: Object.entries(PROJECT.targets).map(([name, one]) => ({ name, ...one })) }
  const cases: readonly (readonly [Project | undefined, string | undefined, unknown])[] = [
    [undefined, undefined, undefined],
    [project, undefined, undefined],
    [some, undefined, undefined],
    [{ ...some, targets: some.targets.slice(0, 1) }, undefined, 'test'],
    [some, 'prod', 'prod'],
    [some, 'prd', /^There is no target "prd"; the targets are test, prod; did you mean "prod"\?$/],
    [undefined, 'prod', /^There is no target "prod"; crosswalk.json has no targets\.$/],
  ]
  for (const [given, name, expected] of cases) {
    test(`${name} of ${given?.targets.length}`, () => {
      if (expected instanceof RegExp) assert.throws(() => chooseTarget(given, name), { message: expected })
      else assert.equal(chooseTarget(given, name)?.name, expected)
    })
  }
})

describe('the documents of a project', () => {
  const FILES = {
    'crosswalk.json': PROJECT,
    'endpoints/b.json': DOCUMENT,
    'endpoints/sub/a.json': DOCUMENT,
    'endpoints/b.tests.json': {},
    'endpoints/b.snapshots.json': {},
    'endpoints/data/order.json': {},
    'endpoints/node_modules/x/y.json': DOCUMENT,
    'endpoints/moved/import-manifest.json': {
      writtenBy: 'crosswalk import',
      files: { 'c.json': { kind: 'document', sha256: '' }, 'c.state.json': { kind: 'state', sha256: '' } },
    },
    'endpoints/moved/c.json': DOCUMENT,
    'endpoints/moved/c.state.json': {},
    'other/d.json': DOCUMENT,
  }

  test('are those of its patterns, without the files beside them', (context) => {
    const folder = folderOf(context, FILES)
    const { project } = readProject(join(folder, 'crosswalk.json'))
    const shown = findDocuments(project as Project).map((path) => relative(folder, path))
    assert.deepEqual(shown, ['endpoints/b.json', 'endpoints/moved/c.json', 'endpoints/sub/a.json'])
  })

  test('are left out by a pattern with !', (context) => {
    for (const left of ['endpoints/data', './endpoints/data/', 'endpoints/data/*', 'endpoints/d*']) {
      const project = { endpoints: ['./endpoints/*.json', 'endpoints/data/*.json', `!${left}`] }
      const folder = folderOf(context, { ...FILES, 'crosswalk.json': project })
      const found = findDocuments(readProject(join(folder, 'crosswalk.json')).project as Project)
      assert.deepEqual([found.length, relative(folder, found[0] ?? '')], [1, 'endpoints/b.json'], left)
    }
  })

  test('that are named are all read; of a folder those that may be documents', (context) => {
    const folder = folderOf(context, { ...FILES, 'endpoints/broken.json': '{', 'endpoints/list.json': [] })
    const named = [join(folder, 'endpoints'), join(folder, 'endpoints/data/order.json')]
    assert.throws(() => listFiles([...named, 'none.json']), { message: 'There is no file none.json.' })
    assert.deepEqual(
      listFiles(named).map((path) => relative(join(folder, 'endpoints'), path)),
      ['b.json', 'broken.json', 'moved/c.json', 'sub/a.json', 'data/order.json'],
    )
  })

  const document = {
    ...DOCUMENT,
    renamedFrom: 'Hello',
    description: '${value:HOST}/${env:TOKEN} $${value:HOST} ${Value:HOST}',
    constants: { list: ['${value:PATH_1}'] },
    labels: { team: 'x' },
  }
  const lintsFor = (context: Parameters<typeof folderOf>[0], name: string | undefined, changes = {}) => {
    const folder = folderOf(context, { ...FILES, 'endpoints/b.json': { ...document, ...changes } })
    const { project } = readProject(join(folder, 'crosswalk.json'))
    const target = chooseTarget(project, name)
    const [one] = readDocuments({ project, target })
    assert.ok(one)
    return { ...one, all: one.lints.map(({ path, message, severity }) => `${severity} ${path}: ${message}`) }
  }
  const almost =
    'warning description: This looks like a value of the target and is sent unchanged; write "${value:NAME}".'

  test('have the values of the target, the labels of the project, and not the name before', (context) => {
    const { document: filled, renamedFrom, name, written, all } = lintsFor(context, 'test')
    assert.deepEqual(all, [almost])
    assert.deepEqual([name, renamedFrom], ['Greeting', 'Hello'])
    assert.deepEqual(filled, {
      ...DOCUMENT,
      description: 'http://lab.test/${env:TOKEN} ${value:HOST} ${Value:HOST}',
      constants: { list: ['v1'] },
      labels: { team: 'x', project: 'lab' },
    })
    assert.deepEqual(written, document)
  })

  const faulty: readonly (readonly [target: string | undefined, changes: object, ...says: string[]])[] = [
    ['prod', {}, 'error constants.list[0]: The target "prod" has no value "PATH_1"; give it one in crosswalk.json.'],
    [
      'test',
      { constants: '${value:HOTS}' },
      'error constants: The target "test" has no value "HOTS"; give it one in crosswalk.json; did you mean "HOST"?',
    ],
    [
      undefined,
      {},
      'error description: "HOST" is a value of the target; choose one with --target.',
      'error constants.list[0]: "PATH_1" is a value of the target; choose one with --target.',
    ],
    [
      'test',
      { labels: { project: 'other' } },
      'error labels.project: crosswalk.json gives this label to every document, as "lab"; leave it out here.',
    ],
    ['test', { renamedFrom: 1 }, 'error renamedFrom: "renamedFrom" must be the name that the endpoint had before.'],
    [
      'test',
      { renamedFrom: 'Greeting' },
      'error renamedFrom: "renamedFrom" is the name that the document has; leave it out.',
    ],
  ]
  for (const [target, changes, ...says] of faulty) {
    test(`with ${JSON.stringify(changes)} for ${target} have a fault`, (context) => {
      const faults = lintsFor(context, target, changes).all.filter((line) => line !== almost)
      assert.deepEqual(faults, says)
    })
  }

  test('that cannot be read are documents with a fault', (context) => {
    const folder = folderOf(context, {
      'a.json': '{\n  "name": }',
      'b.json': '{"name":"a","name":"b"}',
      'c.json': '"x"',
    })
    const files = ['a.json', 'b.json', 'c.json', 'd.json'].map((name) => join(folder, name))
    const documents = readDocuments({ project: undefined, target: undefined, files })
    const lines = documents.flatMap(({ lints, positions }) => locateLints('', lints, positions).map(formatLint))
    assert.deepEqual(lines, [
      ':2:11: error: The JSON is not well-formed: unexpected character at line 2, column 11.',
      ':1:13: error: name: "name" occurs twice in one object, so the first value would be lost; merge the two or remove one.',
      `:1:1: error: There is no file ${join(folder, 'd.json')}.`,
    ])
  })
})

test('a document of a service stands for itself after its references are escaped', () => {
  const piece = fc.oneof(
    fc.constantFrom('$', '{', '}', 'value:', '${value:A}', '$${value:A}', '${env:A}', 'A'),
    fc.string(),
  )
  const text = fc.array(piece).map((pieces) => pieces.join(''))
  const { json } = fc.letrec<{ json: Json }>((tie) => ({
    json: fc.oneof(
      { depthSize: 'small' },
      text,
      fc.jsonValue().map((value): Json => JSON.parse(JSON.stringify(value))),
      fc.array(tie('json')),
      fc.dictionary(text, tie('json'), { noNullPrototype: true }),
    ),
  }))
  fc.assert(
    fc.property(json, (document) => {
      const lints: Lint[] = []
      const values = { values: { A: 'filled' }, missing: () => 'missing' }
      assert.deepEqual(fillValues(changeTexts(document, escapeValues), values, collectInto(lints)), document)
      assert.ok(lints.every(({ severity }) => severity === 'warning'))
    }),
    { numRuns: LONG ? 300 : 100 },
  )
})

describe('the place of a path', () => {
  const text = `{
  "name": "x",
  "requests": {
    "response": { "id": "a", "config": {} },
    "lookup": [
      { "id": "b" }, { "id": "c" }
    ]
  },
  "inputMapping": { "requestBody.a": "b", "[0]": 1, "": [[1, 2], []] }
}`
  const cases = {
    '': '1:1',
    name: '2:3',
    'requests.response[0].id': '4:19',
    'requests.response.id': '4:19',
    'requests.response[0].config.url': '4:30',
    'requests.lookup[1].id': '6:24',
    'requests.lookup[1].config.url': '6:22',
    'requests.lookup[7]': '5:5',
    'requests.lookup[7].id': '5:5',
    'inputMapping.requestBody\\.a': '9:21',
    'inputMapping.requestBody\\.b': '9:3',
    unknown: '1:1',
    'un\\.known[0].x': '1:1',
  }
  for (const [path, expected] of Object.entries(cases)) {
    test(path, () => {
      const { line, column } = createJsonPositions(text).of(path)
      assert.equal(`${line}:${column}`, expected)
    })
  }

  test('is that of every value of any text', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.boolean(), (value, isSpaced) => {
        const written = JSON.stringify(value, undefined, isSpaced ? 2 : 0)
        const positions = createJsonPositions(written)
        assert.equal(positions.fault(), undefined)
        const lines = written.split('\n')
        const check = (part: unknown, path: string) => {
          if (typeof part !== 'object' || part === null) return
          for (const [name, inner] of Object.entries(part)) {
            const own = documentPath(path, Array.isArray(part) ? Number(name) : name)
            const { line, column } = positions.of(own)
            const start = Array.isArray(part) ? JSON.stringify(inner).slice(0, 1) : `${JSON.stringify(name)}:`
            assert.ok(lines[line - 1]?.startsWith(start, column - 1), own)
            check(inner, own)
          }
        }
        // Two values may have one path: the names of members are free.
        if (!/\[|\\/.test(Object.keys(flat(value)).join(''))) check(value, '')
      }),
      { numRuns: LONG ? 300 : 100 },
    )
  })
})

/** Every name of a member, at any depth. */
function flat(value: unknown): Readonly<Record<string, true>> {
  if (typeof value !== 'object' || value === null) return {}
  const names = Array.isArray(value) ? [] : Object.keys(value)
  return Object.assign(Object.fromEntries(names.map((name) => [name, true])), ...Object.values(value).map(flat))
}
