/** `uniqueItems`, `enum` and `const`: those of Ajv take too long for large values, or call functions that a message names. */
import type { Ajv, AnySchemaObject, ErrorObject } from 'ajv'
import contains from 'ajv/dist/vocabularies/applicator/contains.js'
import { identityOf } from '../jsonata/expression-order.ts'
import { spend, type Work } from './json-schema-work.ts'

type Check = { (data: unknown): boolean; errors?: Partial<ErrorObject>[] }

/**
 * Where a message ends at its first fault, Ajv skips the keywords behind a list of schemas if the array is shorter than the
 * list. `contains` and `uniqueItems` are checked before it. `list`: the keyword with such a list.
 */
export function addEquality(ajv: Ajv, work: Work, list: 'items' | 'prefixItems'): void {
  ajv.removeKeyword('contains')
  ajv.addKeyword({ ...contains.default, before: list })
  const compilers = { uniqueItems: compileUnique, enum: compileEnum, const: compileConst }
  for (const [keyword, compile] of Object.entries(compilers)) {
    ajv.removeKeyword(keyword)
    const type = keyword === 'uniqueItems' ? ({ type: 'array', before: list } as const) : {}
    const compileCheck = (schema: unknown, parentSchema: AnySchemaObject) => compile(schema, parentSchema, work)
    ajv.addKeyword({ keyword, ...type, errors: true, compile: compileCheck })
  }
}

/** Ajv compares each object with each other one. */
function compileUnique(unique: unknown, parentSchema: AnySchemaObject, work: Work): Check {
  const check: Check = (items) => {
    const indexes = new Map<unknown, number>()
    for (const [index, item] of (items as readonly unknown[]).entries()) {
      const key = keyOf(item, work)
      const before = indexes.get(key)
      if (before !== undefined) {
        check.errors = [{ keyword: 'uniqueItems', params: { i: index, j: before }, parentSchema }]
        return false
      }
      indexes.set(key, index)
    }
    return true
  }
  return unique === true ? check : () => true
}

const compileEnum = (schema: unknown, parentSchema: AnySchemaObject, work: Work): Check =>
  compileEquality(
    schema as readonly unknown[],
    { keyword: 'enum', params: { allowedValues: schema }, parentSchema },
    work,
  )

const compileConst = (schema: unknown, parentSchema: AnySchemaObject, work: Work): Check =>
  compileEquality([schema], { keyword: 'const', params: { allowedValue: schema }, parentSchema }, work)

/** Ajv calls the `valueOf` and `toString` of an object, which a message may hold as fields. */
function compileEquality(values: readonly unknown[], error: Partial<ErrorObject>, work: Work): Check {
  // No object equals a scalar, so scalars are compared without a key.
  const areScalars = values.every((value) => typeof value !== 'object' || value === null)
  const allowed = new Set(areScalars ? values : values.map(identityOf))
  const check: Check = (data) => {
    if (allowed.has(areScalars ? data : keyOf(data, work))) return true
    // Ajv adds the place and the value of the message.
    check.errors = [{ ...error }]
    return false
  }
  return check
}

/** To make a key and to find it in a map. */
const UNITS_PER_KEY = 100
const UNITS_PER_KEY_CHARACTER = 60

function keyOf(value: unknown, work: Work): unknown {
  const key = identityOf(value)
  spend(work, UNITS_PER_KEY + (typeof key === 'string' ? key.length * UNITS_PER_KEY_CHARACTER : 0))
  return key
}
