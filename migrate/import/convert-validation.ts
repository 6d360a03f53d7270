/**
 * `inputValidation`: schemas that saw the data of lookups directly, the rules of version 0, and keywords that do not run
 * here.
 */

import { isObject, type Json, type JsonObject } from '../../src/core/json.ts'
import { documentPath } from '../../src/core/lint.ts'
import { compileJsonSchema } from '../../src/language/json-schema/json-schema.ts'
import { attempt } from '../attempt.ts'
import type { MappingContext } from './convert-mapping.ts'
import { type DocumentPart, faultsIn } from './draft.ts'
import type { Lookup } from './lookup-forms.ts'

const PARTS = ['requestBody', 'query', 'lookupRequests']
const TYPES: readonly Json[] = ['string', 'number', 'boolean', 'array', 'object']
/** Keywords whose values are schemas for the same data. */
const SAME_DATA_LISTS = ['allOf', 'anyOf', 'oneOf']
const SAME_DATA = ['not', 'if', 'then', 'else']

export function convertValidation(draft: DocumentPart, { form, lookups, peerVersion }: MappingContext): void {
  const schema = draft.at('inputValidation')
  const { value } = schema
  if (!isObject(value) || Object.keys(value).length === 0) return
  if (isRules(value)) {
    schema.set(
      convertRules(value, schema),
      'differs',
      'The rules of version 0 are written as a JSON Schema. They also took a number or "true" and "false" as a text.',
    )
  } else if (!namesParts(value) && !/^v?0/.test(peerVersion ?? '')) {
    schema.note(
      'differs',
      'The schema names no part of the message, so here it checks the body. There it checked an object of requestBody, query and lookupRequests.',
    )
  }
  removeUnusable(schema)
  if (form === 'bare' && isObject(schema.value)) schema.replace(wrapMessage(schema.value, lookups, schema))
}

const namesParts = (schema: JsonObject): boolean => PARTS.some((part) => JSON.stringify(schema).includes(`"${part}"`))

/** Version 0 had an object of fields with `type`, `required` and `default`. */
const isRules = (schema: JsonObject): boolean =>
  Object.values(schema).some(hasKnownType) &&
  Object.values(schema).every(
    (rule) =>
      isObject(rule) &&
      typeof rule.type === 'string' &&
      Object.keys(rule).every(
        (name) => name === 'type' || name === 'default' || (name === 'required' && typeof rule.required === 'boolean'),
      ),
  )

const hasKnownType = (rule: Json): boolean => isObject(rule) && TYPES.includes(rule.type ?? null)

/** A rule of any other type lets every value pass. */
function convertRules(rules: JsonObject, schemaPart: DocumentPart): JsonObject {
  const properties = Object.entries(rules).map(([name, rule]): readonly [string, JsonObject] => {
    const type = isObject(rule) ? (rule.type ?? null) : null
    if (hasKnownType(rule)) return [name, { type, ...(type === 'string' ? { minLength: 1 } : {}) }]
    const reason = 'Every message failed at this there, since there is no such type; here the field may have any value.'
    schemaPart.at(name, 'type').note('differs', reason, { before: type })
    return [name, {}]
  })
  const required = Object.entries(rules).flatMap(([name, rule]) =>
    isObject(rule) && rule.required === true ? [name] : [],
  )
  return { type: 'object', properties: Object.fromEntries(properties), required, additionalProperties: false }
}

/** A schema of the message, with the schema of each lookup put below `data`. */
function wrapMessage(schema: JsonObject, lookups: readonly Lookup[], schemaPart: DocumentPart): JsonObject {
  return mapSchemas(schema, schemaPart, (inner, at) => wrapMessage(inner, lookups, at), {
    lookupRequests: (all, at) => wrapLookups(all, lookups, at),
  })
}

