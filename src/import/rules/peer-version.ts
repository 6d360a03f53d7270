/** Which form of lookups a set of documents was written for: one service has one version. */
import { isObject, type Json, type JsonObject } from '../../domain/json.ts'
import type { FoundDocument } from '../found-document.ts'
import { readsOfExpression } from './expression-edits.ts'
import {
  type Lookup,
  type LookupForm,
  type LookupRead,
  lookupsOf,
  readOfPath,
  readsAllLookups,
} from './lookup-paths.ts'
import { hasOldParameters } from './requests/client-options.ts'

/** The first version whose lookups have `data` and `headers`. */
const WRAPPED_SINCE = 3

export type SetForm = Readonly<{ form: LookupForm; isContradictory: boolean }> | Readonly<{ undecided: string }>

/**
 * Out: the form of the set: by the version if it is given, else `bare` as soon as any document reads a field of a lookup that is
 * not `data` or `headers`, or has parameters in the form of version 1, else `wrapped` if any reads one of these.
 * `isContradictory`: some documents do the one and some the other. Undecided if the form makes a difference for a document
 * and none of this shows it.
 */
export function formOfSet(documents: readonly FoundDocument[], peerVersion: string | undefined): SetForm {
  if (peerVersion !== undefined) return { form: formOfVersion(peerVersion), isContradictory: false }
  const open = documents.filter(({ isCanonical, peerVersion: own }) => !isCanonical && own === undefined)
  const found = open.map(({ source, document }) => ({ source, reads: readsOfDocument(document) }))
  const shows = (read: LookupRead) => found.some(({ reads }) => reads.includes(read))
  if (shows('beyond') || open.some(({ document }) => hasOldParameters(document)))
    return { form: 'bare', isContradictory: shows('parts') }
  const affected = found.filter(({ reads }) => reads.length > 0).map(({ source }) => source)
  if (shows('parts') || affected.length === 0) return { form: 'wrapped', isContradictory: false }
  return {
    undecided: `These documents read lookups as a whole, which is not the same in every version of the service they were written for: ${affected.join(', ')}. Say which version that is, for example --peer-version 2.4 or --peer-version 3.3.`,
  }
}

export const formOfVersion = (version: string): LookupForm =>
  Number.parseInt(version.replace(/^v/i, ''), 10) < WRAPPED_SINCE ? 'bare' : 'wrapped'

/** What the document reads of its lookups, as far as the form makes a difference. */
export function readsOfDocument(document: JsonObject): readonly LookupRead[] {
  const lookups = lookupsOf(document)
  if (lookups.length === 0) return []
  const paths = [...sourcePaths(document), ...responsePaths(document)]
  return [
    ...paths.flatMap((path) => readOfPath(path, lookups) ?? (readsAllLookups(path) ? 'whole' : [])),
    ...expressionsOf(document).flatMap((text) => readsOfText(text, lookups)),
    ...readsOfSchema(document.inputValidation, lookups),
    ...(sourcePaths(document).length === 0 ? (['whole'] as const) : []),
    ...extractedParts(document),
  ]
}

const sourcePaths = ({ inputMapping }: JsonObject): readonly string[] =>
  isObject(inputMapping) ? Object.keys(inputMapping) : []

const expressionsOf = ({ inputTransforms }: JsonObject): readonly string[] =>
  isObject(inputTransforms) ? Object.values(inputTransforms).filter((text) => typeof text === 'string') : []

function responsePaths({ requests }: JsonObject): readonly string[] {
  const response = isObject(requests) ? requests.response : undefined
  const paths: string[] = []
  const collect = (value: Json | undefined) => {
    if (Array.isArray(value)) for (const item of value) collect(item)
    if (!isObject(value)) return
    for (const [name, inner] of Object.entries(value)) {
      if ((name === 'path' || name === 'items') && typeof inner === 'string') paths.push(inner)
      else collect(inner)
    }
  }
  collect(response)
  return paths
}

function readsOfText(text: string, lookups: readonly Lookup[]): readonly LookupRead[] {
  try {
    return readsOfExpression(text, lookups)
  } catch {
    return []
  }
}

/** What a schema says of lookups, in the places where authors write it. */
function readsOfSchema(schema: Json | undefined, lookups: readonly Lookup[]): readonly LookupRead[] {
  const all = propertyOf(propertyOf(schema, 'lookupRequests'), undefined)
  if (!isObject(all)) return []
  return lookups.flatMap(({ id, isList }): readonly LookupRead[] => {
    const own = Object.hasOwn(all, id) ? all[id] : undefined
    const lookup = isList && isObject(own) ? own.items : own
    if (lookup === undefined) return []
    const fields = propertyOf(lookup, undefined)
    const names = isObject(fields) ? Object.keys(fields) : []
    if (names.length === 0) return ['whole']
    return names.map((name) => (name === 'data' || name === 'headers' ? 'parts' : 'beyond'))
  })
}

function propertyOf(schema: Json | undefined, name: string | undefined): Json | undefined {
  const properties = isObject(schema) ? schema.properties : undefined
  if (name === undefined || !isObject(properties)) return properties
  return Object.hasOwn(properties, name) ? properties[name] : undefined
}

/** Other paths than `data…` and `headers…` show nothing: an import leaves them so. */
function extractedParts({ state }: JsonObject): readonly LookupRead[] {
  const extract = isObject(state) && isObject(state.extract) ? state.extract.lookupRequests : undefined
  const paths = isObject(extract)
    ? Object.values(extract).flatMap((part) => (isObject(part) ? Object.values(part) : []))
    : []
  return paths.some((path) => typeof path === 'string' && /^(?:data|headers)(?:$|[.[])/.test(path)) ? ['parts'] : []
}
