/** `crosswalk test`: which tests it finds, what it writes and prints, and its exit codes. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { SuiteResult } from '../../../src/cli/test.ts'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { readXml } from '../../../src/formats/xml-read.ts'
import { DOCUMENT, folderOf } from '../../support/cli/project/folder.ts'
import { type CommandOptions, runCommand } from '../../support/cli/run-command.ts'

type JsonReport = Readonly<{
  passed: number
  failed: number
  skipped: number
  untested: number
  files: readonly SuiteResult[]
}>

/** `cwd` is the working folder meanwhile. */
const runTests = (
  cwd: string,
  files: readonly string[] = [],
  options: CommandOptions = {},
  env: Record<string, string> = {},
) => runCommand('test', files, options, { cwd, env })

async function reportOf(
  cwd: string,
  files: readonly string[] = [],
  options: CommandOptions = {},
  env: Record<string, string> = {},
) {
  const { stdout, stderr, code } = await runTests(cwd, files, { ...options, json: true }, env)
  assert.notEqual(stdout, '', stderr)
  return { ...(JSON.parse(stdout) as JsonReport), code, stderr }
}

const greets = (name: string, hello = name): JsonObject => ({
  name: `greets ${name}`,
  given: { message: { body: { name } } },
  expect: { answer: { body: { hello } } },
})
const SNAPSHOT: JsonObject = { name: 'kept', given: { message: { body: { name: 'Ann' } } }, expect: { snapshot: true } }

test('a table that the project lacks is the first fault of a test', async (t) => {
  const entry = { key: 'hello', transform: { function: 'table', parameters: { table: 'units' } } }
  const folder = folderOf(t, {
    'crosswalk.json': {},
    'endpoints/a.json': { ...DOCUMENT, inputMapping: { 'requestBody.name': entry } },
    'endpoints/a.tests.json': { tests: [greets('Ann')] },
  })
  const { stdout } = await runTests(folder)
  assert.match(stdout, /greets Ann\n.*There is no table "units"; .*add tables\/units\.csv, or run crosswalk pull/)
})

describe('the tests that are run', () => {
  const tests = { tests: [greets('Ann')] }
  const files: Readonly<Record<string, Json>> = {
    'a.json': DOCUMENT,
    'a.tests.json': tests,
    'sub/b.json': { ...DOCUMENT, name: 'B' },
    'sub/b.tests.json': tests,
    'sub/c.json': { ...DOCUMENT, name: 'C' },
    'other.tests.json': { endpoint: 'Greeting', ...tests },
    'node_modules/x/x.json': DOCUMENT,
    'node_modules/x/x.tests.json': tests,
  }
  const project = { 'crosswalk.json': { endpoints: ['sub/*.json'] } }
  const all = ['a.tests.json', 'other.tests.json', 'sub/b.tests.json']
  const cases: readonly (readonly [
    name: string,
    given: string[],
    runs: string[],
    untested: number,
    more?: typeof project,
  ])[] = [
    ['all of the folder', [], all, 1],
    ['of a folder', ['sub'], ['sub/b.tests.json'], 1],
    ['of a document', ['a.json'], ['a.tests.json'], 0],
    ['of a file', ['other.tests.json'], ['other.tests.json'], 0],
    ['of a project', [], ['sub/b.tests.json'], 1, project],
  ]
  for (const [name, given, runs, untested, more] of cases) {
    test(name, async (context) => {
      const report = await reportOf(folderOf(context, { ...files, ...more }), given)
      const shown = report.files.map(({ file }) => file)
      assert.deepEqual(shown, runs)
      assert.deepEqual([report.passed, report.untested, report.code], [runs.length, untested, 0])
    })
  }

  const impossible: readonly (readonly [
    RegExp,
    given: string[],
    options?: CommandOptions,
    more?: Record<string, Json>,
  ])[] = [
    [/There is no file no\.json/, ['no.json']],
    [/sub\/c\.json has no tests; write them to sub\/c\.tests\.json/, ['sub/c.json']],
    [/No test has a name with "Bob"/, [], { filter: 'Bob' }],
    [/no\/such\/folder\.xml cannot be written: its folder does not exist\./, [], { junit: 'no/such/folder.xml' }],
    [/crosswalk\.json:1|did you mean "endpoints"/, [], {}, { 'crosswalk.json': { endpoint: [] } }],
    [/a\.tests\.json has no tests\./, ['a.json'], {}, { 'a.tests.json': { tests: [] } }],
    [/holds no snapshots/, ['a.json'], {}, { 'a.tests.json': { tests: [SNAPSHOT] }, 'a.snapshots.json': [] }],
  ]
  for (const [message, given, options, more] of impossible) {
    test(`${message.source} ends with 3`, async (context) => {
      const { code, stderr } = await runTests(folderOf(context, { ...files, ...more }), given, options)
      assert.equal(code, 3, stderr)
      assert.match(stderr, message)
    })
  }

  test('only those that the filter names', async (context) => {
    const folder = folderOf(context, { 'a.json': DOCUMENT, 'a.tests.json': { tests: [greets('Ann'), greets('Bob')] } })
    const report = await reportOf(folder, [], { filter: 'GREETS B' })
    assert.deepEqual(
      report.files.flatMap((file) => file.report?.tests.map((one) => one.name)),
      ['greets Bob'],
    )
  })

  test('with the values of a target', async (context) => {
    const folder = folderOf(context, {
      'crosswalk.json': {
        targets: {
          test: { url: 'http://t', values: { WORD: 'hi' } },
          prod: { url: 'http://p', values: { WORD: 'ho' } },
        },
      },
      'endpoints/a.json': {
        ...DOCUMENT,
        constants: { word: '${value:WORD}' },
        inputMapping: { 'constants.word': 'hello' },
      },
      'endpoints/a.tests.json': { tests: [greets('Ann', 'ho')] },
    })
    assert.equal((await reportOf(folder, [], { target: 'prod' })).code, 0)
    assert.equal((await reportOf(folder, [], { target: 'test' })).code, 1)
    assert.match((await reportOf(folder)).files[0]?.lints[0]?.message ?? '', /value of the target/)
  })
})

