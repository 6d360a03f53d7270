/** `crosswalk run`: one message through a document, with what it prints and sends. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { folderOf } from '../../support/cli/project/folder.ts'
import { type CommandOptions, runCommand } from '../../support/cli/run-command.ts'
import { startUpstream, type Upstream } from '../../support/service.ts'

type Context = Parameters<typeof folderOf>[0]
type Given = Omit<CommandOptions, 'lookup' | 'response'> &
  Readonly<{ input?: string; state?: string; lookup?: readonly string[]; response?: readonly string[] }>

const lookup = (url: string, changes = {}) => ({ id: 'patient', config: { method: 'GET', url, ...changes } })

const files = (url: string, name: string) => ({
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
  'nightly.json': {
    name: 'Nightly',
    schedule: { cron: '30 2 * * *' },
    transformation: { output: 'JSON' },
    inputMapping: { 'timestamps.scheduledFor': 'due' },
  },
  'xml.json': {
    name: 'Xml',
    endpoint: { pattern: '/xml' },
    transformation: { input: 'XML', output: 'JSON' },
    inputMapping: { 'requestBody.id': 'id' },
  },
  'broken.json': '{\n  "name": "Broken",\n  "endpoints": {} }',
  'input.json': { name },
  'number.json': { name: 1 },
  'malformed.json': '{ "name": "ada",\n}',
  'input.xml': '<order><id>17</id></order>',
  'patient.json': { name: 'Ada' },
  'state.json': { responseBody: { last: 'Eve' } },
})

type Case = readonly [
  name: string,
  document: string,
  given: Given,
  code: number,
  stdout: string | RegExp,
  stderr?: RegExp,
  env?: Readonly<Record<string, string>>,
]

const ADA = { input: 'input.json' }
const ANSWERED = { ...ADA, lookup: ['patient=patient.json'] }

const CASES: readonly Case[] = [
  ['runs a schedule', 'nightly.json', {}, 0, /^\{"due":"\d{4}-\d\d-\d\dT[\d:.]+Z"\}\n$/, /^$/],
  [
    'runs a schedule as it was due at a time',
    'nightly.json',
    { scheduledFor: '2026-03-01T02:30:00Z' },
    0,
    '{"due":"2026-03-01T02:30:00.000Z"}\n',
    /^$/,
  ],
  [
    'refuses a time that is none',
    'nightly.json',
    { scheduledFor: 'yesterday' },
    3,
    '',
    /message\.timestamps\.scheduledFor: .*a time of the calendar/,
  ],
  [
    'prints the answer',
    'greet.json',
    { ...ADA, query: ['times=1', 'times=2'], param: ['place=north'], header: ['X-From: a:b'] },
    0,
    '{"hello":"ADA","times":["1","2"],"place":"north","from":"a:b"}\n',
    /^$/,
  ],
  ['prints the value after a stage', 'greet.json', { ...ADA, stage: 'transform' }, 0, '{\n  "upper": "ADA"\n}\n'],
  [
    'says why a message fails, at its place',
    'greet.json',
    { input: 'number.json' },
    1,
    '',
    /^\S*greet\.json:15:13: error: inputValidation\.properties\.requestBody\.properties\.name\.type: VALIDATION_FAILED: [^\n]+\n {2}\S*name\S*: [^\n]+\n$/,
  ],
  [
    'says which answer is missing',
    'lookup.json',
    ADA,
    1,
    '',
    /^lookup patient: GET \S+ \(missing\)\nGive the answer with --lookup patient=FILE.*\n$/,
  ],
  [
    'takes an answer and a state',
    'lookup.json',
    { ...ANSWERED, state: 'state.json' },
    0,
    '{"name":"Ada","last":"Eve"}\n',
    /^lookup patient: GET \S+ 200 \(canned\)\n$/,
  ],
  [
    'says that an answer is assumed',
    'send.json',
    ADA,
    0,
    '',
    /^response target: POST \S+ 200 \(assumed\)\nThe answer is that of a response request, which was not sent/,
  ],
  [
    'takes the answer to a response request',
    'send.json',
    { ...ADA, response: ['target=201:patient.json'] },
    0,
    /^\{\s*"name": "Ada"\s*\}\n$/,
    /status 201/,
  ],
  [
    'prints the report as JSON',
    'greet.json',
    { ...ADA, json: true },
    0,
    /^\{\n {2}"ran": true,[\s\S]*"outcome": "done"[\s\S]*\}\n$/,
    /^$/,
  ],
  [
    'says what is wrong with the document',
    'broken.json',
    {},
    1,
    '',
    /^\S*broken\.json:2:3: error: endpoint: [^\n]+\n|broken\.json:3:3: error: endpoints: /,
  ],
  ['no such input', 'greet.json', { input: 'none' }, 3, '', /There is no file \S*none\./],
  ['no header', 'greet.json', { header: ['x'] }, 3, '', /--header must be written as name:value/],
  [
    'no such parameter',
    'greet.json',
    { param: ['plaice=north'] },
    3,
    '',
    /^crosswalk: --param plaice: The path \/greet\/:place has no such parameter; did you mean "place"\?\n$/,
  ],
  [
    'no fault',
    'lookup.json',
    { lookup: ['patient=late'] },
    3,
    '',
    /--lookup patient: There is no file late, and no such fault; the faults are unreachable, timeout, /,
  ],
  ['an unknown lookup', 'lookup.json', { lookup: ['patent=404'] }, 3, '', /did you mean "patient"/],
  [
    'a stage that the endpoint lacks',
    'xml.json',
    { input: 'input.xml', stage: 'lookup' },
    3,
    '',
    /did not run through the stage "lookup"; it ran through parse, /,
  ],
  [
    'says that the message is wrong, not the document',
    'greet.json',
    { input: 'malformed.json' },
    1,
    '',
    /^\S*malformed\.json: error: BODY_UNREADABLE: [^\n]* at line 2, column 1; remove the comma\.\n$/,
  ],
  [
    'refuses a body that the service would refuse',
    'greet.json',
    ADA,
    1,
    '',
    /^\S*input\.json: error: BODY_TOO_LARGE: The body has \d\d bytes; PARSER_LIMIT is 10\.\n$/,
    { PARSER_LIMIT: '10' },
  ],
]

describe('run', () => {
  let upstream: Upstream
  before(async () => {
    upstream = await startUpstream(() => ({ name: 'Grace' }))
  })
  after(() => upstream.stop())

  async function run(context: Context, document: string, given: Given = {}, env = {}, name = 'ada') {
    const folder = folderOf(context, files(`${upstream.url}/patients`, name))
    const at = (file: string) => (file === '-' ? file : join(folder, file))
    const answers = (list: readonly string[] = []) =>
      list.map((text) => text.replace(/([\w-]+\.\w+)$/, (file) => at(file)))
    const { input, state, lookup: lookups, response, ...others } = given
    const options = {
      ...others,
      input: input && at(input),
      state: state && at(state),
      lookup: answers(lookups),
      response: answers(response),
    }
    return runCommand('run', [at(document)], options, { env })
  }

  for (const [name, document, given, code, stdout, stderr, env] of CASES) {
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
})
