/** How the intake stops: the failures of messages that come too late or do not end in time, and the wait for the others. */
import { Failure } from '../core/failure.ts'

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
  consumers: Readonly<{ stop(): Promise<unknown> }>,
  timeoutMs: number,
): Promise<number> {
  let timer: NodeJS.Timeout | undefined
  const timeUp = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timeoutMs)
  })
  await Promise.race([Promise.all([intake.drain(), consumers.stop()]), timeUp])
  clearTimeout(timer)
  return intake.inFlight
}
