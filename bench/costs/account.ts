/**
 * What the account of a message costs, in microseconds: counting it for /metrics and for the statistics of its endpoint,
 * its line in the log, its spans.
 * `node bin/node.js bench/costs/account.ts` writes the lines of the log to standard output, and the figures to standard error.
 */

import { emptyResource } from '@opentelemetry/resources'
import { HTTP } from '../../src/core/origin.ts'
import { endCall, endStage, newSpanId, newTraceId, startCall, startTrace } from '../../src/core/tracing/trace.ts'
import { checkDocument } from '../../src/document/checks/check-document.ts'
import type { CompiledEndpoint } from '../../src/endpoints/compiled-endpoint.ts'
import type { CompletedMessage } from '../../src/inbound/completed-message.ts'
import { createMessageLines } from '../../src/inbound/message-line.ts'
import { createLogger } from '../../src/observe/log/logger.ts'
import { createMessageMetrics } from '../../src/observe/metrics/message-metrics.ts'
import { createSpans } from '../../src/observe/traces/spans.ts'
import { createMinutes } from '../../src/records/statistics/stats.ts'
import { spreadOf } from '../report/spread.ts'

const MESSAGES = 200_000
const ROUNDS = 7

/** Messages of several endpoints, each with five stages and one lookup. */
const messages = Array.from({ length: 50 }, (_, n) => finishedMessage(`Endpoint ${n}`))
const messageMetrics = createMessageMetrics()
const minutes = createMinutes()
const logger = createLogger({ logLevel: 'info', enableLogging: true })

const origin = { resource: emptyResource(), scope: { name: 'crosswalk' } }

const works: readonly (readonly [string, (finished: CompletedMessage) => unknown])[] = [
  ['count for /metrics', messageMetrics.count],
  ['count for its statistics', minutes.count],
  ['line in the log', createMessageLines(logger, 'all')],
  ['spans', (finished) => createSpans(finished, origin)],
]
for (const [name, work] of works) {
  run(work)
  const { median, min, max } = spreadOf(Array.from({ length: ROUNDS }, () => run(work)))
  const [middle, least, most] = [median, min, max].map((value) => value.toFixed(2))
  process.stderr.write(`${name}: ${middle} µs a message (${least} to ${most})\n`)
}

function run(work: (finished: CompletedMessage) => unknown): number {
  const startMs = performance.now()
  for (let n = 0; n < MESSAGES; n += 1) work(messages[n % messages.length] as CompletedMessage)
  return ((performance.now() - startMs) * 1_000) / MESSAGES
}

function finishedMessage(name: string): CompletedMessage {
  const raw = {
    name,
    endpoint: { pattern: '/one' },
    transformation: { input: 'JSON', output: 'JSON' },
    requests: { lookup: [{ id: 'one', config: { url: 'http://127.0.0.1/' } }] },
  }
  const { endpoint } = checkDocument(raw)
  const document = { ...raw, _id: newSpanId(), createdAt: '', updatedAt: '', __v: 0 as const }
  const answer = { status: 200, headers: {}, body: '' }
  const compiled: CompiledEndpoint = {
    version: 1,
    document,
    endpoint,
    claims: [],
    handle: () => ({ answer, failure: undefined }),
  }
  const trace = startTrace({
    traceId: newTraceId(),
    spanId: newSpanId(),
    parentId: undefined,
    sampled: true,
    state: undefined,
  })
  endStage(trace, 'parse')
  const call = startCall(trace, {
    kind: 'lookup',
    id: 'one',
    item: undefined,
    method: 'GET',
    target: 'http://127.0.0.1/',
  })
  endCall(call, { status: 200, headers: {}, body: new Uint8Array() })
  for (const stage of ['lookup', 'validate', 'map', 'serialise'] as const) endStage(trace, stage)
  const incoming = { origin: HTTP, requestHeaders: {}, query: {}, urlParams: {}, body: undefined }
  return {
    answer,
    failure: undefined,
    messageId: newTraceId().slice(8),
    source: 'http',
    outcome: 'done',
    code: '',
    compiled,
    incoming,
    startedAt: Date.now(),
    ms: 1.234,
    trace,
  }
}
