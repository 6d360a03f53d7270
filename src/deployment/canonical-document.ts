/** A document in the form in which it is pulled: fields in the order of the guide, without those that have their default. */
import { EndpointField } from '../config/schema/schema.ts'
import type { Field } from '../config/schema/schema-fields.ts'
import { isObject, type Json, type JsonObject } from '../domain/json.ts'

/** In: a stored document without the fields that the service sets. Names that the author gave keep their order. */
export const canonicalDocument = (document: JsonObject): JsonObject => canonical(document, EndpointField) as JsonObject

function canonical(value: Json, field: Field | undefined): Json {
  if (Array.isArray(value)) return value.map((item: Json) => canonical(item, field?.items))
  if (!isObject(value) || field === undefined) return value
  const { properties, additionalProperties } = field
  if (properties === undefined) {
    const named = typeof additionalProperties === 'object' ? additionalProperties : undefined
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, canonical(member, named)]))
  }
  const known = Object.entries(properties).flatMap(([name, inner]): [string, Json][] => {
    const member = Object.hasOwn(value, name) ? value[name] : undefined
    if (member === undefined) return []
    const short = canonical(member, inner)
    return isDefault(short, inner) ? [] : [[name, short]]
  })
  const unknown = Object.entries(value).filter(([name]) => !Object.hasOwn(properties, name))
  return Object.fromEntries([...known, ...unknown])
}

/** Objects whose members all had their default are empty by now. */
const isDefault = (value: Json, field: Field): boolean =>
  field.default !== undefined && JSON.stringify(value) === JSON.stringify(canonical(field.default, field))
