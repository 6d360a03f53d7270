/** The report of a dry run: what each stage got and gave, the mapping, the calls, and the answer. */

import { type NewDelivery, storedHeaders } from '../../core/deliveries/delivery.ts'
import type { Failure } from '../../core/failure.ts'
import { formatDuration } from '../../core/iso-time.ts'
import type { JsonObject } from '../../core/json.ts'
import { documentPath, toFaults } from '../../core/lint.ts'
import { withoutSecretHeaders } from '../../core/secrets/secrets.ts'
import { type CallSpan, roundMs, shownTarget, type Trace } from '../../core/tracing/trace.ts'
import type { DryRunRequest } from '../../document/checks/dry-run-request.ts'
import type { Endpoint } from '../../document/schema/schema.ts'
import type { CompletedMessage } from '../../inbound/completed-message.ts'
import { hasStatus, parseStatusSet } from '../../language/status-set.ts'
import { showTarget } from '../../outbound/targets.ts'
import type { CannedServices, Sent } from './canned-services.ts'
import { mappingReport, mappingView } from './mapping-report.ts'
import { showDelivery } from './shown-deliveries.ts'
import { BODY_LIMIT, type ReportValues, shownSafely } from './shown-values.ts'
import { describeStages, type StageRecording } from './stage-report.ts'

/** A forEach may make thousands of calls, and an `each` as many lookups in tables. */
const CALLS_SHOWN = 200

type RunToReport = Readonly<{
  completed: CompletedMessage
  trace: Trace
  recording: StageRecording
  canned: CannedServices
  endpoint: Endpoint
  values: ReportValues
  view: DryRunRequest['view']
}>

export async function createReport(run: RunToReport): Promise<JsonObject> {
  const { completed, trace, recording, canned, endpoint, values, view } = run
  const { outcome, ms, failure, answer } = completed
  const kept = canned.kept()
  const { secrets } = trace
  const result = { outcome, ms: roundMs(ms) }
  const failed = {
    ...(failure === undefined ? {} : { failure: describeFailure(failure) }),
    ...(answer.why === undefined ? {} : { refusal: describeFailure(answer.why) }),
  }
  const coverage = measureMessageCoverage(endpoint, recording, trace)
  if (view === 'mapping') {
    const mapped = await mappingView(recording, endpoint, secrets)
    const report = { ...result, ...mapped, ...describeLookups(trace, values), ...failed, coverage }
    return shownSafely(report, secrets) as JsonObject
  }
  const assumed = trace.calls.some((call) => canned.sent(call)?.source === 'assumed')
  const mapping = mappingReport(recording, endpoint)
  // First, so that stages show again what room is left for.
  const answered = {
    status: answer.status,
    headers: withoutSecretHeaders(answer.headers),
    ...values.body('/answer/body', answer.body),
    ...(assumed && failure === undefined ? { assumed } : {}),
  }
  const calls = trace.calls
    .slice(0, CALLS_SHOWN)
    .map((call, index) => describeCall(call, canned.sent(call), failure, values, `/calls/${index}`))
  const deliveries = (trace.deliveries ?? [])
    .slice(0, CALLS_SHOWN)
    .map((delivery, index) => describeDelivery(delivery, values, `/deliveries/${index}`))
  const report = {
    ...result,
    stages: describeStages({ completed, recording, values }),
    ...(mapping === undefined ? {} : { mapping }),
    calls,
    ...(trace.calls.length > CALLS_SHOWN ? { callsNotShown: trace.calls.length - CALLS_SHOWN } : {}),
    ...describeLookups(trace, values),
    ...(trace.notMade === undefined ? {} : { notMade: trace.notMade.slice(0, CALLS_SHOWN) }),
    ...(deliveries.length === 0 ? {} : { deliveries }),
    answer: answered,
    ...failed,
    ...(kept === undefined ? {} : { state: values.value('/state', kept) }),
    coverage,
  }
  return shownSafely(report, secrets) as JsonObject
}

function describeLookups({ tableReads }: Trace, values: ReportValues): JsonObject {
  const lookups = [...(tableReads?.lookups?.values() ?? [])]
  if (lookups.length === 0) return {}
  const tables = lookups
    .slice(0, CALLS_SHOWN)
    .map(({ row, ...lookup }, index) => ({ ...lookup, ...(row && { row: values.value(`/tables/${index}/row`, row) }) }))
  return { tables, ...(lookups.length > CALLS_SHOWN ? { tablesNotShown: lookups.length - CALLS_SHOWN } : {}) }
}

function describeDelivery(delivery: NewDelivery, values: ReportValues, at: string): JsonObject {
  const { requestId, item, orderKey, request, body } = delivery
  return {
    id: requestId,
    ...(item === undefined ? {} : { item }),
    ...showDelivery(delivery, shownTarget),
    ...(orderKey === undefined ? {} : { orderKey }),
    headers: withoutSecretHeaders(storedHeaders(delivery)),
    ...(body === undefined ? {} : values.body(`${at}/body`, body, BODY_LIMIT)),
    schedule: request.rules.scheduleMs.map(formatDuration),
    giveUpAfter: formatDuration(request.rules.giveUpAfterMs),
  }
}

