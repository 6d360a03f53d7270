/**
 * The service counts messages, writes their metrics and adds up those of workers by its own code, for speed; the numbers and
 * the text are those of prom-client.
 */

import assert from 'node:assert/strict'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import fc from 'fast-check'
import { AggregatorRegistry, Counter, Histogram, Registry } from 'prom-client'
import { checkDocument } from '../../src/config/checks/check-document.ts'
import { STAGE_NAMES } from '../../src/domain/tracing/stages.ts'
import type { CompiledEndpoint } from '../../src/endpoints/compiled-endpoint.ts'
import { addExpositions } from '../../src/metrics/add-expositions.ts'
import { BOUNDS_MS } from '../../src/metrics/duration-histogram.ts'
import { expose } from '../../src/metrics/exposition.ts'
import { createMessageMetrics } from '../../src/metrics/message-metrics.ts'
import { describeMetrics } from '../../src/metrics/metric-families.ts'
import { readExposition } from './exposition.ts'

type Message = Readonly<{
  endpoint: string
  /** With its code. */
  outcome: readonly ['done' | 'partial' | 'refused' | 'failed', '' | 'BODY_UNREADABLE' | 'LOOKUP_REFUSED']
  /** With milliseconds. */
  stages: readonly (readonly [(typeof STAGE_NAMES)[number], number])[]
  calls: readonly (readonly ['lookup' | 'response', string, number | 'timeout'])[]
}>

const endpoints = ['plain', 'with "quotes" and \\', 'line\nfeed', 'ünïcode']
/** In whole microseconds, so that sums of both are close. */
const ms = fc.integer({ min: 0, max: 40_000_000 }).map((micros) => micros / 1_000)
const message: fc.Arbitrary<Message> = fc.record({
  endpoint: fc.constantFrom(...endpoints),
  outcome: fc.constantFrom<Message['outcome'][]>(
    ['done', ''],
    ['partial', ''],
    ['refused', 'BODY_UNREADABLE'],
    ['refused', 'LOOKUP_REFUSED'],
    ['failed', 'LOOKUP_REFUSED'],
  ),
  stages: fc.array(fc.tuple(fc.constantFrom(...STAGE_NAMES), ms), { maxLength: 9 }),
  calls: fc.array(
    fc.tuple(
      fc.constantFrom('lookup', 'response'),
      fc.constantFrom('a', 'b'),
      fc.oneof(fc.integer({ min: 100, max: 599 }), fc.constant('timeout' as const)),
    ),
    { maxLength: 3 },
  ),
})

const compiledOf = (name: string): CompiledEndpoint => {
  const raw = { name, endpoint: { pattern: '/' }, transformation: { input: 'JSON', output: 'JSON' } }
  const document = { ...raw, _id: name, createdAt: '', updatedAt: '', __v: 0 as const }
  const handle = () => assert.fail('no message is handled')
  return { version: 1, document, endpoint: checkDocument(raw).endpoint, routeKey: '', handle }
}
const compiled = new Map(endpoints.map((name) => [name, compiledOf(name)]))

async function own(messages: readonly Message[]): Promise<string> {
  const metrics = createMessageMetrics()
  for (const {
    endpoint,
    outcome: [outcome, code],
    stages,
    calls,
  } of messages) {
    metrics.count({
      compiled: compiled.get(endpoint),
      outcome,
      code,
      ms: stages.reduce((sum, [, ms]) => sum + ms, 0),
      trace: {
        startMs: 0,
        lastMs: 0,
        stages: stages.map(([stage, endMs]) => ({ stage, startMs: 0, endMs })),
        calls: calls.map(([kind, id, how]) => ({
          kind,
          id,
          item: undefined,
          method: 'GET',
          target: '',
          spanId: undefined,
          sent: undefined,
          startMs: 0,
          endMs: 0,
          answer: how === 'timeout' ? undefined : { status: how, headers: {}, body: new Uint8Array() },
          remark: undefined,
          fault: how === 'timeout' ? how : undefined,
        })),
        reached: undefined,
        sentBytesLeft: undefined,
        context: undefined,
        secrets: undefined,
      },
    })
  }
  const families = describeMetrics({
    version: '0.0.0',
    messageMetrics: metrics,
    inFlight: () => 0,
    waiting: () => 0,
    connections: () => ({}),
    consumers: () => [],
    isolation: () => ({}),
    messageLog: () => ({ written: 0, dropped: { done: 0, partial: 0, refused: 0, failed: 0 } }),
    httpClient: () => ({ open: [], opened: 0, refused: 0, retries: 0, retriesWithheld: 0 }),
  })
  return text(expose(families))
}

function plain(messages: readonly Message[]): Registry {
  const registry = new Registry()
  const shared = { help: 'help', registers: [registry], buckets: BOUNDS_MS.map((ms) => ms / 1_000) }
  const outcomes = new Counter({
    ...shared,
    name: 'crosswalk_messages_total',
    labelNames: ['endpoint', 'outcome', 'code'],
  })
  const durations = new Histogram({
    ...shared,
    name: 'crosswalk_message_duration_seconds',
    labelNames: ['endpoint'],
  })
  const stageDurations = new Histogram({
    ...shared,
    name: 'crosswalk_stage_duration_seconds',
    labelNames: ['endpoint', 'stage'],
  })
  const outboundCalls = new Counter({
    ...shared,
    name: 'crosswalk_outbound_calls_total',
    labelNames: ['endpoint', 'kind', 'request', 'status', 'fault'],
  })
  for (const {
    endpoint,
    outcome: [outcome, code],
    stages,
    calls,
  } of messages) {
    outcomes.inc({ endpoint, outcome, code })
    durations.observe({ endpoint }, stages.reduce((sum, [, ms]) => sum + ms, 0) / 1_000)
    for (const [stage, ms] of stages) stageDurations.observe({ endpoint, stage }, ms / 1_000)
    for (const [kind, request, how] of calls) {
      const status = how === 'timeout' ? '' : String(how)
      outboundCalls.inc({ endpoint, kind, request, status, fault: how === 'timeout' ? how : '' })
    }
  }
  return registry
}

/** Series by name and labels; sums of seconds to a microsecond, as they are added up in another order. */
function numbersOf(text: string): Record<string, number> {
  const counted = /^crosswalk_(?:messages_total|message_duration|stage_duration|outbound_calls)/
  const numbers = readExposition(text).series.flatMap(({ name, labels, value }) => {
    const sorted = Object.entries(labels).sort(([one], [other]) => (one < other ? -1 : 1))
    return counted.test(name) ? [[`${name} ${JSON.stringify(sorted)}`, Math.round(value * 1e6) / 1e6] as const] : []
  })
  return Object.fromEntries(numbers)
}

test('any messages give the series of prom-client', () =>
  fc.assert(
    fc.asyncProperty(fc.array(message, { maxLength: 40 }), async (messages) => {
      assert.deepEqual(numbersOf(await own(messages)), numbersOf(await plain(messages).metrics()))
    }),
  ))

test('the sums of several workers are those of prom-client', () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(message, { maxLength: 20 }), { minLength: 1, maxLength: 4 }),
      async (workers) => {
        const texts = await Promise.all(workers.map(own))
        const metrics = await Promise.all(workers.map((messages) => plain(messages).getMetricsAsJSON()))
        const sum = await AggregatorRegistry.aggregate(metrics).metrics()
        assert.deepEqual(numbersOf(await addExpositions(texts)), numbersOf(sum))
      },
    ),
  ))
