/**
 * The bodies of a log entry: how those of a completed message are captured, in the order of its stages, and how the message is
 * rebuilt from them.
 */

import { isObject, type Json, type JsonObject, jsonLength } from '../../core/json.ts'
import type { Headers, Mapped } from '../../core/message.ts'
import { type Door, doorOf, HTTP } from '../../core/origin.ts'
import type { BodyName, MaskCause, MessageRecord, RecordedBody } from '../../core/records/message-record.ts'
import type { CallSpan } from '../../core/tracing/trace.ts'
import type { Codec } from '../../formats/codec.ts'
import { CODECS, type Format, type FormatOptions, findCodec, MEDIA_TYPES } from '../../formats/codecs.ts'
import { parseMediaType } from '../../formats/media-type.ts'
import type { NameLimits } from '../../formats/name-limits.ts'
import type { CompletedMessage } from '../../inbound/completed-message.ts'
import type { Incoming } from '../../inbound/incoming-message.ts'
import { isLookupPart, isPolled, LOOKUPS, lookupAnswers } from './lookup-answers.ts'
import { type HideValues, hideValues, holdsToken, type Redaction, redactTexts, withoutSecrets } from './redaction.ts'

/** `secretHeaders`: lower-case names. */
export function captureBodies(
  { incoming, compiled, trace, answer, failure }: CompletedMessage,
  capture: BodyCapture,
  secretHeaders: ReadonlySet<string>,
): void {
  if (incoming !== undefined) captureIncoming(incoming, compiled?.endpoint.transformation.input, capture, secretHeaders)
  if (trace !== undefined) {
    const { lookupRequests, transforms, responseBody } = (trace.reached ?? {}) as Partial<Mapped>
    captureCalls(trace.calls, 'lookup', capture)
    const door = incoming?.origin.door
    // Only of lookups that are complete: a replay could not use a part of them.
    if (
      lookupRequests !== undefined &&
      door !== undefined &&
      compiled !== undefined &&
      isPolled(door, compiled.endpoint)
    )
      capture.addValue(
        LOOKUPS,
        lookupAnswers(trace.calls, (headers) => keptHeaders(headers, secretHeaders)),
      )
    if (transforms !== undefined && Object.keys(transforms).length > 0) capture.addValue('transforms', transforms)
    if (responseBody !== undefined) capture.addValue('mapped', responseBody)
    captureCalls(trace.calls, 'response', capture)
  }
  const { body, headers } = answer
  const content = typeof body === 'string' ? Buffer.from(body) : body
  const add = failure === undefined ? capture.addBody : capture.addReport
  if (content.byteLength > 0) add('answer', firstValue(headers['content-type']), content)
}

function captureIncoming(
  {
    origin: { door },
    requestHeaders,
    query = {},
    urlParams = {},
    body,
    scheduledFor,
  }: NonNullable<CompletedMessage['incoming']>,
  format: Format | undefined,
  capture: BodyCapture,
  secretHeaders: ReadonlySet<string>,
): void {
  capture.addValue('request', {
    requestHeaders: keptHeaders(requestHeaders, secretHeaders),
    query,
    urlParams,
    ...(door === HTTP.door ? {} : { door }),
    ...(scheduledFor === undefined ? {} : { scheduledFor }),
  })
  if (body === undefined) return
  // A message without a type was read in the format of its endpoint.
  const typeOfFormat = format === undefined ? '' : MEDIA_TYPES[format]
  capture.addBody('incoming', requestHeaders['content-type'] ?? typeOfFormat, body)
}

function keptHeaders<Value extends string | readonly string[]>(
  headers: Readonly<Record<string, Value>>,
  secretHeaders: ReadonlySet<string>,
): Readonly<Record<string, Value>> {
  return Object.fromEntries(
    Object.entries(headers).filter(([name, value]) => !secretHeaders.has(name) && !holdsToken(value)),
  )
}

function captureCalls(calls: readonly CallSpan[], kind: CallSpan['kind'], capture: BodyCapture): void {
  for (const call of calls) {
    if (call.kind !== kind || call.answer === undefined) continue
    capture.addBody(answerBodyName(call), firstValue(call.answer.headers['content-type']), call.answer.body)
  }
}

/** The name of the body that a call was answered with. */
export const answerBodyName = ({
  kind,
  id,
  item,
}: Pick<CallSpan, 'kind' | 'id'> & { item?: number | undefined }): string =>
  `${kind}.${id}${item === undefined ? '' : `[${item}]`}`

/** What the body `request` holds: the incoming message without its body. */
type RecordedRequest = Readonly<{
  requestHeaders: Headers
  query: JsonObject
  urlParams: JsonObject
  /** Left out for HTTP. */
  door?: Door
  /** Of a run of a schedule. */
  scheduledFor?: string
}>

/** Nothing is known of a request that is cut. */
export function readRequest({ summary, content }: RecordedBody): RecordedRequest {
  const none: RecordedRequest = { requestHeaders: {}, query: {}, urlParams: {} }
  if (summary.cut) return none
  const request = JSON.parse(Buffer.from(content).toString()) as Json
  return isObject(request) ? { ...none, ...request } : none
}

/** A log entry as the message of a replay: it does not wait for a caller, and is not the record of a consumer. */
export const toReplay = (
  { id, source }: MessageRecord,
  { requestHeaders, query, urlParams, door = doorOf(source), scheduledFor }: RecordedRequest,
  body: Uint8Array | undefined,
): Incoming => ({ origin: { door, replayOf: id }, requestHeaders, query, urlParams, body, scheduledFor })

const firstValue = (header: string | readonly string[] | undefined): string => [header ?? []].flat()[0] ?? ''

