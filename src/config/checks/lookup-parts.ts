/**
 * What a path can read of a lookup. Other services keep the data directly under the lookup's id; documents written for
 * them find nothing here.
 */

import type { PathStep } from '../../language/paths/path.ts'
import { isElementName, pathText } from '../../language/paths/path-steps.ts'

const PARTS: readonly string[] = ['data', 'headers']

/** The sentence for a path that can never find anything in a lookup, with the path that is probably meant; undefined for any other path. */
export function missedInLookup(
  steps: readonly PathStep[],
  lookups: readonly Readonly<{ id: string; forEach?: object }>[],
): string | undefined {
  const id = steps[1]
  const lookup = id?.kind === 'name' ? lookups.find((one) => one.id === id.name) : undefined
  if (lookup === undefined) return undefined
  const isList = lookup.forEach !== undefined
  const at = steps.findIndex((step, index) => index > 1 && !isElement(step, isList))
  const part = steps[at]
  if (part?.kind !== 'name' || PARTS.includes(part.name)) return undefined
  const meant = pathText([...steps.slice(0, at), { kind: 'name', name: 'data' }, ...steps.slice(at)])
  return `A lookup holds "data" and "headers" only, so this finds nothing; did you mean "${meant}"?`
}

/** With `forEach`, a lookup is an array; brackets take a single value as an array of one. */
const isElement = (step: PathStep, isList: boolean): boolean =>
  step.kind === 'index' || step.kind === 'each' || (isList && step.kind === 'name' && isElementName(step.name))
