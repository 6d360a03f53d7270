/** All that is told of a message when it has ended: counts, statistics, the message log, traces. */
import type { Logger } from '../domain/ports/logger-port.ts'
import type { Clock } from '../domain/run.ts'
import type { Registry } from '../endpoints/endpoint-registry.ts'
import type { CompletedMessage } from '../intake/completed-message.ts'
import { createRecorder, type Recorder } from '../message-log/recorder.ts'
import { startRetention } from '../message-log/retention.ts'
import { createMessageMetrics, type MessageMetrics } from '../metrics/message-metrics.ts'
import { createStats, type Stats } from '../metrics/stats/stats.ts'
import type { Settings } from '../settings/settings.ts'
import type { Store } from './open-store.ts'
import { openTracing, type Tracing } from './tracing.ts'

export type Observers = Readonly<{
  /** Quick, and never throws. */
  observe(finished: CompletedMessage): void
  messageMetrics: MessageMetrics
  stats: Stats
  recorder: Recorder
  /** Where a message stands in a trace; undefined where nobody traces. */
  traceContext: Tracing['traceContext'] | undefined
  /** Tells what is not told yet. `stopBy`, as `performance.now()` tells time: how long the message log may take. */
  close(stopBy: number): Promise<void>
}>

export type ObserversOptions = Readonly<{
  settings: Settings
  version: string
  store: Store
  registry: Registry
  /** Which of how many processes of the service this one is. */
  place: Readonly<{ slot: number; workers: number }>
  clock: Clock
  newId: () => string
  logger: Logger
}>

/** How long stopping waits at least for the message log. */
const RECORDS_MS = 1_000

export async function openObservers(options: ObserversOptions): Promise<Observers> {
  const { settings, version, store, registry, place, clock, newId, logger } = options
  const messageMetrics = createMessageMetrics(settings.metricsMaxEndpoints)
  registry.watch(() => messageMetrics.keep(registry.get))
  const tracing = await openTracing(settings, version, logger)
  const stats = createStats({ store: store.stats, instance: newId(), clock, logger })
  // Two workers that remove the oldest at once would remove more than they have looked at.
  const retention =
    place.slot > 0
      ? undefined
      : startRetention({
          store: store.messages,
          days: settings.messageLogDays,
          maxBytes: settings.messageLogMaxMb * 1024 * 1024,
          clock,
          logger,
        })
  // Each writes about as much as this one.
  const onWritten = (bytes: number) => retention?.grew(bytes * place.workers)
  const recorder = createRecorder({ store: store.messages, settings, logger, onWritten })
  return {
    observe: (finished) => {
      messageMetrics.count(finished)
      stats.count(finished)
      recorder.record(finished)
      tracing?.observe(finished)
    },
    messageMetrics,
    stats,
    recorder,
    traceContext: tracing?.traceContext,
    close: async (stopBy) => {
      await tracing?.close()
      await Promise.all([
        stats.close(),
        recorder.close(Math.max(RECORDS_MS, stopBy - performance.now())),
        retention?.stop(),
      ])
    },
  }
}
