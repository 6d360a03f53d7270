/** Answers of both services in the form in which they are compared. */

import { type FailureCode, isFailureCode } from '../domain/failure-table.ts'
import { isObject, type Json, type JsonObject } from '../domain/json.ts'
import { Unreadable } from '../formats/body-faults.ts'
import { codecOf } from '../formats/codecs.ts'
import { type MediaType, parseMediaType } from '../formats/media-type.ts'

/** An answer as it came. Names of headers are in lower case. */
export type ReceivedAnswer = Readonly<{
  status: number
  headers: Readonly<Record<string, string>>
  body: Uint8Array
}>

export type ReadAnswer = Readonly<{
  status: number
  headers: Readonly<Record<string, string>>
  /** Without its parameters; undefined if the answer names none or is empty. */
  mediaType: string | undefined
  /** The value of a body in JSON or XML, with the root element; else its text. Undefined if the body is empty. */
  value: Json | undefined
  /** Whether `value` is the text of a body that could not be read in the type that it declares. */
  isUnread: boolean
}>

/** The root element is kept, because two answers that differ in it are different. */
const XML_FORM = { parserXmlTrim: true, parserXmlExplicitRoot: true, parserXmlExplicitArray: false }

export function readAnswer(answer: ReceivedAnswer): ReadAnswer {
  const type = mediaTypeOf(answer.headers['content-type'])
  const { value, isUnread } = readBody(answer.body, type)
  const inner = unwrapped(value)
  if (inner !== undefined) return readAnswer(inner)
  const mediaType = type === undefined || value === undefined ? undefined : `${type.type}/${type.subtype}`
  return { status: answer.status, headers: answer.headers, mediaType, value, isUnread }
}

/** The code of a failure of this service; undefined if the answer is none. */
export function failureCodeOf({ headers, value }: ReadAnswer): FailureCode | undefined {
  const body = isObject(value) && isObject(value.root) ? value.root : value
  const code = headers['x-crosswalk-code'] ?? (isObject(body) && 'error' in body ? body.code : undefined)
  return typeof code === 'string' && isFailureCode(code) ? code : undefined
}

/** Reads a text as JSON if it is an object or an array, as both services read bodies without a type. */
export function readBody(
  body: Uint8Array,
  type: MediaType | undefined,
): Readonly<{ value: Json | undefined; isUnread: boolean }> {
  if (body.length === 0) return { value: undefined, isUnread: false }
  const codec = type === undefined ? undefined : codecOf(type)
  if (codec === undefined) return { value: new TextDecoder().decode(body), isUnread: false }
  try {
    return { value: codec.read(body, type?.charset, XML_FORM), isUnread: false }
  } catch (thrown) {
    if (!(thrown instanceof Unreadable)) throw thrown
    return { value: new TextDecoder().decode(body), isUnread: true }
  }
}

export const mediaTypeOf = (header: string | undefined): MediaType | undefined =>
  header === undefined ? undefined : parseMediaType(header)

function unwrapped(value: Json | undefined): ReceivedAnswer | undefined {
  if (!isObject(value) || typeof value['x-mediator-urn'] !== 'string' || !isObject(value.response)) return undefined
  const { status, headers, body } = value.response
  return {
    status: typeof status === 'number' ? status : Number(status ?? 0),
    headers: headersOf(isObject(headers) ? headers : {}),
    body: Buffer.from(typeof body === 'string' ? body : ''),
  }
}

/** Headers of a JSON document, with names in lower case. */
export const headersOf = (headers: JsonObject): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(headers)
      .filter(([, value]) => value !== null && typeof value !== 'object')
      .map(([name, value]) => [name.toLowerCase(), String(value)]),
  )
