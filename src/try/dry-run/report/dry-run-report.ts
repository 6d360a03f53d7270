/** The report of a dry run: what each stage got and gave, the mapping, the calls, and the answer. */

import type { Failure } from '../../../core/failure.ts'
import type { JsonObject } from '../../../core/json.ts'
import { type CallSpan, shownTarget, type Trace } from '../../../core/tracing/trace.ts'
import type { DryRunRequest } from '../../../document/checks/dry-run-request.ts'
import type { Endpoint } from '../../../document/schema/schema.ts'
import type { CompletedMessage } from '../../../inbound/completed-message.ts'
import type { CannedServices, Sent } from '../canned-services.ts'
import type { Course } from './course.ts'
import { coverageOfMessage } from './coverage.ts'
import { mappingReport } from './mapping-report.ts'
import { mappingView } from './mapping-view.ts'
import type { ReportValues } from './report-values.ts'
import { BODY_LIMIT, shownHeaders, shownSafely } from './shown-values.ts'
import { rounded, stagesOf } from './stage-report.ts'

/** A forEach may make thousands of calls. */
const CALLS_SHOWN = 200

type ReportOfRun = Readonly<{
  completed: CompletedMessage
  trace: Trace
  course: Course
  canned: CannedServices
  endpoint: Endpoint
  values: ReportValues
  view: DryRunRequest['view']
}>

export async function reportOf(run: ReportOfRun): Promise<JsonObject> {
  const { completed, trace, course, canned, endpoint, values, view } = run
  const { outcome, ms, failure, answer } = completed
  const kept = canned.kept()
  const { secrets } = trace
  const result = { outcome, ms: rounded(ms) }
  const failed = {
    ...(failure === undefined ? {} : { failure: failureOf(failure) }),
    ...(answer.why === undefined ? {} : { refusal: failureOf(answer.why) }),
  }
  const coverage = coverageOfMessage(endpoint, course, trace)
  if (view === 'mapping') {
    return shownSafely(
      { ...result, ...(await mappingView(course, endpoint, secrets)), ...failed, coverage },
      secrets,
    ) as JsonObject
  }
  const assumed = trace.calls.some((call) => canned.sent(call)?.source === 'assumed')
  const mapping = mappingReport(course, endpoint)
  // First, so that stages show again what room is left for.
  const answered = {
    status: answer.status,
    headers: shownHeaders(Object.entries(answer.headers)),
    ...values.body('/answer/body', answer.body),
    ...(assumed && failure === undefined ? { assumed } : {}),
  }
  const calls = trace.calls
    .slice(0, CALLS_SHOWN)
    .map((call, index) => callOf(call, canned.sent(call), failure, values, `/calls/${index}`))
  const report = {
    ...result,
    stages: stagesOf({ completed, course, values }),
    ...(mapping === undefined ? {} : { mapping }),
    calls,
    ...(trace.calls.length > CALLS_SHOWN ? { callsNotShown: trace.calls.length - CALLS_SHOWN } : {}),
    answer: answered,
    ...failed,
    ...(kept === undefined ? {} : { state: values.value('/state', kept) }),
    coverage,
  }
  return shownSafely(report, secrets) as JsonObject
}

function callOf(
  call: CallSpan,
  sent: Sent | undefined,
  failure: Failure | undefined,
  values: ReportValues,
  at: string,
): JsonObject {
  const { kind, id, item, method, target, startMs, endMs, answer, remark, fault } = call
  const topic = target.startsWith('kafka:') ? target.slice('kafka:'.length) : undefined
  return {
    kind,
    id,
    ...(item === undefined ? {} : { item }),
    ...(topic === undefined ? { method, url: shownTarget(target) } : { topic, key: sent?.key ?? null }),
    ...(sent === undefined ? {} : { headers: shownHeaders(sent.headers) }),
    ...(sent?.body === undefined ? {} : values.body(`${at}/body`, sent.body, BODY_LIMIT)),
    ms: Number.isNaN(endMs) ? null : rounded(endMs - startMs),
    answered: sent?.source ?? 'not sent',
    ...(answer === undefined ? {} : { answer: answerOf(answer, values, `${at}/answer`) }),
    ...(remark === undefined ? {} : { remark }),
    ...(fault === undefined || failure?.kind.dryRun ? {} : { fault }),
  }
}

const answerOf = (
  { status, headers, body }: NonNullable<CallSpan['answer']>,
  values: ReportValues,
  at: string,
): JsonObject => ({
  status,
  headers: shownHeaders(Object.entries(headers)),
  ...values.body(`${at}/body`, body, BODY_LIMIT),
})

function failureOf({ message, code, status, stage, options: { path, details } }: Failure): JsonObject {
  return {
    error: message,
    code,
    status,
    ...(stage === undefined ? {} : { stage }),
    ...(path === undefined ? {} : { path }),
    ...(details === undefined ? {} : { details: details.map((one) => ({ path: one.path, message: one.message })) }),
  }
}
