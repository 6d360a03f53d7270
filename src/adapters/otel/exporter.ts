/**
 * Brings spans to a collector: OTLP over HTTP as JSON, in batches, one at a time. Nothing here holds up or fails a
 * message: what finds no room is dropped and counted, and a collector that is away is told now and then.
 */
import type { HttpClient, Logger } from '../../domain/ports.ts'
import type { Finished } from '../../registry/finished.ts'
import { attributes, type Span, spansOf } from './spans.ts'

export type ExporterOptions = Readonly<{
  http: HttpClient
  /** With `/v1/traces`. */
  url: string
  headers: Readonly<Record<string, string>>
  serviceName: string
  version: string
  logger: Logger
}>

export interface Exporter {
  observe(finished: Finished): void
  /** Sends what waits, for at most 2 s. */
  close(): Promise<void>
}

const MOST_WAITING = 10_000
const BATCH = 500
const WAIT_MS = 1_000
const TIMEOUT_MS = 10_000
const MOST_PAUSE_MS = 30_000
const CLOSE_MS = 2_000
/** How often a trouble that goes on is told. */
const TELL_MS = 60_000

/** These say that the same batch may be taken later (OTLP/HTTP, "Retryable Response Codes"). */
const LATER = new Set([429, 502, 503, 504])

type Delivery = 'taken' | Readonly<{ fault: string; later: boolean }>

export function createExporter({ http, url, headers, serviceName, version, logger }: ExporterOptions): Exporter {
  const resource = { attributes: attributes({ 'service.name': serviceName, 'service.version': version }) }
  let waiting: Span[] = []
  let lost = 0
  let toldAt = Number.NEGATIVE_INFINITY
  let timer: NodeJS.Timeout | undefined
  let sending: Promise<void> | undefined
  let pauseMs = WAIT_MS

  const deliver = async (spans: readonly Span[], timeoutMs: number): Promise<Delivery> => {
    const scopeSpans = [{ scope: { name: 'crosswalk', version }, spans }]
    const body = JSON.stringify({ resourceSpans: [{ resource, scopeSpans }] })
    try {
      const { status } = await http.send({
        method: 'POST',
        url,
        headers: { ...headers, 'content-type': 'application/json' },
        body,
        timeoutMs,
        retries: 0,
      })
      if (status >= 200 && status <= 299) return 'taken'
      return { fault: `it answered with status ${status}`, later: LATER.has(status) }
    } catch (thrown) {
      return { fault: (thrown as Error).message, later: true }
    }
  }
  const tell = (fault: string): void => {
    const now = performance.now()
    if (now - toldAt < TELL_MS) return
    toldAt = now
    logger.warn({ lost }, `Traces do not reach the collector: ${fault}`)
  }
  /** Resolves to whether the next batch may be sent at once. */
  const sendBatch = async (timeoutMs: number): Promise<boolean> => {
    const batch = waiting.slice(0, BATCH)
    waiting = waiting.slice(BATCH)
    const delivery = await deliver(batch, timeoutMs)
    if (delivery === 'taken') {
      pauseMs = WAIT_MS
      return true
    }
    if (delivery.later && waiting.length + batch.length <= MOST_WAITING) waiting = [...batch, ...waiting]
    else lost += batch.length
    tell(delivery.fault)
    if (delivery.later) pauseMs = Math.min(pauseMs * 2, MOST_PAUSE_MS)
    return !delivery.later
  }
  const sendAll = async (): Promise<void> => {
    while (waiting.length > 0 && (await sendBatch(TIMEOUT_MS))) if (waiting.length < BATCH) break
    sending = undefined
    if (waiting.length > 0) sendLater()
  }
  const sendLater = (): void => {
    timer ??= setTimeout(() => {
      timer = undefined
      sending ??= sendAll()
    }, pauseMs).unref()
  }

  return {
    observe: (finished) => {
      const spans = spansOf(finished)
      if (spans.length === 0) return
      if (waiting.length + spans.length > MOST_WAITING) {
        lost += spans.length
        tell('more come than it takes')
        return
      }
      for (const span of spans) waiting.push(span)
      if (sending !== undefined) return
      if (waiting.length >= BATCH && pauseMs === WAIT_MS) sending = sendAll()
      else sendLater()
    },
    close: async () => {
      clearTimeout(timer)
      const until = performance.now() + CLOSE_MS
      const left = () => Math.max(1, until - performance.now())
      await Promise.race([sending, new Promise((resolve) => setTimeout(resolve, CLOSE_MS).unref())])
      clearTimeout(timer)
      while (waiting.length > 0 && left() > 1 && (await sendBatch(left())));
      lost += waiting.length
      if (lost > 0) logger.warn({ lost }, 'Some spans did not reach the collector')
    },
  }
}
