import type { Intake } from './intake.ts'

/** Resolves when no message is under way any more, or the time is up; to the number of those that are left. */
export async function drain(
  intake: Intake,
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
