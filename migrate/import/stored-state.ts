/** The state from which an endpoint continues, in the form of the root `state`. */
import { isObject, type Json, type JsonObject, REFUSED_NAMES } from '../../src/core/json.ts'
import { hasStatus, parseStatusSet } from '../../src/language/status-set.ts'
import type { FoundState } from './found-records.ts'

const PARTS = ['requestBody', 'responseBody', 'query'] as const

/**
 * The state that the next message of an endpoint would have read: the newest that passes `state.config` of the converted
 * document, else the newest. Undefined if there is none.
 */
export function newestState(states: readonly FoundState[], { state }: JsonObject): JsonObject | undefined {
  const ordered = states.toSorted((one, other) => Date.parse(other.createdAt) - Date.parse(one.createdAt))
  const config = isObject(state) && isObject(state.config) ? state.config : {}
  const newest = ordered.map((found) => convertState(found.state))
  return newest.find((one) => passes(one, config)) ?? newest[0]
}

/** The known parts of a stored state. Early versions named two fields otherwise, and wrote some times only at the end. */
function convertState(stored: JsonObject): JsonObject {
  const status = stored.lookupHttpStatus ?? stored.httpStatus
  const failed = stored.lookupNetworkError ?? stored.networkError
  const timestamps = isObject(stored.system) ? stored.system.timestamps : undefined
  return {
    ...Object.fromEntries(PARTS.flatMap((part) => (isObject(stored[part]) ? [[part, allowed(stored[part])]] : []))),
    ...(isObject(stored.lookupRequests) ? { lookupRequests: convertLookups(stored.lookupRequests, allowed) } : {}),
    ...(isObject(timestamps) ? { system: { timestamps: convertMessageTimes(timestamps) } } : {}),
    ...(isStatus(status) ? { lookupHttpStatus: status } : {}),
    ...(typeof failed === 'boolean' ? { lookupNetworkError: failed } : {}),
  }
}

const isStatus = (status: Json | undefined): status is number =>
  typeof status === 'number' && Number.isInteger(status) && status >= 100 && status <= 599

const allowed = (values: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(values).filter(([name]) => !REFUSED_NAMES.has(name)))

const convertLookups = (lookups: JsonObject, convert: (lookup: JsonObject) => JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(allowed(lookups)).flatMap(([id, lookup]) => (isObject(lookup) ? [[id, convert(lookup)]] : [])),
  )

const convertMessageTimes = (times: JsonObject): JsonObject => ({
  ...convertTimes(times, 'endpoint'),
  ...(isObject(times.lookupRequests)
    ? { lookupRequests: convertLookups(times.lookupRequests, (lookup) => convertTimes(lookup, 'request')) }
    : {}),
})

/** The times of a message, or of a lookup: ISO 8601, and how long it took. */
const convertTimes = (times: JsonObject, prefix: 'endpoint' | 'request'): JsonObject => ({
  ...time(`${prefix}Start`, times),
  ...time(`${prefix}End`, times),
  ...duration(`${prefix}Duration`, times),
})

function time(name: string, { [name]: value }: JsonObject): JsonObject {
  const at = typeof value === 'string' ? Date.parse(value) : Number.NaN
  const iso = Number.isNaN(at) ? '' : new Date(at).toISOString()
  return iso.length === 24 ? { [name]: iso } : {}
}

function duration(name: string, { [name]: value }: JsonObject): JsonObject {
  const milliseconds = isObject(value) ? value.milliseconds : undefined
  if (typeof milliseconds !== 'number' || milliseconds < 0 || milliseconds > Number.MAX_SAFE_INTEGER) return {}
  return { [name]: { milliseconds: Math.round(milliseconds) } }
}

function passes(
  { lookupHttpStatus, lookupNetworkError }: JsonObject,
  { networkErrors, includeStatuses }: JsonObject,
): boolean {
  if (networkErrors === 'exclude' && lookupNetworkError === true) return false
  if (networkErrors === 'include' && lookupNetworkError !== true) return false
  if (!Array.isArray(includeStatuses) || includeStatuses.length === 0) return true
  const set = parseStatusSet(includeStatuses.filter((one: Json) => typeof one === 'string' || typeof one === 'number'))
  return set.ok && hasStatus(set.value, typeof lookupHttpStatus === 'number' ? lookupHttpStatus : undefined)
}