/** Holds all bodies of one message, as a value that is redacted in one must not be in another. */
type BodyCapture = Readonly<{
  addBody(which: BodyName, contentType: string, content: Uint8Array): void
  /** Adds a value of the message, as JSON. */
  addValue(which: BodyName, value: Json): void
  /** Adds the report of a failure, whose texts may quote other bodies. */
  addReport(which: BodyName, contentType: string, content: Uint8Array): void
  readonly bodies: readonly RecordedBody[]
  /** The values that were redacted so far. */
  readonly redacted: ReadonlySet<string>
}>

/** All bodies of a message together take at most as much as so many of the largest size. */
const FULL_BODIES = 16

/** The buffers from which Node.js cuts small ones have 8 KiB. */
const MAX_REST_BYTES = 8 * 1024

const NO_BYTES = new Uint8Array()

type CaptureOptions = NameLimits &
  Readonly<{
    hide?: HideValues | undefined
    /** The document of the endpoint. */
    documented?: FormatOptions | undefined
    /** What is kept in any case of each body that a replay needs; 0 if none is to be replayed. */
    originalBytes?: number
    /** The same of the answers of lookups, all of them together. */
    answerBytes?: number
  }>

/** The bodies from which a replay makes the message again. */
const ORIGINAL: ReadonlySet<BodyName> = new Set(['request', 'incoming'])

/**
 * `secrets`: texts that are taken out of every body. `hide`: takes out of every text the values that are known to be
 * redacted elsewhere in the message. A body beyond the limits of names counts as unreadable, as it does for the message.
 */
export function createBodyCapture(
  limitBytes: number,
  redaction: Redaction | undefined,
  secrets: readonly string[],
  { hide, documented, originalBytes = 0, answerBytes = 0, ...limits }: CaptureOptions = {},
): BodyCapture {
  const bodies: RecordedBody[] = []
  const redacted = new Set<string>()
  let left = FULL_BODIES * limitBytes
  let answersLeft = answerBytes

  const originalLeft = (which: BodyName): number => {
    if (isLookupPart(which)) return answersLeft
    return ORIGINAL.has(which) ? originalBytes : 0
  }

  function add(which: BodyName, contentType: string, given: Uint8Array, size: number, cause?: MaskCause): void {
    const content = withoutSecrets(given, secrets)
    const credential: MaskCause[] = content === given ? [] : ['credential']
    const maskedFor = cause === undefined ? credential : [cause, ...credential]
    const isOriginal = content.byteLength <= originalLeft(which)
    if (isOriginal && isLookupPart(which)) answersLeft -= content.byteLength
    const isWhole = isOriginal || content.byteLength <= Math.min(limitBytes, left)
    const part = isWhole ? content : content.subarray(0, left < limitBytes ? 0 : wholeCharacters(content, limitBytes))
    if (!isOriginal) left -= part.byteLength
    const cut = !isWhole || (content.byteLength === 0 && size > 0)
    const marks = {
      ...(cut ? { cut: true as const } : {}),
      ...(maskedFor.length > 0 ? { masked: true as const, maskedFor } : {}),
    }
    bodies.push({ summary: { which, contentType, size, ...marks }, content: withoutRest(part) })
  }

  function addChanged(which: BodyName, contentType: string, content: Uint8Array, change: (value: Json) => Json): void {
    const size = content.byteLength
    const changed =
      redaction === undefined || size === 0 ? content : rewrite(contentType, content, change, documented, limits)
    const cause = changed === undefined ? 'unreadable' : changed === content ? undefined : 'redact-paths'
    add(which, contentType, changed ?? NO_BYTES, size, cause)
  }

  const apply = (value: Json): Json => {
    const changed = redaction?.apply(value, redacted) ?? value
    return hide === undefined ? changed : redactTexts(changed, hide)
  }
  const bytes = (value: Json) => Buffer.from(JSON.stringify(value))

  return {
    bodies,
    redacted,
    addBody: (which, contentType, content) => addChanged(which, contentType, content, apply),
    addReport: (which, contentType, content) =>
      addChanged(which, contentType, content, (value) => redactTexts(apply(value), hideValues(redacted))),
    addValue: (which, value) => {
      // Its text is not in memory yet, and may be far longer than what is recorded of it.
      const most = Math.max(FULL_BODIES * limitBytes, originalLeft(which))
      const length = jsonLength(value, most)
      if (length > most) return add(which, 'application/json', NO_BYTES, length)
      const changed = apply(value)
      const content = bytes(changed)
      const size = changed === value ? content.byteLength : bytes(value).byteLength
      add(which, 'application/json', content, size, changed === value ? undefined : 'redact-paths')
    },
  }
}

/**
 * Gives the body with its value changed: the same bytes if nothing changed, undefined if the body cannot be read and so may
 * hold anything. Duplicate names count as unreadable: only the last is read, so the others would stay.
 */
function rewrite(
  contentType: string,
  content: Uint8Array,
  change: (value: Json) => Json,
  documented: FormatOptions | undefined,
  limits: NameLimits,
): Uint8Array | undefined {
  const media = parseMediaType(contentType)
  const codec: Codec = (media && findCodec(media, documented)) ?? CODECS.json
  try {
    return codec.rewrite(content, media?.charset, change, limits)
  } catch {
    return undefined
  }
}

/** A view of a part keeps all of its buffer in memory until the record is written: of a whole body, or a whole fetch. */
function withoutRest(part: Uint8Array): Uint8Array {
  return part.buffer.byteLength > part.byteLength + MAX_REST_BYTES ? new Uint8Array(part) : part
}

/** The most bytes up to `limit` that do not end within a character of UTF-8. */
function wholeCharacters(content: Uint8Array, limit: number): number {
  let end = limit
  while (end > limit - 4 && end > 0 && ((content[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return end
}
