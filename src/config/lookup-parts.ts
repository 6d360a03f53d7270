/**
 * What a path can read of a lookup. Other services keep the data directly under the lookup's id; documents written for
 * them find nothing here.
 */
import type { Step } from '../language/path.ts'
import { pathText } from '../language/path-text.ts'

const PARTS: readonly string[] = ['data', 'headers']

/** The sentence for a path that can never find anything in a lookup, with the path that is probably meant; undefined for any other path. */
export function missedInLookup(
  steps: readonly Step[],
  lookups: readonly Readonly<{ id: string }>[],
): string | undefined {
  const id = steps[1]
  if (id?.kind !== 'name' || !lookups.some((lookup) => lookup.id === id.name)) return undefined
  const at = steps.findIndex((step, index) => index > 1 && !isElement(step))
  const part = steps[at]
  if (part?.kind !== 'name' || PARTS.includes(part.name)) return undefined
  const meant = pathText([...steps.slice(0, at), { kind: 'name', name: 'data' }, ...steps.slice(at)])
  return `A lookup holds "data" and "headers" only, so this finds nothing; did you mean "${meant}"?`
}

/** With `forEach`, a lookup is an array. */
const isElement = (step: Step): boolean =>
  step.kind === 'index' || step.kind === 'each' || (step.kind === 'name' && /^\d+$/.test(step.name))
