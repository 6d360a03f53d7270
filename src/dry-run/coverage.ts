/**
 * Which parts of a document some messages ran. A point is hit by one message or not; over several messages the union counts,
 * so that only what no message hit is missed.
 */

/**
 * `entry`: an entry of `inputMapping` found a value. `target`: one of its targets was written. `default`: its default was
 * used. `transform`: an expression ran. `lookup`, `response`: the request was made. `fallback`: an optional lookup failed.
 */
export type CoverageKind = 'entry' | 'target' | 'default' | 'transform' | 'lookup' | 'fallback' | 'response'

/** `path`: of the part in the document; a target is named after it, as `inputMapping.a > b`. */
export type CoveragePoint = Readonly<{ kind: CoverageKind; path: string }>

/** Of one document. `total`: how many points it has; `missed`: those that were not hit, in the order of the document. */
export type Coverage = Readonly<{ total: number; missed: readonly CoveragePoint[] }>

/** In: the points of a document, in its order. */
export const coverageOf = (points: readonly (CoveragePoint & Readonly<{ hit: boolean }>)[]): Coverage => ({
  total: points.length,
  missed: points.filter(({ hit }) => !hit).map(({ kind, path }) => ({ kind, path })),
})

/** The union of the coverages of one document; undefined of none. */
export function joinCoverage([first, ...others]: readonly Coverage[]): Coverage | undefined {
  if (first === undefined) return undefined
  const missedByAll = others.reduce((left, { missed }) => {
    const keys = new Set(missed.map(keyOf))
    return left.filter((point) => keys.has(keyOf(point)))
  }, first.missed)
  return { total: first.total, missed: missedByAll }
}

/** 0 to 100, rounded down to one decimal, so that only full coverage is 100; a document without points is covered. */
export const percentCovered = ({ total, missed }: Coverage): number =>
  total === 0 ? 100 : Math.floor(((total - missed.length) / total) * 1_000) / 10

const keyOf = ({ kind, path }: CoveragePoint): string => `${kind} ${path}`
