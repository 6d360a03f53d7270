/** JSON Schema for other tools, without the notes that only our own checks read; as 2020-12 has it, and draft-07 too. */
import type { JsonObject } from '../../core/json.ts'
import { TARGET_KEYS } from '../../language/mapping/mapping-targets.ts'
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

const TEXT: Field = { type: 'string' }
const ANY_OBJECT: Field = { type: 'object' }

/** Reading the document checks more of a target. The entries of an `each` are left open: their targets may have another one. */
const TARGET: Field = {
  type: 'object',
  properties: {
    key: { ...TEXT, description: TARGET_KEYS.key },
    default: { description: TARGET_KEYS.default },
    transform: { anyOf: [TEXT, ANY_OBJECT], description: TARGET_KEYS.transform, absentAs: null },
    each: { ...ANY_OBJECT, description: TARGET_KEYS.each },
    when: { ...TEXT, description: TARGET_KEYS.when },
  } satisfies Record<keyof typeof TARGET_KEYS, Field>,
}
const SHORT_FORM: Field = { type: 'array', maxItems: 3 }

/** What a mapping has for each source. */
const TARGETS: Field = {
  anyOf: [TEXT, TARGET, { type: 'array', minItems: 1, items: { anyOf: [TEXT, TARGET, SHORT_FORM] } }],
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
    readsNames,
  } = field
  const { properties, required, items, anyOf, oneOf } = field
  const named = readsNames === undefined ? field.additionalProperties : TARGETS
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
    additionalProperties: typeof named === 'object' ? inner(named) : (named ?? (properties && false)),
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
    ...(numberAsText === true ? [{ type: 'number' }] : []),
    ...(typeof numberAsText === 'object' ? [{ type: 'integer', ...numberAsText }] : []),
    ...(absentAs === undefined ? [] : [{ const: absentAs }]),
    ...others(field),
  ]
  return alternatives.length === 0 ? schema : { anyOf: [schema, ...alternatives] }
}

const mapValues = (fields: Readonly<Record<string, Field>>, change: (field: Field) => JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, change(field)]))
