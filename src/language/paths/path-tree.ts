/**
 * Places of a value, as a tree by the steps of their paths. A message may have hundreds of thousands of values below names as
 * long as itself: what is noted of each goes to its place, and only a place that is listed gets a path.
 */
import { type PathStep, pathText } from './path-steps.ts'

/** In characters of names. A place with a longer path is left out: no one writes an entry for it. */
const MAX_LISTED_PATH = 1_000

/** The path of a name below these steps is too long to be listed. */
export const isTooLong = (steps: readonly PathStep[], name: string): boolean =>
  steps.reduce((sum, step) => sum + (step.kind === 'name' ? step.name.length : 0), name.length) > MAX_LISTED_PATH

export type PathNode<T> = {
  readonly step: PathStep | undefined
  readonly parent: PathNode<T> | undefined
  /** Characters of the names of its path. */
  readonly length: number
  readonly fields: Map<string, PathNode<T>>
  each: PathNode<T> | undefined
  noted: T | undefined
}

export function createPathTree<T>(): PathNode<T> {
  return { step: undefined, parent: undefined, length: 0, fields: new Map(), each: undefined, noted: undefined }
}

/** The place one step below, a new one if need be; undefined if its path is too long to be listed. */
export function childNode<T>(parent: PathNode<T>, step: PathStep): PathNode<T> | undefined {
  const name = step.kind === 'name' ? step.name : undefined
  const known = name === undefined ? parent.each : parent.fields.get(name)
  if (known !== undefined) return known
  const length = parent.length + (name?.length ?? 0)
  if (length > MAX_LISTED_PATH) return undefined
  const node = { step, parent, length, fields: new Map(), each: undefined, noted: undefined }
  if (name === undefined) parent.each = node
  else parent.fields.set(name, node)
  return node
}

/** From the root of the tree on. */
export function stepsTo<T>(node: PathNode<T>): readonly PathStep[] {
  const steps: PathStep[] = []
  for (let at: PathNode<T> | undefined = node; at?.step !== undefined; at = at.parent) steps.push(at.step)
  return steps.reverse()
}

export const pathTo = <T>(node: PathNode<T>): string => pathText(stepsTo(node))
