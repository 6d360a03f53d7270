/**
 * The metrics of one process. Labels hold what a person wrote into a document (names of endpoints, ids of requests, topics)
 * and fixed words: never a path, a generated id or a part of a message.
 */
import type { Registry } from 'prom-client'
import type { MessageRecord } from '../domain/message-record.ts'
import type { ConsumerStatus } from '../domain/ports/consumer-state.ts'
import type { OutboundHealth } from '../domain/ports/http-client-port.ts'
import { BOUNDS_MS, type Histogram } from './duration-histogram.ts'
import { expose, type Family, type Sample } from './exposition.ts'
import type { MessageMetrics } from './message-metrics.ts'

export type MetricsSource = Readonly<{
  version: string
  messageMetrics: MessageMetrics
  inFlight: () => number
  waiting: () => number
  consumers: () => readonly ConsumerStatus[]
  /** Of the isolated processes, by their lanes; undefined where there are none. */
  isolation?: (() => Readonly<Record<'quick' | 'slow', IsolationCounts>>) | undefined
  /** Records of the message log since the process started. */
  messageLog: () => Readonly<{ written: number; dropped: Readonly<Record<MessageRecord['outcome'], number>> }>
  /** Of the origins that are called. */
  outbound: () => OutboundHealth
}>

type IsolationCounts = Readonly<{
  processes: number
  waiting: number
  ended: Readonly<Record<'time' | 'memory' | 'others', number>>
}>

/** Resolves to the metrics in Prometheus' text format, in UTF-8. */
export type Metrics = () => Promise<Uint8Array>

/** The metrics of this process. */
export function createMetrics(source: MetricsSource): Metrics {
  const families = describeMetrics(source)
  let loading: Promise<Registry> | undefined
  return async () => {
    // Loaded at the first scrape: the library is large, and many services are never scraped.
    loading ??= processMetrics()
    const ofProcess = await loading
    return Buffer.concat([await expose(families), Buffer.from(`${await ofProcess.metrics()}\n`)])
  }
}

async function processMetrics(): Promise<Registry> {
  const { collectDefaultMetrics, Registry } = await import('prom-client')
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  return registry
}

