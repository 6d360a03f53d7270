/** Expressions and schemas that run in isolated processes are reported like those that run in the service. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { call } from '../../support/inbound/http/management/call.ts'
import { until } from '../../support/records/message-log/log-stage.ts'
import { json, type Service, startService } from '../../support/service.ts'
import { describeSandboxes } from './sandboxes.ts'

const inputMapping = { transforms: 'out', requestBody: 'body' }
const endless = '($f := function(){ $f() }; $f())'

/** With code or refused: what the message gets, or that the document is refused. */
type Case = readonly [name: string, document: JsonObject, body: Json, status: number, code?: string]

const schema = (inputValidation: JsonObject, more: JsonObject = {}) => ({ inputValidation, ...more })
const transforms = (inputTransforms: JsonObject, more: JsonObject = {}) => ({ inputTransforms, ...more })
const REFUSED = 'the document'

const cases: readonly Case[] = [
  ['no transform', {}, { n: 1 }, 200],
  ['transforms of each other', transforms({ a: '[1..3]', b: '$sum(transforms.a)' }), {}, 200],
  ['a transform that fails', transforms({ ok: '1', t: '$number("x")' }), {}, 500, 'TRANSFORM_FAILED'],
  ['a transform with words of its own', transforms({ a: '$error("no")' }), {}, 500, 'TRANSFORM_FAILED'],
  ['a transform without end', transforms({ a: endless }), {}, 500, 'TRANSFORM_FAILED'],
  ['a valid message', schema({ required: ['a'] }), { a: 1 }, 200],
  [
    'a message that is not valid',
    schema({ required: ['a', 'b'], properties: { c: { type: 'string' } } }),
    { c: 1 },
    400,
    'VALIDATION_FAILED',
  ],
  ['null against a schema', schema({ type: 'object', required: ['name'] }), null, 400, 'VALIDATION_FAILED'],
  ['null that is asked for', transforms({ isNull: 'requestBody = null' }), null, 200],
  [
    'a schema before a transform',
    schema({ required: ['a'] }, transforms({ t: '$number("x")' })),
    {},
    400,
    'VALIDATION_FAILED',
  ],
  ['expressions that cannot be read', transforms({ a: '1 +', b: '$nosuch(', c: '1' }), {}, 400, REFUSED],
  ['a schema that is none', schema({ type: 'strnig', $ref: 'http://127.0.0.1:1/x' }), {}, 400, REFUSED],
  ['a code of a table', transforms({ a: '$table("sex", "F") & $table("sex", 1, "hl7")' }), {}, 200],
  ['codes that are kept or replaced', transforms({ a: '["Q", "M", "X"].$table("sex", $, "fhir", "keep")' }), {}, 200],
  [
    'a code and its stand-in',
    transforms({ a: '$table("sex", "X", (), {"unknown": true})', b: '$table("sex", requestBody.x)' }),
    {},
    200,
  ],
  [
    'a code that no table has',
    transforms({ ok: '$table("sex", "M")', t: '$table("sex", "Q")' }),
    {},
    422,
    'CODE_UNMAPPED',
  ],
  ['a cell that is empty', transforms({ t: '"sex" ~> $table("X")' }), {}, 422, 'CODE_UNMAPPED'],
  ['a table that is computed', transforms({ t: '$table(requestBody.name, "M")' }), { name: 'sex' }, 200],
  ['an unknown one', transforms({ t: '$table(requestBody.name, "M")' }), { name: 'sexes' }, 500, 'TABLE_MISSING'],
  ['an unknown column', transforms({ t: '$table("sex", "M", requestBody.name)' }), { name: 'x' }, 500, 'TABLE_MISSING'],
  [
    'a condition on a table',
    {
      inputMapping: {
        'requestBody.list': { key: 'to[]', each: { 'item.v': 'v' }, when: '$table("sex", item.v) = "male"' },
      },
    },
    { list: [{ v: 'M' }, { v: 'F' }, { v: 'M' }] },
    200,
  ],
  [
    'a condition that no table has',
    {
      inputMapping: {
        'requestBody.list': { key: 'to[]', each: { 'item.v': 'v' }, when: '$table("sex", item.v) = "male"' },
      },
    },
    { list: [{ v: 'M' }, { v: 'Q' }] },
    422,
    'CODE_UNMAPPED',
  ],
  [
    'a call without a code',
    transforms({ t: '1 + $table("sex")', u: '$table("a", "b", "c", "d", "e")' }),
    {},
    400,
    REFUSED,
  ],
  [
    'names that no table has',
    transforms({ t: '$table("sexes", "M")', u: '$table("sex", "M", "fihr")' }),
    {},
    400,
    REFUSED,
  ],
  [
    'a mapping of a transform that is not there',
    transforms({ a: '1' }, { inputMapping: { 'transforms.b': 'b' } }),
    {},
    400,
    REFUSED,
  ],
]

