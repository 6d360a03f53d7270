/** Reads the body of an answer from outside: by its declared type, else as what it turns out to be. */
import type { Json } from '../domain/json.ts'
import type { OutboundAnswer } from '../domain/ports.ts'
import { parseJson } from '../formats/json.ts'
import { parseMediaType, type Syntax, syntaxOf } from '../formats/media-type.ts'
import { decodeText } from '../formats/text.ts'
import { Unreadable } from '../formats/unreadable.ts'
import { readXml, type XmlOptions } from '../formats/xml.ts'

export type Content = Readonly<{
  /** JSON and XML parsed, other bodies as text, null where there is none. */
  value: Json
  /** What the bytes are; undefined for other text and for no body. */
  syntax: Syntax | undefined
  /** Whether the bytes may be passed on under a media type without a charset. */
  portable: boolean
}>

const NOTHING: Content = { value: null, syntax: undefined, portable: true }

/** Throws Unreadable where the body is not what its declared type says. */
export function readContent(answer: OutboundAnswer, xml: XmlOptions): Content {
  if (answer.body.byteLength === 0) return NOTHING
  const header = answer.headers['content-type']
  const declared = typeof header === 'string' ? parseMediaType(header) : undefined
  const charset = declared?.charset
  const syntax = declared && syntaxOf(declared)
  // XML names its own encoding where the header does not (RFC 7303 §3.2); JSON and text are UTF-8 then.
  const portable = charset === undefined || charset.toLowerCase() === 'utf-8'
  if (syntax === 'xml') return { value: readXml(answer.body, charset, xml), syntax, portable }
  const text = decodeText(answer.body, charset)
  if (syntax === 'json') return { value: parseJson(text), syntax, portable }
  const value = parseComposite(text)
  return value === undefined ? { value: text, syntax: undefined, portable } : { value, syntax: 'json', portable }
}

/** A JSON object or array; undefined for anything else. */
function parseComposite(text: string): Json | undefined {
  if (!/^\s*[{[]/.test(text)) return undefined
  try {
    return parseJson(text)
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
