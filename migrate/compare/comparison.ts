/** Compares the answers of both services to one message. */

import { readdirSync, readFileSync } from 'node:fs'
import { type FailureCode, isFailureCode } from '../../src/core/failure-table.ts'
import { readFault } from '../../src/core/files/files.ts'
import { isObject, type Json, type JsonObject } from '../../src/core/json.ts'
import { pointerTo } from '../../src/core/lint.ts'
import { Unreadable } from '../../src/formats/body-faults.ts'
import { findCodec } from '../../src/formats/codecs.ts'
import { parseJson } from '../../src/formats/json-read.ts'
import { type MediaType, parseMediaType } from '../../src/formats/media-type.ts'

/** When a message was sent and answered, in milliseconds since the epoch. */
export type ExchangeTimes = Readonly<{ sentAt: number; answeredAt: number }>

export type EndpointDocument = JsonObject & Readonly<{ name: string }>

export type CallGroup = 'lookup' | 'response'

/** One message and what both services did with it. */
export type Comparison = Readonly<{
  message: ComparedMessage
  /** The endpoint of this service; undefined if no pattern matches the path. */
  document: EndpointDocument | undefined
  /** The documents of further endpoints of this service that it calls. */
  called: readonly EndpointDocument[]
  peer: ComparedSide
  here: ComparedSide
}>

export type ComparedSide = Readonly<{
  answer: ReadAnswer
  times: ExchangeTimes
  /** The calls that it made, by the id of their request; undefined if they are not known. */
  calls: Readonly<Record<string, readonly ComparedCall[]>> | undefined
}>

export type ComparedCall = Readonly<{
  /** Upper case. */
  method: string
  /** Without a query if the peer did not record one. */
  url: string
  body: Json | undefined
}>

/** Status, media type, body and calls. Other headers are not compared: they differ by the server, not by the endpoint. */
export function differencesBetween({ peer, here }: Comparison): readonly Difference[] {
  return [
    ...findDifferences(peer.answer.status, here.answer.status, '/status'),
    ...findDifferences(peer.answer.mediaType, here.answer.mediaType, '/contentType'),
    ...findDifferences(peer.answer.value, here.answer.value, '/body'),
    ...callDifferences(peer.calls, here.calls),
  ]
}

function callDifferences(peer: ComparedSide['calls'], here: ComparedSide['calls']): readonly Difference[] {
  if (peer === undefined || here === undefined) return []
  return findDifferences(asJson(peer), asJson(here), '/calls')
}

const asJson = (calls: NonNullable<ComparedSide['calls']>): JsonObject =>
  Object.fromEntries(
    Object.entries(calls).map(([id, list]) => [
      id,
      list.map(({ method, url, body }) => ({ method, url, ...(body === undefined ? {} : { body }) })),
    ]),
  )

/** The comparison cannot be made. The message is one sentence for the user. */
export class ComparisonImpossible extends Error {
  override readonly name = 'ComparisonImpossible'
}

export type ComparedMessage = Readonly<{
  /** The file, or the id of a transaction, for reports. */
  name: string
  /** Upper case. */
  method: string
  path: string
  query: Readonly<Record<string, string | readonly string[]>>
  /** Lower-case names. */
  headers: Readonly<Record<string, string>>
  body: Uint8Array | undefined
}>

/** The JSON of a file. Throws ComparisonImpossible; `shown` names the file. */
export function readJsonFile(path: string, shown: string): Json {
  try {
    return parseJson(readFileSync(path, 'utf8').replace(/^\uFEFF/, ''))
  } catch (thrown) {
    throw new ComparisonImpossible(
      thrown instanceof Unreadable ? `${shown}: ${thrown.message}` : readFault(shown, thrown),
    )
  }
}

/** The files below a folder with this ending, relative to it and in order. Throws ComparisonImpossible. */
export function listFiles(folder: string, ending: string): readonly string[] {
  try {
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    return files.filter((file) => file.endsWith(ending)).sort()
  } catch (thrown) {
    throw new ComparisonImpossible(readFault(folder, thrown, 'folder'))
  }
}

