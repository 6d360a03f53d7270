/**
 * The header of an HL7 v2 message (the segment MSH; HL7 v2.5, section 2.15.9), as far as both ends of MLLP need it: to find who
 * takes a message, and to acknowledge it. The formats read messages; this reads any, also in formats that no document has.
 */

export type MessageHeader = Readonly<{
  /** MSH-1: the delimiter of fields. */
  fieldMark: string
  componentMark: string
  /** The mark around escape sequences; undefined if the message has none. */
  escapeMark: string | undefined
  /** A field by its number; '' for a missing or empty one. Its characters are its bytes: a copy is the same in any charset. */
  field(number: number): string
}>

/** MSH-9, such as `ADT^A01`: the code and the event, whatever the delimiter of the message. */
export type MessageType = Readonly<{ code: string; event: string }>

const CARRIAGE_RETURN = 0x0d
const LINE_FEED = 0x0a
const BYTE_ORDER_MARK = Uint8Array.of(0xef, 0xbb, 0xbf)

/** A header has some hundred bytes. */
const MAX_HEADER_BYTES = 16 * 1024

const MARKS = /^[!-/:-@[-`{-~]+$/

/** In: a message or the start of one. Out: undefined if it does not start with a header. */
export function readHeader(content: Uint8Array): MessageHeader | undefined {
  let start = BYTE_ORDER_MARK.every((byte, at) => content[at] === byte) ? BYTE_ORDER_MARK.length : 0
  while (content[start] === CARRIAGE_RETURN || content[start] === LINE_FEED) start += 1
  const limit = Math.min(content.length, start + MAX_HEADER_BYTES)
  let end = start
  while (end < limit && content[end] !== CARRIAGE_RETURN && content[end] !== LINE_FEED) end += 1
  const text = Buffer.from(content.buffer, content.byteOffset + start, end - start).toString('latin1')
  const fieldMark = text.charAt(3)
  if (!text.startsWith('MSH') || !MARKS.test(fieldMark)) return undefined
  const fields = text.slice(4).split(fieldMark)
  const [marks = ''] = fields
  if (!MARKS.test(marks)) return undefined
  const field = (number: number): string => (number === 1 ? fieldMark : (fields[number - 2] ?? ''))
  return { fieldMark, componentMark: marks.charAt(0), escapeMark: marks.charAt(2) || undefined, field }
}

export function readType({ componentMark, field }: MessageHeader): MessageType {
  const [code = '', event = ''] = field(9).split(componentMark)
  return { code: code.trim(), event: event.trim() }
}

export const formatType = ({ code, event }: MessageType): string => (event === '' ? code : `${code}^${event}`)
