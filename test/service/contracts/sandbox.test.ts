/** Expressions and schemas that run in isolated processes are reported like those that run in the service. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Json, JsonObject } from '../../../src/domain/json.ts'
import { call } from '../../support/adapters/http-server/management/call.ts'
import { until } from '../../support/message-log/log-stage.ts'
import { json, type Service, startService } from '../../support/service.ts'
import { describeSandboxes } from './sandboxes.ts'

const inputMapping = { transforms: 'out', requestBody: 'body' }
const endless = '($f := function(){ $f() }; $f())'

type Case = Readonly<{ name: string; document: JsonObject; body: Json; status: number; code?: string; refused?: true }>

const cases: readonly Case[] = [
  { name: 'a transform', document: { inputTransforms: { a: 'requestBody.n + 1' } }, body: { n: 1 }, status: 200 },
  { name: 'no transform', document: {}, body: { n: 1 }, status: 200 },
  {
    name: 'transforms of each other',
    document: { inputTransforms: { a: '[1..3]', b: '$sum(transforms.a)' } },
    body: {},
    status: 200,
  },
  {
    name: 'a transform that fails',
    document: { inputTransforms: { ok: '1', t: '$number("x")' } },
    body: {},
    status: 500,
    code: 'TRANSFORM_FAILED',
  },
  {
    name: 'a transform with words of its own',
    document: { inputTransforms: { a: '$error("no")' } },
    body: {},
    status: 500,
    code: 'TRANSFORM_FAILED',
  },
  {
    name: 'a transform without end',
    document: { inputTransforms: { a: endless } },
    body: {},
    status: 500,
    code: 'TRANSFORM_FAILED',
  },
  {
    name: 'a valid message',
    document: { inputValidation: { required: ['a'] } },
    body: { a: 1 },
    status: 200,
  },
  {
    name: 'a message that is not valid',
    document: { inputValidation: { required: ['a', 'b'], properties: { c: { type: 'string' } } } },
    body: { c: 1 },
    status: 400,
    code: 'VALIDATION_FAILED',
  },
  {
    name: 'null against a schema',
    document: { inputValidation: { type: 'object', required: ['name'] } },
    body: null,
    status: 400,
    code: 'VALIDATION_FAILED',
  },
  {
    name: 'null that is asked for',
    document: { inputTransforms: { isNull: 'requestBody = null' } },
    body: null,
    status: 200,
  },
  {
    name: 'a schema before a transform',
    document: { inputValidation: { required: ['a'] }, inputTransforms: { t: '$number("x")' } },
    body: {},
    status: 400,
    code: 'VALIDATION_FAILED',
  },
  {
    name: 'expressions that cannot be read',
    document: { inputTransforms: { a: '1 +', b: '$nosuch(', c: '1' } },
    body: {},
    status: 400,
    refused: true,
  },
  {
    name: 'a schema that is none',
    document: { inputValidation: { type: 'strnig', $ref: 'http://127.0.0.1:1/x' } },
    body: {},
    status: 400,
    refused: true,
  },
  {
    name: 'a mapping of a transform that is not there',
    document: { inputTransforms: { a: '1' }, inputMapping: { 'transforms.b': 'b' } },
    body: {},
    status: 400,
    refused: true,
  },
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
  })
  after(() => service.stop())

  for (const [index, { name, document, body, status, code, refused }] of cases.entries()) {
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
      if (refused) {
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
      }
      const known = reported.get(name) ?? []
      reported.set(name, [...known, settled(replies)])
    })
  }
})

describe('in both places the same is reported', () => {
  for (const { name } of cases) {
    test(name, () => {
      const [here, there, ...more] = reported.get(name) ?? []
      assert.equal(there, here)
      assert.deepEqual([typeof here, more], ['string', []])
    })
  }
})
