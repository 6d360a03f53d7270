/** What a source holds: documents and states of openhim-mediator-mapping ("the peer"), distinguished from other JSON. */
import { isObject, type Json, type JsonObject } from '../../src/core/json.ts'
import { documentPath } from '../../src/core/lint.ts'
import type { DroppedMember } from '../../src/formats/json-read.ts'

/** A name that an object of the text holds more than once; a JSON parser keeps the last value. */
export type DuplicateName = Readonly<{ path: string; dropped: Json }>

export type FoundDocument = Readonly<{
  /** The file or URL; with `#2` for the second document of a file. */
  source: string
  document: JsonObject
  duplicateNames: readonly DuplicateName[]
  /** An earlier import wrote the document: it is in the form of this service already. */
  isCanonical: boolean
  /** Its state, if an earlier import wrote one beside it: in the form of this service. */
  ownState?: JsonObject
  /** The version of the peer that the shape of the source shows, for example `0.2.0`. */
  peerVersion?: string
}>

/** One stored state of an endpoint of the peer. */
export type FoundState = Readonly<{
  source: string
  /** `_id` of the document whose state it is. */
  endpointId: string
  /** ISO 8601, when the peer stored it. */
  createdAt: string
  state: JsonObject
}>

export type FoundSet = Readonly<{ documents: readonly FoundDocument[]; states: readonly FoundState[] }>

/** A file or value that isn't part of the import. `reason` is one sentence. */
export type SkippedSource = Readonly<{ source: string; reason: string }>

export type SourceReading = Readonly<{
  documents: readonly FoundDocument[]
  states: readonly FoundState[]
  skipped: readonly SkippedSource[]
  /** Sentences, each naming its source. With a fault nothing is imported. */
  faults: readonly string[]
}>

export const NOTHING_READ: SourceReading = { documents: [], states: [], skipped: [], faults: [] }

export const faultyReading = (fault: string): SourceReading => ({ ...NOTHING_READ, faults: [fault] })

export const skippedReading = (source: string, reason: string): SourceReading => ({
  ...NOTHING_READ,
  skipped: [{ source, reason }],
})

/** All readings as one, in their order. */
export const joinReadings = (readings: readonly SourceReading[]): SourceReading => ({
  documents: readings.flatMap(({ documents }) => documents),
  states: readings.flatMap(({ states }) => states),
  skipped: readings.flatMap(({ skipped }) => skipped),
  faults: readings.flatMap(({ faults }) => faults),
})

/** The most bytes of one file or answer: an export of a thousand endpoints has about 20 MB. */
export const MAX_SOURCE_BYTES = 100 * 1024 * 1024
export const TOO_LARGE = 'it has more than 100 MB; divide it into several files'

export const WHAT_A_DOCUMENT_HAS = 'an endpoint document has "endpoint.pattern", and "transformation" or "inputMapping"'

/** Each field is one that no other JSON of such a repository has beside a route. */
export const isEndpointDocument = (value: Json): value is JsonObject =>
  isObject(value) && hasPattern(value) && ('transformation' in value || 'inputMapping' in value || 'requests' in value)

export const hasPattern = ({ endpoint }: JsonObject): boolean => isObject(endpoint) && 'pattern' in endpoint

/** True if a text that cannot be read was meant as a document. */
export const mentionsDocument = (text: string): boolean => /"pattern"/.test(text) && /"transformation"/.test(text)

const isState = (value: Json): value is JsonObject => isObject(value) && '_endpointReference' in value

export type ReadValue = Readonly<{ value: Json; dropped: readonly DroppedMember[] }>

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
    if (isState(record) && !isCanonical) states.push(toFoundState(record, name))
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

function toFoundState(record: JsonObject, source: string): FoundState {
  const { _id, _endpointReference, createdAt } = record
  return {
    source,
    endpointId: String(_endpointReference),
    createdAt: typeof createdAt === 'string' ? createdAt : timeFromObjectId(_id),
    state: Object.fromEntries(Object.entries(record).filter(([name]) => !BOOKKEEPING.has(name))),
  }
}

/** The first four bytes of an ObjectId are seconds. A record without either counts as the oldest. */
function timeFromObjectId(id: Json | undefined): string {
  const seconds = typeof id === 'string' && /^[0-9a-f]{24}$/i.test(id) ? Number.parseInt(id.slice(0, 8), 16) : 0
  return new Date(seconds * 1000).toISOString()
}

/** An export of MongoDB gives each record an `_id`, and Extended JSON writes it as `{ "$oid": … }`. */
export const isExtendedJson = (record: JsonObject): boolean => isObject(record._id) && '$oid' in record._id

/**
 * The record as the peer returns it by HTTP: ids and dates as texts, numbers as numbers.
 *
 * Only an object with a single member is a typed value: `$ref` and `$id` of a JSON Schema, and names of a mapping that
 * start with `$`, are data.
 */
export function fromExtendedJson(value: Json): Json {
  if (Array.isArray(value)) return value.map(fromExtendedJson)
  if (!isObject(value)) return value
  const members = Object.entries(value)
  const [first] = members
  if (first !== undefined && members.length === 1) {
    const plain = TYPES.get(first[0])?.(first[1])
    if (plain !== undefined) return plain
  }
  return Object.fromEntries(members.map(([name, member]) => [name, fromExtendedJson(member)]))
}

type Plain = (value: Json) => Json | undefined

const asNumber: Plain = (value) => {
  if (typeof value !== 'string' || value.trim() === '') return undefined
  // NaN and the infinities are null in JSON.
  if (/^-?(?:NaN|Infinity)$/.test(value)) return null
  const number = Number(value)
  return Number.isFinite(number) ? number : undefined
}

const asText: Plain = (value) => (typeof value === 'string' ? value : undefined)

const asDate: Plain = (value) => {
  const time = isObject(value) ? asNumber(value.$numberLong ?? null) : value
  if (typeof time !== 'string' && typeof time !== 'number') return undefined
  const date = new Date(time)
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString()
}

/** The types that a record can have that were read as JSON, and those that MongoDB and the peer add. */
const TYPES: ReadonlyMap<string, Plain> = new Map([
  ['$oid', asText],
  ['$date', asDate],
  ['$numberInt', asNumber],
  ['$numberLong', asNumber],
  ['$numberDouble', asNumber],
  ['$numberDecimal', asNumber],
  ['$symbol', asText],
  ['$undefined', () => null],
])
