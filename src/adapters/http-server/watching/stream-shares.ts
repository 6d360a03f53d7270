/** Shares the places for event streams among callers: one that has many gives way to one that has fewer. */

export interface StreamShares {
  /** Whether the caller may open a stream: there is a place, or another caller has more streams than it would have. */
  hasRoom(caller: string): boolean
  /** Adds a stream; ends the newest one of the caller that has most if there is no place. Out: removes the stream. */
  add(caller: string, end: () => void): () => void
}

export function createStreamShares(places: number): StreamShares {
  const streams = new Map<string, Set<() => void>>()
  let count = 0
  const countOf = (caller: string): number => streams.get(caller)?.size ?? 0
  const largest = (): string =>
    [...streams.keys()].reduce((most, one) => (countOf(one) > countOf(most) ? one : most), '')

  return {
    hasRoom: (caller) => count < places || countOf(largest()) > countOf(caller) + 1,
    add: (caller, end) => {
      if (count >= places) [...(streams.get(largest()) ?? [])].at(-1)?.()
      const own = streams.get(caller) ?? new Set()
      streams.set(caller, own.add(end))
      count += 1
      return () => {
        if (!own.delete(end)) return
        count -= 1
        if (own.size === 0 && streams.get(caller) === own) streams.delete(caller)
      }
    },
  }
}
