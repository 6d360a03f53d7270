/**
 * The metrics of one process. Labels contain fixed words and names from documents (endpoints, ids of requests, topics), never
 * a path, a generated id or a part of a message.
 */
import type { Registry } from 'prom-client'
import type { OutboundHealth } from '../../core/ports/http-client-port.ts'
import type { MessageRecord } from '../../core/records/message-record.ts'
import type { Table } from '../../core/tables/table.ts'
import type { TableSet } from '../../core/tables/table-set.ts'
import { CONSUMER_STATES, type ConsumerStatus } from '../../inbound/kafka/endpoint-consumers.ts'
import { MLLP_PORT_STATES, type MllpPortStatus } from '../../inbound/mllp/mllp-ports.ts'
import type { ScheduleRunner } from '../../inbound/schedule/schedule-runner.ts'
import type { MediatorStatus } from '../../openhim/core-port.ts'
import { type DeliveriesSource, describeDeliveries } from './delivery-families.ts'
import { expose, type Family, type Sample, single } from './expositions.ts'
import { BOUNDS_MS, type Histogram, type MessageMetrics } from './message-metrics.ts'

export type MetricsSource = Readonly<{
  version: string
  messageMetrics: MessageMetrics
  inFlight: () => number
  /** Messages that wait for a permit or in the load shedder. */
  waiting: () => number
  /** Of each port. */
  connections: () => Readonly<Record<string, Readonly<{ open: number; refused: number }>>>
  consumers: () => readonly ConsumerStatus[]
  mllpPorts: () => readonly MllpPortStatus[]
  schedules: Pick<ScheduleRunner, 'status' | 'counts'>
  deliveries: DeliveriesSource
  /** The active tables; how often messages missed a code, by table. */
  tables: Readonly<{ current: TableSet }>
  misses: Readonly<{ totals: ReadonlyMap<string, number> }>
  /** Of the isolated processes or threads, by pool. */
  isolation: () => Readonly<Record<string, IsolationCounts>>
  /** Records of the message log since the process started. */
  messageLog: () => Readonly<{ written: number; dropped: Readonly<Record<MessageRecord['outcome'], number>> }>
  /** Circuits and retries of the HTTP client. */
  httpClient: () => OutboundHealth
  /** Set if the service is a mediator; its result is undefined in processes that do not register it. */
  mediator?: (() => MediatorStatus | undefined) | undefined
}>

type IsolationCounts = Readonly<{
  processes: number
  waiting: number
  ended: Readonly<Record<'time' | 'memory' | 'others', number>>
}>

/** Gives the parts of an exposition in Prometheus' text format, in UTF-8; each is made when it is asked for. */
type Metrics = () => AsyncIterable<Uint8Array>

export function createMetrics(source: MetricsSource): Metrics {
  const families = describeMetrics(source)
  let loading: Promise<Registry> | undefined
  return async function* () {
    // prom-client is loaded at the first scrape, since many services are never scraped.
    loading ??= processMetrics()
    const ofProcess = await loading
    yield Buffer.from(`${await ofProcess.metrics()}\n`)
    yield* expose(families)
  }
}

/** Memory, processor time, event loop: the only metrics that prom-client counts here. */
async function processMetrics(): Promise<Registry> {
  const { collectDefaultMetrics, Registry } = await import('prom-client')
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  return registry
}

