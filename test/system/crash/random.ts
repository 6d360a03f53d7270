/** Randomness that a seed repeats, for the processes that crash each other. */
export type Random = Readonly<{ below(limit: number): number; chance(share: number): boolean }>

/** The generator `mulberry32`: 32 bits of state, enough to choose moments and operations. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return { below: (limit) => Math.floor(next() * limit), chance: (share) => next() < share }
}
