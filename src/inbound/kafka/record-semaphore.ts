/**
 * Limits how many records of an endpoint are under way or not yet committed. While the group rebalances, no record may
 * start: another member would start it again.
 */
export interface RecordSemaphore {
  /**
   * True when a record may start, false once the semaphore is closed or the signal is aborted. Not a promise where the answer
   * is known at once, since most records wait for nothing.
   */
  acquire(signal?: AbortSignal): boolean | Promise<boolean>
  release(count: number): void
  /** Changes the number of permits; those that are held stay so. */
  resize(permits: number): void
  /** Grants nothing until `resume`. */
  suspend(): void
  resume(): void
  /** Answers everyone who waits with false, and everyone who asks later. */
  close(): void
  /** Permits that are held. */
  readonly held: number
}

export function createRecordSemaphore(size: number): RecordSemaphore {
  let permits = size
  let held = 0
  let isSuspended = false
  let isClosed = false
  const queue: ((granted: boolean) => void)[] = []

  const grant = () => {
    while (!isSuspended && held < permits && queue.length > 0) {
      held += 1
      queue.shift()?.(true)
    }
  }
  return {
    acquire: (signal) => {
      if (isClosed || signal?.aborted === true) return false
      if (!isSuspended && held < permits && queue.length === 0) {
        held += 1
        return true
      }
      const { promise, resolve } = Promise.withResolvers<boolean>()
      queue.push(resolve)
      if (signal === undefined) return promise
      const leave = () => {
        const index = queue.indexOf(resolve)
        if (index >= 0) queue.splice(index, 1)
        resolve(false)
      }
      signal.addEventListener('abort', leave)
      return promise.finally(() => signal.removeEventListener('abort', leave))
    },
    release: (count) => {
      held -= count
      grant()
    },
    resize: (next) => {
      permits = next
      grant()
    },
    suspend: () => {
      isSuspended = true
    },
    resume: () => {
      isSuspended = false
      grant()
    },
    close: () => {
      isClosed = true
      for (const answer of queue.splice(0)) answer(false)
    },
    get held() {
      return held
    },
  }
}
