/** `crosswalk test`: which tests it finds, what it writes and prints, and its exit codes. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { runTestCommand } from '../../../src/cli/test/run-test-command.ts'
import type { SuiteResult, TestOptions } from '../../../src/cli/test/test-options.ts'
import type { Json, JsonObject } from '../../../src/domain/json.ts'
import { readXml } from '../../../src/formats/xml-read.ts'
import { DOCUMENT, folderOf } from '../../support/cli/project/folder.ts'
import { startProgram } from '../../support/spawned-service.ts'
import { until } from '../../support/until.ts'
import { MATCHER_CASES } from '../document-tests/matcher-table.ts'
import { casesAsFiles } from '../document-tests/matcher-tests.ts'

type JsonReport = Readonly<{
  passed: number
  failed: number
  skipped: number
  untested: number
  files: readonly SuiteResult[]
}>

/** In this process; `cwd` is the working folder meanwhile. */
async function runTests(
  cwd: string,
  files: readonly string[] = [],
  options: TestOptions = {},
  env: Record<string, string> = {},
) {
  let stdout = ''
  let stderr = ''
  const before = process.cwd()
  process.chdir(cwd)
  try {
    const code = await runTestCommand(files, options, {
      env,
      stdout: { write: (text) => (stdout += text) },
      stderr: { write: (text) => (stderr += text) },
    })
    return { code, stdout, stderr }
  } finally {
    process.chdir(before)
  }
}

