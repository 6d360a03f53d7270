/** What the processing of a record gets from its partition: when to stop, whom to report to, how to pause. */
import type { RecordSemaphore } from './record-semaphore.ts'

/** The state of a record's partition. `waiting`: for the next attempt; `stopped`: it cannot continue. */
export type RecordState = Readonly<{ state: 'running' | 'waiting' | 'stopped'; error?: string }>

export type PartitionHandle = Readonly<{
  /** Aborted when the partition is closed. */
  signal: AbortSignal
  report: (state: RecordState) => void
  /**
   * Resolves after timeMs or when the endpoint was changed; without timeMs, only then. Rejects when the signal is aborted.
   * The record holds no permit meanwhile, so that it does not keep the records of other partitions from starting.
   */
  pause: (timeMs: number | undefined) => Promise<void>
}>

/** The partition's side of the handle. */
export interface PartitionControl {
  readonly handle: PartitionHandle
  readonly state: RecordState
  readonly isClosed: boolean
  /** Takes a permit for the next record; false: none will be granted any more. */
  acquire(): boolean | Promise<boolean>
  /** Gives back the permit of the record, if it has one. */
  release(): void
  /** Leaves the permit to the caller, who gives it back when the record is committed. */
  detach(): void
  /** Ends a pause. */
  wake(): void
  close(): void
}

export function openPartitionControl(
  semaphore: RecordSemaphore,
  onReport: (state: RecordState) => void,
): PartitionControl {
  const closing = new AbortController()
  const { signal } = closing
  let state: RecordState = { state: 'running' }
  let endPause: (() => void) | undefined
  let hasPermit = false

  const release = () => {
    if (hasPermit) semaphore.release(1)
    hasPermit = false
  }
  const waitUntilGranted = async (granted: Promise<boolean>): Promise<boolean> => {
    hasPermit = await granted
    return hasPermit
  }
  const acquire = (): boolean | Promise<boolean> => {
    const granted = semaphore.acquire()
    if (granted instanceof Promise) return waitUntilGranted(granted)
    hasPermit = granted
    return granted
  }
  return {
    handle: {
      signal,
      report: (next) => {
        state = next
        onReport(next)
      },
      pause: async (timeMs) => {
        release()
        await new Promise<void>((resolve) => {
          const timer = timeMs === undefined ? undefined : setTimeout(resolve, timeMs)
          endPause = () => {
            clearTimeout(timer)
            resolve()
          }
          if (signal.aborted) endPause()
        })
        endPause = undefined
        signal.throwIfAborted()
        if (!(await acquire())) closing.abort()
        signal.throwIfAborted()
      },
    },
    get state() {
      return state
    },
    get isClosed() {
      return signal.aborted
    },
    acquire,
    release,
    detach: () => {
      hasPermit = false
    },
    wake: () => endPause?.(),
    close: () => {
      closing.abort()
      endPause?.()
    },
  }
}
