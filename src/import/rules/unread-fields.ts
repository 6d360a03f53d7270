/** What stands for nothing in documents of the peer, and fields that neither service reads. */
import { EndpointField } from '../../config/schema/schema.ts'
import type { Field } from '../../config/schema/schema-fields.ts'
import { isObject, type Json } from '../../domain/json.ts'
import type { DocumentPart } from './draft.ts'

/** Set by each service itself. */
const STAMPS = ['_id', '__v', 'createdAt', 'updatedAt', 'created_at', 'updated_at', 'lastUpdated']

/** Fields of this service that the peer does not have. A document that has one was edited for this service. */
const OWN_FIELDS: ReadonlySet<string> = new Set(
  (
    'auth limits rateLimit idempotency messageLog messageKeys labels failures kafkaConsumerStart kafka ' +
    'timeoutMs retries idempotent optional default followRedirects key'
  ).split(' '),
)

/** Removes what the service sets by itself, and nulls and empty values that both services read as left out. */
export function removeNothings(draft: DocumentPart): void {
  for (const name of STAMPS) {
    const stamp = draft.at(name)
    if (stamp.value !== undefined)
      stamp.remove({
        level: 'changed',
        reason: 'Each service sets this field by itself for the documents that it stores.',
      })
  }
  removeBelow(EndpointField, draft)
  noteOwn(EndpointField, draft)
}

function removeBelow(field: Field, draft: DocumentPart): void {
  for (const [part, inner] of fieldsOf(field, draft)) {
    if (inner === undefined) continue
    if (isNothing(inner, part.value)) {
      part.remove({ level: 'changed', reason: 'The value stands for a field that is left out.' })
    } else removeBelow(inner, part)
  }
}

function noteOwn(field: Field, draft: DocumentPart): void {
  for (const [part, inner] of fieldsOf(field, draft)) {
    if (inner === undefined) continue
    if (OWN_FIELDS.has(part.name) && isListed(field, part.name)) {
      part.note({
        level: 'carried',
        reason: 'This is a field of this service only; it had no effect there and has one here.',
      })
    } else noteOwn(inner, part)
  }
}

const isListed = ({ properties, items }: Field, name: string): boolean =>
  Object.hasOwn(properties ?? items?.properties ?? {}, name)

/** Removes fields that this service does not have, when all rules have read them. */
export function removeUnknown(draft: DocumentPart, field: Field = EndpointField): void {
  for (const [part, inner] of fieldsOf(field, draft)) {
    if (inner !== undefined) {
      removeUnknown(part, inner)
      continue
    }
    part.remove({
      level: 'changed',
      reason:
        part.name === '_id'
          ? 'The id of a part of a document, which that service sets by itself, has no counterpart and had no effect there.'
          : 'The field is unknown here and had no effect there.',
    })
  }
}

/** The members or items with their fields; undefined for the field of a name that the schema does not list. */
function fieldsOf(field: Field, draft: DocumentPart): readonly (readonly [DocumentPart, Field | undefined])[] {
  const { value } = draft
  if (Array.isArray(value)) return field.items ? draft.parts().map((part) => [part, field.items]) : []
  if (!isObject(value)) return []
  // A single request stands for an array of one.
  if (field.single && field.items) return fieldsOf(field.items, draft)
  const { properties, additionalProperties } = field
  if (properties !== undefined) {
    return draft.parts().map((part) => [part, Object.hasOwn(properties, part.name) ? properties[part.name] : undefined])
  }
  if (typeof additionalProperties !== 'object') return []
  return draft.parts().map((part) => [part, additionalProperties])
}

function isNothing({ type, absentAs, properties }: Field, value: Json | undefined): boolean {
  if (value === null) return type !== undefined
  if (absentAs === undefined || typeof absentAs !== 'object') return false
  if (Array.isArray(value)) return value.length === 0 && type === 'array'
  return isObject(value) && Object.keys(value).length === 0 && properties !== undefined
}
