/** The record of a message that has ended. */
import { timeOfId } from '../domain/id.ts'
import type { MessageRecord, RecordedBody, RecordedCall, RecordedStage } from '../domain/message-record.ts'
import type { CallSpan, Trace } from '../domain/tracing/trace.ts'
import { type CompletedMessage, isTriedAgain } from '../intake/completed-message.ts'

const NO_STAGES: readonly RecordedStage[] = []
const NO_CALLS: readonly RecordedCall[] = []

/** Of a `forEach` with thousands of items nobody reads them all, and each takes room while its record waits. */
const MOST_CALLS = 200

/** What the rest of the recorder knows of it. */
export type Findings = Pick<MessageRecord, 'keys'> & Readonly<{ kept: readonly RecordedBody[]; error?: string }>

/** `isoOf` writes a time: many messages share one, and writing it costs as much as the rest of the record. */
export function recordOf(
  finished: CompletedMessage,
  { keys, kept, error }: Findings,
  isoOf: (timeMs: number) => string,
): MessageRecord {
  const { messageId, source, outcome, ms, answer, trace, compiled, code, failure, incoming } = finished
  const record: { -readonly [Name in keyof MessageRecord]: MessageRecord[Name] } = {
    id: messageId,
    source,
    startedAt: isoOf(timeOfId(messageId)),
    ms,
    outcome,
    status: answer.status,
    stages: trace === undefined ? NO_STAGES : trace.stages.map(stageOf),
    calls: trace === undefined ? NO_CALLS : callsOf(trace),
    keys,
    bodies: kept.map(({ summary }) => summary),
  }
  if (compiled !== undefined) {
    record.endpointId = compiled.document._id
    record.endpoint = compiled.document.name
    record.endpointVersion = compiled.version
  }
  if (code !== '') record.code = code
  if (failure?.stage !== undefined) record.stage = failure.stage
  else if (answer.refused) record.stage = 'respond'
  if (failure?.options.path !== undefined) record.path = failure.options.path
  if (error !== undefined) record.error = error
  const callsOmitted = (trace?.calls.length ?? 0) - record.calls.length
  if (callsOmitted > 0) record.callsOmitted = callsOmitted
  if (isTriedAgain(finished)) record.triedAgain = true
  if (answer.repeats !== undefined) record.answerOf = answer.repeats
  if (incoming?.replayOf !== undefined) record.replayOf = incoming.replayOf
  return record
}

const stageOf = ({ stage, startMs, endMs }: Trace['stages'][number]): RecordedStage => ({ stage, ms: endMs - startMs })

/** To the microsecond, as stores keep it. */
const rounded = (ms: number): number => Math.round(ms * 1000) / 1000

/** What a record tells of the calls of a message: of the first so many, and of those that went wrong before others. */
export const callsOf = ({ startMs, calls }: Trace): readonly RecordedCall[] =>
  calls.length === 0 ? NO_CALLS : keptOf(calls).map((call) => callOf(call, startMs))

const wentWrong = ({ answer, fault }: CallSpan): boolean => fault !== undefined || (answer?.status ?? 0) >= 400

/** Where there are too many, those by which a failure is explained, then the first. */
function keptOf(calls: readonly CallSpan[]): readonly CallSpan[] {
  if (calls.length <= MOST_CALLS) return calls
  const kept = new Set(calls.filter(wentWrong).slice(0, MOST_CALLS))
  for (const call of calls) if (kept.size < MOST_CALLS) kept.add(call)
  return calls.filter((call) => kept.has(call))
}

function callOf(
  { kind, id, item, method, target, startMs, endMs, answer, remark, fault }: CallSpan,
  began: number,
): RecordedCall {
  const call: { -readonly [Name in keyof RecordedCall]: RecordedCall[Name] } = {
    kind,
    id,
    method,
    target: withoutQuery(target),
    startMs: rounded(startMs - began),
    ms: Number.isNaN(endMs) ? 0 : rounded(endMs - startMs),
  }
  if (item !== undefined) call.item = item
  if (answer !== undefined) call.status = answer.status
  if (remark !== undefined) call.remark = remark
  if (fault !== undefined) call.fault = fault
  return call
}

/** A URL without its query; documents cannot name URLs with credentials. */
function withoutQuery(target: string): string {
  const query = target.indexOf('?')
  return query === -1 ? target : target.slice(0, query)
}