describe('faults', () => {
  const good = { 'a.json': DOCUMENT, 'a.tests.json': { tests: [greets('Ann')] } }
  const cases: readonly (readonly [name: string, files: Record<string, Json>, place: string, message: RegExp])[] = [
    [
      'of the tests',
      { ...good, 'a.tests.json': '{\n  "tests": [\n    { "name": "a", "expct": {} }\n  ]\n}' },
      'a.tests.json:3:20',
      /did you mean "expect"/,
    ],
    [
      'of the document',
      { ...good, 'a.json': { ...DOCUMENT, inputTransforms: { a: '$(' } } },
      'a.json:14:5',
      /inputTransforms|Syntax|Expected/,
    ],
    ['without a document', { 'a.tests.json': { tests: [] } }, 'a.tests.json:1:1', /no document a\.json beside/],
    [
      'of an unknown endpoint',
      { 'b.json': DOCUMENT, 'a.tests.json': { endpoint: 'Greting', tests: [] } },
      'a.tests.json:2',
      /did you mean "Greeting"/,
    ],
  ]
  for (const [name, files, place, message] of cases) {
    test(`${name} are shown at their place and end with 1`, async (context) => {
      const { code, stdout } = await runTests(folderOf(context, files))
      assert.deepEqual([code, stdout.includes(place)], [1, true], stdout)
      assert.match(stdout, message)
    })
  }
})

describe('the limits of a service', () => {
  const lookup = [{ id: 'patient', config: { method: 'GET', url: 'http://127.0.0.1:1/' } }]
  const one = greets('Ann')
  const given = { ...(one.given as JsonObject), lookups: { patient: { body: { name: 'Ann of the north' } } } }
  const files = { 'a.json': { ...DOCUMENT, requests: { lookup } }, 'a.tests.json': { tests: [{ ...one, given }] } }
  const cases: readonly (readonly [env: Record<string, string>, code: number, says: RegExp])[] = [
    [{ PARSER_LIMIT: '1kb', ANSWER_LIMIT: '1kb', DOCUMENT_LIMIT: '1kb' }, 0, /1 passed/],
    [{ PARSER_LIMIT: '10' }, 1, /The message failed: The body has \d+ bytes; PARSER_LIMIT is 10\./],
    [{ ANSWER_LIMIT: '20' }, 1, /The message failed: [^\n]*larger than the limit of 20 bytes/],
    [{ DOCUMENT_LIMIT: '100' }, 1, /a\.json:1:1: error: The endpoint document has \d+ bytes, and 100 is the most/],
  ]
  for (const [env, code, says] of cases) {
    test(`hold: ${JSON.stringify(env)} ends with ${code}`, async (context) => {
      const ran = await runTests(folderOf(context, files), [], {}, env)
      assert.match(ran.stdout, says, ran.stderr)
      assert.equal(ran.code, code)
    })
  }
})

