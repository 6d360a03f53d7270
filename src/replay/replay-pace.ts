/** When the next message of a run may begin. */
import { setTimeout as delay } from 'node:timers/promises'

/** How long a run waits where the service has as many messages under way as it takes. */
const BUSY_MS = 50

export interface Pace {
  /** Resolves when the next message may begin, a whole interval after the one before; rejects when the signal aborts. */
  next(): Promise<void>
  /** Resolves a moment later. */
  busy(): Promise<void>
}

/** `perSecond`: undefined where nothing holds it up. */
export function createPace(perSecond: number | undefined, signal: AbortSignal): Pace {
  const intervalMs = perSecond === undefined ? 0 : 1_000 / perSecond
  let nextMs = performance.now()
  const wait = (ms: number): Promise<void> => delay(ms, undefined, { signal, ref: false })
  return {
    next: async () => {
      if (intervalMs === 0) return
      const now = performance.now()
      const startMs = Math.max(now, nextMs)
      nextMs = startMs + intervalMs
      if (startMs > now) await wait(startMs - now)
    },
    busy: () => wait(BUSY_MS),
  }
}