export type Difference = Readonly<{
  /** RFC 6901 JSON Pointer; `/status`, `/contentType`, `/body/…` and `/calls/…` are parts of what is compared. */
  path: string
  peer: Json | undefined
  here: Json | undefined
}>

/** In the order of the peer's members. Numbers are compared by value; the order of members does not count. */
export function findDifferences(peer: Json | undefined, here: Json | undefined, path: string): readonly Difference[] {
  if (Array.isArray(peer) && Array.isArray(here)) {
    const length = Math.max(peer.length, here.length)
    return Array.from({ length }, (_, at) => findDifferences(peer[at], here[at], `${path}/${at}`)).flat()
  }
  if (isObject(peer) && isObject(here)) {
    const names = new Set([...Object.keys(peer), ...Object.keys(here)])
    return [...names].flatMap((name) => findDifferences(own(peer, name), own(here, name), pointerTo(path, name)))
  }
  return peer === here ? [] : [{ path, peer, here }]
}

export const isSame = (peer: Json | undefined, here: Json | undefined): boolean =>
  findDifferences(peer, here, '').length === 0

const own = (value: Readonly<Record<string, Json>>, name: string): Json | undefined =>
  Object.hasOwn(value, name) ? value[name] : undefined

/** An answer as received. Names of headers are in lower case. */
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
  /** `value` is the text of a body that could not be read in the type that it declares. */
  isUnread: boolean
}>

/** The root element is kept, because two answers that differ in it are different. */
const XML_FORM = { parserXmlTrim: true, parserXmlExplicitRoot: true, parserXmlExplicitArray: false }

export function readAnswer(answer: ReceivedAnswer): ReadAnswer {
  const type = readMediaType(answer.headers['content-type'])
  const { value, isUnread } = readBody(answer.body, type)
  const inner = unwrapped(value)
  if (inner !== undefined) return readAnswer(inner)
  const mediaType = type === undefined || value === undefined ? undefined : `${type.type}/${type.subtype}`
  return { status: answer.status, headers: answer.headers, mediaType, value, isUnread }
}

/** The code of a failure of this service; undefined if the answer is none. */
export function findFailureCode({ headers, value }: ReadAnswer): FailureCode | undefined {
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
  const codec = type === undefined ? undefined : findCodec(type)
  if (codec === undefined) return { value: new TextDecoder().decode(body), isUnread: false }
  try {
    return { value: codec.read(body, type?.charset, XML_FORM), isUnread: false }
  } catch (thrown) {
    if (!(thrown instanceof Unreadable)) throw thrown
    return { value: new TextDecoder().decode(body), isUnread: true }
  }
}

export const readMediaType = (header: string | undefined): MediaType | undefined =>
  header === undefined ? undefined : parseMediaType(header)

function unwrapped(value: Json | undefined): ReceivedAnswer | undefined {
  if (!isObject(value) || typeof value['x-mediator-urn'] !== 'string' || !isObject(value.response)) return undefined
  const { status, headers, body } = value.response
  return {
    status: typeof status === 'number' ? status : Number(status ?? 0),
    headers: normalizeHeaders(isObject(headers) ? headers : {}),
    body: Buffer.from(typeof body === 'string' ? body : ''),
  }
}

/** Headers of a JSON document, with names in lower case. */
export const normalizeHeaders = (headers: JsonObject): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(headers)
      .filter(([, value]) => value !== null && typeof value !== 'object')
      .map(([name, value]) => [name.toLowerCase(), String(value)]),
  )

/** The requests of a document, of which a single one may be without its array. */
export function listRequests({ requests }: EndpointDocument, kind: CallGroup): readonly JsonObject[] {
  const written = isObject(requests) ? requests[kind] : undefined
  return (Array.isArray(written) ? written : [written]).filter(isObject)
}
