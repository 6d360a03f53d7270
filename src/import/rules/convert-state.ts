/** `state.extract` and `state.config`, and the stored state from which an endpoint continues. */
import { isObject, type Json, type JsonObject } from '../../domain/json.ts'
import { hasStatus, parseStatusSet } from '../../language/status-set.ts'
import type { FoundState } from '../found-document.ts'
import type { DocumentPart } from './draft.ts'
import type { Lookup, LookupForm } from './lookup-paths.ts'

const EXTRACTED = ['requestBody', 'responseBody', 'query', 'lookupRequests'] as const

export function convertState(draft: DocumentPart, form: LookupForm, lookups: readonly Lookup[]): void {
  const extract = draft.at('state', 'extract')
  if (extract.at('system').value !== undefined) {
    extract.at('system').remove({ level: 'changed', reason: 'The times of a message are always stored.' })
  }
  for (const part of EXTRACTED) {
    const group = extract.at(part)
    if (part !== 'lookupRequests') convertPaths(group)
    else for (const lookup of group.parts()) convertLookup(lookup, form, lookups)
  }
  convertStatuses(draft.at('state', 'config', 'includeStatuses'))
}

/** Paths that are no texts gave the whole part of the message. */
function convertPaths(group: DocumentPart): void {
  for (const path of group.parts()) {
    if (typeof path.value === 'string' && path.value !== '') continue
    path.remove({ level: 'lost', reason: 'A path is a text; the whole of this part of a message cannot be kept.' })
  }
}

function convertLookup(lookup: DocumentPart, form: LookupForm, lookups: readonly Lookup[]): void {
  const known = lookups.find(({ id }) => id === lookup.name)
  if (known === undefined) {
    lookup.remove({ level: 'changed', reason: 'There is no lookup with this id, so it had no effect there.' })
    return
  }
  convertPaths(lookup)
  if (form === 'bare') return
  for (const path of lookup.parts()) convertExtracted(path, known)
}

function convertExtracted(path: DocumentPart, { isList }: Lookup): void {
  const text = String(path.value)
  const [, inner] = /^data(?:\.(?=.)|(?=\[))(.*)$/s.exec(text) ?? []
  if (inner !== undefined) {
    path.set(inner, { level: 'changed', reason: 'The paths of a lookup are read in its data here.' })
  } else if (/^headers(?:$|[.[])/.test(text)) {
    path.remove({ level: 'lost', reason: 'Headers of a lookup cannot be kept in the state.' })
  } else if (text === 'data') {
    path.remove({ level: 'lost', reason: 'The data of a lookup can be kept by paths in it only, not as a whole.' })
  } else if (isList && text.startsWith('[')) {
    path.remove({ level: 'lost', reason: 'One of the answers of a lookup with "forEach" cannot be kept alone.' })
  }
}

function convertStatuses(statuses: DocumentPart): void {
  if (!Array.isArray(statuses.value)) return
  for (const status of statuses.parts()) {
    const { value } = status
    if ((typeof value === 'string' || typeof value === 'number') && parseStatusSet([value]).ok) continue
    status.remove({ level: 'lost', reason: 'This is no status; every message failed at it there.' })
  }
}

/**
 * The state that the next message of an endpoint would have read: the newest that passes `state.config` of the converted
 * document, else the newest. Out: in the form of the root `state`; undefined if there is none.
 */
export function newestState(states: readonly FoundState[], { state }: JsonObject): JsonObject | undefined {
  const ordered = states.toSorted((one, other) => Date.parse(other.createdAt) - Date.parse(one.createdAt))
  const config = isObject(state) && isObject(state.config) ? state.config : {}
  const newest = ordered.map((found) => stateOf(found.state))
  return newest.find((one) => passes(one, config)) ?? newest[0]
}

/** Early versions named two fields otherwise. */
function stateOf(stored: JsonObject): JsonObject {
  const status = stored.lookupHttpStatus ?? stored.httpStatus
  const failed = stored.lookupNetworkError ?? stored.networkError
  const timestamps = isObject(stored.system) ? stored.system.timestamps : undefined
  return {
    ...Object.fromEntries(EXTRACTED.flatMap((part) => (isObject(stored[part]) ? [[part, stored[part]]] : []))),
    ...(isObject(timestamps) ? { system: { timestamps } } : {}),
    ...(typeof status === 'number' ? { lookupHttpStatus: status } : {}),
    ...(typeof failed === 'boolean' ? { lookupNetworkError: failed } : {}),
  }
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
