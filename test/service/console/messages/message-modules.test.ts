/** What the pages of messages and replays work out by themselves: commands, waterfalls, filters, limits. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { MessageRecord } from '../../../../console/src/api/records/record-types.ts'
import { toGroupFilters } from '../../../../console/src/pages/groups/groups-search.ts'
import { bodyFileName, bodyTitle, decodeBodyText } from '../../../../console/src/pages/messages/body-text.ts'
import {
  apiTime,
  joinValues,
  localTime,
  readMessagesSearch,
  soundSearch,
  splitFilterValues,
} from '../../../../console/src/pages/messages/messages-search.ts'
import { createWaterfall } from '../../../../console/src/pages/messages/waterfall-rows.ts'
import { checkLimits, DEFAULT_LIMITS, toRunLimits } from '../../../../console/src/pages/replays/run-limits.ts'
import { type CurlRequest, curlCommand, toCurlRequest } from '../../../../console/src/ui/data/curl-command.ts'
import { sampleRequest } from '../../../../console/src/ui/endpoint/sample-request.ts'
import { describeVocabulary } from '../../../../src/document/vocabulary/vocabulary.ts'
import { DESCRIBED_FORMATS } from '../../../../src/formats/codecs.ts'
import { FILTER_NAMES } from '../../../../src/records/message-log/message-filter.ts'
import fc from '../../../support/fast-check.ts'
import { LONG } from '../../../support/form.ts'

describe('the message of a test as a request', () => {
  const origin = 'http://127.0.0.1:3003'
  type Case = Readonly<{
    what: string
    given?: Readonly<Record<string, unknown>>
    steps?: unknown
    row?: Partial<Parameters<typeof sampleRequest>[1]>
    type?: string
    body?: string
    url?: string
    headers?: CurlRequest['headers']
  }>
  const cases: readonly Case[] = [
    { what: 'a value as JSON', given: { message: { body: { a: 1 } } }, row: { input: 'XML' }, body: '{"a":1}' },
    {
      what: 'the type that it names',
      given: { message: { body: 'x', contentType: 'text/xml', headers: { 'Content-Type': 'a/b', 'X-From': 'desk' } } },
      type: 'text/xml',
      body: 'x',
      headers: [['X-From', 'desk']],
    },
    {
      what: 'its query and parameters',
      given: { message: { body: 1, query: { day: ['1', '2'] }, urlParams: { id: 'a/b' } } },
      row: { pattern: '/orders/:id' },
      body: '1',
      url: '/orders/a%2Fb?day=1&day=2',
    },
    { what: 'its first step', steps: [{ given: { message: { body: { n: 1 } } } }, {}], body: '{"n":1}' },
    { what: 'no body by GET', given: { message: { query: { a: 'b' } } }, row: { method: 'GET' }, url: '/orders?a=b' },
    ...DESCRIBED_FORMATS.map(({ name, mediaType, sample }) => ({
      what: `the sample of ${name} without a message`,
      row: { input: name },
      type: mediaType,
      body: sample,
    })),
  ]
  for (const { what, given, steps, row, type = 'application/json', body, url = '/orders', headers = [] } of cases) {
    test(`has ${what}`, () => {
      const stored = given === undefined && steps === undefined ? undefined : { given, steps }
      const endpoint = { method: 'POST', pattern: '/orders', input: 'JSON', ...row }
      const request = sampleRequest(stored, endpoint, origin, DESCRIBED_FORMATS)
      assert.deepEqual(
        { ...request, body: request.body && new TextDecoder().decode(request.body) },
        {
          method: endpoint.method,
          url: `${origin}${url}`,
          headers: [...(body === undefined ? [] : [['Content-Type', type]]), ...headers],
          body,
        },
      )
    })
  }
})

describe('a message as a command of curl', () => {
  /** A command `curl` that prints its arguments and its input as JSON. */
  let folder = ''
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'crosswalk-curl-'))
    const script = `#!/bin/sh
for argument in "$@"; do printf '%s\\0' "$argument"; done | od -An -v -tx1 | tr -d ' \\n'
echo
case "$*" in *--data-binary*) od -An -v -tx1 | tr -d ' \\n' ;; esac
`
    writeFileSync(join(folder, 'curl'), script)
    chmodSync(join(folder, 'curl'), 0o755)
  })
  after(() => rmSync(folder, { recursive: true }))

  /** What curl gets when a shell runs the command: its arguments, and the body, from one of them or from its input. */
  function runBy(shell: string, command: string): Readonly<{ args: readonly string[]; body: Buffer | undefined }> {
    const env = { ...process.env, PATH: `${folder}:${process.env.PATH}` }
    const { stdout, stderr, status } = spawnSync(shell, ['-c', command], { env, encoding: 'utf8' })
    assert.equal(status, 0, stderr)
    const [args = '', input = ''] = stdout.split('\n')
    const given = Buffer.from(args, 'hex').toString().split('\0').slice(0, -1)
    const at = given.findIndex((one) => one === '--data-raw' || one === '--data-binary')
    if (at === -1) return { args: given, body: undefined }
    const body = given[at] === '--data-raw' ? Buffer.from(given[at + 1] ?? '') : Buffer.from(input, 'hex')
    return { args: given.slice(0, at), body }
  }

  const expected = ({ method, url, headers, body }: CurlRequest) => [
    '-sS',
    '--globoff',
    '-X',
    method,
    url,
    ...headers.flatMap(([name, value]) => ['-H', value === '' ? `${name};` : `${name}: ${value}`]),
    ...(body !== undefined && !headers.some(([name]) => name === 'content-type') ? ['-H', 'Content-Type:'] : []),
  ]

  const hostile = fc.constantFrom(
    "'",
    '"',
    '\\',
    '$(id)',
    '`id`',
    '!',
    '\n',
    '%s',
    '@x',
    ';',
    '&',
    '{a,b}',
    '[1-3]',
    '~',
    '',
  )
  const headerText = fc.string({
    unit: fc.oneof(fc.constantFrom(...'\'"\\$`!%@;&{}[] '), fc.string({ minLength: 1, maxLength: 1 })),
  })
  const bodies = fc.oneof(
    fc.constant(undefined),
    fc.uint8Array({ maxLength: 60 }),
    fc
      .array(fc.oneof(hostile, fc.string({ unit: 'binary' })), { maxLength: 12 })
      .map((parts) => Buffer.from(parts.join(''))),
  )
  const requests: fc.Arbitrary<CurlRequest> = fc.record({
    method: fc.constantFrom('GET', 'POST', 'PUT'),
    url: headerText.map((text) => `http://127.0.0.1:3003/${encodeURIComponent(text.toWellFormed())}?a=${text.length}'`),
    headers: fc.array(
      fc.tuple(
        fc.constantFrom('content-type', 'x-one', 'x-two'),
        headerText.map((text) => text.trim()),
      ),
      { maxLength: 3 },
    ),
    body: bodies,
  })

  test('gives curl the same bytes, whatever they are, in each shell of this machine', () => {
    for (const shell of ['sh', 'bash']) {
      fc.assert(
        fc.property(requests, (request) => {
          const { args, body } = runBy(shell, curlCommand(request))
          assert.deepEqual(args, expected(request))
          assert.deepEqual(body, request.body && Buffer.from(request.body))
        }),
        { numRuns: LONG ? 60 : 10 },
      )
    }
  })

  test('holds no byte that a terminal interprets, but line feeds', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (body) => {
        const command = curlCommand({ method: 'POST', url: 'http://127.0.0.1/', headers: [], body })
        // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
        assert.doesNotMatch(command, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/)
      }),
    )
  })

  test('sends a large body through the shell itself, whose arguments have no limit', () => {
    const body = Buffer.from('{"text":"ä\'"}'.repeat(40_000))
    const request: CurlRequest = { method: 'POST', url: 'http://127.0.0.1/', headers: [], body }
    const file = join(folder, 'large.sh')
    writeFileSync(file, curlCommand(request))
    const env = { ...process.env, PATH: `${folder}:${process.env.PATH}` }
    const { stdout } = spawnSync('sh', [file], { env, encoding: 'utf8', maxBuffer: 16 * 1024 * 1024 })
    assert.deepEqual(Buffer.from(stdout.split('\n')[1] ?? '', 'hex'), body)
  })

  test('is sent to the route of the endpoint, without headers of the connection', () => {
    const recorded = {
      requestHeaders: { host: 'a', 'content-length': '2', 'x-many': ['1', '2'], accept: '*/*' },
      query: { day: '1', tag: ['a b', 'c&d'] },
      urlParams: { site: 'north/1', bed: '7' },
    }
    const route = { origin: 'http://127.0.0.1:3003', method: 'POST', pattern: '/admissions/:site/:bed/x' }
    assert.deepEqual(toCurlRequest(recorded, undefined, route), {
      method: 'POST',
      url: 'http://127.0.0.1:3003/admissions/north%2F1/7/x?day=1&tag=a%20b&tag=c%26d',
      headers: [
        ['x-many', '1'],
        ['x-many', '2'],
        ['accept', '*/*'],
      ],
      body: undefined,
    })
    const wildcard = toCurlRequest({ urlParams: { rest: 'a b/c' } }, undefined, { ...route, pattern: '/files/*rest' })
    assert.equal(wildcard.url, 'http://127.0.0.1:3003/files/a%20b/c')
  })
})

