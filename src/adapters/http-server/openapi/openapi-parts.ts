/** The parts that descriptions of paths and schemas are made of. */
import type { JsonObject } from '../../../domain/json.ts'

export const ref = (name: string): JsonObject => ({ $ref: `#/components/schemas/${name}` })
export const content = (schema: JsonObject): JsonObject => ({ content: { 'application/json': { schema } } })
export const answer = (description: string, schema?: JsonObject): JsonObject =>
  schema === undefined ? { description } : { description, ...content(schema) }
export const failure = (description: string): JsonObject => answer(description, ref('Failure'))
export const inPath = (name: string, schema: JsonObject): JsonObject => ({ name, in: 'path', required: true, schema })

export const text = { type: 'string' }
export const whole = { type: 'integer' }
export const number = { type: 'number' }
export const time = { type: 'string', format: 'date-time' }
export const id = { type: 'string', pattern: '^[0-9a-f]{24}$' }
export const oneOf = (names: readonly string[]): JsonObject => ({ type: 'string', enum: names })
export const list = (items: JsonObject): JsonObject => ({ type: 'array', items })
export const object = (properties: JsonObject, required: readonly string[] = []): JsonObject => ({
  type: 'object',
  ...(required.length === 0 ? {} : { required }),
  properties,
})
