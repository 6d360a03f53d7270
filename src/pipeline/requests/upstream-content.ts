/** Reads the body of an answer from outside: by its declared type, else as what it turns out to be. */
import { isUtf8 } from 'node:buffer'
import type { Json, JsonObject } from '../../domain/json.ts'
import type { OutboundAnswer } from '../../domain/ports/http-client-port.ts'
import { Unreadable } from '../../formats/body-faults.ts'
import type { Codec, ParserSettings } from '../../formats/codec.ts'
import { codecOf, detect, NO_FORMAT } from '../../formats/codecs.ts'
import { isBinary, type MediaType, parseMediaType } from '../../formats/media-type.ts'
import { decodeText } from '../../formats/text.ts'

export type Content = Readonly<{
  /** Known formats parsed, other text as text, other bytes as `{ contentType, base64 }`, null if there is no body. */
  value: Json
  /** The format of the bytes; undefined for other text and for no body. */
  codec: Codec | undefined
  /** Whether the bytes may be passed on under a media type without a charset. */
  portable: boolean
  /** Why the body cannot be converted to another form, as a sentence that quotes nothing of it. */
  unreadable?: string
}>

const NOTHING: Content = { value: null, codec: undefined, portable: true }
const NO_TEXT = `The body of the answer is ${NO_FORMAT} nor text.`
const NOT_DECODED =
  'The body of the answer cannot be read: it is not in the content coding that it declares, or in one that is not known.'

/** Throws Unreadable where the body is not what its declared type says. */
export function readContent(answer: OutboundAnswer, settings: ParserSettings): Content {
  if (answer.body.byteLength === 0) return NOTHING
  const declared = declaredType(answer)
  const charset = declared?.charset
  const codec = declared && codecOf(declared)
  // Without a charset in the header, XML names its own encoding (RFC 7303 section 3.2) and all else is UTF-8.
  const portable = charset === undefined || charset.toLowerCase() === 'utf-8'
  if (codec !== undefined) return { value: codec.read(answer.body, charset, settings), codec, portable }
  const text = textOf(answer, declared)
  const detected = text === undefined ? undefined : detect(text)
  if (detected !== undefined) return { ...detected, portable }
  if (text === undefined || (declared !== undefined && isBinary(declared))) {
    return { value: asBase64(answer), codec: undefined, portable: false, unreadable: NO_TEXT }
  }
  return { value: text, codec: undefined, portable }
}

/**
 * Reads an answer that counts whatever its body is. A body that is not of its declared type becomes text, or base64 where it is not text.
 * The text of a refusal may still be converted: its reader may understand the output type only.
 */
export function readAnyContent(answer: OutboundAnswer, settings: ParserSettings, isRefusal: boolean): Content {
  try {
    return readContent(answer, settings)
  } catch (thrown) {
    if (!(thrown instanceof Unreadable)) throw thrown
    const value = asText(answer)
    const content = { value: value ?? asBase64(answer), codec: undefined, portable: false }
    if (isRefusal && value !== undefined) return content
    const why = `The body of the answer cannot be read: ${thrown.unquoted}`
    return { ...content, unreadable: answer.isCoded === true ? NOT_DECODED : why }
  }
}

/** The body as text; undefined where it is none in its charset. */
export const asText = (answer: OutboundAnswer): string | undefined => textOf(answer, declaredType(answer))

/** The bytes of a body, with the type and the coding that a reader needs. */
export function asBase64({ headers, body, isCoded }: OutboundAnswer): JsonObject {
  const { 'content-type': type, 'content-encoding': coding } = headers
  return {
    contentType: typeof type === 'string' ? type : UNKNOWN_TYPE,
    ...(isCoded === true ? { contentEncoding: String(coding) } : {}),
    base64: Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('base64'),
  }
}

/** The type of a body without a Content-Type (RFC 9110 §8.3). */
export const UNKNOWN_TYPE = 'application/octet-stream'

function declaredType({ headers: { 'content-type': header } }: OutboundAnswer): MediaType | undefined {
  return typeof header === 'string' ? parseMediaType(header) : undefined
}

function textOf({ body }: OutboundAnswer, declared: MediaType | undefined): string | undefined {
  const charset = declared?.charset
  // Checked first: decoding searches for the position of the first wrong byte, which takes long.
  if (charset === undefined && !isUtf8(body)) return undefined
  try {
    const text = decodeText(body, charset)
    return text.includes('\0') ? undefined : text
  } catch (thrown) {
    if (thrown instanceof Unreadable) return undefined
    throw thrown
  }
}

/** The start of a body as one line of text, for the sentence that reports a refusal; never fails. */
export function excerpt(body: Uint8Array): string {
  const limit = 200
  const text = new TextDecoder()
    .decode(body.subarray(0, limit * 4))
    .replace(/\s+/g, ' ')
    .trim()
  return text.length > limit ? `${text.slice(0, limit)}…` : text
}

/** What a refusal says: a sentence on its status, with the start of its body; and the same for the log, which quotes nobody. */
export function refusalText(sentence: string, { body, remark }: OutboundAnswer): { text: string; unquoted: string } {
  const start = excerpt(body)
  const text = start === '' ? sentence : `${sentence}: ${start}`
  if (remark === undefined) return { text, unquoted: sentence }
  return {
    text: `${sentence}. ${remark}${start === '' ? '' : ` It said: ${start}`}`,
    unquoted: `${sentence}. ${remark}`,
  }
}
