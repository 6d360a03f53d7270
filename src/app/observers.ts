/** What observes completed messages: metrics, statistics, the message log, traces. */

import type { Logger } from '../core/ports/logger-port.ts'
import type { MessageRecord } from '../core/records/message-record.ts'
import type { Clock } from '../core/run.ts'
import type { TraceContext } from '../core/tracing/trace.ts'
import type { WorkerSlot } from '../core/worker-processes.ts'
import type { Registry } from '../endpoints/endpoint-registry.ts'
import type { CompletedMessage } from '../inbound/completed-message.ts'
import { createMessageMetrics } from '../observe/metrics/message-metrics.ts'
import type { Exporter } from '../observe/traces/exporter.ts'
import type { SampledMessage } from '../observe/traces/sampling.ts'
import { createDrift, type Drift } from '../records/drift/drift.ts'
import { createActiveCaptures } from '../records/message-log/captures.ts'
import { createRecorder } from '../records/message-log/recorder.ts'
import { startRetention } from '../records/message-log/retention.ts'
import { createStats } from '../records/statistics/stats.ts'
import { MissCounts } from '../records/statistics/unmapped-codes.ts'
import type { Settings } from '../settings/settings.ts'
import type { Store } from '../store/store.ts'

type Tracing = Exporter & Readonly<{ traceContext(incoming: SampledMessage): TraceContext }>

type ObserversOptions = Readonly<{
  settings: Settings
  version: string
  store: Store
  registry: Registry
  workerSlot: WorkerSlot
  clock: Clock
  newId: () => string
  logger: Logger
}>

/** The least time that stopping waits for the message log. */
const RECORDS_MS = 1_000

export type Observers = Awaited<ReturnType<typeof openObservers>>

export async function openObservers(options: ObserversOptions) {
  const { settings, version, store, registry, workerSlot, clock, newId, logger } = options
  const messageMetrics = createMessageMetrics(settings.metricsMaxEndpoints)
  registry.watch(() => messageMetrics.keep(registry.get))
  const tracing = await openTracing(settings, version, logger)
  const stats = createStats({ store: store.stats, instance: newId(), clock, logger })
  const drift = openDrift(options)
  const misses = new MissCounts(store.unmapped, logger)
  // Two workers that remove the oldest records at once would remove too many.
  const retention =
    workerSlot.slot > 0
      ? undefined
      : startRetention({
          store: store.messages,
          plans: store.replayPlans,
          unmapped: store.unmapped,
          days: settings.messageLogDays,
          maxBytes: settings.messageLogMaxMb * 1024 * 1024,
          clock,
          logger,
        })
  // Each worker writes about as much as this one.
  const onWritten = (bytes: number) => retention?.grew(bytes * workerSlot.workers)
  const captures = createActiveCaptures({ store: store.captures, clock, logger })
  const onMissed = (record: MessageRecord, original: string | undefined) => misses.count(record, original)
  const recorder = createRecorder({ store: store.messages, settings, captures, logger, onMissed, onWritten })
  return {
    /** Quick, and never throws. */
    observe: (completed: CompletedMessage): void => {
      messageMetrics.count(completed)
      stats.count(completed)
      recorder.record(completed)
      tracing?.observe(completed)
      drift?.count(completed)
    },
    messageMetrics,
    stats,
    misses,
    /** Stores the counts of messages and of missed codes. */
    writeCounts: async () => void (await Promise.all([stats.write(), misses.write()])),
    drift,
    recorder,
    captures,
    /** The trace that a message belongs to. */
    traceContext: tracing?.traceContext,
    /** Writes what is not written yet. `stopBy`: until when the message log may take, in ms of `performance.now()`. */
    close: async (stopBy: number): Promise<void> => {
      await tracing?.close()
      await Promise.all([
        stats.close(),
        recorder.close(Math.max(RECORDS_MS, stopBy - performance.now())).then(() => misses.close()),
        retention?.stop(),
      ])
    },
  }
}

function openDrift({ settings, registry, clock, logger }: ObserversOptions): Drift | undefined {
  const { driftSample: sample } = settings
  if (sample === 0) return undefined
  const drift = createDrift({ sample, clock, elapsedMs: () => performance.now(), random: Math.random, logger })
  registry.watch(() => drift.keep(registry.get))
  return drift
}

/** Loads OpenTelemetry only if a collector is set; undefined otherwise. */
async function openTracing(settings: Settings, version: string, logger: Logger): Promise<Tracing | undefined> {
  const { otlpEndpoint, otlpHeaders, otelServiceName, otelSampler, otelSamplerRatio } = settings
  if (otlpEndpoint === undefined) return undefined
  const { createExporter } = await import('../observe/traces/exporter.ts')
  const { createSampling } = await import('../observe/traces/sampling.ts')
  const exporter = createExporter({
    url: `${otlpEndpoint}/v1/traces`,
    headers: otlpHeaders,
    serviceName: otelServiceName,
    version,
    logger,
  })
  return { traceContext: createSampling(otelSampler, otelSamplerRatio), ...exporter }
}
