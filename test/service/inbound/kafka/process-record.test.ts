/** The policy for one record: what is retried, after which pauses, what is dead-lettered, and which state is reported. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { FailureCode } from '../../../../src/core/failure-table.ts'
import type { JsonObject } from '../../../../src/core/json.ts'
import type { Run } from '../../../../src/core/run.ts'
import {
  deadLetterTopicFor,
  type ProcessRecordOptions,
  processRecord,
  type RecordState,
} from '../../../../src/inbound/kafka/process-record.ts'
import type { ConsumedRecord } from '../../../../src/inbound/kafka/record-consumer.ts'
import { silent } from '../../../support/silent.ts'
import {
  ENDPOINT_ID,
  endpointWith,
  openIntake,
  openProducer,
  outcomeOf,
  processingOf,
  recordAt,
} from './record-fixtures.ts'

type Case = Readonly<{
  name: string
  /** Results of the pipeline, attempt by attempt; after them `ok`. */
  results?: readonly ('ok' | FailureCode)[]
  record?: Partial<ConsumedRecord>
  document?: JsonObject
  deadLetters?: 'off'
  /** How many writes of the dead letter fail. */
  writeFailures?: number
  /** How often the message is not let in. */
  busy?: number
  /** What happens during the pause of this index. */
  during?: Readonly<{ pause: number; event: 'changed' | 'deleted' | 'revoked' }>
  expect: Readonly<{
    done: boolean
    attempts: number
    pauses: readonly (number | undefined)[]
    states?: readonly RecordState['state'][]
    /** `crosswalk.stage`, `crosswalk.code` and `crosswalk.attempts` of the dead letter. */
    letter?: readonly [stage: string, code: FailureCode, attempts: string]
  }>
}>

const AWAY = 'RESPONSE_UNREACHABLE'
const REFUSED = 'RESPONSE_REFUSED'
const FULL = 'DELIVERIES_FULL'
const [WAITING, STOPPED, RUNNING] = ['waiting', 'stopped', 'running'] as const
const [FIRST, SECOND] = [100, 700]

