/** How the intake stops: the failures of messages that arrive too late or do not end in time, and the wait for the others. */

import { Failure } from '../core/failure.ts'
import { within } from '../core/within.ts'

export const stopping = (): Failure =>
  new Failure('SHUTTING_DOWN', 'The service is stopping; send the message again in a moment.')

export const stoppedBefore = (): Failure =>
  new Failure(
    'SHUTTING_DOWN',
    'The service stopped before the message ended; what it had sent by then may have arrived.',
  )

/** Resolves once no message runs or waits, or after `timeoutMs`; to the number of messages that still run. */
export async function drain(
  intake: Readonly<{ drain(): Promise<void>; inFlight: number }>,
  consumersStopped: Promise<unknown> | undefined,
  timeoutMs: number,
): Promise<number> {
  await within(timeoutMs, Promise.all([intake.drain(), consumersStopped]))
  return intake.inFlight
}