export function describeMetrics({
  version,
  messageMetrics,
  inFlight,
  waiting,
  consumers,
  messageLog,
  outbound,
  isolation,
}: MetricsSource): Family[] {
  return [
    ...(isolation === undefined ? [] : describeIsolation(isolation)),
    {
      name: 'crosswalk_build_info',
      help: 'Always 1; the labels say what runs.',
      type: 'gauge',
      labels: ['version', 'node'],
      samples: () => [{ labels: { version, node: process.versions.node }, value: 1 }],
    },
    {
      name: 'crosswalk_messages_in_flight',
      help: 'Messages under way.',
      type: 'gauge',
      labels: [],
      samples: () => [{ labels: {}, value: inFlight() }],
    },
    {
      name: 'crosswalk_messages_waiting',
      help: 'Messages that wait to be begun with.',
      type: 'gauge',
      labels: [],
      samples: () => [{ labels: {}, value: waiting() }],
    },
    {
      name: 'crosswalk_messages_total',
      help: 'Messages answered, by endpoint, outcome and failure code.',
      type: 'counter',
      labels: ['endpoint', 'outcome', 'code'],
      samples: () => messageMetrics.entries().map(({ count, ...labels }) => ({ labels, value: count })),
    },
    {
      name: 'crosswalk_message_duration_seconds',
      help: 'How long messages took until their answer was there.',
      type: 'histogram',
      labels: ['endpoint'],
      *samples() {
        for (const { stage, endpoint, ...histogram } of messageMetrics.durations())
          if (stage === 'message') yield* histogramSamples({ endpoint }, histogram)
      },
    },
    {
      name: 'crosswalk_stage_duration_seconds',
      help: 'How long each stage of messages took.',
      type: 'histogram',
      labels: ['endpoint', 'stage'],
      *samples() {
        for (const { stage, endpoint, ...histogram } of messageMetrics.durations())
          if (stage !== 'message') yield* histogramSamples({ endpoint, stage }, histogram)
      },
    },
    {
      name: 'crosswalk_outbound_calls_total',
      help: 'Lookups and responses, retries not counted, by the status of the answer or the fault that stands for it.',
      type: 'counter',
      labels: ['endpoint', 'kind', 'request', 'status', 'fault'],
      *samples() {
        for (const { count, endpoint, ...labels } of messageMetrics.calls())
          yield { labels: { endpoint, ...labels }, value: count }
      },
    },
    {
      name: 'crosswalk_outbound_retries_total',
      help: 'Retries of calls: made, and withheld as the budget of the origin was used up.',
      type: 'counter',
      labels: ['outcome'],
      *samples() {
        const { retries, retriesWithheld } = outbound()
        yield { labels: { outcome: 'made' }, value: retries }
        yield { labels: { outcome: 'withheld' }, value: retriesWithheld }
      },
    },
    {
      name: 'crosswalk_circuit_open',
      help: 'Always 1, for each origin that is left alone now.',
      type: 'gauge',
      labels: ['origin'],
      samples: () => outbound().open.map((origin) => ({ labels: { origin }, value: 1 })),
    },
    {
      name: 'crosswalk_circuit_opened_total',
      help: 'How often an origin was found to fail and left alone.',
      type: 'counter',
      labels: [],
      samples: () => [{ labels: {}, value: outbound().opened }],
    },
    {
      name: 'crosswalk_circuit_refused_calls_total',
      help: 'Calls that were not sent, as the origin was left alone.',
      type: 'counter',
      labels: [],
      samples: () => [{ labels: {}, value: outbound().refused }],
    },
    {
      name: 'crosswalk_consumer_lag',
      help: 'Records that wait in the partitions of this instance.',
      type: 'gauge',
      labels: ['endpoint', 'topic'],
      samples: () => consumers().map(({ endpoint, topic, lag }) => ({ labels: { endpoint, topic }, value: lag })),
    },
    {
      name: 'crosswalk_message_log_written_total',
      help: 'Records of the message log that were stored.',
      type: 'counter',
      labels: [],
      samples: () => [{ labels: {}, value: messageLog().written }],
    },
    {
      name: 'crosswalk_message_log_dropped_total',
      help: 'Records of the message log that were dropped under overload, by the outcome of their messages.',
      type: 'counter',
      labels: ['outcome'],
      samples: () => Object.entries(messageLog().dropped).map(([outcome, value]) => ({ labels: { outcome }, value })),
    },
  ]
}

function describeIsolation(isolation: NonNullable<MetricsSource['isolation']>): Family[] {
  const lanes = () => Object.entries(isolation())
  return [
    {
      name: 'crosswalk_isolation_processes',
      help: 'Processes in which expressions and schemas run, by lane.',
      type: 'gauge',
      labels: ['lane'],
      samples: () => lanes().map(([lane, { processes }]) => ({ labels: { lane }, value: processes })),
    },
    {
      name: 'crosswalk_isolation_waiting',
      help: 'Messages that wait for such a process, by lane.',
      type: 'gauge',
      labels: ['lane'],
      samples: () => lanes().map(([lane, { waiting }]) => ({ labels: { lane }, value: waiting })),
    },
    {
      name: 'crosswalk_isolation_ended_total',
      help: 'Such processes that were ended, by lane and cause: `time`, `memory` or `others` (from outside).',
      type: 'counter',
      labels: ['lane', 'cause'],
      *samples() {
        for (const [lane, { ended }] of lanes())
          for (const [cause, value] of Object.entries(ended)) yield { labels: { lane, cause }, value }
      },
    },
  ]
}

function* histogramSamples(
  labels: Readonly<Record<string, string>>,
  { cumulative, count, sumMs }: Histogram,
): Generator<Sample> {
  for (const [bucket, value] of cumulative.entries()) {
    yield { suffix: '_bucket', labels: { ...labels, le: String((BOUNDS_MS[bucket] as number) / 1_000) }, value }
  }
  yield { suffix: '_bucket', labels: { ...labels, le: '+Inf' }, value: count }
  yield { suffix: '_sum', labels, value: sumMs / 1_000 }
  yield { suffix: '_count', labels, value: count }
}