/** Without what differs from message to message. */
const settled = (value: unknown): string =>
  JSON.stringify(value, (name, part) => (name === 'ms' || name === 'timestamps' ? undefined : part))
    .replaceAll(/[0-9a-f]{24}/g, 'id')
    // Where an endless one has come to when its time is over.
    .replaceAll(/near character \d+/g, 'near a character')

const REPLAY = { headers: { 'content-type': 'application/json' }, body: '{}' }

/** What each place reported of a case, by its name. */
const reported = new Map<string, string[]>()

describeSandboxes(({ env }) => {
  let service: Service
  before(async () => {
    service = await startService({ ...env, EXPRESSION_TIMEOUT_MS: '1000', MESSAGE_LOG: 'all' })
    const body = 'code,fhir,hl7\nM,male,M\nF,female,F\n1,one,1\nX,,U\n'
    const stored = await call(service.adminUrl, 'PUT', '/tables/sex', { headers: { 'content-type': 'text/csv' }, body })
    assert.equal(stored.status, 201, stored.text)
  })
  after(() => service.stop())

  for (const [index, [name, document, body, status, code]] of cases.entries()) {
    test(`the answer, the dry run and a replay of ${name}`, async () => {
      const endpoint: JsonObject = {
        name,
        endpoint: { pattern: `/case/${index}` },
        transformation: { input: 'JSON', output: 'JSON' },
        inputMapping,
        ...document,
      }
      const dryRun = await service.fetch('/endpoints/dry-run', json('POST', { endpoint, message: { body } }))
      const replies: Json[] = [[dryRun.status, dryRun.json()]]
      const registered = await service.fetch('/endpoints', json('POST', endpoint))
      if (code === REFUSED) {
        assert.equal(registered.status, status, registered.text)
        replies.push([registered.status, registered.json()])
      } else {
        assert.equal(registered.status, 201, registered.text)
        const answer = await service.fetch(`/case/${index}`, json('POST', body))
        replies.push([answer.status, answer.json()])
        assert.deepEqual([answer.status, answer.json()?.code], [status, code], answer.text)
        const id = answer.headers.get('x-crosswalk-message-id')
        // The message log has a message a moment after its answer.
        const replay = await until(
          () => call(service.adminUrl, 'POST', `/messages/${id}/replay`, REPLAY),
          ({ status }) => status !== 404,
        )
        assert.equal(replay.status, 200, replay.text)
        replies.push(replay.json())
        const { tables = null, missed = null } = (await call(service.adminUrl, 'GET', `/messages/${id}`)).json()
        replies.push({ tables, missed })
      }
      const known = reported.get(name) ?? []
      reported.set(name, [...known, settled(replies)])
    })
  }
})

test('in both places the same is reported', () => {
  for (const [name] of cases) {
    const [here, there, ...more] = reported.get(name) ?? []
    assert.equal(there, here)
    assert.deepEqual([typeof here, more], ['string', []])
  }
})