function wrapLookups(schema: Json, lookups: readonly Lookup[], schemaPart: DocumentPart): Json {
  if (!isObject(schema)) return schema
  const own = Object.fromEntries(
    lookups.map(({ id, isList }) => [
      id,
      (one: Json, at: DocumentPart) => (isList ? wrapItems(one, at) : wrapLookup(one, at)),
    ]),
  )
  if (schema.$ref !== undefined) {
    schemaPart.note(
      'differs',
      'A reference leads to the schema of the lookups, whose data is under "data" here: adapt what it refers to.',
    )
  }
  return mapSchemas(schema, schemaPart, (inner, at) => wrapLookups(inner, lookups, at) as JsonObject, own)
}

function wrapLookup(schema: Json, schemaPart: DocumentPart): Json {
  schemaPart.note('changed', 'The data of a lookup is under "data" here.')
  return { properties: { data: schema } }
}

function wrapItems(schema: Json, schemaPart: DocumentPart): Json {
  if (!isObject(schema) || schema.items === undefined || Array.isArray(schema.items)) return schema
  return { ...schema, items: wrapLookup(schema.items, schemaPart.at('items')) }
}

type Wrap = (schema: Json, schemaPart: DocumentPart) => Json

/** Applies `same` to the schemas of the same data, and `own` to those of its properties. */
function mapSchemas(
  schema: JsonObject,
  schemaPart: DocumentPart,
  same: (schema: JsonObject, schemaPart: DocumentPart) => JsonObject,
  own: Readonly<Record<string, Wrap>>,
): JsonObject {
  const properties = (value: Json) =>
    isObject(value)
      ? Object.fromEntries(
          Object.entries(value).map(([name, inner]) => [
            name,
            Object.hasOwn(own, name) && own[name] ? own[name](inner, schemaPart.at('properties', name)) : inner,
          ]),
        )
      : value
  const changed = Object.entries(schema).map(([keyword, value]): readonly [string, Json] => {
    if (keyword === 'properties') return [keyword, properties(value)]
    if (SAME_DATA.includes(keyword) && isObject(value)) return [keyword, same(value, schemaPart.at(keyword))]
    if (SAME_DATA_LISTS.includes(keyword) && Array.isArray(value)) {
      return [
        keyword,
        value.map((one: Json, index) => (isObject(one) ? same(one, schemaPart.at(keyword, index)) : one)),
      ]
    }
    return [keyword, value]
  })
  return Object.fromEntries(changed)
}

const MAX_REMOVALS = 200

/** Removes keywords with which the schema does not compile, one after the other. */
function removeUnusable(schema: DocumentPart): void {
  for (let count = 0; count < MAX_REMOVALS; count += 1) {
    const value = schema.clean()
    if (!isObject(value)) return
    const [fault] = faultsIn((lint) => compileJsonSchema(value, { acceptNull: false, coerceTypes: false }, lint))
    if (fault === undefined) return
    const schemaPart = findSchemaPart(schema, fault.path)
    if (worksThere(schemaPart, fault.message)) {
      schemaPart.remove('lost', `This is left out, since it does not run here: ${fault.message}`)
    } else {
      const reason = `Every message failed at this there; it is left out, and the rest of the schema applies: ${fault.message}`
      schemaPart.remove('differs', reason)
    }
  }
}

/** The peer ran what does not run here: its patterns could look ahead and refer back, and nothing was too large. */
function worksThere({ path, name, value }: DocumentPart, fault: string): boolean {
  if (/has more than|nested deeper/.test(fault)) return true
  if (name === 'pattern' && typeof value === 'string') return isRegExp(value)
  return path.endsWith(documentPath('patternProperties', name)) && isRegExp(name)
}

const isRegExp = (source: string): boolean => attempt(() => new RegExp(source)) !== undefined

/** The place of the schema with this path, or the last one on the way to it. */
function findSchemaPart(schema: DocumentPart, path: string): DocumentPart {
  let schemaPart = schema
  for (;;) {
    const next = schemaPart.parts().find((part) => {
      const own = part.path.slice(schema.path.length).replace(/^\./, '')
      return path === own || path.startsWith(`${own}.`) || path.startsWith(`${own}[`)
    })
    if (next === undefined) return schemaPart
    schemaPart = next
  }
}
