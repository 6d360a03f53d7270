/** One attempt at a delivery: its request is made ready, signed, sent once, and the outcome judged. */
import type { ClaimedDelivery, DeliveryAttempt } from '../core/deliveries/delivery.ts'
import { Failure } from '../core/failure.ts'
import type { MessageBudget } from '../core/message-budget.ts'
import { CallStopped, CircuitOpen, type OutboundAnswer, OutboundError } from '../core/ports/http-client-port.ts'
import type { Logger } from '../core/ports/logger-port.ts'
import type { Outbound, PreparedRequest } from '../core/ports/outbound-port.ts'
import type { Clock, Sending } from '../core/run.ts'
import { type SecretSource, withReferences } from '../core/secrets/secrets.ts'
import { type CallSpan, startCall, startTrace } from '../core/tracing/trace.ts'
import { hasStatus } from '../language/status-set.ts'
import { FAILED_STATUSES, retryAfterMs } from '../outbound/http/upstreams.ts'
import { formatTarget, targetNamed } from '../outbound/targets.ts'
import { refusalSentence, withoutPaths } from '../pipeline/requests/refusal.ts'
import { prepareStored } from '../pipeline/requests/stored-request.ts'
import type { AttemptResult } from './next-step.ts'
import { signatureHeaders } from './signing.ts'

export type AttemptNeeds = Readonly<{
  outbound: Outbound
  secrets: SecretSource
  /** Bounds what is read of an answer. */
  newBudget: () => MessageBudget
  clock: Clock
  logger: Pick<Logger, 'error'>
}>

/** Never rejects. `signal`: aborted when the lease is lost, so that nothing arrives after what another process sends next. */
export type Attempt = (claimed: ClaimedDelivery, signal: AbortSignal) => Promise<AttemptResult>

/** Statuses besides 5xx that the same request may not get again. */
const PASSING_STATUSES: ReadonlySet<number> = new Set([408, 425, 429])

/** Faults that the same request would have again. */
const LASTING_FAULTS: ReadonlySet<OutboundError['fault']> = new Set(['denied', 'refused'])

const AWAY_FAULTS: ReadonlySet<OutboundError['fault']> = new Set(['unreachable', 'timeout'])

type Attempted = Extract<AttemptResult, { attempt: DeliveryAttempt }>
/** The result of an attempt but its times. */
type Judged = Omit<Attempted, 'attempt'> & Readonly<{ outcome: Omit<DeliveryAttempt, 'at' | 'ms'> }>
type Judgement = Judged | Exclude<AttemptResult, Attempted>

export function createAttempt(needs: AttemptNeeds): Attempt {
  return async (claimed, signal) => {
    const [startedMs, at] = [performance.now(), new Date(needs.clock()).toISOString()]
    const judgement = await perform(claimed, signal, needs).catch((thrown) => judgeThrown(thrown, claimed, needs))
    if (!('outcome' in judgement)) return judgement
    const { outcome, ...rest } = judgement
    return { attempt: { at, ms: Math.round(performance.now() - startedMs), ...outcome }, ...rest }
  }
}

function judgeThrown(thrown: unknown, { delivery: { id, endpointId } }: ClaimedDelivery, needs: AttemptNeeds): Judged {
  const judged = { state: 'pending', target: 'unknown' } as const
  if (thrown instanceof Failure) return { ...judged, outcome: { fault: thrown.code, message: thrown.unquoted } }
  needs.logger.error({ err: thrown, delivery: id, endpointId }, 'A delivery could not be attempted')
  const message = 'The service failed to attempt this delivery; its log has the cause.'
  return { ...judged, outcome: { fault: 'internal', message } }
}

async function perform(claimed: ClaimedDelivery, signal: AbortSignal, needs: AttemptNeeds): Promise<Judgement> {
  const { request, body } = claimed
  const { messageId, requestId, item } = claimed.delivery
  const { outbound, secrets, newBudget, clock } = needs
  const prepared = prepareStored(request, secrets)
  const trace = startTrace()
  const budget = newBudget()
  const run: Sending = { messageId, clock, trace, mayWait: false, budget, lease: { signal } }
  const target = formatTarget(targetNamed(request.to.target), request.to.address, prepared.shownUrl)
  const called = startCall(trace, { kind: 'response', id: requestId, item, method: prepared.method, target })
  const { contentType, timeoutMs, to } = request
  const outgoing = {
    prepared: { ...prepared, headers: withOwnHeaders(prepared, claimed, needs) },
    body: contentType === undefined ? undefined : { content: body ?? '', contentType },
    timeoutMs,
  }
  // The schedule says when it is tried again.
  const once = { ...to, options: { ...to.options, retries: 0 } }
  try {
    return judgeAnswer(await outbound.send(once, outgoing, run, called), called, claimed, clock)
  } catch (thrown) {
    if (!(thrown instanceof OutboundError)) throw thrown
    if (thrown instanceof CallStopped) return { isStopped: true }
    if (thrown instanceof CircuitOpen) return { circuitOpenMs: thrown.retryAfterMs }
    if (thrown.answer !== undefined) return judgeAnswer(thrown.answer, called, claimed, clock)
    const message = withReferences(withReferences(thrown.message, prepared.secrets), trace.secrets)
    const { fault } = thrown
    const outcome = { fault, message }
    if (LASTING_FAULTS.has(fault)) return { outcome, state: 'undeliverable', target: 'unknown' }
    return { outcome, state: 'pending', target: AWAY_FAULTS.has(fault) ? 'away' : 'unknown' }
  } finally {
    budget.release()
  }
}

function withOwnHeaders(
  { headers }: PreparedRequest,
  { delivery: { id }, request, body }: ClaimedDelivery,
  { secrets, clock }: AttemptNeeds,
): PreparedRequest['headers'] {
  const { signWith } = request.rules
  const isSigned = signWith !== undefined && targetNamed(request.to.target).isHttp
  const signature = isSigned
    ? signatureHeaders(
        signWith.map((secret) => secrets.resolve(secret)),
        { id, nowMs: clock(), body: request.contentType === undefined ? undefined : body },
      )
    : {}
  return { 'idempotency-key': id, ...headers, ...signature }
}

function judgeAnswer(
  { status, headers }: Pick<OutboundAnswer, 'status' | 'headers'>,
  called: CallSpan,
  { request, delivery: { requestId } }: ClaimedDelivery,
  clock: Clock,
): Judged {
  // Without what the target said, which may be about a person: more people read attempts than bodies.
  const sentence = withoutPaths(refusalSentence(requestId, status, called))
  if ((status >= 200 && status <= 299) || hasStatus(request.allowed, status))
    return { outcome: { status }, state: 'delivered', target: 'answers' }
  const isEnded = headers['webhook-delivery'] === 'abort-message'
  const isPassing = status >= 500 || PASSING_STATUSES.has(status)
  if (isPassing && !isEnded) {
    const outcome = { status, message: `${sentence}.` }
    const target = FAILED_STATUSES.has(status) ? 'away' : 'busy'
    return { outcome, state: 'pending', retryAfterMs: retryAfterMs(headers['retry-after'], clock), target }
  }
  const why = isEnded ? 'It asked for no further attempt.' : 'Another attempt would get the same answer.'
  const outcome = { status, message: `${sentence}. ${why}` }
  return { outcome, state: 'undeliverable', target: 'answers' }
}
