/** What a sample says about a JSON Schema of messages: its fields with their types, ranges and patterns. */
import { isRecord } from '../../../api/given-parts.ts'
import type { Place } from '../../../draft/json-places.ts'

export type SampleField = Readonly<{
  /** As people read it: `patient.names[].use`. */
  title: string
  /** Its schema, below `inputValidation`. */
  at: Place
  /** The schema that may require it; undefined for elements of an array. */
  parent: Place | undefined
  name: string
  type: string
  /** Of all numbers that the sample has there. */
  range: Readonly<{ minimum: number; maximum: number }> | undefined
  pattern: string | undefined
}>

const MAX_FIELDS = 200
/** A schema with one of these at its top is one of all parts of a message. */
const PARTS = ['requestBody', 'query', 'lookupRequests']

/** In: the parsed body of a message, and the schema as it is now. */
export function readSample(body: unknown, schema: unknown): readonly SampleField[] {
  const properties = isRecord(schema) && isRecord(schema.properties) ? schema.properties : {}
  const isOfParts = PARTS.some((name) => name in properties || (isRecord(body) && name in body))
  const fields: SampleField[] = []
  collect([body], isOfParts ? ['properties', 'requestBody'] : [], '', fields)
  return fields
}

/** `values`: those that stand at one place, as elements of an array do together. */
function collect(values: readonly unknown[], at: Place, title: string, fields: SampleField[]): void {
  const objects = values.filter(isRecord)
  for (const name of new Set(objects.flatMap((one) => Object.keys(one)))) {
    const inner = objects.filter((one) => Object.hasOwn(one, name)).map((one) => one[name])
    add(inner, [...at, 'properties', name], title === '' ? name : `${title}.${name}`, fields, { parent: at, name })
  }
  const elements = values.filter((one) => Array.isArray(one)).flat()
  if (elements.length > 0) add(elements, [...at, 'items'], `${title}[]`, fields, { parent: undefined, name: '' })
}

function add(
  values: readonly unknown[],
  at: Place,
  title: string,
  fields: SampleField[],
  rest: Pick<SampleField, 'parent' | 'name'>,
): void {
  const known = values.filter((value) => value !== null)
  if (fields.length >= MAX_FIELDS || known.length === 0) return
  const types = [...new Set(known.map(typeOf))]
  const isWhole = types.every((type) => type === 'integer' || type === 'number')
  const type = types.length === 1 ? types[0] : isWhole ? 'number' : undefined
  if (type !== undefined) {
    const numbers = known.filter((value) => typeof value === 'number')
    const texts = known.filter((value) => typeof value === 'string')
    const range = isWhole ? { minimum: Math.min(...numbers), maximum: Math.max(...numbers) } : undefined
    fields.push({ title, at, type, range, pattern: type === 'string' ? findPattern(texts) : undefined, ...rest })
  }
  collect(known, at, title, fields)
}

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  return typeof value
}

/** Of these the first that fits all texts. */
const PATTERNS = [
  '^[0-9]{4}-[0-9]{2}-[0-9]{2}$',
  '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+(Z|[+-][0-9]{2}:[0-9]{2})$',
  '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$',
  '^[0-9]+$',
  '^[A-Z]+$',
  '^[a-z]+$',
  '^[A-Z0-9]+$',
  '^[A-Za-z0-9]+$',
  '^[A-Za-z0-9-]+$',
  '^[^@\\s]+@[^@\\s]+$',
  '\\S',
]

const findPattern = (texts: readonly string[]): string | undefined =>
  PATTERNS.find((pattern) => texts.every((text) => new RegExp(pattern).test(text)))
