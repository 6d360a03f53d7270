/** MongoDB Extended JSON (version 2, relaxed and canonical, and the dates of version 1), as mongoexport writes it. */
import { isObject, type Json, type JsonObject } from '../../domain/json.ts'

/** Whether a record is an export: MongoDB gives each one an `_id`, and Extended JSON writes it as `{ "$oid": … }`. */
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

/** The types that a record can have that came in as JSON, and those that MongoDB and the peer add. */
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
