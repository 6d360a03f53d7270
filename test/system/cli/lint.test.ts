/** `crosswalk lint`: the faults that registering would find, each at its line, in every form. */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import Ajv from 'ajv'
import addFormats from 'ajv-formats'
import { Terminal } from '../../../src/cli/command.ts'
import type { LintReport } from '../../../src/cli/lint.ts'
import { isObject, type Json, type JsonObject } from '../../../src/core/json.ts'
import { DOCUMENT, folderOf } from '../../support/cli/project/folder.ts'
import { type CommandOptions, runArguments, runCommand } from '../../support/cli/run-command.ts'
import fc from '../../support/fast-check.ts'
import { type Service, startService } from '../../support/service.ts'
import { freshFolder } from '../../support/spawned-service.ts'

const HEADERS = { authorization: 'Bearer abc' }
const WARNED = {
  ...DOCUMENT,
  requests: { lookup: [{ id: 'a', config: { method: 'GET', url: 'http://127.0.0.1/', headers: HEADERS } }] },
}

type Context = Parameters<typeof folderOf>[0]

type SarifResult = Readonly<{
  ruleId: string
  locations: readonly [Readonly<{ physicalLocation: Readonly<{ artifactLocation: JsonObject; region: JsonObject }> }>]
}>

const lintFiles = (files: readonly string[], options: CommandOptions = {}) =>
  runCommand('lint', files, { format: 'json', ...options })

async function lintText(context: Context, text: string): Promise<LintReport['findings']> {
  const { stdout } = await lintFiles([join(folderOf(context, { 'a.json': text }), 'a.json')])
  return (JSON.parse(stdout) as LintReport).findings
}

describe('lint', () => {
  const broken = `{
  "name": "Broken",
  "endpoint": { "pattern": "/b" },
  "transformation": { "input": "JSON", "output": "JSONS" },
  "inputMapping": {
    "requestBody.a": "a",
    "requestbody.b": "b"
  }
}`
  const files = {
    'crosswalk.json': {
      targets: {
        test: { url: 'http://127.0.0.1:1', values: { OUT: 'JSON' } },
        prod: { url: 'http://127.0.0.1:2', values: { OUT: 'YAML' } },
      },
    },
    'endpoints/a.json': DOCUMENT,
    'broken.json': broken,
    'clash.json': DOCUMENT,
    'warned.json': WARNED,
    'target.json': { ...DOCUMENT, transformation: { input: 'JSON', output: '${value:OUT}' } },
  }
  /** `without`: in a folder without any of the files. */
  type Case = readonly [
    name: string,
    args: readonly string[],
    code: number,
    stdout?: readonly string[],
    stderr?: RegExp,
    without?: boolean,
  ]
  const HEADER = 'warned.json:21:13: warning: requests.lookup[0].config.headers.authorization: '
  const cases: readonly Case[] = [
    ['the project', [], 0, [], /^1 document, 0 errors, 0 warnings\n$/],
    [
      'faults at their lines',
      ['broken.json'],
      1,
      [
        'broken.json:4:40: error: transformation.output: "transformation.output" must be one of ',
        'broken.json:7:5: error: inputMapping.requestbody\\.b: "requestbody" ',
      ],
    ],
    [
      'clashes among the files',
      ['endpoints', 'clash.json'],
      1,
      [
        'clash.json:2:3: error: name: endpoints/a.json has this name already; choose another one.',
        'clash.json:4:5: error: endpoint.pattern: "Greeting" (POST /greet) answers the same paths already; ',
      ],
    ],
    ['warnings', ['warned.json'], 0, [HEADER]],
    ['warnings as findings', ['--strict', 'warned.json'], 1, [HEADER]],
    [
      'every target',
      ['target.json'],
      1,
      ['target.json:8:5: error: transformation.output: "transformation.output" must be one of '],
      /1 error, /,
    ],
    ['one target', ['target.json', '--target', 'test'], 0],
    [
      'for GitHub',
      ['--format', 'github', 'warned.json'],
      0,
      ['::warning file=warned.json,line=21,col=13,title=requests.lookup[0].config.headers.authorization::'],
    ],
    ['an unknown target', ['--target', 'prd'], 3, [], /no target "prd".*did you mean "prod"/],
    ['an unknown file', ['none.json'], 3, [], /There is no file none\.json/],
    ['nothing', [], 3, [], /There is no crosswalk\.json here or above/, true],
  ]
  describe('says', () => {
    for (const [name, args, code, stdout = [], stderr = /documents?, /, without] of cases) {
      test(name, async (context) => {
        const folder = without ? freshFolder(context) : folderOf(context, files)
        const linted = await runArguments(['lint', ...args], { cwd: folder })
        assert.equal(linted.code, code, linted.stderr)
        const lines = linted.stdout.split('\n').slice(0, -1)
        assert.equal(lines.length, stdout.length, linted.stdout)
        for (const [index, line] of lines.entries()) assert.ok(line.startsWith(stdout[index] ?? ' '), line)
        assert.match(linted.stderr, stderr)
      })
    }
  })

  test('writes SARIF that its schema accepts', async (context) => {
    const folder = folderOf(context, { 'br oken.json': broken, 'b.json': '{' })
    const { stdout } = await lintFiles([folder], { format: 'sarif' })
    const log: { runs: [{ results: SarifResult[] }] } = JSON.parse(stdout)
    const schema = readFileSync(
      createRequire(import.meta.url).resolve('@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json'),
      'utf8',
    )
    // Draft-07 has `$id` in the place of this.
    const { id: _id, $schema: _schema, ...rules } = JSON.parse(schema)
    const ajv = new Ajv.default({ strict: false, unicodeRegExp: false })
    addFormats.default(ajv)
    assert.ok(ajv.validate(rules, log), JSON.stringify(ajv.errors))
    const { results } = log.runs[0]
    assert.equal(results.length, 3)
    assert.equal(results[1]?.ruleId, 'transformation')
    assert.match(
      String(results[1]?.locations[0].physicalLocation.artifactLocation.uri),
      /^file:\/\/\/.*\/br%20oken\.json$/,
    )
    assert.deepEqual(results[1]?.locations[0].physicalLocation.region, { startLine: 4, startColumn: 40 })
  })
})

