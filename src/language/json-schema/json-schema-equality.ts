/** The keywords that compare values with each other: the library's own take long, or call what a message holds. */
import type { Ajv, ErrorObject } from 'ajv'
import { identityOf } from '../jsonata/expression-order.ts'
import { spend, type Work } from './json-schema-work.ts'

/** Replaces `uniqueItems`, `enum` and `const`. */
export function addEquality(ajv: Ajv, work: Work): void {
  ajv.removeKeyword('uniqueItems')
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    errors: true,
    validate: uniqueItems(work),
  })
  for (const keyword of ['enum', 'const'] as const) {
    ajv.removeKeyword(keyword)
    ajv.addKeyword({ keyword, errors: true, compile: (schema: unknown) => compileEquality(keyword, schema, work) })
  }
}

/** In place of the validator's own, which compares each object with each. */
function uniqueItems(work: Work) {
  const check: { (unique: boolean, items: unknown[]): boolean; errors?: Partial<ErrorObject>[] } = (unique, items) => {
    if (!unique) return true
    const places = new Map<unknown, number>()
    for (const [index, item] of items.entries()) {
      const key = identityOf(item)
      spend(work, UNITS_PER_KEY + sizeOfKey(key) * UNITS_PER_KEY_CHARACTER)
      const before = places.get(key)
      if (before !== undefined) {
        check.errors = [{ keyword: 'uniqueItems', params: { i: index, j: before } }]
        return false
      }
      places.set(key, index)
    }
    return true
  }
  return check
}

/** To write a key and to find it in a map. */
const UNITS_PER_KEY = 100
const UNITS_PER_KEY_CHARACTER = 60
const sizeOfKey = (key: unknown): number => (typeof key === 'string' ? key.length : 0)

type Check = { (data: unknown): boolean; errors?: Partial<ErrorObject>[] }

/**
 * In place of the validator's own, whose comparison calls what it takes for the `valueOf` and `toString` of an object:
 * a message may hold anything under these names.
 */
function compileEquality(keyword: 'enum' | 'const', schema: unknown, work: Work): Check {
  const values: readonly unknown[] = keyword === 'enum' && Array.isArray(schema) ? schema : [schema]
  const writtenKey = (value: unknown) => {
    const key = identityOf(value)
    spend(work, sizeOfKey(key) * UNITS_PER_KEY_CHARACTER)
    return key
  }
  // No object equals a scalar, so that scalars need no key to be compared by.
  const keyOf = values.every(isScalar) ? (value: unknown) => value : writtenKey
  const allowed = new Set(values.map((value) => (keyOf === writtenKey ? identityOf(value) : value)))
  const params = keyword === 'enum' ? { allowedValues: schema } : { allowedValue: schema }
  const check: Check = (data) => {
    if (allowed.has(keyOf(data))) return true
    check.errors = [{ keyword, params }]
    return false
  }
  return check
}

const isScalar = (value: unknown): boolean => typeof value !== 'object' || value === null
