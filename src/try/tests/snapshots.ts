/** Snapshots: what messages of tests did when their author last accepted it. */
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { createMatcher, TooManyComparisons } from './match.ts'
import type { DocumentTest } from './test-file.ts'
import type { Mismatch, Snapshots } from './test-report.ts'

/** The snapshot of a step; undefined if there is none. */
export function snapshotFor(
  snapshots: Snapshots | undefined,
  test: DocumentTest,
  step: number,
): JsonObject | undefined {
  const stored = snapshots !== undefined && Object.hasOwn(snapshots, test.name) ? snapshots[test.name] : undefined
  const one = test.hasSteps && Array.isArray(stored) ? stored[step] : stored
  return isObject(one) ? one : undefined
}

/** The snapshots with one more, or another one, of a step. */
export function withSnapshot(snapshots: Snapshots, test: DocumentTest, step: number, snapshot: JsonObject): Snapshots {
  if (!test.hasSteps) return { ...snapshots, [test.name]: snapshot }
  const before = Object.hasOwn(snapshots, test.name) ? snapshots[test.name] : undefined
  const steps = test.steps.map((_step, index) => {
    if (index === step) return snapshot
    return Array.isArray(before) ? (before[index] ?? null) : null
  })
  return { ...snapshots, [test.name]: steps }
}

export function snapshotMismatches(stored: JsonObject | undefined, taken: JsonObject): readonly Mismatch[] {
  if (stored === undefined) {
    return [{ path: '/expect/snapshot', message: 'The test has no snapshot yet; crosswalk test writes it.' }]
  }
  try {
    return createMatcher().mismatches({ $literal: stored }, taken, { pointer: '/expect/snapshot' })
  } catch (thrown) {
    if (!(thrown instanceof TooManyComparisons)) throw thrown
    return [{ path: thrown.pointer, message: thrown.message }]
  }
}

/** The snapshot without the ignored places of the body of its answer. */
export function withoutIgnored(snapshot: JsonObject, ignore: readonly string[]): JsonObject {
  const { answer } = snapshot
  if (!isObject(answer) || answer.body === undefined) return snapshot
  const body = ignore.reduce<Json | undefined>(
    (left, pointer) => (left === undefined ? left : without(left, pointer.split('/').slice(1).map(unescaped))),
    answer.body,
  )
  const { body: _body, ...others } = answer
  return { ...snapshot, answer: body === undefined ? others : { ...others, body } }
}

/** An item of an array becomes null, so that the others keep their places. */
function without(value: Json, [name, ...rest]: readonly string[]): Json | undefined {
  if (name === undefined) return undefined
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return value
  const inner = without((value as JsonObject)[name] as Json, rest)
  if (Array.isArray(value)) return value.map((item: Json, index) => (String(index) === name ? (inner ?? null) : item))
  const { [name]: _inner, ...others } = value as JsonObject
  return inner === undefined ? others : { ...(value as JsonObject), [name]: inner }
}

const unescaped = (name: string): string => name.replaceAll('~1', '/').replaceAll('~0', '~')