function describeCall(
  call: CallSpan,
  sent: Sent | undefined,
  failure: Failure | undefined,
  values: ReportValues,
  at: string,
): JsonObject {
  const { kind, id, item, target, startMs, endMs, answer, remark, token, cached, stale, fault } = call
  return {
    kind,
    id,
    ...(item === undefined ? {} : { item }),
    ...showTarget(call, shownTarget(target), sent?.key ?? null),
    ...(sent === undefined ? {} : { headers: withoutSecretHeaders(Object.fromEntries(sent.headers)) }),
    ...(sent?.body === undefined ? {} : values.body(`${at}/body`, sent.body, BODY_LIMIT)),
    ms: Number.isNaN(endMs) ? null : roundMs(endMs - startMs),
    answered: sent?.source ?? 'not sent',
    ...(answer === undefined ? {} : { answer: describeAnswer(answer, values, `${at}/answer`) }),
    ...(remark === undefined ? {} : { remark }),
    ...(token === undefined ? {} : { token }),
    ...(cached ? { cached } : {}),
    ...(stale === undefined ? {} : { stale }),
    ...(fault === undefined || failure?.kind.dryRun ? {} : { fault }),
  }
}

const describeAnswer = (
  { status, headers, body }: NonNullable<CallSpan['answer']>,
  values: ReportValues,
  at: string,
): JsonObject => ({
  status,
  headers: withoutSecretHeaders(headers),
  ...values.body(`${at}/body`, body, BODY_LIMIT),
})

/** Details of the document are one detail, whose message is their text. */
export function describeFailure(failure: Failure): JsonObject {
  const { message, code, status, stage, ownDetailsText, options } = failure
  const { path, details = ownDetailsText === undefined ? undefined : [{ path: '', message: ownDetailsText }] } = options
  return {
    error: message,
    code,
    status,
    ...(stage === undefined ? {} : { stage }),
    ...(path === undefined ? {} : { path }),
    ...(details === undefined ? {} : { details: toFaults(details) }),
  }
}

// Which parts of a document some messages ran. A point is hit by one message or not; over several messages the union
// counts, so that only what no message hit is missed.

/**
 * `entry`: an entry of `inputMapping` found a value. `target`: one of its targets was written. `default`: its default was
 * used. `transform`: an expression ran. `lookup`, `response`: the request was made. `fallback`: an optional lookup had no answer,
 * or one that its `allowedStatuses` refuse.
 */
export const COVERAGE_KINDS = ['lookup', 'fallback', 'transform', 'entry', 'target', 'default', 'response'] as const
export type CoverageKind = (typeof COVERAGE_KINDS)[number]

/** `path`: of the part in the document; a target is named after it, as `inputMapping.a > b`. */
type CoveragePoint = Readonly<{ kind: CoverageKind; path: string }>

/** Of one document. `total`: how many points it has; `missed`: those that were not hit, in the order of the document. */
export type Coverage = Readonly<{ total: number; missed: readonly CoveragePoint[] }>

/** The coverage of the messages, one or several, that this observer saw and that made these calls and deliveries. */
export function measureMessageCoverage(
  { requests, inputTransforms }: Endpoint,
  { mapping, transforms }: Pick<StageRecording, 'mapping' | 'transforms'>,
  { calls, deliveries = [] }: Pick<Trace, 'calls' | 'deliveries'>,
): Coverage {
  const missed: CoveragePoint[] = []
  let total = 0
  const count = (kind: CoverageKind, path: string, hit: boolean): void => {
    total += 1
    if (!hit) missed.push({ kind, path })
  }
  requests.lookup.forEach(({ id, optional, allowedStatuses = ['2xx'] }, index) => {
    const own = calls.filter((call) => call.kind === 'lookup' && call.id === id)
    const path = documentPath('requests', 'lookup', index)
    count('lookup', path, own.length > 0)
    if (optional !== true) return
    const allowed = parseStatusSet(allowedStatuses)
    const isRefused = (status: number): boolean => allowed.ok && !hasStatus(allowed.value, status)
    const failed = own.some(({ answer, fault }) => fault !== undefined || isRefused(answer?.status ?? 0))
    count('fallback', path, failed)
  })
  for (const name of Object.keys(inputTransforms ?? {})) {
    count('transform', documentPath('inputTransforms', name), transforms.has(name))
  }
  for (const { path, found, targets } of mapping.entries) {
    count('entry', path, found === true)
    for (const { target, hasDefault, count: places, defaults } of targets) {
      count('target', `${path} > ${target}`, places > 0)
      if (hasDefault) count('default', `${path} > ${target}`, defaults > 0)
    }
  }
  requests.response.forEach(({ id }, index) => {
    const isSent = calls.some((call) => call.kind === 'response' && call.id === id)
    const isMade = isSent || deliveries.some(({ requestId }) => requestId === id)
    count('response', documentPath('requests', 'response', index), isMade)
  })
  return { total, missed }
}

/** The union of the coverages of one document; undefined of none. */
export function joinCoverage([first, ...others]: readonly Coverage[]): Coverage | undefined {
  if (first === undefined) return undefined
  const missedByAll = others.reduce((left, { missed }) => {
    const keys = new Set(missed.map(toKey))
    return left.filter((point) => keys.has(toKey(point)))
  }, first.missed)
  return { total: first.total, missed: missedByAll }
}

/** 0 to 100, rounded down to one decimal, so that only full coverage is 100; a document without points is covered. */
export const percentCovered = ({ total, missed }: Coverage): number =>
  total === 0 ? 100 : Math.floor(((total - missed.length) / total) * 1_000) / 10

const toKey = ({ kind, path }: CoveragePoint): string => `${kind} ${path}`