const record = (changes: Partial<MessageRecord>): MessageRecord => ({
  id: '01a1fc905a8300003facd2e8',
  source: 'http',
  startedAt: '2026-11-21T05:24:41.219Z',
  ms: 20,
  outcome: 'done',
  status: 200,
  stages: [],
  keys: {},
  bodies: [],
  calls: [],
  replayable: { can: true },
  ...changes,
})

describe('the waterfall of a message', () => {
  test('has each call below its stage, and marks the stage that failed', () => {
    const call = { kind: 'lookup', id: 'ward', method: 'GET', target: 'http://a/', startMs: 1, ms: 8 } as const
    const { rows, totalMs } = createWaterfall(
      record({
        outcome: 'failed',
        stage: 'lookup',
        stages: [
          { stage: 'parse', ms: 1 },
          { stage: 'lookup', ms: 10 },
        ],
        calls: [
          { ...call, fault: 'unreachable' },
          { ...call, item: 2, status: 200 },
        ],
      }),
    )
    assert.equal(totalMs, 20)
    assert.deepEqual(
      rows.map(({ kind, name, startMs, failed }) => [kind, name, startMs, failed]),
      [
        ['stage', 'parse', 0, false],
        ['stage', 'lookup', 1, true],
        ['call', 'ward', 1, true],
        ['call', 'ward[2]', 1, false],
      ],
    )
  })

  test('loses no call, and ends where the last of its rows ends', () => {
    const numbers = fc.double({ min: 0, max: 1e6, noNaN: true })
    const stages = fc.uniqueArray(fc.constantFrom('parse', 'lookup', 'map', 'respond'), { maxLength: 4 })
    const kinds = fc.array(fc.constantFrom('lookup', 'response'), { maxLength: 6 })
    fc.assert(
      fc.property(stages, kinds, numbers, numbers, (names, calls, ms, startMs) => {
        const { rows, totalMs } = createWaterfall(
          record({
            ms,
            stages: names.map((stage) => ({ stage, ms })),
            calls: calls.map((kind) => ({ kind, id: 'a', method: 'GET', target: '/', startMs, ms })),
          }),
        )
        assert.equal(rows.length, names.length + calls.length)
        for (const row of rows) assert.ok(row.startMs + row.ms <= totalMs)
      }),
    )
  })
})

