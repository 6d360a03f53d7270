/** Spaces the messages of a run. */
import { setTimeout as delay } from 'node:timers/promises'

/** The pause of a run when the service is full. */
const BUSY_MS = 50

/** Both reject when the signal aborts. */
export interface Pace {
  /** Resolves when the next message may start, one interval after the one before. */
  next(): Promise<void>
  /** Resolves after a short pause. */
  busy(): Promise<void>
}

/** `perSecond`: messages started in a second; undefined for no limit. */
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
