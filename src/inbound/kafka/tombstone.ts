/** A record without a value is null, if the input format has null and the endpoint accepts it. */
import { isObject, type JsonObject } from '../../core/json.ts'
import type { CompiledEndpoint } from '../../endpoints/compiled-endpoint.ts'
import { codecOfFormat } from '../../formats/codecs.ts'

/** The body that a record without a value gets; undefined if the input format has no null. */
export function tombstoneOf({ endpoint }: CompiledEndpoint): Buffer | undefined {
  const { input } = endpoint.transformation
  return input === undefined ? undefined : codecOfFormat(input).nullBody
}

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