async function reportOf(
  cwd: string,
  files: readonly string[] = [],
  options: TestOptions = {},
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
  const cases: readonly Readonly<{
    name: string
    given?: string[]
    more?: Record<string, Json>
    runs: string[]
    untested: number
  }>[] = [
    { name: 'all of the folder', runs: ['a.tests.json', 'other.tests.json', 'sub/b.tests.json'], untested: 1 },
    { name: 'of a folder', given: ['sub'], runs: ['sub/b.tests.json'], untested: 1 },
    { name: 'of a document', given: ['a.json'], runs: ['a.tests.json'], untested: 0 },
    { name: 'of a file', given: ['other.tests.json'], runs: ['other.tests.json'], untested: 0 },
    {
      name: 'once if named twice',
      given: ['a.json', 'a.tests.json', '.'],
      runs: ['a.tests.json', 'other.tests.json', 'sub/b.tests.json'],
      untested: 1,
    },
    {
      name: 'of a project',
      more: { 'crosswalk.json': { endpoints: ['sub/*.json'] } },
      runs: ['sub/b.tests.json'],
      untested: 1,
    },
  ]
  for (const { name, given, more = {}, runs, untested } of cases) {
    test(name, async (context) => {
      const report = await reportOf(folderOf(context, { ...files, ...more }), given)
      assert.deepEqual(
        report.files.map(({ file }) => file),
        runs,
      )
      assert.equal(report.passed, runs.length)
      assert.equal(report.untested, untested)
      assert.equal(report.code, 0)
    })
  }

  const impossible: readonly (readonly [
    name: string,
    files: Record<string, Json>,
    given: string[],
    options: TestOptions,
    message: RegExp,
  ])[] = [
    ['a file that is not there', files, ['no.json'], {}, /There is no file no\.json/],
    [
      'a document without tests',
      files,
      ['sub/c.json'],
      {},
      /sub\/c\.json has no tests; write them to sub\/c\.tests\.json/,
    ],
    ['no tests at all', { 'a.json': DOCUMENT }, [], {}, /There are no tests/],
    [
      'files without a test',
      { 'a.json': DOCUMENT, 'a.tests.json': { tests: [] } },
      [],
      {},
      /a\.tests\.json has no tests\./,
    ],
    ['a filter that no test passes', files, [], { filter: 'Bob' }, /No test has a name with "Bob"/],
    ['a target that does not exist', files, [], { target: 'prod' }, /There is no target "prod"/],
    [
      'a file for JUnit that cannot be written',
      files,
      [],
      { junit: 'no/such/folder.xml' },
      /no\/such\/folder\.xml cannot be written: its folder does not exist\./,
    ],
    [
      'a project with faults',
      { ...files, 'crosswalk.json': { endpoint: [] } },
      [],
      {},
      /crosswalk\.json:1|did you mean "endpoints"/,
    ],
    [
      'snapshots that are none',
      { ...files, 'a.tests.json': { tests: [SNAPSHOT] }, 'a.snapshots.json': [] },
      ['a.json'],
      {},
      /holds no snapshots/,
    ],
  ]
  for (const [name, own, given, options, message] of impossible) {
    test(`${name} ends with 3`, async (context) => {
      const { code, stderr } = await runTests(folderOf(context, own), given, options)
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
  const cases: readonly (readonly [name: string, files: Record<string, Json>, file: string, message: RegExp])[] = [
    [
      'of the tests',
      { 'a.json': DOCUMENT, 'a.tests.json': '{\n  "tests": [\n    { "name": "a", "expct": {} }\n  ]\n}' },
      'a.tests.json:3:20',
      /did you mean "expect"/,
    ],
    [
      'of the document',
      { 'a.json': { ...DOCUMENT, inputTransforms: { a: '$(' } }, 'a.tests.json': { tests: [greets('Ann')] } },
      'a.json:14:5',
      /inputTransforms|Syntax|Expected/,
    ],
    [
      'of a document without tests that is no JSON',
      { 'a.json': DOCUMENT, 'a.tests.json': { tests: [greets('Ann')] }, 'b.json': '{"name":' },
      'b.json:1:9: error: ',
      /1 passed[\s\S]*The JSON ends/,
    ],
    ['of text that is no JSON', { 'a.json': DOCUMENT, 'a.tests.json': '{"tests": [}' }, 'a.tests.json:1:12', /JSON/],
    [
      'of repeated names',
      { 'a.json': DOCUMENT, 'a.tests.json': '{"tests": [], "tests": []}' },
      'a.tests.json:1',
      /stands twice/,
    ],
    [
      'of tests without a document',
      { 'a.tests.json': { tests: [] } },
      'a.tests.json:1:1',
      /no document a\.json beside/,
    ],
    [
      'of an unknown endpoint',
      { 'b.json': DOCUMENT, 'a.tests.json': { endpoint: 'Greting', tests: [] } },
      'a.tests.json:2',
      /did you mean "Greeting"/,
    ],
  ]
  for (const [name, files, file, message] of cases) {
    test(`${name} are shown at their place and end with 1`, async (context) => {
      const { code, stdout } = await runTests(folderOf(context, files))
      assert.equal(code, 1)
      assert.ok(stdout.includes(`${file}`), stdout)
      assert.match(stdout, message)
    })
  }
})

describe('limits of the service hold', () => {
  const asks = {
    ...DOCUMENT,
    requests: { lookup: [{ id: 'patient', config: { method: 'GET', url: 'http://127.0.0.1:1/' } }] },
  }
  const files = {
    'a.json': asks,
    'a.tests.json': {
      tests: [
        {
          name: 'greets Ann',
          given: { message: { body: { name: 'Ann' } }, lookups: { patient: { body: { name: 'Ann of the north' } } } },
          expect: { answer: { body: { hello: 'Ann' } } },
        },
      ],
    },
  }
  const cases: readonly (readonly [env: Record<string, string>, says: RegExp])[] = [
    [{}, /1 passed/],
    [{ PARSER_LIMIT: '10' }, /The message failed: The body has \d+ bytes; PARSER_LIMIT is 10\./],
    [{ ANSWER_LIMIT: '20' }, /The message failed: [^\n]*larger than the limit of 20 bytes/],
    [{ DOCUMENT_LIMIT: '100' }, /a\.json:1:1: error: The endpoint document has \d+ bytes, and 100 is the most/],
    [{ PARSER_LIMIT: '1kb', ANSWER_LIMIT: '1kb', DOCUMENT_LIMIT: '1kb' }, /1 passed/],
  ]
  for (const [env, says] of cases) {
    test(JSON.stringify(env), async (context) => {
      const { code, stdout, stderr } = await runTests(folderOf(context, files), [], {}, env)
      assert.match(stdout, says, stderr)
      assert.equal(code, says.source === '1 passed' ? 0 : 1)
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

  const refused: readonly (readonly [name: string, file: Json, message: RegExp])[] = [
    ['a path out of the folder', '../outside.xml', /outside of the project folder/],
    ['an absolute path', '/etc/hostname', /relative to the tests/],
    ['a link out of the folder', 'link.xml', /outside of the project folder/],
    ['a link of a folder out of the folder', 'up/outside.xml', /outside of the project folder/],
    ['a file that is not there', 'no.xml', /There is no file no\.xml/],
    ['a folder', '.', /cannot be used|outside/],
    ['no path', 1, /takes the path of a file/],
    ['an empty path', '', /relative to the tests/],
    ['a file that is too large', 'large.xml', /more than 1,048,576 bytes/],
  ]
  for (const [name, file, message] of refused) {
    test(`does not read ${name}`, async (context) => {
      const outer = folderOf(context, {
        'outside.xml': '<a><name>canary</name></a>',
        'project/a.json': xml,
        'project/answer.json': { hello: 'canary' },
        'project/large.xml': `<a>${' '.repeat(1_048_577)}</a>`,
      })
      const folder = join(outer, 'project')
      symlinkSync('../outside.xml', join(folder, 'link.xml'))
      symlinkSync('..', join(folder, 'up'))
      writeFileSync(join(folder, 'a.tests.json'), JSON.stringify(tests(file as string)))
      const { code, stdout } = await runTests(folder)
      assert.equal(code, 1)
      assert.match(stdout, message)
      assert.ok(!stdout.includes('canary<'))
    })
  }
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

  test('of steps are one list', async (context) => {
    const { name: _name, ...step } = SNAPSHOT
    const steps = [step, { given: step.given, expect: { outcome: 'done' } }, step] as Json[]
    const folder = folderOf(context, { 'a.json': DOCUMENT, 'a.tests.json': { tests: [{ name: 'kept', steps }] } })
    assert.equal((await runTests(folder)).code, 0)
    const { kept } = snapshotsIn(folder)
    assert.deepEqual(
      (kept as Json[]).map((one) => one === null),
      [false, true, false],
    )
    assert.equal((await runTests(folder, [], {}, { CI: 'true' })).code, 0)
    rmSync(join(folder, 'a.snapshots.json'))
    assert.equal((await runTests(folder, [], {}, { CI: 'true' })).code, 1)
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

test('coverage lists what no test runs, and writes no snapshots', async (context) => {
  const inputMapping = { 'requestBody.name': 'hello', 'requestBody.other': 'other' }
  const folder = folderOf(context, {
    'a.json': { ...DOCUMENT, inputMapping },
    'a.tests.json': { tests: [greets('Ann')] },
    'b.json': { ...DOCUMENT, name: 'Other' },
  })
  const { code, stdout, stderr } = await runTests(folder, [], { coverage: true })
  assert.equal(code, 0)
  assert.match(stdout, /coverage: 50 % of 4; no test runs:\n {4}entry inputMapping\.requestBody\\\.other\n/)
  assert.match(stderr, /^b\.json: no tests$/m)
  const all = await reportOf(folder, [], { coverage: true })
  assert.equal(all.files[0]?.report?.coverage?.percent, 50)
  writeFileSync(
    join(folder, 'a.tests.json'),
    JSON.stringify({ tests: [{ ...greets('Ann'), expect: { snapshot: true } }] }),
  )
  assert.equal((await runTests(folder, [], { coverage: true })).code, 1)
  assert.equal(existsSync(join(folder, 'a.snapshots.json')), false)
})

describe('the program', () => {
  test('runs the tests again when a file changes, with --watch', async (context) => {
    const folder = folderOf(context, { 'a.json': DOCUMENT, 'a.tests.json': { tests: [greets('Ann')] } })
    const program = startProgram(folder, { args: ['test', '--watch'] })
    await until(
      () => program.output.stdout,
      (text) => text.includes('1 passed, 0 failed'),
    )
    writeFileSync(join(folder, 'a.tests.json'), '{')
    await until(
      () => program.output.stdout,
      (text) => text.includes('did not run'),
    )
    writeFileSync(join(folder, 'a.tests.json'), JSON.stringify({ tests: [greets('Ann', 'x')] }))
    await until(
      () => program.output.stdout,
      (text) => text.includes('0 passed, 1 failed'),
    )
    program.child.kill('SIGTERM')
    await program.ended
  })

  test('runs the tests that compare saves', async (context) => {
    const transaction = {
      _id: 'abc',
      request: {
        path: '/greet',
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"name":"Ada"}',
        timestamp: '2026-01-01T00:00:00.000Z',
      },
      response: { status: 200, headers: { 'content-type': 'application/json' }, body: '{"hello":"Ada"}', timestamp: 0 },
      orchestrations: [],
    }
    const other = { ...transaction, _id: 'def', response: { ...transaction.response, body: '{"hello":"Eve"}' } }
    const folder = folderOf(context, { 'documents/d.json': DOCUMENT, 'transactions.json': [transaction, other] })
    const args = ['compare', '--openhim', 'transactions.json', '--endpoints', 'documents', '--save-tests', 'documents']
    const compared = startProgram(folder, { args })
    assert.deepEqual((await compared.ended).code, 2, compared.output.stderr)
    const tested = startProgram(folder, { args: ['test', 'documents'] })
    assert.equal((await tested.ended).code, 1, tested.output.stderr)
    assert.match(
      tested.output.stdout,
      /^documents\/greeting\.tests\.json: 1 passed, 1 failed\n {2}failed: transaction def\n/,
    )
  })
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
      / {2}failed: greets Bob & <Eve>\n {4}\/expect\/answer\/body\/hello: The value is another one\.\n {6}expected: "x"\n {6}actual: {3}"Bob & <Eve>"\n/,
    )
    assert.match(stdout, / {2}skipped: later \(not yet\)\n/)
    assert.match(stdout, /b\.tests\.json: did not run\n/)
    assert.equal(stderr, '1 passed, 2 failed, 1 skipped\n')
  })

  test('as JSON and nothing else', async (context) => {
    const { passed, failed, skipped, files: results } = await reportOf(folderOf(context, files))
    assert.deepEqual({ passed, failed, skipped }, { passed: 1, failed: 2, skipped: 1 })
    assert.deepEqual(
      results.map(({ report }) => report?.ran),
      [true, undefined],
    )
  })

  for (const given of [[], ['x.json']]) {
    for (const options of [{}, { coverage: true }] as readonly TestOptions[]) {
      test(`name an unreadable document alone: ${JSON.stringify([given, options])}`, async (context) => {
        const { code, stdout } = await runTests(folderOf(context, { 'x.json': '{bad' }), given, options)
        assert.equal(code, 1)
        assert.match(stdout, /x\.json: did not run\n.*JSON/s)
      })
    }
  }

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

  test('the truth table of the matchers has the same verdicts as over HTTP', async (context) => {
    const tables = casesAsFiles()
    const folder = folderOf(
      context,
      Object.fromEntries(
        tables.flatMap((file, n) => [
          [`t${n}.json`, { ...DOCUMENT, name: `T${n}`, inputMapping: {} }],
          [`t${n}.tests.json`, file as Json],
        ]),
      ),
    )
    const report = await reportOf(folder)
    assert.deepEqual(
      report.files.flatMap((file) => file.report?.tests.map(({ verdict }) => verdict === 'passed')),
      MATCHER_CASES.map(([, , isMatch]) => isMatch),
    )
  })
})
