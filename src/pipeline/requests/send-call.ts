/** Sends the calls of lookups and response requests to their targets, within the time of the message. */
import { exclusiveIteration } from '../../core/exclusive-iteration.ts'
import { Failure } from '../../core/failure.ts'
import type { FailureCode } from '../../core/failure-table.ts'
import { withoutQuery } from '../../core/http.ts'
import type { Awaitable } from '../../core/json.ts'
import { leaseFailure } from '../../core/lease.ts'
import type { MessageBudget } from '../../core/message-budget.ts'
import type { Body, Destination } from '../../core/ports/destination.ts'
import { CircuitOpen, type OutboundAnswer, OutboundError } from '../../core/ports/http-client-port.ts'
import type { Outbound, PreparedRequest } from '../../core/ports/outbound-port.ts'
import { callKey, type Run } from '../../core/run.ts'
import { endCall, noteSecrets, startCall } from '../../core/tracing/trace.ts'
import { formatTarget, type NamedTarget } from '../../outbound/targets.ts'
import { answerRecorded, notRecorded } from './recorded-answers.ts'
import { withoutPaths } from './refusal.ts'
import { withoutValues } from './secret-references.ts'
import { withoutWrapper } from './upstream-answer.ts'

export type RequestKind = 'LOOKUP' | 'RESPONSE'

/**
 * `item`: the index of its item, in a forEach. Gives what `ending` makes of the answer, or of a failure:
 * <kind>_UNREACHABLE, _TIMED_OUT, _REFUSED, _UNREADABLE or _CIRCUIT_OPEN, EGRESS_DENIED and DEADLINE_EXCEEDED. Rejects with
 * LOOKUP_NOT_RECORDED and SCHEDULE_LEASE_LOST.
 */
export type SendCall = <Result>(
  prepared: PreparedRequest,
  body: Body | undefined,
  run: Run,
  item: number | undefined,
  ending: CallEnding<Result>,
) => Promise<Result>

/** Makes the result of a call from its answer or failure. What it throws rejects `send`. */
export type CallEnding<Result> = Readonly<{
  /** `item`: as for `send`. */
  answered(answer: OutboundAnswer, run: Run, item: number | undefined): Awaitable<Result>
  failed(failure: Failure, run: Run): Result
}>

/** `id` and `path`: of the request. `method`: as it is shown. `unwraps`: answers may have the wrapper of OpenHIM. */
type Sending = Readonly<{
  kind: RequestKind
  id: string
  path: string
  to: Destination
  target: NamedTarget
  method: string
  timeoutMs: number
  unwraps: boolean
  outbound: Outbound
}>

export function compileSend(sending: Sending): SendCall {
  const { kind, id, path, to, target, method, timeoutMs, unwraps, outbound } = sending
  const traced = kind === 'LOOKUP' ? 'lookup' : 'response'
  const isReplayed = kind === 'LOOKUP' && target.answerHere === undefined
  return (prepared, body, run, item, ending) => {
    const recorded = isReplayed ? run.recordedAnswers?.get(callKey(id, item)) : undefined
    if (isReplayed && run.recordedAnswers !== undefined && recorded === undefined) {
      return Promise.reject(notRecorded(id, item, path))
    }
    const lost = leaseFailure(run.lease)
    if (lost !== undefined) return Promise.reject(lost)
    if (prepared.secrets !== undefined) noteSecrets(run.trace, prepared.secrets)
    const shown = formatTarget(target, to.address, prepared.shownUrl)
    const called = startCall(run.trace, { kind: traced, id, item, method, target: shown })
    const left = run.deadlineAt - run.clock()
    if (left <= 0) {
      endCall(called, 'deadline')
      const sentence = `The message ran out of time before "${id}" was called.`
      const failure = new Failure('DEADLINE_EXCEEDED', sentence, { path })
      return Promise.try(() => ending.failed(failure, run))
    }
    // Not an async function: while it waits, its frame takes twice the memory of these two.
    const answering =
      recorded === undefined
        ? outbound.send(to, { prepared, body, timeoutMs: Math.min(timeoutMs, left) }, run, called)
        : answerRecorded(recorded, called, run)
    return answering.then(
      (received) => {
        const answer = unwraps ? withoutWrapper(received) : received
        endCall(called, answer)
        if (answer.body.byteLength <= LARGE_ANSWER_BYTES) return ending.answered(answer, run, item)
        return exclusiveIteration().then(() => ending.answered(answer, run, item))
      },
      (thrown: unknown) => {
        if (kind === 'RESPONSE' && thrown instanceof OutboundError && thrown.answer !== undefined) {
          // The target has accepted the request, even if its answer cannot be decoded.
          endCall(called, thrown.answer)
          return ending.answered(thrown.answer, run, item)
        }
        endCall(called, thrown instanceof OutboundError ? thrown.fault : 'internal')
        if (!(thrown instanceof OutboundError)) throw thrown
        const lostMeanwhile = leaseFailure(run.lease)
        if (lostMeanwhile !== undefined) throw lostMeanwhile
        return ending.failed(outboundFailure(kind, id, path, thrown, prepared, run.budget), run)
      },
    )
  }
}

/** Reading so much takes some milliseconds. */
const LARGE_ANSWER_BYTES = 512 * 1024

/**
 * The failure of a message by a call without a whole answer. `id` and `path`: of the request. No text has the value of a
 * secret; the text for the log has no path of a URL.
 */
function outboundFailure(
  kind: RequestKind,
  id: string,
  path: string,
  error: OutboundError,
  prepared: PreparedRequest,
  budget: MessageBudget,
): Failure {
  if (error.fault === 'over-budget') return budget.refusal(path)
  const codes = {
    unreachable: `${kind}_UNREACHABLE`,
    timeout: `${kind}_TIMED_OUT`,
    'too-large': `${kind}_UNREADABLE`,
    unreadable: `${kind}_UNREADABLE`,
    refused: `${kind}_REFUSED`,
    denied: 'EGRESS_DENIED',
    'circuit-open': `${kind}_CIRCUIT_OPEN`,
    'no-auth': 'AUTH_UNAVAILABLE',
  } as const satisfies Record<Exclude<OutboundError['fault'], 'over-budget'>, FailureCode>
  const sentence = (text: string) => `The request "${id}" failed: ${text}`
  const { url, shownUrl, secrets } = prepared
  const { origin, pathname } = URL.parse(url) ?? { origin: '', pathname: '' }
  const text = url === shownUrl ? error.message : error.message.replaceAll(origin + pathname, withoutQuery(shownUrl))
  const base = BASE.exec(shownUrl)?.[0]
  const unquoted = withoutPaths(base === undefined ? error.message : error.message.replaceAll(origin, base))
  return withoutValues(
    new Failure(codes[error.fault], sentence(text), {
      path,
      cause: error,
      unquoted: sentence(unquoted),
      ...(error instanceof CircuitOpen ? ofCircuit(error) : {}),
    }),
    secrets,
  )
}

/** The status of the calls that opened the circuit: senders need not know of circuits. */
const ofCircuit = ({ status, retryAfterMs }: CircuitOpen) => ({
  status,
  headers: { 'retry-after': `${Math.ceil(retryAfterMs / 1000)}` },
})

/** A secret reference in place of an origin. */
const BASE = /^\$\{[^}]*\}/
