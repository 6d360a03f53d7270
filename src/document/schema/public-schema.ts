/** The JSON Schema of the endpoint document for other tools, without the notes that only our own checks read. */
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

/** JSON Schema (2020-12) of a document as it may be sent and as returned, with the fields that the service sets. */
export function describeDocument(): JsonObject {
  const document = describe(EndpointField)
  return { ...document, properties: { ...(document.properties as JsonObject), ...STAMP } }
}

function describe(field: Field): JsonObject {
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
  const { properties, required, additionalProperties, items, anyOf, pattern, minimum, maximum, minItems } = field
  const described = {
    type,
    description,
    examples,
    default: filledIn,
    // Lower case is accepted too, which an enum cannot express.
    enum: anyCase ? undefined : field.enum,
    properties: properties && {
      ...Object.fromEntries(Object.keys(foreign).map((name) => [name, { description: 'Ignored.', writeOnly: true }])),
      ...mapValues(properties, describe),
    },
    required: required?.filter((name) => properties?.[name]?.default === undefined),
    additionalProperties:
      typeof additionalProperties === 'object' ? describe(additionalProperties) : additionalProperties,
    items: items && describe(items),
    anyOf: anyOf?.map(describe),
    pattern,
    minimum,
    maximum,
    minItems,
  }
  const schema: JsonObject = JSON.parse(JSON.stringify(described))
  const others = [
    ...(single && items ? [describe(items)] : []),
    ...(numberAsText ? [{ type: 'number' }] : []),
    ...(absentAs === undefined ? [] : [{ const: absentAs }]),
  ]
  return others.length === 0 ? schema : { anyOf: [schema, ...others] }
}

const mapValues = (fields: Readonly<Record<string, Field>>, change: (field: Field) => JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, change(field)]))
