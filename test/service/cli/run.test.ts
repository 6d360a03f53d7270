/** `crosswalk run`: one message through a document, with what it prints and sends. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { runOnce } from '../../../src/cli/run/run-message.ts'
import type { RunArguments } from '../../../src/cli/run/run-options.ts'
import { folderOf } from '../../support/cli/project/folder.ts'
import { startUpstream, type Upstream } from '../../support/service.ts'
import { DIRECT, startProgram } from '../../support/spawned-service.ts'
import { until } from '../../support/until.ts'

type Context = Parameters<typeof folderOf>[0]
type Given = Partial<RunArguments>

const lookup = (url: string, changes = {}) => ({ id: 'patient', config: { method: 'GET', url, ...changes } })

const files = (url = 'http://127.0.0.1:1/patients') => ({
  'greet.json': {
    name: 'Greeting',
    endpoint: { pattern: '/greet/:place' },
    transformation: { input: 'JSON', output: 'JSON' },
    inputValidation: { properties: { requestBody: { properties: { name: { type: 'string' } } } } },
    inputTransforms: { upper: '$uppercase(requestBody.name)' },
    inputMapping: {
      'transforms.upper': 'hello',
      'query.times': 'times',
      'urlParams.place': 'place',
      'requestHeaders.x-from': 'from',
    },
  },
  'lookup.json': {
    name: 'Lookup',
    endpoint: { pattern: '/lookup' },
    transformation: { input: 'JSON', output: 'JSON' },
    requests: { lookup: [lookup(url, { headers: { authorization: 'Bearer ${env:CROSSWALK_SECRET_TOKEN}' } })] },
    inputMapping: { 'lookupRequests.patient.data.name': 'name', 'state.responseBody.last': 'last' },
    state: { extract: { responseBody: { last: 'name' } } },
  },
  'send.json': {
    name: 'Send',
    endpoint: { pattern: '/send' },
    transformation: { input: 'JSON', output: 'JSON' },
    requests: { response: [{ id: 'target', config: { method: 'POST', url } }] },
    inputMapping: { 'requestBody.name': 'name' },
  },
  'xml.json': {
    name: 'Xml',
    endpoint: { pattern: '/xml' },
    transformation: { input: 'XML', output: 'JSON' },
    inputMapping: { 'requestBody.id': 'id' },
  },
  'broken.json': '{\n  "name": "Broken",\n  "endpoints": {} }',
  'array.json': [],
  'input.json': { name: 'ada' },
  'number.json': { name: 1 },
  'malformed.json': '{ "name": "ada",\n}',
  'input.xml': '<order><id>17</id></order>',
  'patient.json': { name: 'Ada' },
  'state.json': { responseBody: { last: 'Eve' } },
})

type Case = Readonly<{
  name: string
  document: string
  given?: Given
  env?: Readonly<Record<string, string>>
  code: number
  stdout: string | RegExp
  stderr?: RegExp
}>

const CASES: readonly Case[] = [
  {
    name: 'prints the answer',
    document: 'greet.json',
    given: { input: 'input.json', query: ['times=1', 'times=2'], param: ['place=north'], header: ['X-From: a:b'] },
    code: 0,
    stdout: '{"hello":"ADA","times":["1","2"],"place":"north","from":"a:b"}\n',
    stderr: /^$/,
  },
  {
    name: 'prints the value after a stage',
    document: 'greet.json',
    given: { input: 'input.json', stage: 'transform' },
    code: 0,
    stdout: '{\n  "upper": "ADA"\n}\n',
  },
  {
    name: 'says why a message fails, at its place',
    document: 'greet.json',
    given: { input: 'number.json' },
    code: 1,
    stdout: '',
    stderr:
      /^\S*greet\.json:15:13: error: inputValidation\.properties\.requestBody\.properties\.name\.type: VALIDATION_FAILED: [^\n]+\n {2}\S*name\S*: [^\n]+\n$/,
  },
  {
    name: 'prints the value of a stage before the failure',
    document: 'greet.json',
    given: { input: 'number.json', stage: 'parse' },
    code: 1,
    stdout: '{\n  "name": 1\n}\n',
    stderr: /VALIDATION_FAILED/,
  },
  { name: 'reads XML', document: 'xml.json', given: { input: 'input.xml' }, code: 0, stdout: '{"id":"17"}\n' },
  {
    name: 'says which answer is missing',
    document: 'lookup.json',
    given: { input: 'input.json' },
    code: 1,
    stdout: '',
    stderr: /^lookup patient: GET \S+ \(missing\)\nGive the answer with --lookup patient=FILE.*\n$/,
  },
  {
    name: 'takes an answer and a state',
    document: 'lookup.json',
    given: { input: 'input.json', lookup: ['patient=patient.json'], state: 'state.json' },
    code: 0,
    stdout: '{"name":"Ada","last":"Eve"}\n',
    stderr: /^lookup patient: GET \S+ 200 \(canned\)\n$/,
  },
  {
    name: 'takes an answer with a status',
    document: 'lookup.json',
    given: { input: 'input.json', lookup: ['patient=404:patient.json'] },
    code: 1,
    stdout: '',
    stderr: /LOOKUP_REFUSED/,
  },
  {
    name: 'takes a fault',
    document: 'lookup.json',
    given: { input: 'input.json', lookup: ['patient=timeout'] },
    code: 1,
    stdout: '',
    stderr: /requests\.lookup\[0\][^:]*: LOOKUP_TIMED_OUT/,
  },
  {
    name: 'says that an answer is assumed',
    document: 'send.json',
    given: { input: 'input.json' },
    code: 0,
    stdout: '',
    stderr: /^response target: POST \S+ 200 \(assumed\)\nThe answer is that of a response request, which was not sent/,
  },
  {
    name: 'takes the answer to a response request',
    document: 'send.json',
    given: { input: 'input.json', response: ['target=201:patient.json'] },
    code: 0,
    stdout: /^\{\s*"name": "Ada"\s*\}\n$/,
    stderr: /status 201/,
  },
  {
    name: 'prints the report as JSON',
    document: 'greet.json',
    given: { input: 'input.json', json: true },
    code: 0,
    stdout: /^\{\n {2}"ran": true,[\s\S]*"outcome": "done"[\s\S]*\}\n$/,
    stderr: /^$/,
  },
  {
    name: 'says what is wrong with the document',
    document: 'broken.json',
    code: 1,
    stdout: '',
    stderr: /^\S*broken\.json:2:3: error: endpoint: [^\n]+\n|broken\.json:3:3: error: endpoints: /,
  },
  {
    name: 'says that a document is none',
    document: 'array.json',
    code: 1,
    stdout: '',
    stderr: /^\S*array\.json:1:1: error: The document must be an object, not an array\.\n$/,
  },
  { name: 'no such document', document: 'none.json', code: 3, stdout: '', stderr: /There is no file .*none\.json/ },
  {
    name: 'no such input',
    document: 'greet.json',
    given: { input: 'none' },
    code: 3,
    stdout: '',
    stderr: /There is no file \S*none\./,
  },
  {
    name: 'no header',
    document: 'greet.json',
    given: { header: ['x'] },
    code: 3,
    stdout: '',
    stderr: /--header must be written as name:value/,
  },
  {
    name: 'no query',
    document: 'greet.json',
    given: { query: ['=x'] },
    code: 3,
    stdout: '',
    stderr: /--query must be written as name=value/,
  },
  {
    name: 'no such parameter',
    document: 'greet.json',
    given: { param: ['plaice=north'] },
    code: 3,
    stdout: '',
    stderr: /^crosswalk: --param plaice: The path \/greet\/:place has no such parameter; did you mean "place"\?\n$/,
  },
  {
    name: 'a parameter where the path has none',
    document: 'xml.json',
    given: { param: ['id=1'] },
    code: 3,
    stdout: '',
    stderr: /^crosswalk: --param id: The path \/xml has no such parameter\.\n$/,
  },
  {
    name: 'a parameter twice',
    document: 'greet.json',
    given: { param: ['place=north', 'place=south'] },
    code: 3,
    stdout: '',
    stderr: /^crosswalk: --param place stands twice\.\n$/,
  },
  {
    name: 'joins a header that stands twice, as HTTP does',
    document: 'greet.json',
    given: { input: 'input.json', header: ['X-From: a', 'x-from: b'] },
    code: 0,
    stdout: '{"hello":"ADA","from":"a, b"}\n',
  },
  {
    name: 'no state',
    document: 'greet.json',
    given: { state: 'input.xml' },
    code: 3,
    stdout: '',
    stderr: /input\.xml is no JSON object/,
  },
  {
    name: 'no fault',
    document: 'lookup.json',
    given: { lookup: ['patient=late'] },
    code: 3,
    stdout: '',
    stderr: /--lookup patient: There is no file late, and no such fault; the faults are unreachable, timeout, /,
  },
  {
    name: 'an unknown lookup',
    document: 'lookup.json',
    given: { lookup: ['patent=404'] },
    code: 3,
    stdout: '',
    stderr: /did you mean "patient"/,
  },
  {
    name: 'a stage that the endpoint lacks',
    document: 'xml.json',
    given: { input: 'input.xml', stage: 'lookup' },
    code: 3,
    stdout: '',
    stderr: /did not run through the stage "lookup"; it ran through parse, /,
  },
  {
    name: 'says that the message is wrong, not the document',
    document: 'greet.json',
    given: { input: 'malformed.json' },
    code: 1,
    stdout: '',
    stderr: /^\S*malformed\.json: error: BODY_UNREADABLE: [^\n]* at line 2, column 1; remove the comma\.\n$/,
  },
  {
    name: 'refuses a body that the service would refuse',
    document: 'greet.json',
    given: { input: 'input.json' },
    env: { PARSER_LIMIT: '10' },
    code: 1,
    stdout: '',
    stderr: /^\S*input\.json: error: BODY_TOO_LARGE: The body has \d\d bytes; PARSER_LIMIT is 10\.\n$/,
  },
  {
    name: 'refuses an answer that the service would refuse',
    document: 'lookup.json',
    given: { input: 'input.json', lookup: ['patient=patient.json'] },
    env: { ANSWER_LIMIT: '10' },
    code: 1,
    stdout: '',
    stderr: /requests\.lookup\[0\][^:]*: LOOKUP_UNREADABLE: [^\n]*larger than the limit of 10 bytes/,
  },
  {
    name: 'says why a message did not come to a stage',
    document: 'greet.json',
    given: { input: 'number.json', stage: 'map' },
    code: 1,
    stdout: '',
    stderr: /VALIDATION_FAILED/,
  },
]

describe('run', () => {
  let upstream: Upstream
  before(async () => {
    upstream = await startUpstream(() => ({ name: 'Grace' }))
  })
  after(() => upstream.stop())

  async function run(context: Context, document: string, given: Given = {}, env = {}) {
    const folder = folderOf(context, files(`${upstream.url}/patients`))
    const at = (file: string) => (file === '-' ? file : join(folder, file))
    const answers = (list: readonly string[] = []) =>
      list.map((text) => text.replace(/([\w-]+\.\w+)$/, (file) => at(file)))
    const { input, state, lookup: lookups, response, ...others } = given
    let stdout = ''
    let stderr = ''
    const args: RunArguments = {
      header: [],
      query: [],
      param: [],
      ...others,
      ...(input === undefined ? {} : { input: at(input) }),
      ...(state === undefined ? {} : { state: at(state) }),
      lookup: answers(lookups),
      response: answers(response),
    }
    const code = await runOnce(at(document), args, {
      env,
      stdout: { write: (text) => (stdout += text) },
      stderr: { write: (text) => (stderr += text) },
    })
    return { code, stdout, stderr }
  }

  for (const { name, document, given, env, code, stdout, stderr } of CASES) {
    test(name, async (context) => {
      const ran = await run(context, document, given, env)
      assert.equal(ran.code, code, ran.stderr)
      if (typeof stdout === 'string') assert.equal(ran.stdout, stdout)
      else assert.match(ran.stdout, stdout)
      if (stderr !== undefined) assert.match(ran.stderr, stderr)
      assert.equal(upstream.received.length, 0)
    })
  }

  test('sends lookups with --live, and shows no secret', async (context) => {
    const env = { CROSSWALK_SECRET_TOKEN: 'canary-of-run' }
    for (const json of [false, true]) {
      const given = { input: 'input.json', live: true, ...(json ? { json } : {}) } as const
      const { code, stdout, stderr } = await run(context, 'lookup.json', given, env)
      assert.equal(code, 0, stderr)
      assert.match(stdout, /Grace/)
      assert.doesNotMatch(stdout + stderr, /canary-of-run/)
      assert.equal(upstream.received.at(-1)?.headers.authorization, 'Bearer canary-of-run')
    }
    const refused = await run(
      context,
      'lookup.json',
      { input: 'input.json', live: true },
      { ...env, EGRESS_DENY: '127.0.0.1' },
    )
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /not allowed/)
  })

  test('prints large values in full', async (context) => {
    const name = 'a'.repeat(2 * 1_048_576)
    const folder = folderOf(context, { 'big.json': { name }, 'greet.json': files()['greet.json'] })
    const args = { header: [], query: [], param: [], lookup: [], response: [], input: join(folder, 'big.json') }
    for (const [stage, expected] of [
      [undefined, { hello: name.toUpperCase() }],
      ['parse', { name }],
    ] as const) {
      let stdout = ''
      const code = await runOnce(
        join(folder, 'greet.json'),
        { ...args, ...(stage === undefined ? {} : { stage }) },
        {
          env: { PARSER_LIMIT: '4mb' },
          stdout: { write: (text) => (stdout += text) },
          stderr: { write: () => undefined },
        },
      )
      assert.equal(code, 0)
      assert.ok(stdout.endsWith('\n'))
      assert.deepEqual(JSON.parse(stdout), expected)
    }
  })

  const piped = [
    {
      name: 'reads standard input',
      text: '<order><id>18</id></order>',
      code: 0,
      stdout: '{"id":"18"}\n',
      stderr: /^$/,
    },
    { name: 'names standard input', text: '<order>', code: 1, stdout: '', stderr: /^standard input: error: BODY_/ },
  ]
  for (const { name, text, ...expected } of piped) {
    test(name, async (context) => {
      const [program = '', ...first] = DIRECT
      const child = spawn(program, [...first, 'run', 'xml.json', '--input', '-'], {
        cwd: folderOf(context, files()),
        env: {},
      })
      let [stdout, stderr] = ['', '']
      child.stdout.on('data', (chunk) => (stdout += chunk))
      child.stderr.on('data', (chunk) => (stderr += chunk))
      child.stdin.end(text)
      const [code] = await once(child, 'close')
      assert.deepEqual({ code, stdout }, { code: expected.code, stdout: expected.stdout })
      assert.match(stderr, expected.stderr)
    })
  }

  test('runs again when a file changes', async (context) => {
    const folder = folderOf(context, files())
    const args = ['run', 'lookup.json', '--lookup', 'patient=200:patient.json', '--watch']
    const { child, output, ended } = startProgram(folder, { args, lifetimeMs: 60_000 })
    const printed = (text: string) =>
      until(
        () => output.stdout,
        (stdout) => stdout.endsWith(text),
      )
    await printed('{"name":"Ada"}\n')
    writeFileSync(join(folder, 'patient.json'), '{ "name": "Eve" }')
    await printed('{"name":"Eve"}\n')
    const path = join(folder, 'lookup.json')
    const text = readFileSync(path, 'utf8')
    writeFileSync(path, text.slice(0, 20))
    await until(
      () => output.stderr,
      (stderr) => /lookup\.json:\d+:\d+: error: The JSON /.test(stderr),
    )
    writeFileSync(
      path,
      text.replace('"lookupRequests.patient.data.name": "name"', '"lookupRequests.patient.data.name": "full"'),
    )
    await printed('{"full":"Eve"}\n')
    child.kill('SIGTERM')
    await ended
  })
})
