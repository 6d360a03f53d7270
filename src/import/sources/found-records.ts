/** Tells documents and states of the peer from other JSON. */
import { isObject, type Json, type JsonObject } from '../../domain/json.ts'
import { documentPath } from '../../domain/lint.ts'
import type { DroppedMember } from '../../formats/json-read.ts'
import type { FoundDocument, FoundState } from '../found-document.ts'
import { fromExtendedJson, isExtendedJson } from './extended-json.ts'
import type { ReadValue } from './json-values.ts'
import { NOTHING_READ, type SkippedSource, type SourceReading } from './source-reading.ts'

export const WHAT_A_DOCUMENT_HAS = 'an endpoint document has "endpoint.pattern", and "transformation" or "inputMapping"'

/** Each field is one that no other JSON of such a repository has beside a route. */
export const isEndpointDocument = (value: Json): value is JsonObject =>
  isObject(value) && hasPattern(value) && ('transformation' in value || 'inputMapping' in value || 'requests' in value)

export const hasPattern = ({ endpoint }: JsonObject): boolean => isObject(endpoint) && 'pattern' in endpoint

/** Whether a text that cannot be read was meant as a document. */
export const mentionsDocument = (text: string): boolean => /"pattern"/.test(text) && /"transformation"/.test(text)

const isState = (value: Json): value is JsonObject => isObject(value) && '_endpointReference' in value

type SourceRecord = Readonly<{ value: Json; dropped: readonly DroppedMember[] }>

/**
 * Sorts the values of one file or answer. What an earlier import wrote is a document, whatever its faults. `skipped` has a
 * line for each value that is neither, unless all are: then the reading is empty, and the caller decides what that means.
 */
export function sortRecords(values: readonly ReadValue[], source: string, isCanonical: boolean): SourceReading {
  const documents: FoundDocument[] = []
  const states: FoundState[] = []
  const skipped: SkippedSource[] = []
  for (const [index, { value, dropped }] of values.flatMap(elements).entries()) {
    const name = index === 0 ? source : `${source}#${index + 1}`
    const record = !isCanonical && isObject(value) && isExtendedJson(value) ? fromExtendedJson(value) : value
    if (isState(record) && !isCanonical) states.push(stateOf(record, name))
    else if (isEndpointDocument(record) || (isCanonical && isObject(record))) {
      documents.push({ source: name, document: record, duplicateNames: dropped.map(duplicate), isCanonical })
    } else {
      skipped.push({ source: name, reason: `Neither an endpoint document nor a state; ${WHAT_A_DOCUMENT_HAS}.` })
    }
  }
  if (documents.length + states.length === 0) return NOTHING_READ
  return { ...NOTHING_READ, documents, states, skipped }
}

/** The elements of an array, each with the members that were dropped within it. */
function elements({ value, dropped }: ReadValue): readonly SourceRecord[] {
  if (!Array.isArray(value)) return [{ value, dropped }]
  return value.map((element: Json, index) => ({
    value: element,
    dropped: dropped
      .filter(({ steps }) => steps[0] === index)
      .map((member) => ({ ...member, steps: member.steps.slice(1) })),
  }))
}

export const duplicate = ({ steps, value }: DroppedMember) => ({ path: documentPath('', ...steps), dropped: value })

/** Fields of MongoDB and of the peer's own library. */
const BOOKKEEPING = new Set(['_id', '_endpointReference', 'createdAt', 'updatedAt', '__v'])

function stateOf(record: JsonObject, source: string): FoundState {
  const { _id, _endpointReference, createdAt } = record
  return {
    source,
    endpointId: String(_endpointReference),
    createdAt: typeof createdAt === 'string' ? createdAt : timeOfObjectId(_id),
    state: Object.fromEntries(Object.entries(record).filter(([name]) => !BOOKKEEPING.has(name))),
  }
}

/** The first four bytes of an ObjectId are seconds. A record without either counts as the oldest. */
function timeOfObjectId(id: Json | undefined): string {
  const seconds = typeof id === 'string' && /^[0-9a-f]{24}$/i.test(id) ? Number.parseInt(id.slice(0, 8), 16) : 0
  return new Date(seconds * 1000).toISOString()
}
