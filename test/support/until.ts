/** How tests wait: for a condition that is asked for again and again, never for a time. */

/** Between two looks: short beside what is waited for, long beside a look. */
const PAUSE_MS = 10

const pause = () => new Promise<void>((resolve) => setTimeout(resolve, PAUSE_MS))

/** Resolves to what `read` gives once `holds` of it. Rejects with what it gave last where that takes longer than `limitMs`. */
export async function until<T>(read: () => Promise<T> | T, holds: (value: T) => boolean, limitMs = 60_000): Promise<T> {
  const startedAt = performance.now()
  for (;;) {
    const value = await read()
    if (holds(value)) return value
    if (performance.now() - startedAt > limitMs) {
      const shown = JSON.stringify(value)?.slice(0, 2_000)
      throw new Error(`This did not come about within ${limitMs} ms; last seen: ${shown}`)
    }
    await pause()
  }
}
