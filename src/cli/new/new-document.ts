/** A document to go on from: the fields of a sample message, each mapped to the same name. */
import { isObject, type Json, type JsonObject, typeName } from '../../domain/json.ts'
import { documentPath } from '../../domain/lint.ts'
import type { Format } from '../../formats/codecs.ts'

export type NewArguments = Readonly<{ sample?: string }>

export type SampleMessage = Readonly<{ value: Json; format: Format }>

/** Types of JSON Schema; a null says nothing about the values of other messages. */
const SCHEMA_TYPES: readonly string[] = ['object', 'array', 'string', 'number', 'boolean']

/** A message as simple as one can be. */
const SMALLEST: SampleMessage = { value: { id: '17' }, format: 'JSON' }

/** `slug`: for the route. Out: a document with stand-ins for nothing; some of its entries may have faults. */
export function newDocument(name: string, slug: string, { value, format } = SMALLEST): JsonObject {
  const fields = isObject(value) ? Object.entries(value) : []
  return {
    name,
    description: 'What it is for, and who sends to it.',
    endpoint: { pattern: `/${slug}`, method: 'POST' },
    transformation: { input: format, output: format },
    ...(format === 'JSON' && isObject(value) ? { inputValidation: schemaOf(value) } : {}),
    ...(fields.length === 0 ? {} : { inputMapping: Object.fromEntries(fields.map(([field]) => entryOf(field))) }),
  }
}

const entryOf = (field: string): readonly [string, string] => [
  documentPath('', 'requestBody', field),
  documentPath('', field),
]

function schemaOf(value: JsonObject): JsonObject {
  const typed = Object.entries(value).filter(([, field]) => SCHEMA_TYPES.includes(typeName(field)))
  const properties = Object.fromEntries(typed.map(([field, inner]) => [field, { type: typeName(inner) }]))
  return { properties: { requestBody: { type: 'object', properties } } }
}

/** The same without the entries of these paths: names that a path or a schema cannot have. */
export function withoutFaulty(document: JsonObject, paths: readonly string[]): JsonObject {
  const mapping = isObject(document.inputMapping) ? document.inputMapping : {}
  const isFaulty = (entry: string) => paths.includes(documentPath('inputMapping', entry))
  const sound = Object.fromEntries(Object.entries(mapping).filter(([entry]) => !isFaulty(entry)))
  const { inputValidation, ...rest } = document
  const keepsSchema = inputValidation !== undefined && !paths.some((path) => path.startsWith('inputValidation'))
  return { ...rest, ...(keepsSchema ? { inputValidation } : {}), inputMapping: sound }
}
