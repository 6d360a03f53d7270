/** What a recorded message had, as the `given` of a test. */

import { FRAMING_HEADERS } from '../../core/http.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { documentPath } from '../../core/lint.ts'
import { DOORS, HTTP } from '../../core/origin.ts'
import { isSecretParameter, REDACTED, withoutSecretHeaders } from '../../core/secrets/secrets.ts'
import { CANNED_FAULTS } from '../../document/checks/dry-run-request.ts'
import { Unreadable } from '../../formats/body-faults.ts'
import { CODECS, codecForHeader } from '../../formats/codecs.ts'
import { findDuplicateNames, parseJson } from '../../formats/json-read.ts'
import type { NotReproduced, RecordedAnswer, RecordedExchange, RecordedMessage } from '../dry-run/recorded-message.ts'

type WrittenGiven = Readonly<{
  given: JsonObject
  /** Of what was recorded, the parts that a test cannot have. */
  losses: readonly NotReproduced[]
}>

/** In: the message, and the document that processed it. */
export function testInputFromLogEntry({ record, incoming, exchanges }: RecordedMessage, document: Json): WrittenGiven {
  const losses: NotReproduced[] = []
  const { 'content-type': contentType, ...others } = incoming.requestHeaders
  // Clients send a dozen headers, which few documents read.
  const readsHeaders = JSON.stringify(document).includes('requestHeaders')
  const headers = Object.fromEntries(
    Object.entries(others).filter(([name]) =>
      readsHeaders ? !FRAMING_HEADERS.has(name) : name === 'content-encoding',
    ),
  )
  const body = incoming.body === undefined || incoming.body.byteLength === 0 ? undefined : decodeText(incoming.body)
  if (incoming.body !== undefined && body === undefined && incoming.body.byteLength > 0) {
    losses.push({ path: 'message.body', reason: NO_TEXT })
  }
  const { scheduledFor } = incoming
  if (incoming.origin.door !== HTTP.door && scheduledFor === undefined) {
    losses.push({
      path: 'message',
      reason: `The message is ${DOORS[incoming.origin.door].messages}; the test sends it as a request.`,
    })
  }
  const masked = (part: 'headers' | 'query', values: JsonObject): JsonObject => {
    const shown = part === 'headers' ? withoutSecretHeaders(values) : withoutSecretParameters(values)
    const names = Object.keys(shown).filter((name) => shown[name] !== values[name])
    for (const name of names) losses.push({ path: documentPath('message', part, name), reason: CREDENTIAL })
    return shown
  }
  const group = (kind: 'lookup' | 'response'): JsonObject =>
    toCannedAnswers(
      exchanges.filter(({ call }) => call.kind === kind),
      kind === 'lookup' ? 'lookups' : 'responses',
      losses,
    )
  const given = {
    message: {
      ...(body === undefined ? {} : { body: codecForHeader(contentType) === CODECS.json ? inlineBody(body) : body }),
      ...(typeof contentType === 'string' ? { contentType } : {}),
      ...present('headers', masked('headers', headers)),
      ...present('query', masked('query', incoming.query ?? {})),
      ...present('urlParams', incoming.urlParams ?? {}),
      ...present('timestamps', scheduledFor === undefined ? undefined : { scheduledFor }),
    },
    ...present('lookups', group('lookup')),
    ...present('responses', group('response')),
    now: record.startedAt,
  }
  return { given, losses }
}

const CREDENTIAL = 'Its name says that it is a credential, so that no test has its value; give another value.'
const NO_TEXT = 'It is not text in UTF-8, which is all that a test can hold.'

/** Undefined if the bytes are not text; a byte order mark stays. */
function decodeText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** By the id of the request; those of a forEach as an array. A record of a topic is answered without a canned answer. */
function toCannedAnswers(exchanges: readonly RecordedExchange[], group: string, losses: NotReproduced[]): JsonObject {
  const answers: Record<string, Json> = {}
  for (const [id, list] of Map.groupBy(exchanges, ({ call }) => call.id)) {
    const items: Json[] = []
    for (const { call, answer } of list) {
      if (answer === undefined) continue
      const path = documentPath(group, id, ...(call.item === undefined ? [] : [call.item]))
      const canned = toCannedAnswer(answer, path, losses)
      if (call.item === undefined) answers[id] = canned
      else items[call.item] = canned
    }
    if (items.length > 0) answers[id] = Array.from(items, (item) => item ?? {})
  }
  return answers
}

function toCannedAnswer(
  { status, headers, body, fault }: RecordedAnswer,
  path: string,
  losses: NotReproduced[],
): JsonObject {
  if (fault !== undefined) {
    if (CANNED_FAULTS.some((known) => known === fault)) return { fault }
    losses.push({ path, reason: `A test cannot give the fault "${fault}"; it gives "unreachable".` })
    return { fault: 'unreachable' }
  }
  const text = decodeText(body)
  if (text === undefined) losses.push({ path: documentPath(path, 'body'), reason: NO_TEXT })
  const hasType = headers['content-type'] !== undefined
  return {
    status,
    ...present('headers', headers),
    ...(text === undefined || text === '' ? {} : { body: hasType ? inlineAnswer(text, status) : text }),
  }
}

/** A failure quotes what another system refused with, white space included. */
function inlineAnswer(text: string, status: number): Json {
  const value = inlineBody(text)
  return status < 400 || JSON.stringify(value) === text ? value : text
}

// The parts of a test as its author would write them, made from what a message had.

/** A body that is JSON is easier to read as its value; a text that this would change stays a text. */
export function inlineBody(body: string): Json {
  if (!/^\s*[{[]/.test(body)) return body
  try {
    const value = parseJson(body)
    const isPlain = !isObject(value) || !Object.hasOwn(value, '$file')
    return isPlain && isLossless(body, value) && findDuplicateNames(body).length === 0 ? value : body
  } catch (thrown) {
    if (!(thrown instanceof Unreadable)) throw thrown
    return body
  }
}

/** Whether the value is written as the text is, but for white space and escapes: `1.0` and 20 digits would change. */
function isLossless(text: string, value: Json): boolean {
  const findNumbers = (json: string): string => [...json.replace(/"(?:[^"\\]|\\.)*"/g, '').matchAll(NUMBERS)].join()
  return findNumbers(text) === findNumbers(JSON.stringify(value))
}

const NUMBERS = /-?\d[\d.eE+-]*/g

/** The object with this member, if it has members of its own. */
export const present = (name: string, value: JsonObject | undefined): JsonObject =>
  value !== undefined && Object.keys(value).length > 0 ? { [name]: value } : {}

export const withoutSecretParameters = (query: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(query).map(([name, value]) => [name, isSecretParameter(name) ? REDACTED : value]))

/** The expectation of a URL whose query is not known. */
export const withAnyQuery = (url: string): JsonObject => ({
  $matches: `^${url.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}(?:[?]|$)`,
})
