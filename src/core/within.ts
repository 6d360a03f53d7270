/** Resolves when the work has succeeded or failed, or after `timeoutMs`. */
export async function within(timeoutMs: number, work: Promise<unknown>): Promise<void> {
  const { promise: timeUp, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, timeoutMs)
  await Promise.race([work.catch(() => undefined), timeUp])
  clearTimeout(timer)
}
