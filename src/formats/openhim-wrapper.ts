/**
 * The answer of an OpenHIM mediator: a JSON object with the answer itself as `response`, and beside it what the mediator did.
 * Its members are those that openhim-core stores (its model of transactions).
 */
import { isObject, type Json, type JsonObject } from '../core/json.ts'
import { Unreadable } from './body-faults.ts'
import { JSON_CODEC } from './json-codec.ts'
import { parseMediaType } from './media-type.ts'

export const OPENHIM_MEDIA_TYPE: string = JSON_CODEC.profiles['JSON+OPENHIM'].mediaType

export type OpenhimWrapper = Readonly<{
  /** All members, as received. */
  members: JsonObject
  /** The member of that name. */
  response: JsonObject
  /** The wrapper may leave it out. */
  status: number | undefined
  /** Lower-case names. */
  headers: Readonly<Record<string, string | readonly string[]>>
  body: string
  orchestrations: readonly JsonObject[]
}>

/** Reads the body of an answer; undefined if it isn't a wrapper, or one whose parts have wrong types. Never throws. */
export function readWrapper(contentType: string | undefined, body: Uint8Array): OpenhimWrapper | undefined {
  const type = contentType === undefined ? undefined : parseMediaType(contentType)
  if (type === undefined || `${type.type}/${type.subtype}` !== OPENHIM_MEDIA_TYPE) return undefined
  const members = parse(body, type.charset)
  if (!isObject(members) || typeof members['x-mediator-urn'] !== 'string') return undefined
  const { response, orchestrations } = members
  if (!isObject(response)) return undefined
  const status = parseStatus(response.status)
  const text = response.body ?? ''
  const headers = response.headers ?? {}
  if (status === 'wrong' || typeof text !== 'string' || !isObject(headers)) return undefined
  return {
    members,
    response,
    status,
    headers: readHeaders(headers),
    body: text,
    orchestrations: Array.isArray(orchestrations) ? orchestrations.filter((one: Json) => isObject(one)) : [],
  }
}

function parse(body: Uint8Array, charset: string | undefined): Json {
  try {
    return JSON_CODEC.read(body, charset)
  } catch (thrown) {
    if (thrown instanceof Unreadable) return null
    throw thrown
  }
}

/** The core also reads a status that is a text. */
function parseStatus(value: Json | undefined): number | undefined | 'wrong' {
  if (value === undefined || value === null) return undefined
  return /^[1-5]\d\d$/.test(typeof value === 'object' ? '' : String(value)) ? Number(value) : 'wrong'
}

/** In: headers of any JSON. Out: lower-case names; values that are neither texts, numbers nor flags are left out. */
export function readHeaders(headers: JsonObject): Record<string, string | readonly string[]> {
  const isText = (value: Json): boolean => value !== null && typeof value !== 'object'
  const read: [string, string | readonly string[]][] = []
  for (const [name, value] of Object.entries(headers)) {
    if (Array.isArray(value)) read.push([name.toLowerCase(), value.filter(isText).map(String)])
    else if (isText(value)) read.push([name.toLowerCase(), String(value)])
  }
  return Object.fromEntries(read)
}
