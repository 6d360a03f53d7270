/** Resolves when the work has succeeded or failed, or after `timeoutMs`. */
export async function within(timeoutMs: number, work: Promise<unknown>): Promise<void> {
  const { promise: timeUp, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, timeoutMs)
  await Promise.race([work.catch(() => undefined), timeUp])
  clearTimeout(timer)
}

/** The result of the work; fails with what `late` gives if there is none after `timeoutMs`. The work goes on. */
export function resultWithin<Result>(timeoutMs: number, work: Promise<Result>, late: () => Error): Promise<Result> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(late()), timeoutMs)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
