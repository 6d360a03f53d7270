/** The report of a dry run: the result of each stage, the calls, and the answer. */
import type { Failure } from '../domain/failure.ts'
import { isObject, type Json, type JsonObject } from '../domain/json.ts'
import { STAGES, type StageKind } from '../domain/tracing/stages.ts'
import type { CallSpan, Trace } from '../domain/tracing/trace.ts'
import type { CompletedMessage } from '../intake/completed-message.ts'
import type { CannedServices, Sent } from './canned-services.ts'
import { BODY_LIMIT, shownBody, shownHeaders, shownSafely, shownValue } from './shown-values.ts'

/** A forEach may make thousands of calls. */
const CALLS_SHOWN = 200

export function reportOf(completed: CompletedMessage, trace: Trace, canned: CannedServices): JsonObject {
  const { outcome, ms, failure, answer } = completed
  const kept = canned.kept()
  const { secrets } = trace
  const assumed = trace.calls.some((call) => canned.sent(call)?.source === 'assumed')
  const report = {
    outcome,
    ms: rounded(ms),
    stages: stagesOf(trace, failure),
    calls: trace.calls.slice(0, CALLS_SHOWN).map((call) => callOf(call, canned.sent(call), failure, secrets)),
    ...(trace.calls.length > CALLS_SHOWN ? { callsNotShown: trace.calls.length - CALLS_SHOWN } : {}),
    answer: {
      status: answer.status,
      headers: shownHeaders(Object.entries(answer.headers)),
      ...shownBody(answer.body, secrets),
      ...(assumed && failure === undefined ? { assumed } : {}),
    },
    ...(failure === undefined ? {} : { failure: failureOf(failure) }),
    ...(kept === undefined ? {} : { state: shownValue(kept) }),
  }
  return shownSafely(report, secrets) as JsonObject
}

function stagesOf({ stages, reached }: Trace, failure: Failure | undefined): Json {
  const message = (reached ?? {}) as JsonObject
  return stages.map(({ stage, startMs, endMs }, index) => {
    const shown = { stage, ms: rounded(endMs - startMs) }
    if (failure !== undefined && index === stages.length - 1) return { ...shown, failed: true }
    const name = (STAGES[stage] as StageKind).adds
    const value = name === undefined ? undefined : message[name]
    return name === undefined || value === undefined
      ? shown
      : { ...shown, result: { [name]: shownValue(name === 'lookupRequests' ? withoutSecrets(value) : value) } }
  })
}

function withoutSecrets(lookups: Json): Json {
  if (!isObject(lookups)) return lookups
  return Object.fromEntries(
    Object.entries(lookups).map(([id, one]) => [
      id,
      Array.isArray(one) ? one.map(withoutSecretHeaders) : withoutSecretHeaders(one),
    ]),
  )
}

function withoutSecretHeaders(lookup: Json): Json {
  if (!isObject(lookup) || !isObject(lookup.headers)) return lookup
  return { ...lookup, headers: shownHeaders(Object.entries(lookup.headers) as [string, string][]) }
}

function callOf(
  call: CallSpan,
  sent: Sent | undefined,
  failure: Failure | undefined,
  secrets: Trace['secrets'],
): JsonObject {
  const { kind, id, item, method, target, startMs, endMs, answer, remark, fault } = call
  const topic = target.startsWith('kafka:') ? target.slice('kafka:'.length) : undefined
  return {
    kind,
    id,
    ...(item === undefined ? {} : { item }),
    ...(topic === undefined ? { method, url: target } : { topic, key: sent?.key ?? null }),
    ...(sent === undefined ? {} : { headers: shownHeaders(sent.headers) }),
    ...(sent?.body === undefined ? {} : shownBody(sent.body, secrets, BODY_LIMIT)),
    ms: Number.isNaN(endMs) ? null : rounded(endMs - startMs),
    answered: sent?.source ?? 'not sent',
    ...(answer === undefined ? {} : { answer: answerOf(answer, secrets) }),
    ...(remark === undefined ? {} : { remark }),
    ...(fault === undefined || failure?.kind.dryRun ? {} : { fault }),
  }
}

const answerOf = (
  { status, headers, body }: NonNullable<CallSpan['answer']>,
  secrets: Trace['secrets'],
): JsonObject => ({
  status,
  headers: shownHeaders(Object.entries(headers)),
  ...shownBody(body, secrets, BODY_LIMIT),
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

/** Milliseconds with three decimals. */
const rounded = (ms: number): number => Math.round(ms * 1_000) / 1_000