const cases: readonly Case[] = [
  { name: 'succeeds at once', expect: { done: true, attempts: 1, pauses: [] } },
  {
    name: 'succeeds after two failures that may pass: the pauses grow as configured',
    results: [AWAY, AWAY],
    expect: { done: true, attempts: 3, pauses: [FIRST, SECOND], states: [WAITING, WAITING, RUNNING] },
  },
  {
    name: 'fails each time with what may pass: dead-lettered after the last pause',
    results: [AWAY, AWAY, AWAY],
    expect: {
      done: true,
      attempts: 3,
      pauses: [FIRST, SECOND],
      states: [WAITING, WAITING, RUNNING],
      letter: ['receive', AWAY, '3'],
    },
  },
  {
    name: 'can never succeed: dead-lettered at once',
    results: [REFUSED],
    expect: { done: true, attempts: 1, pauses: [], states: [RUNNING], letter: ['receive', REFUSED, '1'] },
  },
  {
    name: 'fails for good after a retry: dead-lettered then',
    results: [AWAY, REFUSED],
    expect: { done: true, attempts: 2, pauses: [FIRST], states: [WAITING, RUNNING], letter: ['receive', REFUSED, '2'] },
  },
  {
    name: 'has requests that the store of deliveries does not take: tried again until it does, and never dead-lettered',
    results: [FULL, 'DELIVERY_UNAVAILABLE', FULL, FULL],
    expect: {
      done: true,
      attempts: 5,
      pauses: [FIRST, SECOND, SECOND, SECOND],
      states: [WAITING, WAITING, STOPPED, STOPPED, RUNNING],
    },
  },
  {
    name: 'is larger than PARSER_LIMIT: dead-lettered without an attempt of the pipeline',
    record: { value: Buffer.alloc(1_000_001) },
    expect: { done: true, attempts: 0, pauses: [], states: [RUNNING], letter: ['receive', 'BODY_TOO_LARGE', '1'] },
  },
  {
    name: 'is a tombstone that the schema does not accept',
    record: { value: null },
    document: { inputValidation: { type: 'object' } },
    expect: { done: true, attempts: 0, pauses: [], states: [RUNNING], letter: ['validate', 'VALIDATION_FAILED', '1'] },
  },
  {
    name: 'is a tombstone that the schema accepts',
    record: { value: null },
    document: { inputValidation: { type: ['object', 'null'] } },
    expect: { done: true, attempts: 1, pauses: [] },
  },
  {
    name: 'is not let in: waits without counting an attempt',
    busy: 3,
    results: [REFUSED],
    expect: { done: true, attempts: 1, pauses: [50, 50, 50], states: [RUNNING], letter: ['receive', REFUSED, '1'] },
  },
  {
    name: 'cannot be dead-lettered: the partition stops, and the pauses grow to 30 s',
    results: [REFUSED],
    writeFailures: 7,
    expect: {
      done: true,
      attempts: 1,
      pauses: [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000],
      states: [STOPPED, STOPPED, STOPPED, STOPPED, STOPPED, STOPPED, STOPPED, RUNNING],
      letter: ['receive', REFUSED, '1'],
    },
  },
  {
    name: 'without a dead-letter topic, fails with what may pass: retried with the last pause again and again',
    deadLetters: 'off',
    results: [AWAY, AWAY, AWAY, AWAY],
    expect: {
      done: true,
      attempts: 5,
      pauses: [FIRST, SECOND, SECOND, SECOND],
      states: [WAITING, WAITING, STOPPED, STOPPED, RUNNING],
    },
  },
  {
    name: 'without a dead-letter topic, can never succeed: waits for a change of the endpoint',
    deadLetters: 'off',
    results: [REFUSED],
    during: { pause: 0, event: 'changed' },
    expect: { done: true, attempts: 2, pauses: [undefined], states: [STOPPED, RUNNING] },
  },
  {
    name: 'the endpoint is changed during a pause: it has all of its attempts again',
    results: [AWAY, AWAY, AWAY, AWAY],
    during: { pause: 1, event: 'changed' },
    expect: {
      done: true,
      attempts: 5,
      pauses: [FIRST, SECOND, FIRST, SECOND],
      states: [WAITING, WAITING, WAITING, WAITING, RUNNING],
    },
  },
  {
    name: 'the endpoint is deleted during a pause: not done',
    results: [AWAY],
    during: { pause: 0, event: 'deleted' },
    expect: { done: false, attempts: 1, pauses: [FIRST], states: [WAITING] },
  },
  {
    name: 'the partition is revoked during a pause: not done',
    results: [AWAY],
    during: { pause: 0, event: 'revoked' },
    expect: { done: false, attempts: 1, pauses: [FIRST], states: [WAITING] },
  },
  {
    name: 'the partition is revoked while the dead letter cannot be written: not done',
    results: [REFUSED],
    writeFailures: 1,
    during: { pause: 0, event: 'revoked' },
    expect: { done: false, attempts: 1, pauses: [1_000], states: [STOPPED] },
  },
  {
    name: 'the endpoint is deleted while the dead letter cannot be written: not done',
    results: [REFUSED],
    writeFailures: 1,
    during: { pause: 0, event: 'deleted' },
    expect: { done: false, attempts: 1, pauses: [1_000], states: [STOPPED] },
  },
]

const headerCases: readonly (readonly [name: string, record: Partial<ConsumedRecord>, headers: JsonObject])[] = [
  ['its key', { key: Buffer.from('k') }, { 'kafka-key': 'k' }],
  [
    'its own headers, names in lower case and the values of a name joined',
    {
      headers: [
        [Buffer.from('X-A'), Buffer.from('1')],
        [Buffer.from('x-a'), null],
      ],
    },
    { 'x-a': '1, ' },
  ],
  [
    'no key or topic that only its own headers name',
    {
      headers: [
        [Buffer.from('Kafka-Key'), Buffer.from('k')],
        [Buffer.from('kafka-topic'), Buffer.from('x')],
      ],
    },
    {},
  ],
]

