/** One attempt of a delivery: the stored request is made ready, signed and sent. */
import type { ClaimedDelivery, DeliveryAttempt } from '../core/deliveries/delivery.ts'
import { Failure } from '../core/failure.ts'
import type { MessageBudget } from '../core/message-budget.ts'
import { CircuitOpen, type OutboundAnswer, OutboundError } from '../core/ports/http-client-port.ts'
import type { Outbound, PreparedRequest } from '../core/ports/outbound-port.ts'
import type { Clock } from '../core/run.ts'
import { type SecretSource, type SecretValues, withReferences } from '../core/secrets/secrets.ts'
import { roundMs, startCall, startTrace } from '../core/tracing/trace.ts'
import { retryAfterMs } from '../outbound/http/upstreams.ts'
import { compileText, createSecretCollector } from '../pipeline/requests/secret-references.ts'
import { prepareStored } from '../pipeline/requests/stored-request.ts'
import type { AttemptResult } from './next-step.ts'
import { signatureHeaders } from './signing.ts'

export type AttemptOptions = Readonly<{
  outbound: Outbound
  secrets: SecretSource
  newBudget: () => MessageBudget
  clock: Clock
}>

/** `pausedMs`: the circuit of the target is open for so long, and nothing was sent. */
export type Attempted = Readonly<{ attempt: DeliveryAttempt; result: AttemptResult } | { pausedMs: number }>

export type Attempt = (claimed: ClaimedDelivery) => Promise<Attempted>

const SIGN_PATH = 'delivery.sign.secret'

/** Does not fail: whatever happens is the result of the attempt. */
export function createAttempt({ outbound, secrets, newBudget, clock }: AttemptOptions): Attempt {
  async function send({ delivery, request, body }: ClaimedDelivery, prepared: PreparedRequest) {
    const { requestId: id, item, messageId, target } = delivery
    const trace = startTrace()
    const called = startCall(trace, { kind: 'response', id, item, method: prepared.method, target })
    const budget = newBudget()
    try {
      const content =
        request.contentType === undefined ? undefined : { content: body ?? '', contentType: request.contentType }
      const outgoing = { prepared, body: content, timeoutMs: request.timeoutMs }
      // The schedule says when it is tried again.
      const to = { ...request.to, options: { ...request.to.options, retries: 0 } }
      return await outbound.send(to, outgoing, { messageId, clock, budget, mayWait: false, trace }, called)
    } finally {
      budget.release()
    }
  }

  return async (claimed) => {
    const { delivery, request, body } = claimed
    const startedMs = performance.now()
    const at = new Date(clock()).toISOString()
    const noted = (rest: Partial<DeliveryAttempt>): DeliveryAttempt => ({
      at,
      ms: roundMs(performance.now() - startedMs),
      ...rest,
    })
    let used: SecretValues | undefined
    try {
      const prepared = prepareStored(request, secrets)
      used = prepared.secrets
      const collector = createSecretCollector(secrets)
      const keys = request.rules.signWith?.map((text) => compileText(text, SIGN_PATH)?.(collector.resolve) ?? text)
      if (keys !== undefined) used = new Map([...(used ?? []), ...collector.values])
      const signed = keys && signatureHeaders({ id: delivery.id, atMs: clock(), body: body ?? '' }, keys)
      const headers = { 'idempotency-key': delivery.id, ...prepared.headers, ...signed }
      const answer = await send(claimed, { ...prepared, headers, secrets: used })
      return { attempt: noted({ status: answer.status }), result: resultOf(answer, clock) }
    } catch (thrown) {
      if (thrown instanceof CircuitOpen) return { pausedMs: thrown.retryAfterMs }
      if (thrown instanceof OutboundError && thrown.answer !== undefined) {
        return { attempt: noted({ status: thrown.answer.status }), result: resultOf(thrown.answer, clock) }
      }
      const fault = faultOf(thrown)
      const message = withReferences(thrown instanceof Error ? thrown.message : String(thrown), used)
      return { attempt: noted({ fault, message }), result: { fault } }
    }
  }
}

function resultOf({ status, headers }: OutboundAnswer, clock: Clock): AttemptResult {
  const asked = retryAfterMs(headers['retry-after'], clock)
  return {
    status,
    // https://github.com/standard-webhooks/standard-webhooks: the receiver wants no further attempt.
    isAborted: headers['webhook-delivery'] === 'abort-message',
    ...(asked !== undefined && { retryAfterMs: asked }),
  }
}

function faultOf(thrown: unknown): Extract<AttemptResult, { fault: string }>['fault'] {
  if (thrown instanceof OutboundError) return thrown.fault
  if (thrown instanceof Failure) return thrown.code === 'SECRET_UNAVAILABLE' ? 'secret' : 'invalid'
  return 'internal'
}
