/** The names of what an endpoint adds to an OpenAPI document. They depend on the endpoint alone, so that parts can be kept. */
import { createHash } from 'node:crypto'

const LONGEST = 60
/** Twelve digits at the end mark a name that was changed. */
const CHANGED = /-[0-9a-f]{12}$/

/**
 * In: the unique name of an endpoint. Out: a text of letters, digits, `_` and `-` that no other name gives; the name itself
 * where it is one.
 */
export function componentName(name: string): string {
  const plain = name.replace(/[^A-Za-z0-9_-]+/g, '-').slice(0, LONGEST)
  return plain === name && !CHANGED.test(name) ? name : `${plain}-${hashOf(name)}`
}

/** A name for a part that endpoints share: equal parts have one name. */
export const sharedName = (prefix: string, part: object): string => `${prefix}-${hashOf(JSON.stringify(part))}`

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 12)