describe('a record', () => {
  for (const { name, results = [], record = {}, document, deadLetters, writeFailures, busy = 0, ...rest } of cases) {
    test(name, async () => {
      const { during, expect } = rest
      let attempts = 0
      const endpoint = () => endpointWith(() => outcomeOf(results[attempts++] ?? 'ok'), document)
      let current: ReturnType<typeof endpoint> | undefined = endpoint()
      const closing = new AbortController()
      const pauses: (number | undefined)[] = []
      const states: RecordState['state'][] = []
      const producer = openProducer(writeFailures)
      const done = await processRecord(
        recordAt(7n, record),
        {
          current: () => current,
          intake: busyAtFirst(busy),
          producer,
          logger: silent,
          deadLetterTopic: deadLetters === 'off' ? undefined : 't.dlq',
          retryPausesMs: [FIRST, SECOND],
          validationAcceptNullValues: false,
          produceTimeoutMs: 1_000,
        },
        () => ({
          signal: closing.signal,
          report: ({ state }) => states.push(state),
          pause: async (timeMs) => {
            pauses.push(timeMs)
            if (pauses.length - 1 === during?.pause) {
              if (during.event === 'changed') current = endpoint()
              if (during.event === 'deleted') current = undefined
              if (during.event === 'revoked') closing.abort()
            }
            closing.signal.throwIfAborted()
          },
        }),
      )
      const { letter, states: expectedStates = [], ...others } = expect
      assert.deepEqual({ done, attempts, pauses }, others)
      assert.deepEqual(states, expectedStates)
      const headers = producer.written.map((one) => Object.fromEntries(one.headers))
      assert.deepEqual(
        headers.map((one) => [one['crosswalk.stage'], one['crosswalk.code'], one['crosswalk.attempts']]),
        letter === undefined ? [] : [letter],
      )
    })
  }

  for (const [name, record, headers] of headerCases) {
    test(`gives the message its place and ${name}`, async () => {
      const received: JsonObject[] = []
      const compiled = endpointWith((message) => {
        received.push({ ...message.requestHeaders })
        return outcomeOf('ok')
      })
      await processRecord(
        recordAt(7n, record),
        processingOf(() => compiled),
        () => assert.fail(),
      )
      const place = { 'kafka-topic': 't', 'kafka-partition': '0', 'kafka-offset': '7' }
      assert.deepEqual(received, [{ ...place, ...headers }])
    })
  }

  test('that is tried again leaves nothing of earlier attempts in memory', async () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const runs: WeakRef<Run>[] = []
    const compiled = endpointWith((_message, run) => {
      runs.push(new WeakRef(run))
      // A function that sees the run, like those of the stages: it must not stay in memory as a part of a stack.
      const end = () => outcomeOf(!run.door.isRequest && runs.length <= 3 ? AWAY : 'ok')
      return end()
    })
    const left: number[] = []
    const pause = async () => {
      // A reference that was made or read keeps its object until the turn ends.
      await setImmediate()
      collect()
      left.push(runs.filter((one) => one.deref() !== undefined).length)
    }
    const { signal } = new AbortController()
    const options = { ...processingOf(() => compiled), retryPausesMs: [FIRST, FIRST, SECOND] }
    assert.ok(await processRecord(recordAt(7n), options, () => ({ signal, report: () => {}, pause })))
    assert.deepEqual(left, [0, 0, 0])
  })

  test('its dead letter has its key, bytes and headers unchanged, followed by those of the service', async () => {
    const producer = openProducer()
    const name = Buffer.from([0xff])
    const record = recordAt(7n, {
      partition: 3,
      timestamp: 1_700_000_000_123,
      key: Buffer.from('k'),
      value: Buffer.from('{"a"'),
      headers: [
        [name, null],
        [name, Buffer.from('x')],
      ],
    })
    const compiled = endpointWith(() => outcomeOf(REFUSED))
    const options = { ...processingOf(() => compiled), producer, deadLetterTopic: 't.dlq' }
    const { signal } = new AbortController()
    await processRecord(record, options, () => ({ signal, report: () => {}, pause: () => assert.fail() }))
    assert.deepEqual(producer.written, [
      {
        topic: 't.dlq',
        key: record.key,
        value: record.value,
        headers: [
          [name, null],
          [name, Buffer.from('x')],
          ['crosswalk.endpoint', 'one'],
          ['crosswalk.endpoint-id', ENDPOINT_ID],
          ['crosswalk.stage', 'receive'],
          ['crosswalk.code', REFUSED],
          ['crosswalk.error', `It failed with ${REFUSED}.`],
          ['crosswalk.topic', 't'],
          ['crosswalk.partition', '3'],
          ['crosswalk.offset', '7'],
          ['crosswalk.timestamp', '2023-11-14T22:13:20.123Z'],
          ['crosswalk.attempts', '1'],
        ],
      },
    ])
  })
})

test('the dead-letter topic follows from the template, and is none where it would be the topic itself', () => {
  for (const [topic, template, expected] of [
    ['a', '{topic}.dlq', 'a.dlq'],
    ['a', 'failed-{topic}', 'failed-a'],
    ['a', 'all', 'all'],
    ['all', 'all', undefined],
    ['a', 'off', undefined],
  ] as const)
    assert.equal(deadLetterTopicFor(topic, template), expected)
})

/** An intake that drains while the first messages come. */
function busyAtFirst(times: number): ProcessRecordOptions['intake'] {
  const intake = openIntake(silent)
  let left = times
  return {
    accept: (...message) => intake.accept(...message),
    refuse: (...message) => intake.refuse(...message),
    get isDraining() {
      left -= 1
      return left >= 0
    },
  }
}