describe('filters of messages', () => {
  const cases = [
    { name: 'several ids', of: 'id', text: 'a, b,,c', values: ['a', 'b', 'c'], shown: 'a, b, c' },
    { name: 'nothing', of: 'code', text: ' ', values: undefined, shown: undefined },
  ]
  for (const { name, of, text, values, shown } of cases) {
    test(name, () => {
      assert.deepEqual(splitFilterValues(of, text), values)
      assert.equal(joinValues(of, values), shown)
    })
  }

  test('are all those of the service', () => {
    const names = FILTER_NAMES.map((name) => [name, 'true'] as const)
    assert.deepEqual(Object.keys(readMessagesSearch(Object.fromEntries(names))).sort(), [...FILTER_NAMES].sort())
  })

  test('several values that may hold commas are not shown as one', () => {
    assert.equal(joinValues('endpoint', ['a', 'b']), undefined)
  })

  const searches = [
    { name: 'text of errors alone is of the last day', given: { error: ['x'] }, sound: { error: ['x'], from: '-24h' } },
    {
      name: 'text of errors beside a code',
      given: { error: ['x'], code: ['A'] },
      sound: { error: ['x'], code: ['A'] },
    },
    { name: 'a version without its endpoint', given: { version: ['3'] }, sound: {} },
  ]
  for (const { name, given, sound } of searches) test(name, () => assert.deepEqual(soundSearch(given), sound))

  test('groups are open and not mended unless the URL says otherwise', () => {
    assert.deepEqual(toGroupFilters({}), { state: ['open'], replayed: 'false' })
    assert.deepEqual(toGroupFilters({ state: 'all', replayed: 'all', code: ['A'] }), { code: ['A'] })
    assert.deepEqual(toGroupFilters({ source: ['replay'] }), { source: ['replay'], state: ['open'] })
  })
})

