/** The captures that are under way, as this process knows them. The store decides which messages they record. */
import type { Logger } from '../../../core/ports/logger-port.ts'
import type { Clock } from '../../../core/run.ts'
import type { CaptureStore } from '../../../store/sql/capture-store.ts'

export type ActiveCapture = {
  readonly endpointId: string
  readonly id: string
  /** Milliseconds since the epoch. */
  readonly until: number
  /** At most so many messages remain: other processes take places too. */
  remaining: number
  /** Completed messages of this process that wait for a place. */
  waiting: number
}

export interface ActiveCaptures {
  /** 0 at most times, so that messages cost nothing more. */
  readonly size: number
  of(endpointId: string): ActiveCapture | undefined
  /** Reads the captures from the store; resolves when this process records by them. Rejects with StoreUnavailable. */
  reload(): Promise<void>
  /** Reloads if this version of the shared store is new, or if the last reload failed. To be called every few seconds. */
  follow(version: number): void
  /** Takes places for up to `count` messages; gives how many. Rejects with StoreUnavailable. */
  claim(capture: ActiveCapture, count: number): Promise<number>
}

export type ActiveCapturesOptions = Readonly<{
  store: Pick<CaptureStore, 'active' | 'claim'>
  clock: Clock
  logger: Logger
}>

export function createActiveCaptures({ store, clock, logger }: ActiveCapturesOptions): ActiveCaptures {
  let active = new Map<string, ActiveCapture>()
  /** Reads run one after the other, so that an earlier one never replaces what a later one found. */
  let reading: Promise<unknown> = Promise.resolve()
  let followed: number | undefined

  async function read(): Promise<void> {
    const found = await store.active()
    const before = active
    active = new Map(
      found.map(({ endpointId, id, until, remaining }) => {
        const known = before.get(endpointId)
        if (known?.id !== id) return [endpointId, { endpointId, id, until, remaining, waiting: 0 }]
        known.remaining = Math.min(known.remaining, remaining)
        return [endpointId, known]
      }),
    )
  }

  function reload(): Promise<void> {
    const next = reading.then(read).catch((thrown: unknown) => {
      followed = undefined
      throw thrown
    })
    reading = next.catch(() => undefined)
    return next
  }

  const remove = (capture: ActiveCapture): void => {
    if (active.get(capture.endpointId) === capture) active.delete(capture.endpointId)
  }

  return {
    get size() {
      return active.size
    },
    of: (endpointId) => {
      const capture = active.get(endpointId)
      if (capture === undefined || clock() < capture.until) return capture
      remove(capture)
      return undefined
    },
    reload,
    follow: (version) => {
      if (version === followed) return
      followed = version
      reload().catch((err: unknown) => logger.warn({ err }, 'The captures of messages could not be read; trying again'))
    },
    claim: async (capture, count) => {
      const { claimed, remaining } = await store.claim(capture, count)
      capture.remaining = Math.min(capture.remaining, remaining)
      if (remaining === 0) remove(capture)
      return claimed
    },
  }
}
