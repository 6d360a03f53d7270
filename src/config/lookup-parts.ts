/**
 * What can be read of a lookup. Other services put its data right under its id, so that documents written for those
 * read nothing here.
 */
import type { Step } from '../language/path.ts'
import { pathText } from '../language/path-text.ts'

const PARTS: readonly string[] = ['data', 'headers']

/** Says in a sentence that a path reads what no lookup holds, and which path was probably meant; undefined where it may find something. */
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
