/** Completed messages for tests of drift: of a checked document, with what the message held at its end. */

import assert from 'node:assert/strict'
import type { JsonObject } from '../../../../src/core/json.ts'
import { HTTP } from '../../../../src/core/origin.ts'
import { startTrace } from '../../../../src/core/tracing/trace.ts'
import { checkDocument } from '../../../../src/document/checks/check-document.ts'
import type { CompiledEndpoint } from '../../../../src/endpoints/compiled-endpoint.ts'
import { createDrift, type Drift, type SampledCompletion } from '../../../../src/records/drift/drift.ts'
import { driftReport } from '../../../../src/records/drift/drift-report.ts'
import { silent } from '../../silent.ts'

export const START = Date.UTC(2026, 0, 1, 8)
export const HOUR = 3_600_000

export type UnreadAnswer = Readonly<{
  path: string
  types: string[]
  seen: number
  hours: { hour: string; seen: number }[]
}>
export type DriftAnswer = Readonly<{
  version?: number
  sample: number
  since?: string
  sampled: number
  cut: number
  hours: { hour: string; sampled: number }[]
  unread: UnreadAnswer[]
  unreadUnknown?: string
  unreadCut?: boolean
  missing: { path: string; readBy: string[]; lastSeen?: string }[]
}>

export function compiledOf(fields: JsonObject, version = 1, id = '0'.repeat(24)): CompiledEndpoint {
  const raw = {
    name: 'one',
    endpoint: { pattern: '/one' },
    transformation: { input: 'JSON', output: 'JSON' },
    ...fields,
  }
  const { endpoint, lints } = checkDocument(raw)
  assert.deepEqual(lints, [])
  const document = { ...raw, _id: id, createdAt: '', updatedAt: '', __v: 0 as const }
  const handle = () => ({ answer: { status: 200, headers: {}, body: '' }, failure: undefined })
  const sampling = { left: 0, sampledAtMs: Number.NEGATIVE_INFINITY, intervalMs: 0 }
  return { version, document, endpoint, claims: [], handle, sampling }
}

export const completedOf = (
  compiled: CompiledEndpoint | undefined,
  reached: object | undefined,
  startedAt: number,
  changes: Partial<SampledCompletion> = {},
): SampledCompletion => ({
  compiled,
  incoming: { origin: HTTP, requestHeaders: {}, query: {}, urlParams: {}, body: undefined },
  failure: undefined,
  source: 'http',
  startedAt,
  ms: 0,
  trace: { ...startTrace(), reached },
  ...changes,
})

/** A message after its last stage. */
export const reachedWith = (requestBody: unknown, others: JsonObject = {}): object => ({
  constants: {},
  requestHeaders: {},
  query: {},
  urlParams: {},
  timestamps: {},
  state: {},
  lookupRequests: {},
  transforms: {},
  requestBody,
  ...others,
})

/** `nowMs` is its clock, to be set; `examineMs` how long it takes to examine a message. */
type OpenedDrift = Drift & {
  nowMs: number
  examineMs: number
  report(compiled: CompiledEndpoint, hours?: number): DriftAnswer
}

export function openDrift(sample = 1, random = () => 0.5): OpenedDrift {
  let readings = 0
  // Read before and after each message.
  const elapsedMs = () => (readings++ % 2) * opened.examineMs
  const opened: OpenedDrift = {
    nowMs: START,
    examineMs: 0,
    ...createDrift({ sample, clock: () => opened.nowMs, elapsedMs, random, logger: silent }),
    report: (active: CompiledEndpoint, hours = 24): DriftAnswer => {
      const counts = opened.counts(active.document._id)
      const options = { sample, nowMs: opened.nowMs, hours, endpointId: active.document._id, active }
      return driftReport(counts === undefined ? [] : [counts], options) as unknown as DriftAnswer
    },
  }
  return opened
}
