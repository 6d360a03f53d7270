/** What every client is owed when it is left: a limit to the waiting, and someone who listens to its errors. */

/** Resolves when the work is done or failed, or the time is up. */
export async function within(timeoutMs: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const timeUp = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timeoutMs)
  })
  await Promise.race([work.catch(() => undefined), timeUp])
  clearTimeout(timer)
}

/** Listens to a client's `error`, which without a listener ends the process. */
export function ignoreErrors(client: NodeJS.EventEmitter): void {
  client.on('error', () => undefined)
}