describe('$file', () => {
  const xml: JsonObject = { ...DOCUMENT, transformation: { input: 'XML', output: 'JSON' } }
  const tests = (name: string) => ({
    tests: [
      {
        name: 'a',
        given: { message: { body: { $file: name } } },
        expect: { answer: { body: { $file: 'answer.json' } } },
      },
    ],
  })

  test('gives the text of a message and the value of an answer', async (context) => {
    const folder = folderOf(context, {
      'e/a.json': xml,
      'e/a.tests.json': tests('../m/a.xml'),
      'm/a.xml': '<a><name>Ann</name></a>',
      'e/answer.json': { hello: 'Ann' },
    })
    assert.equal((await reportOf(folder)).passed, 1)
  })

  test('does not read what is not below the folder, or no file', async (context) => {
    const outer = folderOf(context, {
      'outside.xml': '<a><name>canary</name></a>',
      'project/a.json': xml,
      'project/answer.json': { hello: 'canary' },
      'project/large.xml': `<a>${' '.repeat(1_048_577)}</a>`,
    })
    const folder = join(outer, 'project')
    symlinkSync('../outside.xml', join(folder, 'link.xml'))
    symlinkSync('..', join(folder, 'up'))
    for (const [file, message] of [
      ['../outside.xml', /outside of the project folder/],
      ['/etc/hostname', /relative to the tests/],
      ['link.xml', /outside of the project folder/],
      ['up/outside.xml', /outside of the project folder/],
      ['no.xml', /There is no file no\.xml/],
      ['.', /cannot be used|outside/],
      [1, /takes the path of a file/],
      ['', /relative to the tests/],
      ['large.xml', /more than 1,048,576 bytes/],
    ] as const) {
      writeFileSync(join(folder, 'a.tests.json'), JSON.stringify(tests(file as string)))
      const { code, stdout } = await runTests(folder)
      assert.equal(code, 1)
      assert.match(stdout, message)
      assert.ok(!stdout.includes('canary<'))
    }
  })
})

describe('snapshots', () => {
  const files = { 'a.json': DOCUMENT, 'a.tests.json': { tests: [SNAPSHOT, { ...SNAPSHOT, name: 'second' }] } }
  const snapshotsIn = (folder: string): JsonObject => JSON.parse(readFileSync(join(folder, 'a.snapshots.json'), 'utf8'))
  const changed = { ...DOCUMENT, inputMapping: { 'requestBody.name': 'hi' } }

  test('that are missing are written', async (context) => {
    const folder = folderOf(context, files)
    const {
      files: [result],
      code,
    } = await reportOf(folder)
    assert.equal(code, 0)
    assert.deepEqual(result?.snapshots, [
      { test: 'kept', step: 0 },
      { test: 'second', step: 0 },
    ])
    assert.deepEqual(Object.keys(snapshotsIn(folder)), ['kept', 'second'])
    assert.deepEqual((await reportOf(folder)).files[0]?.snapshots, [])
  })

  test('that are missing fail under CI=true', async (context) => {
    const folder = folderOf(context, files)
    const { code } = await reportOf(folder, [], {}, { CI: 'true' })
    assert.equal(code, 1)
    assert.ok(!existsSync(join(folder, 'a.snapshots.json')))
  })

  test('that differ fail, and are replaced and shown by --update', async (context) => {
    const folder = folderOf(context, files)
    await runTests(folder)
    const before = readFileSync(join(folder, 'a.snapshots.json'), 'utf8')
    writeFileSync(join(folder, 'a.json'), JSON.stringify(changed))
    assert.equal((await runTests(folder)).code, 1)
    assert.equal(readFileSync(join(folder, 'a.snapshots.json'), 'utf8'), before)
    const { code, stdout } = await runTests(folder, [], { update: true })
    assert.equal(code, 0)
    assert.match(
      stdout,
      /snapshot replaced: kept\n {4}\/expect\/snapshot\/answer\/body\/hello: There is no value\.\n {6}expected: "Ann"/,
    )
    assert.match(JSON.stringify(snapshotsIn(folder)), /"hi":"Ann"/)
    assert.equal((await runTests(folder, [], {}, { CI: 'true' })).code, 0)
  })

  test('of tests that are gone are removed by --update, but not with a filter', async (context) => {
    const folder = folderOf(context, files)
    await runTests(folder)
    writeFileSync(join(folder, 'a.tests.json'), JSON.stringify({ tests: [SNAPSHOT] }))
    await runTests(folder, [], { update: true, filter: 'kept' })
    assert.deepEqual(Object.keys(snapshotsIn(folder)), ['kept', 'second'])
    await runTests(folder, [], { update: true })
    assert.deepEqual(Object.keys(snapshotsIn(folder)), ['kept'])
  })
})

