/**
 * The end of a message with durable requests: they, the state of the message and the answer for those that repeat it are stored
 * in one transaction, or nothing, before the message is answered.
 */
import { asFailure, Failure } from '../core/failure.ts'
import type { Awaitable } from '../core/json.ts'
import { ClaimLost } from '../core/kept-answer.ts'
import type { Run } from '../core/run.ts'
import { type Endpoint, isDurable } from '../document/schema/schema.ts'
import { storeFailure } from '../store/store-access.ts'
import type { Outcome } from './outcome.ts'
import type { PipelineSettings, Services } from './services.ts'
import { compileStateRecord } from './stages/state.ts'

export type Fail = (failure: Failure, run: Run) => Outcome
export type AtEnd = (outcome: Outcome, run: Run) => Awaitable<Outcome>

/**
 * `keep`: the end of a message that stores no delivery, if it leaves a state. A message that failed or was refused stores none.
 *
 * Undefined if no request of the document is durable. Fails: DELIVERIES_FULL, DELIVERY_UNAVAILABLE.
 */
export function compileAcceptance(
  endpoint: Endpoint,
  usesState: boolean,
  { deliveries }: Services,
  { deliveryMaxBytes }: Pick<PipelineSettings, 'deliveryMaxBytes'>,
  keep: AtEnd | undefined,
  fail: Fail,
): AtEnd | undefined {
  if (!endpoint.requests.response.some(isDurable)) return undefined
  const makeState = usesState ? compileStateRecord(endpoint) : undefined
  const drop = (failure: unknown, run: Run): Outcome => {
    run.trace.deliveries = undefined
    run.isDelivered = false
    const reason = asFailure(failure)
    reason.stage ??= 'respond'
    return fail(reason, run)
  }
  return (outcome, run) => {
    const made = run.trace.deliveries
    if (made === undefined || outcome.failure !== undefined || outcome.answer.refused) {
      run.trace.deliveries = undefined
      if (made !== undefined) run.isDelivered = false
      return keep === undefined ? outcome : keep(outcome, run)
    }
    const { answerKeeper } = run
    const answer = answerKeeper?.make(outcome.answer)
    return Promise.try(() =>
      deliveries.accept(made, deliveryMaxBytes, makeState?.(run), answer, run.lease?.claimed),
    ).then(
      (accepted) => {
        if (accepted === 'full') return drop(new Failure('DELIVERIES_FULL', FULL), run)
        if (answerKeeper !== undefined && answer !== undefined) answerKeeper.result = 'kept'
        deliveries.onAccepted()
        return outcome
      },
      (thrown: unknown) => {
        if (answerKeeper !== undefined && thrown instanceof ClaimLost) answerKeeper.result = 'lost'
        return drop(storeFailure('DELIVERY_UNAVAILABLE', AWAY, thrown), run)
      },
    )
  }
}

const AWAY = 'The requests of this message cannot be stored for delivery now; try again.'
const FULL =
  'Too many deliveries wait or are kept (DELIVERY_MAX_BYTES), so nothing of this message was stored; try again later.'
