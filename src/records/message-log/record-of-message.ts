/** The record of a completed message. */
import { timeOfId } from '../../core/id.ts'
import type { MessageRecord, RecordedBody, RecordedCall, RecordedStage } from '../../core/records/message-record.ts'
import { type CallSpan, shownTarget, type Trace } from '../../core/tracing/trace.ts'
import { type CompletedMessage, isTriedAgain } from '../../inbound/completed-message.ts'
import { withoutSecretsIn } from './recorded-secrets.ts'

const NO_STAGES: readonly RecordedStage[] = []
const NO_CALLS: readonly RecordedCall[] = []

/** A `forEach` may make thousands of calls, and each takes memory until the record is written. */
const MOST_CALLS = 200

/** The parts of the record that are without secrets and redacted values; `secrets`: those to take out of the others. */
type Findings = Pick<MessageRecord, 'keys' | 'error'> &
  Readonly<{ bodies: readonly RecordedBody[]; secrets: readonly string[]; isCaptured: boolean }>

/** `isoOf` formats a time, and caches the last: formatting costs as much as the rest of the record. */
export function recordOf(
  completed: CompletedMessage,
  { keys, bodies, error, secrets, isCaptured }: Findings,
  isoOf: (timeMs: number) => string,
): MessageRecord {
  const { messageId, source, outcome, ms, answer, trace, compiled, code, failure, incoming } = completed
  const record: { -readonly [Name in keyof MessageRecord]: MessageRecord[Name] } = {
    id: messageId,
    source,
    startedAt: isoOf(timeOfId(messageId)),
    ms,
    outcome,
    status: answer.status,
    stages: trace === undefined ? NO_STAGES : trace.stages.map(stageOf),
    calls: trace === undefined ? NO_CALLS : callsOf(trace, secrets),
    keys,
    bodies: bodies.map(({ summary }) => summary),
  }
  if (compiled !== undefined) {
    record.endpointId = compiled.document._id
    record.endpoint = compiled.document.name
    record.endpointVersion = compiled.version
  }
  if (code !== '') record.code = code
  const why = failure ?? answer.why
  if (why?.stage !== undefined) record.stage = why.stage
  else if (answer.refused) record.stage = 'respond'
  if (why?.options.path !== undefined) record.path = why.options.path
  if (error !== undefined) record.error = error
  const callsOmitted = (trace?.calls.length ?? 0) - record.calls.length
  if (callsOmitted > 0) record.callsOmitted = callsOmitted
  if (isTriedAgain(completed)) record.triedAgain = true
  if (answer.repeats !== undefined) record.answerOf = answer.repeats
  if (incoming?.replayOf !== undefined) record.replayOf = incoming.replayOf
  if (isCaptured) record.captured = true
  return record
}

const stageOf = ({ stage, startMs, endMs }: Trace['stages'][number]): RecordedStage => ({ stage, ms: endMs - startMs })

/** To the microsecond, as stores keep durations. */
const rounded = (ms: number): number => Math.round(ms * 1000) / 1000

/** The calls that a record keeps, failed ones first if there are too many. `secrets`: to be taken out of their targets. */
export const callsOf = ({ startMs, calls }: Trace, secrets: readonly string[]): readonly RecordedCall[] =>
  calls.length === 0 ? NO_CALLS : keptCalls(calls).map((call) => callOf(call, startMs, secrets))

const hasFailed = ({ answer, fault }: CallSpan): boolean => fault !== undefined || (answer?.status ?? 0) >= 400

/** Of too many calls, those that failed and as many others as there is room for, in their order. */
export function keptCalls(calls: readonly CallSpan[]): readonly CallSpan[] {
  if (calls.length <= MOST_CALLS) return calls
  const kept = new Set(calls.filter(hasFailed).slice(0, MOST_CALLS))
  for (const call of calls) if (kept.size < MOST_CALLS) kept.add(call)
  return calls.filter((call) => kept.has(call))
}

function callOf(
  { kind, id, item, method, target, startMs, endMs, answer, remark, fault }: CallSpan,
  messageStartMs: number,
  secrets: readonly string[],
): RecordedCall {
  const call: { -readonly [Name in keyof RecordedCall]: RecordedCall[Name] } = {
    kind,
    id,
    method,
    // Before the cut: a part of a secret would not be found.
    target: shownTarget(withoutSecretsIn(withoutQuery(target), secrets)),
    startMs: rounded(startMs - messageStartMs),
    ms: Number.isNaN(endMs) ? 0 : rounded(endMs - startMs),
  }
  if (item !== undefined) call.item = item
  if (answer !== undefined) call.status = answer.status
  if (remark !== undefined) call.remark = remark
  if (fault !== undefined) call.fault = fault
  return call
}

/** Documents cannot name URLs with credentials, so only the query may hold some. */
function withoutQuery(target: string): string {
  const query = target.indexOf('?')
  return query === -1 ? target : target.slice(0, query)
}
