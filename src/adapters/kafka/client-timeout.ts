/** Bounds for work on a client that is being closed, and for its `error` events. */

/** Resolves when the work has succeeded or failed, or after timeoutMs. */
export async function within(timeoutMs: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const timeUp = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timeoutMs)
  })
  await Promise.race([work.catch(() => undefined), timeUp])
  clearTimeout(timer)
}

/** Listens to a client's `error`, because an `error` event without a listener ends the process. */
export function ignoreErrors(client: NodeJS.EventEmitter): void {
  client.on('error', () => undefined)
}
