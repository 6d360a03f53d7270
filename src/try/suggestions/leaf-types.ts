/** Whether a value of one leaf can be written to another, and by which function of the mapping. */
import type { Leaf, LeafType } from './leaf.ts'

export type TypeMatch = Readonly<{
  /** From 0 to 1. */
  score: number
  /** The function that converts the value; undefined if none is needed. */
  transform?: 'stringify' | 'numberify' | 'booleanify' | 'dateTimeToDate'
  reason: string
}>

/** The type of JSON of each. */
export const JSON_TYPES: Readonly<Record<LeafType, 'string' | 'number' | 'boolean'>> = {
  string: 'string',
  number: 'number',
  boolean: 'boolean',
  date: 'string',
  dateTime: 'string',
  digits: 'string',
  truth: 'string',
}

/** Out: undefined if the types do not fit. */
export function matchTypes({ types: from }: Leaf, { types: to }: Leaf): TypeMatch | undefined {
  if (from.size === 0 || to.size === 0) return { score: 0.5, reason: 'a type is not known' }
  const jsonTypes = (types: ReadonlySet<LeafType>) => new Set([...types].map((type) => JSON_TYPES[type]))
  const [wanted, given] = [jsonTypes(to), jsonTypes(from)]
  const isAll = (types: ReadonlySet<LeafType>, ...expected: LeafType[]) =>
    [...types].every((type) => expected.includes(type))
  if (isAll(from, 'dateTime') && isAll(to, 'date')) {
    return { score: 0.7, transform: 'dateTimeToDate', reason: 'the date of a date and time' }
  }
  if (given.isSubsetOf(wanted)) return { score: 1, reason: `the same type (${[...given].join(' or ')})` }
  if (wanted.size > 1) return undefined
  if (wanted.has('string')) return { score: 0.5, transform: 'stringify', reason: 'converted to a string' }
  if (wanted.has('number') && isAll(from, 'digits', 'number')) {
    return { score: 0.5, transform: 'numberify', reason: 'converted to a number' }
  }
  if (wanted.has('boolean') && isAll(from, 'truth', 'boolean')) {
    return { score: 0.5, transform: 'booleanify', reason: 'converted to a boolean' }
  }
  return undefined
}