test('lint takes any bytes', async (context) => {
  const folder = folderOf(context, {})
  const file = join(folder, 'a.json')
  const bytes = fc.oneof(
    fc.uint8Array(),
    fc.json().map((text) => Buffer.from(text)),
  )
  await fc.assert(
    fc.asyncProperty(bytes, async (content) => {
      writeFileSync(file, content)
      const { code, stdout } = await lintFiles([file])
      assert.equal(code, 1)
      assert.ok((JSON.parse(stdout) as LintReport).findings.every(({ line, column }) => line > 0 && column > 0))
    }),
    { numRuns: 200 },
  )
})

test('progress is reported at most once a second', () => {
  let now = 0
  let reported = ''
  const output = { write: (text: string) => (reported += text) }
  const progress = new Terminal({ env: {}, stdout: output, stderr: output }).progress('documents', () => now)
  for (const [at, done] of [
    [999, 1],
    [1_000, 2],
    [1_500, 3],
    [2_100, 4],
  ] as const) {
    now = at
    progress(done, 4)
  }
  assert.equal(reported, '2 of 4 documents\n4 of 4 documents\n')
})

describe('lint and POST', () => {
  let service: Service
  before(async () => {
    service = await startService()
  })
  after(() => service.stop())

  /** The faults and warnings of a registration; a document that was taken is removed again. */
  const registered = async (text: string): Promise<readonly string[]> => {
    const headers = { 'content-type': 'application/json' }
    const reply = await service.fetch('/endpoints', { method: 'POST', headers, body: text })
    if (reply.status === 201) {
      const deleted = await service.fetch(`/endpoints/${reply.json()._id}`, { method: 'DELETE' })
      assert.equal(deleted.status, 200)
      const warnings: JsonObject[] = JSON.parse(reply.headers.get('x-crosswalk-warnings') ?? '[]')
      // Only the service knows its secrets: offline, each counts as there.
      const known = warnings.filter(
        ({ message }) => !/^The secret ".*" (is not set|may not be used)/.test(`${message}`),
      )
      return known.map(({ path, message }) => `warning ${path}: ${message}`).sort()
    }
    assert.ok(reply.status >= 400 && reply.status < 500, reply.text)
    const { details, error } = reply.json<{ details?: JsonObject[]; error: string }>()
    return (details ?? [{ path: '', message: error }]).map(({ path, message }) => `error ${path}: ${message}`).sort()
  }

  const same = async (context: Context, text: string): Promise<number> => {
    const [posted, findings] = await Promise.all([registered(text), lintText(context, text)])
    const isRefused = findings.some(({ severity }) => severity === 'error')
    const linted = findings
      // A registration that is refused reports no warnings.
      .filter(({ severity }) => severity === 'error' || !isRefused)
      .map(({ severity, path, message }) => `${severity} ${path}: ${message}`)
      .sort()
    // The header counts the warnings that it has no room for.
    if (!posted.some((line) => /^warning : and \d+ more$/.test(line))) assert.deepEqual(linted, posted, text)
    return linted.length
  }

  const rich: JsonObject = JSON.parse(readFileSync(new URL('../../data/rich-document.json', import.meta.url), 'utf8'))
  const texts: readonly Readonly<{ name: string; text: string; faults: number }>[] = [
    { name: 'a sound one', text: JSON.stringify(DOCUMENT), faults: 0 },
    { name: 'broken JSON', text: '{ "name": }', faults: 1 },
    {
      name: 'too many mappings',
      text: JSON.stringify({
        ...DOCUMENT,
        inputMapping: Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`requestBody.a${n}`, `a${n}`])),
      }),
      faults: 1,
    },
    { name: 'fields of the service', text: JSON.stringify({ ...DOCUMENT, _id: 'x', __v: 3, createdAt: 1 }), faults: 0 },
    { name: 'a warning', text: JSON.stringify(WARNED), faults: 1 },
    {
      name: 'many faults',
      text: JSON.stringify({
        ...DOCUMENT,
        name: '',
        inputMapping: { a: 'b', 'requestBody.x': 1 },
        inputTransforms: { a: '(', b: 'c(' },
        inputValidation: { type: 'x' },
      }),
      faults: 7,
    },
  ]
  for (const { name, text, faults } of texts) {
    test(`agree on ${name}`, async (context) => {
      const count = await same(context, text)
      assert.ok(faults === 0 ? count === 0 : count > 0, String(count))
    })
  }

  test('agree on a rich document with anything changed', async (context) => {
    const paths = [...pathsOf(rich)]
    const value = fc.oneof(
      fc.constantFrom<Json>(null, '', 0, -1, true, [], {}, 'x', '${env:A}', '(', '[', '/:a/:a', 'a.b[', '$$', 'GET'),
      fc.jsonValue().map((one): Json => JSON.parse(JSON.stringify(one))),
    )
    const edit = fc.record({ at: fc.nat(paths.length - 1), value: fc.option(value, { nil: undefined }) })
    await fc.assert(
      fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 4 }), async (edits) => {
        const document = structuredClone(rich)
        for (const { at, value: given } of edits) change(document, paths[at] ?? [], given)
        await same(context, JSON.stringify(document))
      }),
      { numRuns: 300 },
    )
  })
})

function* pathsOf(value: Json, path: readonly string[] = []): Generator<readonly string[]> {
  if (path.length > 0) yield path
  if (typeof value !== 'object' || value === null) return
  for (const [name, inner] of Object.entries(value)) yield* pathsOf(inner, [...path, name])
}

/** Changes or removes the value at the path, if an earlier change left that there. */
function change(document: JsonObject, path: readonly string[], value: Json | undefined): void {
  let parent: Json | undefined = document
  for (const name of path.slice(0, -1)) parent = (parent as Record<string, Json> | undefined)?.[name]
  if (!isObject(parent) && !Array.isArray(parent)) return
  const target = parent as unknown as Record<string, Json>
  const last = path.at(-1) ?? ''
  if (value === undefined) delete target[last]
  else target[last] = value
}
