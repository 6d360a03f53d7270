/**
 * Sends spans to a collector with OpenTelemetry's batch processor and its OTLP exporter (HTTP, JSON). A message never
 * waits for it: spans beyond a bound are dropped and counted, and a collector that cannot be reached is logged.
 */

import { ExportResultCode } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, type SpanExporter } from '@opentelemetry/sdk-trace'
import type { Logger } from '../../core/ports/logger-port.ts'
import { within } from '../../core/within.ts'
import { createSpans, type TracedMessage } from './spans.ts'

type ExporterOptions = Readonly<{
  /** With `/v1/traces`. */
  url: string
  headers: Readonly<Record<string, string>>
  serviceName: string
  version: string
  logger: Pick<Logger, 'warn'>
  /** For a batch, its retries included. Default 10 s. */
  timeoutMs?: number
}>

export interface Exporter {
  observe(message: TracedMessage): void
  /** Sends the waiting spans, for at most 2 s. */
  close(): Promise<void>
}

const MAX_WAITING = 10_000
const BATCH = 500
const BATCH_DELAY_MS = 1_000
const TIMEOUT_MS = 10_000
const CLOSE_MS = 2_000
/** A fault that lasts is logged once in this time. */
const LOG_PAUSE_MS = 60_000

export function createExporter(options: ExporterOptions): Exporter {
  const { url, headers, serviceName, version, logger, timeoutMs = TIMEOUT_MS } = options
  const origin = {
    resource: resourceFromAttributes({ 'service.name': serviceName, 'service.version': version }),
    scope: { name: 'crosswalk', version },
  }
  const sender = new OTLPTraceExporter({ url, headers: { ...headers }, timeoutMillis: timeoutMs })
  /** Spans that are neither delivered nor lost yet. */
  let waiting = 0
  let lost = 0
  let loggedAt = Number.NEGATIVE_INFINITY

  const logFault = (fault: string): void => {
    const now = performance.now()
    if (now - loggedAt < LOG_PAUSE_MS) return
    loggedAt = now
    logger.warn({ lost }, `Traces do not reach the collector: ${fault}`)
  }
  // The processor forgets a batch that failed; one that the collector may take later goes back into its queue.
  const exporter: SpanExporter = {
    export: (spans, done) =>
      sender.export(spans, (result) => {
        const refused = readStatus(result.error)
        if (result.code === ExportResultCode.SUCCESS || refused !== undefined) waiting -= spans.length
        else for (const span of spans) processor.onEnd(span)
        if (refused !== undefined) lost += spans.length
        if (result.code !== ExportResultCode.SUCCESS) logFault(formatFault(result.error))
        done(result)
      }),
    shutdown: () => sender.shutdown(),
  }
  const processor = new BatchSpanProcessor({
    exporter,
    maxQueueSize: MAX_WAITING,
    maxExportBatchSize: BATCH,
    scheduledDelayMillis: BATCH_DELAY_MS,
    // The exporter has a timeout of its own; this one only ends the wait for a callback that is never called.
    exportTimeoutMillis: 2 * timeoutMs,
  })

  return {
    observe: (message) => {
      const spans = createSpans(message, origin)
      if (spans.length === 0) return
      if (waiting + spans.length > MAX_WAITING) {
        lost += spans.length
        logFault('more spans come than it takes')
        return
      }
      waiting += spans.length
      for (const span of spans) processor.onEnd(span)
    },
    close: async () => {
      // It rejects if a batch failed, which the exporter above has logged.
      await within(CLOSE_MS, processor.shutdown())
      lost += waiting
      waiting = 0
      if (lost > 0) logger.warn({ lost }, 'Some spans did not reach the collector')
    },
  }
}

/** The status of an answer that refuses a batch for good; undefined if it may be sent again. */
const readStatus = (error: (Error & { code?: unknown }) | undefined): number | undefined =>
  typeof error?.code === 'number' ? error.code : undefined

function formatFault(error: Error | undefined): string {
  const status = readStatus(error)
  if (status !== undefined) return `it answered with status ${status}`
  return error?.message ?? 'the export failed'
}
