/** What the processing of a record gets from its partition: when to stop, whom to report to, how to pause. */
import type { RecordSemaphore } from './record-semaphore.ts'

/** The state of a record, and of its partition. `waiting`: for the next attempt; `stopped`: it cannot continue. */
export type RecordState = Readonly<{ state: 'running' | 'waiting' | 'stopped'; error?: string }>

export type PartitionHandle = Readonly<{
  /** Aborted when the partition is closed. */
  signal: AbortSignal
  report: (state: RecordState) => void
  /**
   * Resolves after timeMs or when the endpoint was changed; without timeMs, only then. Rejects when the signal is aborted.
   * The record holds no permit meanwhile, so that it does not keep other records from starting.
   */
  pause: (timeMs: number | undefined) => Promise<void>
}>

/** The handle of one record that does not succeed at once. */
export interface RecordHandle extends PartitionHandle {
  readonly hasPermit: boolean
  /** The record is not processed any more: its state does not count, and the caller has its permit. */
  close(): void
}

/** The partition's side of its handles. */
export interface PartitionControl {
  /** The worst state of the records that do not run. */
  readonly state: RecordState
  /** Records that wait for their next attempt, or for a change of the endpoint. */
  readonly retrying: number
  readonly isClosed: boolean
  /** For a record that has a permit. */
  open(): RecordHandle
  /** Ends all pauses. */
  wake(): void
  close(): void
}

const RUNNING: RecordState = { state: 'running' }

export function openPartitionControl(
  semaphore: RecordSemaphore,
  onReport: (state: RecordState) => void,
): PartitionControl {
  const closing = new AbortController()
  const { signal } = closing
  /** The records that wait or are stopped. */
  const troubled = new Map<object, RecordState>()
  const pauses = new Set<() => void>()
  let pausing = 0

  const pauseFor = async (timeMs: number | undefined): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = timeMs === undefined ? undefined : setTimeout(resolve, timeMs)
    if (signal.aborted) resolve()
    pauses.add(resolve)
    await promise
    pauses.delete(resolve)
    clearTimeout(timer)
  }
  const open = (): RecordHandle => {
    let hasPermit = true
    const handle: RecordHandle = {
      signal,
      get hasPermit() {
        return hasPermit
      },
      report: (next) => {
        if (next.state === 'running') troubled.delete(handle)
        else troubled.set(handle, next)
        onReport(next)
      },
      pause: async (timeMs) => {
        if (hasPermit) semaphore.release(1)
        hasPermit = false
        pausing += 1
        try {
          await pauseFor(timeMs)
          // Records of this partition may hold all permits until it is closed.
          hasPermit = await semaphore.acquire(signal)
        } finally {
          pausing -= 1
        }
        if (!hasPermit) closing.abort()
        signal.throwIfAborted()
      },
      close: () => void troubled.delete(handle),
    }
    return handle
  }
  return {
    get state() {
      let worst = RUNNING
      for (const state of troubled.values()) if (worst.state !== 'stopped') worst = state
      return worst
    },
    get retrying() {
      return pausing
    },
    get isClosed() {
      return signal.aborted
    },
    open,
    wake: () => {
      for (const end of pauses) end()
    },
    close: () => {
      closing.abort()
      for (const end of pauses) end()
    },
  }
}