describe('times of filters', () => {
  const now = Date.parse('2026-11-21T12:00:30Z')
  test('what a field shows is the time that the API gets, to the minute', () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date('2000-01-01'), max: new Date('2100-01-01'), noInvalidDate: true }),
        (date) => {
          const minute = new Date(Math.floor(date.getTime() / 60_000) * 60_000).toISOString()
          // An hour that comes twice in a year has two times of one name.
          const again = apiTime(localTime(minute, now))
          assert.ok(
            again === minute || new Date(again ?? '').getTimezoneOffset() !== new Date(minute).getTimezoneOffset(),
          )
        },
      ),
    )
  })
  test('no time is none', () => {
    assert.equal(localTime('yesterday', now), '')
    assert.equal(apiTime(''), undefined)
  })
})

describe('bodies', () => {
  const bytes = (...values: number[]): ArrayBuffer => Uint8Array.from(values).buffer
  const cases = [
    { name: 'UTF-8', given: bytes(0xc3, 0xa4), type: 'application/json', text: 'ä' },
    { name: 'a byte order mark stays', given: bytes(0xef, 0xbb, 0xbf, 0x61), type: '', text: '\ufeffa' },
    { name: 'the character set of its type', given: bytes(0xe4), type: 'text/xml; charset="ISO-8859-1"', text: 'ä' },
    { name: 'no text', given: bytes(0xff, 0xfe, 0xff), type: 'application/octet-stream', text: undefined },
    { name: 'a character set that is none', given: bytes(0xe4), type: 'text/xml; charset=nonsense', text: undefined },
  ]
  for (const { name, given, type, text } of cases) test(name, () => assert.equal(decodeBodyText(given, type), text))

  test('have names of files that are ours', () => {
    const known = describeVocabulary().contentTypes as unknown as Parameters<typeof bodyFileName>[2]
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (which, contentType) => {
        assert.match(
          bodyFileName('01a1fc905a8300003facd2e8', { which, contentType, size: 1 }, known),
          /^[\w.-]{1,150}$/,
        )
      }),
    )
    const nameOf = (which: string, contentType: string) => bodyFileName('1', { which, contentType, size: 1 }, known)
    assert.equal(nameOf('lookup.a[3]', 'text/xml'), '1-lookup.a_3_.xml')
    assert.equal(nameOf('answer', 'application/fhir+json; charset=utf-8'), '1-answer.json')
    assert.equal(nameOf('answer', 'text/html'), '1-answer.txt')
    assert.equal(nameOf('answer', ''), '1-answer.bin')
    assert.equal(nameOf('mapped', ''), '1-mapped.json')
    for (const { types, fileEndings } of known) {
      for (const type of types) assert.equal(nameOf('incoming', type), `1-incoming${fileEndings[0]}`)
    }
    assert.equal(bodyTitle('response.beds'), 'Answer of response beds')
  })
})

describe('limits of a run', () => {
  test('are one message first, then all of the rest, unless somebody says otherwise', () => {
    assert.deepEqual(checkLimits(DEFAULT_LIMITS), {})
    assert.deepEqual(toRunLimits(DEFAULT_LIMITS), { concurrency: 1, canary: 1 })
  })
  const cases = [
    { name: 'all of them', form: { first: false, max: '100', concurrency: '10', perSecond: '0.5' }, faults: [] },
    { name: 'a part of a message', form: { ...DEFAULT_LIMITS, max: '1.5' }, faults: ['max'] },
  ]
  for (const { name, form, faults } of cases) test(name, () => assert.deepEqual(Object.keys(checkLimits(form)), faults))
})
