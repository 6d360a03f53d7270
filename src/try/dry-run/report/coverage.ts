/**
 * Which parts of a document some messages ran. A point is hit by one message or not; over several messages the union counts,
 * so that only what no message hit is missed.
 */

import { documentPath } from '../../../core/lint.ts'
import type { Trace } from '../../../core/tracing/trace.ts'
import type { Endpoint } from '../../../document/schema/schema.ts'
import { hasStatus, parseStatusSet } from '../../../language/status-set.ts'
import type { Course } from './course.ts'

/**
 * `entry`: an entry of `inputMapping` found a value. `target`: one of its targets was written. `default`: its default was
 * used. `transform`: an expression ran. `lookup`, `response`: the request was made. `fallback`: an optional lookup had no answer,
 * or one that its `allowedStatuses` refuse.
 */
export type CoverageKind = 'lookup' | 'fallback' | 'transform' | 'entry' | 'target' | 'default' | 'response'

/** `path`: of the part in the document; a target is named after it, as `inputMapping.a > b`. */
export type CoveragePoint = Readonly<{ kind: CoverageKind; path: string }>

/** Of one document. `total`: how many points it has; `missed`: those that were not hit, in the order of the document. */
export type Coverage = Readonly<{ total: number; missed: readonly CoveragePoint[] }>

/** The coverage of the messages, one or several, that this course observed and that made these calls. */
export function coverageOfMessage(
  { requests, inputTransforms }: Endpoint,
  { mapping, transforms }: Pick<Course, 'mapping' | 'transforms'>,
  { calls }: Pick<Trace, 'calls'>,
): Coverage {
  const missed: CoveragePoint[] = []
  let total = 0
  const count = (kind: CoverageKind, path: string, hit: boolean): void => {
    total += 1
    if (!hit) missed.push({ kind, path })
  }
  requests.lookup.forEach(({ id, optional, allowedStatuses = ['2xx'] }, index) => {
    const own = calls.filter((call) => call.kind === 'lookup' && call.id === id)
    const path = documentPath('requests', 'lookup', index)
    count('lookup', path, own.length > 0)
    if (optional !== true) return
    const allowed = parseStatusSet(allowedStatuses)
    const isRefused = (status: number): boolean => allowed.ok && !hasStatus(allowed.value, status)
    const failed = own.some(({ answer, fault }) => fault !== undefined || isRefused(answer?.status ?? 0))
    count('fallback', path, failed)
  })
  for (const name of Object.keys(inputTransforms ?? {})) {
    count('transform', documentPath('inputTransforms', name), transforms.has(name))
  }
  for (const { path, found, targets } of mapping.entries) {
    count('entry', path, found === true)
    for (const { target, hasDefault, count: places, defaults } of targets) {
      count('target', `${path} > ${target}`, places > 0)
      if (hasDefault) count('default', `${path} > ${target}`, defaults > 0)
    }
  }
  requests.response.forEach(({ id }, index) => {
    const isMade = calls.some((call) => call.kind === 'response' && call.id === id)
    count('response', documentPath('requests', 'response', index), isMade)
  })
  return { total, missed }
}

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