test('tests that run too little of a document fail with --min-coverage, and show what they miss', async (context) => {
  const inputMapping = { 'requestBody.name': 'hello', 'requestBody.other': 'other' }
  const folder = folderOf(context, {
    'a.json': { ...DOCUMENT, inputMapping },
    'a.tests.json': { tests: [greets('Ann')] },
  })
  const { code, stdout } = await runTests(folder, [], { minCoverage: '60' })
  assert.equal(code, 1)
  assert.match(stdout, /coverage: 50 % of 4, too low; no test runs:\n {4}entry inputMapping\.requestBody\\\.other\n/)
  assert.equal((await runTests(folder, [], { minCoverage: '50' })).code, 0)
  writeFileSync(join(folder, 'b.json'), JSON.stringify({ ...DOCUMENT, name: 'Other', endpoint: { pattern: '/b' } }))
  const untested = await runTests(folder, [], { minCoverage: '50' })
  assert.deepEqual([untested.code, untested.stderr.trimEnd().split('\n').at(-1)], [1, 'b.json: no tests'])
})

describe('reports', () => {
  const files = {
    'a.json': DOCUMENT,
    'a.tests.json': {
      tests: [
        greets('Ann'),
        greets('Bob & <Eve>', 'x'),
        { name: 'later', skip: 'not yet', expect: { outcome: 'done' } },
      ],
    },
    'b.json': DOCUMENT,
    'b.tests.json': '{',
  }

  test('as text', async (context) => {
    const { code, stdout, stderr } = await runTests(folderOf(context, files))
    assert.equal(code, 1)
    assert.match(stdout, /^a\.tests\.json: 1 passed, 1 failed, 1 skipped\n/)
    assert.match(
      stdout,
      / {2}failed: greets Bob & <Eve>\n {4}\/expect\/answer\/body\/hello: The value differs\.\n {6}expected: "x"\n {6}actual: {3}"Bob & <Eve>"\n/,
    )
    assert.match(stdout, / {2}skipped: later \(not yet\)\n/)
    assert.match(stdout, /b\.tests\.json: did not run\n/)
    assert.equal(stderr, '1 passed, 2 failed, 1 skipped\n')
  })

  test('as JUnit XML', async (context) => {
    const folder = folderOf(context, files)
    await runTests(folder, [], { junit: 'junit.xml' })
    const form = { trim: false, explicitRoot: true, explicitArray: true }
    const { testsuites } = readXml(readFileSync(join(folder, 'junit.xml')), undefined, form) as {
      testsuites: JsonObject
    }
    assert.deepEqual(testsuites.$, { tests: '4', failures: '2', skipped: '1' })
    const names = (testsuites.testsuite as JsonObject[]).map(({ $, testcase }) => [
      ($ as JsonObject).name,
      (testcase as JsonObject[]).map((one) => Object.keys(one).at(-1)),
    ])
    assert.deepEqual(names, [
      ['a.tests.json', ['$', 'failure', 'skipped']],
      ['b.tests.json', ['failure']],
    ])
  })
})
