/**
 * Time and chance of an expression that must give the same result at every run: in tests of documents. The built-ins that
 * depend on them are replaced when the expression is compiled, so that other expressions do not even ask.
 */
import type { BuiltIn, Focus } from './expression-functions.ts'

/** What an evaluation takes in place of the clock and of chance. */
export type Ambient = Readonly<{
  /** Milliseconds since the epoch. */
  nowMs: number
  /** Evaluations with the same seed and text draw the same numbers. */
  seed: string
}>

/** Built-ins that depend on the time, on chance or on the time zone of the machine. */
export const AMBIENT_BUILT_INS = ['now', 'millis', 'toMillis', 'random', 'shuffle'] as const

export type AmbientBuiltIns = Readonly<{
  /** Starts an evaluation: takes its time, and draws from the start again. */
  start(): void
  /** The built-in to use in place of the engine's own. */
  replace(name: string, original: BuiltIn): BuiltIn
}>

/** `text`: the expression. `formatMillis`: the engine's `$fromMillis`. */
export function ambientBuiltIns(
  text: string,
  ambient: () => Ambient,
  formatMillis: BuiltIn['implementation'],
): AmbientBuiltIns {
  let nowMs = 0
  let random = (): number => 0
  const instead: Readonly<Record<string, (original: BuiltIn['implementation']) => BuiltIn['implementation']>> = {
    now: () =>
      function (this: Focus, picture, timezone) {
        return formatMillis.call(this, nowMs, picture, timezone)
      },
    millis: () => () => nowMs,
    random: () => () => random(),
    shuffle: () => (list) => (Array.isArray(list) ? shuffled(list, random) : list),
    toMillis: (original) =>
      function (this: Focus, time, ...pictures) {
        // The engine takes the parts that a picture lacks from the time of the evaluation.
        const environment = Object.assign(Object.create(this.environment as object), { timestamp: new Date(nowMs) })
        const given = pictures[0] === undefined && typeof time === 'string' ? withOffset(time) : time
        return original.apply({ ...this, environment }, [given, ...pictures])
      },
  }
  return {
    start: () => {
      const { nowMs: givenMs, seed } = ambient()
      nowMs = givenMs
      random = createRandom(`${seed}\n${text}`)
    },
    replace: (name, original) => {
      const own = instead[name]
      if (own === undefined) return original
      const implementation = own(original.implementation)
      // The engine reads the number and names of the parameters from these.
      Object.defineProperty(implementation, 'length', { value: original.implementation.length })
      implementation.toString = () => original.implementation.toString()
      return { ...original, implementation }
    },
  }
}

/** ECMAScript reads a time without an offset in the time zone of the machine (ECMA-262, section 21.4.3.2). */
const withOffset = (time: string): string => (/T\d\d:\d\d:\d\d(?:\.\d+)?$/.test(time) ? `${time}Z` : time)

/** Fisher and Yates. */
function shuffled(list: readonly unknown[], random: () => number): unknown[] {
  const items = [...list]
  for (let at = items.length - 1; at > 0; at -= 1) {
    const other = Math.floor(random() * (at + 1))
    const item = items[at]
    items[at] = items[other]
    items[other] = item
  }
  return items
}

/** Numbers from 0 to below 1: a counter through the finaliser of MurmurHash3, started at the FNV-1a hash of the seed. */
function createRandom(seed: string): () => number {
  let state = 0x811c9dc5
  for (let at = 0; at < seed.length; at += 1) state = Math.imul(state ^ seed.charCodeAt(at), 0x01000193)
  return () => {
    state = (state + 0x9e3779b9) | 0
    let mixed = Math.imul(state ^ (state >>> 16), 0x85ebca6b)
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
    return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32
  }
}