export function describeMetrics(source: MetricsSource): Family[] {
  const {
    version,
    messageMetrics,
    inFlight,
    waiting,
    consumers,
    mllpPorts,
    messageLog,
    httpClient,
    isolation,
    mediator,
  } = source
  return [
    ...describeIsolation(isolation),
    ...describeConnections(source.connections),
    ...describeSchedules(source.schedules),
    ...describeDeliveries(source.deliveries),
    ...describeTables(source),
    ...(mediator === undefined ? [] : [describeMediation(mediator)]),
    {
      name: 'crosswalk_build_info',
      help: 'Always 1; the labels name the version of the service and of Node.js.',
      type: 'gauge',
      labels: ['version', 'node'],
      samples: () => [{ labels: { version, node: process.versions.node }, value: 1 }],
    },
    single('gauge', 'crosswalk_messages_in_flight', 'Messages in flight.', inFlight),
    single('gauge', 'crosswalk_messages_waiting', 'Messages that wait to start.', waiting),
    {
      name: 'crosswalk_messages_total',
      help: 'Messages answered, by endpoint, outcome and failure code.',
      type: 'counter',
      labels: ['endpoint', 'outcome', 'code'],
      samples: () => messageMetrics.entries().map(({ count, ...labels }) => ({ labels, value: count })),
    },
    {
      name: 'crosswalk_message_duration_seconds',
      help: 'Duration of messages until their answer was ready.',
      type: 'histogram',
      labels: ['endpoint'],
      *samples() {
        for (const { stage, endpoint, ...histogram } of messageMetrics.durations())
          if (stage === 'message') yield* histogramSamples({ endpoint }, histogram)
      },
    },
    {
      name: 'crosswalk_stage_duration_seconds',
      help: 'Duration of each stage of messages.',
      type: 'histogram',
      labels: ['endpoint', 'stage'],
      *samples() {
        for (const { stage, endpoint, ...histogram } of messageMetrics.durations())
          if (stage !== 'message') yield* histogramSamples({ endpoint, stage }, histogram)
      },
    },
    {
      name: 'crosswalk_outbound_calls_total',
      help: 'Lookups and responses without their retries, by the status of the answer or the fault.',
      type: 'counter',
      labels: ['endpoint', 'kind', 'request', 'status', 'fault'],
      *samples() {
        for (const { count, ...labels } of messageMetrics.calls()) yield { labels, value: count }
      },
    },
    {
      name: 'crosswalk_outbound_retries_total',
      help: 'Retries of calls: made, or withheld because the budget of the origin was used up.',
      type: 'counter',
      labels: ['outcome'],
      *samples() {
        const { retries, retriesWithheld } = httpClient()
        yield { labels: { outcome: 'made' }, value: retries }
        yield { labels: { outcome: 'withheld' }, value: retriesWithheld }
      },
    },
    {
      name: 'crosswalk_circuit_open',
      help: 'Always 1, for each origin whose circuit is open.',
      type: 'gauge',
      labels: ['origin'],
      samples: () => httpClient().open.map((origin) => ({ labels: { origin }, value: 1 })),
    },
    single('counter', 'crosswalk_circuit_opened_total', 'How often a circuit opened.', () => httpClient().opened),
    single(
      'counter',
      'crosswalk_circuit_refused_calls_total',
      'Calls that were not sent because of an open circuit.',
      () => httpClient().refused,
    ),
    {
      name: 'crosswalk_consumer_lag',
      help: 'Records that wait in the partitions of this instance.',
      type: 'gauge',
      labels: ['endpoint', 'topic'],
      samples: () => consumers().map(({ endpoint, topic, lag }) => ({ labels: { endpoint, topic }, value: lag })),
    },
    {
      name: 'crosswalk_consumers',
      help: 'Consumers of topics by their state: connecting is not a member of its group, stopped cannot go on.',
      type: 'gauge',
      labels: ['endpoint', 'topic', 'state'],
      samples: () =>
        consumers().flatMap(({ endpoint, topic, state }) =>
          CONSUMER_STATES.map((one) => ({ labels: { endpoint, topic, state: one }, value: one === state ? 1 : 0 })),
        ),
    },
    {
      name: 'crosswalk_consumer_records',
      help: 'Records that were started and are not done, by whether they run or wait for their next attempt.',
      type: 'gauge',
      labels: ['endpoint', 'topic', 'state'],
      samples: () =>
        consumers().flatMap(({ endpoint, topic, underWay, retrying }) => [
          { labels: { endpoint, topic, state: 'under way' }, value: underWay },
          { labels: { endpoint, topic, state: 'retrying' }, value: retrying },
        ]),
    },
    {
      name: 'crosswalk_consumer_holes',
      help: 'Gaps of records that are not done, before the last record that is done.',
      type: 'gauge',
      labels: ['endpoint', 'topic'],
      samples: () => consumers().map(({ endpoint, topic, holes }) => ({ labels: { endpoint, topic }, value: holes })),
    },
    {
      name: 'crosswalk_consumer_oldest_seconds',
      help: 'Age of the oldest record that was started and is not done; 0 without one.',
      type: 'gauge',
      labels: ['endpoint', 'topic'],
      samples: () =>
        consumers().map(({ endpoint, topic, oldestAt }) => ({
          labels: { endpoint, topic },
          value: oldestAt === undefined ? 0 : Math.max(0, Date.now() - Date.parse(oldestAt)) / 1_000,
        })),
    },
    {
      name: 'crosswalk_mllp_ports',
      help: 'MLLP ports that endpoints name, by their state: failed is tried again.',
      type: 'gauge',
      labels: ['port', 'state'],
      samples: () =>
        mllpPorts().flatMap(({ port, state }) =>
          MLLP_PORT_STATES.map((one) => ({ labels: { port: String(port), state: one }, value: one === state ? 1 : 0 })),
        ),
    },
    {
      name: 'crosswalk_mllp_connections',
      help: 'Open connections of each MLLP port.',
      type: 'gauge',
      labels: ['port'],
      samples: () =>
        mllpPorts().map(({ port, connections }) => ({ labels: { port: String(port) }, value: connections })),
    },
    single(
      'counter',
      'crosswalk_message_log_written_total',
      'Records of the message log that were stored.',
      () => messageLog().written,
    ),
    {
      name: 'crosswalk_message_log_dropped_total',
      help: 'Records of the message log that were dropped under overload, by the outcome of their messages.',
      type: 'counter',
      labels: ['outcome'],
      samples: () => Object.entries(messageLog().dropped).map(([outcome, value]) => ({ labels: { outcome }, value })),
    },
  ]
}

