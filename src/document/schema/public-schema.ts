/** JSON Schema for other tools, without the notes that only our own checks read; as 2020-12 has it, and draft-07 too. */
import type { JsonObject } from '../../core/json.ts'
import { EndpointField } from './schema.ts'
import type { Field } from './schema-fields.ts'

/** Set by the service and ignored in documents that are sent. */
const STAMP = {
  _id: { type: 'string', pattern: '^[0-9a-f]{24}$', readOnly: true },
  createdAt: { type: 'string', format: 'date-time', readOnly: true },
  updatedAt: { type: 'string', format: 'date-time', readOnly: true },
  __v: { const: 0, readOnly: true },
}

/** What a field may be besides. */
type Others = (field: Field) => readonly JsonObject[]

/** A document as it may be sent and as returned, with the fields that the service sets. */
export function describeDocument(others?: Others): JsonObject {
  const document = describe(EndpointField, others)
  return { ...document, properties: { ...(document.properties as JsonObject), ...STAMP } }
}

export function describe(field: Field, others: Others = () => []): JsonObject {
  const inner = (one: Field): JsonObject => describe(one, others)
  const {
    type,
    description,
    examples,
    default: filledIn,
    anyCase,
    single,
    numberAsText,
    absentAs,
    foreign = {},
  } = field
  const { properties, required, additionalProperties, items, anyOf, oneOf } = field
  const { pattern, format, minimum, maximum, minItems, maxItems } = field
  const described = {
    type,
    description,
    examples,
    default: filledIn,
    // Lower case is accepted too, which an enum cannot express.
    enum: anyCase ? undefined : field.enum,
    properties: properties && {
      ...Object.fromEntries(Object.keys(foreign).map((name) => [name, { description: 'Ignored.', writeOnly: true }])),
      ...mapValues(properties, inner),
    },
    required: required?.filter((name) => properties?.[name]?.default === undefined),
    // An unknown name is a fault.
    additionalProperties:
      typeof additionalProperties === 'object'
        ? inner(additionalProperties)
        : (additionalProperties ?? (properties && false)),
    items: items && inner(items),
    anyOf: anyOf?.map(inner),
    oneOf,
    pattern,
    format,
    minimum,
    maximum,
    minItems,
    maxItems,
  }
  const schema: JsonObject = JSON.parse(JSON.stringify(described))
  const alternatives = [
    ...(single && items ? [inner(items)] : []),
    ...(numberAsText ? [{ type: 'number' }] : []),
    ...(absentAs === undefined ? [] : [{ const: absentAs }]),
    ...others(field),
  ]
  return alternatives.length === 0 ? schema : { anyOf: [schema, ...alternatives] }
}

const mapValues = (fields: Readonly<Record<string, Field>>, change: (field: Field) => JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, change(field)]))
