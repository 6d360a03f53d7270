/** Why parts of a record are masked, in records of this version and of earlier ones. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { BodySummary, MessageRecord } from '../../../../src/core/records/message-record.ts'
import type { CompiledEndpoint } from '../../../../src/endpoints/compiled-endpoint.ts'
import type { Registry } from '../../../../src/endpoints/endpoint-registry.ts'
import { createBodyCapture } from '../../../../src/records/message-log/bodies.ts'
import { compileRedaction } from '../../../../src/records/message-log/redaction.ts'
import { recordBlocker } from '../../../../src/records/replay/replay.ts'

const registry = {
  get: () => ({ endpoint: { endpoint: { pattern: '/a' }, requests: { lookup: [] } } }) as unknown as CompiledEndpoint,
} as unknown as Registry

const whyNot = (summary: BodySummary): string | undefined => {
  const request = { which: 'request', contentType: 'application/json', size: 2 }
  const record = { endpointId: '1', source: 'http', bodies: [request, summary] } as unknown as MessageRecord
  return recordBlocker(record, registry, {})?.error
}

const capture = (body: string, paths: readonly string[], secrets: readonly string[]): BodySummary => {
  const bodies = createBodyCapture(1_000, compileRedaction(paths), secrets)
  bodies.addBody('incoming', 'application/json', Buffer.from(body))
  return bodies.bodies[0]?.summary as BodySummary
}

describe('a message whose body is masked says why', () => {
  const start = 'Parts of its recorded request are masked: '
  const credential = 'they hold a credential, such as a token or a secret'
  type Case = readonly [body: string, says: string | undefined, paths: string[], secrets: string[]]
  const cases: readonly Case[] = [
    ['{"a":1}', undefined, ['ssn'], ['swordfish']],
    ['{"ssn":"1-2"}', `${start}REDACT_PATHS names them.`, ['ssn'], []],
    ['{"a":"swordfish"}', `${start}${credential}.`, [], ['swordfish']],
    ['{"ssn":"1-2","a":"swordfish"}', `${start}REDACT_PATHS names them; ${credential}.`, ['ssn'], ['swordfish']],
    ['{"a":', `${start}REDACT_PATHS is set, and the body could not be read to apply it.`, ['ssn'], []],
  ]
  for (const [body, says, paths, secrets] of cases) {
    test(body, () => assert.equal(whyNot(capture(body, paths, secrets)), says))
  }

  test('a record of an earlier version', () => {
    const summary = { which: 'incoming', contentType: 'application/json', size: 9, masked: true } as const
    assert.equal(whyNot(summary), `${start}they hold a credential, or REDACT_PATHS names them.`)
  })
})

describe('a message is repeated through the door that it came by', () => {
  const of = (source: string, endpoint: object): string | undefined => {
    const record = { endpointId: '1', source, bodies: [{ which: 'request' }] } as unknown as MessageRecord
    const compiled = { endpoint: { requests: { lookup: [] }, ...endpoint } } as unknown as CompiledEndpoint
    const active = { get: () => compiled } as unknown as Registry
    return recordBlocker(record, active, {})?.reason
  }
  const onlyTopic = { endpoint: { method: 'POST' }, kafkaConsumerTopic: 'in' }
  const onlyRoute = { endpoint: { method: 'POST', pattern: '/a' } }
  const cases = [
    ['http', onlyTopic, 'no-route'],
    ['broker', onlyTopic, undefined],
    ['http', onlyRoute, undefined],
    ['broker', onlyRoute, 'no-topic'],
    // Its recorded request says which door it was.
    ['replay', onlyTopic, undefined],
    ['replay', onlyRoute, undefined],
  ] as const
  for (const [source, endpoint, reason] of cases) {
    test(`${source}, ${endpoint === onlyTopic ? 'a topic' : 'a route'}`, () =>
      assert.equal(of(source, endpoint), reason))
  }
})
