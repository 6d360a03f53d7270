/** A record without a value where JSON is expected: null, but only for endpoints that accept null. */
import { isObject, type JsonObject } from '../../domain/json.ts'
import type { CompiledEndpoint } from '../../endpoints/compiled-endpoint.ts'

/** The body of its message. */
export const TOMBSTONE = Buffer.from('null')

/**
 * Whether a tombstone is refused: an endpoint with a schema takes null only if the schema names the type. JSON Schema
 * alone would let null pass every rule for objects that does not name the type as well.
 */
export function refusesNull({ endpoint }: CompiledEndpoint): boolean {
  const schema = endpoint.inputValidation
  if (schema === undefined) return false
  const { properties } = schema
  const body = isObject(properties) ? properties.requestBody : undefined
  return !acceptsNull(isObject(body) ? body : schema)
}

const acceptsNull = ({ type, nullable }: JsonObject): boolean =>
  nullable === true || (Array.isArray(type) ? type : [type]).includes('null')
