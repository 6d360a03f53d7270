/** An intake, an endpoint and records for tests of the policy, which need no pipeline. */
import assert from 'node:assert/strict'
import { Failure } from '../../../../src/core/failure.ts'
import type { FailureCode } from '../../../../src/core/failure-table.ts'
import type { JsonObject } from '../../../../src/core/json.ts'
import type { Logger } from '../../../../src/core/ports/logger-port.ts'
import type { BrokerRecord, RecordProducer } from '../../../../src/core/ports/record-producer.ts'
import { checkDocument } from '../../../../src/document/checks/check-document.ts'
import type { CompiledEndpoint } from '../../../../src/endpoints/compiled-endpoint.ts'
import { Intake } from '../../../../src/inbound/intake.ts'
import type { ProcessRecordOptions } from '../../../../src/inbound/kafka/process-record.ts'
import type { ConsumedRecord } from '../../../../src/inbound/kafka/record-consumer.ts'
import type { Handle } from '../../../../src/pipeline/outcome.ts'
import { silent } from '../../../support/silent.ts'

export const TOPIC = 't'
export const ENDPOINT_ID = '0'.repeat(24)

export const recordAt = (offset: bigint, fields: Partial<ConsumedRecord> = {}): ConsumedRecord => ({
  topic: TOPIC,
  partition: 0,
  offset,
  timestamp: 0,
  key: null,
  value: Buffer.from('{}'),
  headers: [],
  ...fields,
})

export function endpointWith(handle: Handle, fields: JsonObject = {}): CompiledEndpoint {
  const raw = {
    name: 'one',
    endpoint: { pattern: '/one' },
    transformation: { input: 'JSON', output: 'JSON' },
    kafkaConsumerTopic: TOPIC,
    ...fields,
  }
  const { endpoint, lints } = checkDocument(raw)
  assert.deepEqual(lints, [])
  const document = { ...raw, _id: ENDPOINT_ID, createdAt: '', updatedAt: '', __v: 0 as const }
  return { version: 1, document, endpoint, claims: [], handle }
}

/** The result of a pipeline: done, or failed with a code. */
export const outcomeOf = (result: 'ok' | FailureCode): Awaited<ReturnType<Handle>> => ({
  answer: { status: 200, headers: {}, body: '' },
  failure: result === 'ok' ? undefined : new Failure(result, `It failed with ${result}.`),
})

export const openIntake = (logger: Logger): Intake =>
  new Intake({
    clock: Date.now,
    newId: () => 'id',
    logger,
    logMessages: 'all',
    messageTimeoutMs: 60_000,
    parserLimitBytes: 1_000_000,
    messageMaxBytes: undefined,
    inFlightMaxBytes: 268_435_456,
    maxMessagesInFlight: 1,
    messageWaitMs: 1_000,
    observe: () => {},
  })

/** Without dead letters and retries; `current`: the endpoint. */
export const processingOf = (current: ProcessRecordOptions['current']): ProcessRecordOptions => ({
  current,
  intake: openIntake(silent),
  producer: openProducer(),
  logger: silent,
  deadLetterTopic: undefined,
  retryPausesMs: [],
  validationAcceptNullValues: false,
  produceTimeoutMs: 1_000,
})

/** A producer into an array; its first `failures` writes fail. */
export function openProducer(failures = 0): RecordProducer & { written: BrokerRecord[] } {
  const written: BrokerRecord[] = []
  let left = failures
  return {
    written,
    produce: async (record) => {
      left -= 1
      if (left >= 0) throw new Error('not acknowledged')
      written.push(record)
      return { topic: record.topic, partition: 0, offset: written.length - 1 }
    },
  }
}