const describeMediation = (mediator: NonNullable<MetricsSource['mediator']>): Family => ({
  name: 'crosswalk_openhim_alive',
  help: 'Whether the OpenHIM core accepted the last heartbeat: 1 or 0.',
  type: 'gauge',
  labels: [],
  *samples() {
    const status = mediator()
    if (status !== undefined) yield { labels: {}, value: status === 'alive' ? 1 : 0 }
  },
})

function describeConnections(connections: MetricsSource['connections']): Family[] {
  const perPort = (value: 'open' | 'refused') => () =>
    Object.entries(connections()).map(([port, counts]) => ({ labels: { port }, value: counts[value] }))
  return [
    {
      name: 'crosswalk_connections',
      help: 'Open connections, by port.',
      type: 'gauge',
      labels: ['port'],
      samples: perPort('open'),
    },
    {
      name: 'crosswalk_connections_refused_total',
      help: 'Connections that were closed because the port had too many, by port.',
      type: 'counter',
      labels: ['port'],
      samples: perPort('refused'),
    },
  ]
}

function describeSchedules(schedules: MetricsSource['schedules']): Family[] {
  const skipped = (name: string, help: string, which: 'overruns' | 'missed'): Family => ({
    name,
    help,
    type: 'counter',
    labels: ['endpoint'],
    samples: () => schedules.counts.all().map((one) => ({ labels: { endpoint: one.endpoint }, value: one[which] })),
  })
  return [
    {
      name: 'crosswalk_schedule_runs_total',
      help: 'Runs of schedules that have ended, by the outcome of their messages; interrupted: its instance ended before it.',
      type: 'counter',
      labels: ['endpoint', 'outcome'],
      *samples() {
        for (const { endpoint, runs } of schedules.counts.all())
          for (const [outcome, value] of runs) yield { labels: { endpoint, outcome }, value }
      },
    },
    skipped(
      'crosswalk_schedule_overruns_total',
      'Times of schedules that were skipped since a run was under way.',
      'overruns',
    ),
    skipped(
      'crosswalk_schedule_missed_total',
      'Times of schedules that were skipped since no instance could run them.',
      'missed',
    ),
    {
      name: 'crosswalk_schedule_last_run_age_seconds',
      help: 'Time since the last run of a schedule started; not there before it has ended.',
      type: 'gauge',
      labels: ['endpoint'],
      samples: () =>
        schedules
          .status()
          .flatMap(({ endpoint, schedule: { last }, nowMs }) =>
            last === undefined
              ? []
              : [{ labels: { endpoint }, value: Math.max(0, nowMs - Date.parse(last.startedAt)) / 1_000 }],
          ),
    },
    {
      name: 'crosswalk_schedule_next_run_seconds',
      help: 'Time until a schedule is due; negative if it is overdue.',
      type: 'gauge',
      labels: ['endpoint'],
      samples: () =>
        schedules.status().map(({ endpoint, schedule, nowMs }) => ({
          labels: { endpoint },
          value: (schedule.dueMs - nowMs) / 1_000,
        })),
    },
  ]
}

function describeIsolation(isolation: MetricsSource['isolation']): Family[] {
  const pools = () => Object.entries(isolation())
  return [
    {
      name: 'crosswalk_isolation_processes',
      help: 'Isolated processes or threads for expressions and schemas, by pool.',
      type: 'gauge',
      labels: ['lane'],
      samples: () => pools().map(([lane, { processes }]) => ({ labels: { lane }, value: processes })),
    },
    {
      name: 'crosswalk_isolation_waiting',
      help: 'Messages and documents that wait for an isolated process or thread, by pool.',
      type: 'gauge',
      labels: ['lane'],
      samples: () => pools().map(([lane, { waiting }]) => ({ labels: { lane }, value: waiting })),
    },
    {
      name: 'crosswalk_isolation_ended_total',
      help: 'Isolated processes or threads that ended, by pool and cause: `time`, `memory` or `others`.',
      type: 'counter',
      labels: ['lane', 'cause'],
      *samples() {
        for (const [lane, { ended }] of pools())
          for (const [cause, value] of Object.entries(ended)) yield { labels: { lane, cause }, value }
      },
    },
  ]
}

function describeTables({ tables, misses }: Pick<MetricsSource, 'tables' | 'misses'>): Family[] {
  const ofEach = (name: string, help: string, value: (table: Table) => number): Family => ({
    name,
    help,
    type: 'gauge',
    labels: ['table'],
    samples: () => [...tables.current].map(([name, { table }]) => ({ labels: { table: name }, value: value(table) })),
  })
  return [
    ofEach('crosswalk_table_rows', 'Rows of each table.', ({ size }) => size),
    ofEach('crosswalk_table_bytes', 'Memory that each table takes, about.', ({ bytes }) => bytes),
    {
      name: 'crosswalk_missed_codes_total',
      help: 'Codes of messages that a table had nothing for.',
      type: 'counter',
      labels: ['table'],
      samples: () => [...misses.totals].map(([table, value]) => ({ labels: { table }, value })),
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
