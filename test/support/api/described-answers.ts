/** Whether answers are what /openapi.json says of them. */
import Ajv2020 from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { isObject, type Json, type JsonObject } from '../../../src/core/json.ts'
import { CODECS, codecForHeader } from '../../../src/formats/codecs.ts'
import type { Called } from '../inbound/http/management/call.ts'

const pointer = (...names: readonly string[]): string =>
  names.map((name) => `/${encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))}`).join('')

/** In: the description. Out: one sentence for each fault of a JSON answer to a call of a path and method. */
export function createAnswerCheck(description: JsonObject) {
  const ajv = new Ajv2020.default({ strict: false, allErrors: true })
  addFormats.default(ajv)
  ajv.addSchema(description, 'api')
  return (method: string, path: string, reply: Called): readonly string[] => {
    const place = ['paths', path, method, 'responses', String(reply.status), 'content']
    const content = place.reduce<Json | undefined>(
      (value, name) => (value as JsonObject | undefined)?.[name],
      description,
    ) as Readonly<Record<string, JsonObject>> | undefined
    const isOfJson = codecForHeader(reply.headers['content-type']) === CODECS.json
    const [type = ''] = isOfJson ? (reply.headers['content-type'] ?? '').split(';', 1) : ['application/json']
    const declared = content?.[type]?.schema as JsonObject | undefined
    if (declared === undefined) {
      // The bytes of a recorded body have the type that its sender gave: they are described as any type, without a schema.
      const isJson = content?.['*/*'] === undefined && isOfJson
      return isJson && reply.text !== '' ? [`${method} ${path}: the JSON answer ${reply.status} has no schema`] : []
    }
    const check = ajv.compile({ $ref: `api#${pointer(...place, type, 'schema')}` })
    check(reply.json<Json>())
    const unknown = unknownNames(reply.json<Json>(), declared, description)
    return [
      ...(check.errors ?? []).map(({ instancePath, message }) => `${method} ${path}: ${instancePath} ${message}`),
      ...unknown.map((name) => `${method} ${path}: ${name} is not described`),
    ]
  }
}

/** Names in a value that the schema does not know. */
function unknownNames(value: Json, schema: JsonObject, description: JsonObject, at = ''): string[] {
  const { $ref, items, properties } = schema
  if (typeof $ref === 'string') {
    const { schemas } = description.components as Readonly<{ schemas: Readonly<Record<string, JsonObject>> }>
    return unknownNames(value, schemas[$ref.split('/').at(-1) ?? ''] ?? {}, description, at)
  }
  if (Array.isArray(value))
    return value.flatMap((one) => unknownNames(one, (items ?? {}) as JsonObject, description, `${at}[]`))
  if (!isObject(value) || !isObject(properties)) return []
  return Object.entries(value).flatMap(([name, one]) => {
    const known = properties[name]
    return isObject(known) ? unknownNames(one, known, description, `${at}.${name}`) : [`${at}.${name}`]
  })
}
