/**
 * Reads acknowledgements of HL7 v2 (chapter 2 of the standard): of a message no more than its MSH-10, of an acknowledgement
 * its MSA. Texts are read byte by byte: delimiters and codes are ASCII in every encoding that MLLP can carry, and control
 * ids are only compared.
 */

/** `status`: of the answer; undefined if the code is none of HL7. `controlId`: of the message that it is for. */
export type Acknowledgement = Readonly<{ status: number | undefined; controlId: string }>

/** By MSA-1. An error may be gone when the message is sent again; a rejection says that the message itself is wrong. */
const STATUSES: ReadonlyMap<string, number> = new Map([
  ['AA', 200],
  ['CA', 200],
  ['AE', 503],
  ['CE', 503],
  ['AR', 422],
  ['CR', 422],
])

/** MSH-10; undefined if the content is no message or has none. */
export function readControlId(content: Uint8Array): string | undefined {
  const [header = ''] = segmentsOf(content)
  // MSH-1 is the separator itself, so MSH-10 is the tenth text.
  return fieldsOf(header, 'MSH', separatorOf(header))?.[9]?.trim() || undefined
}

/** Undefined if the content is no message with an MSA. */
export function readAcknowledgement(content: Uint8Array): Acknowledgement | undefined {
  const segments = segmentsOf(content)
  const separator = separatorOf(segments[0] ?? '')
  for (const segment of segments) {
    const fields = fieldsOf(segment, 'MSA', separator)
    if (fields !== undefined)
      return { status: STATUSES.get(fields[1]?.trim() ?? ''), controlId: fields[2]?.trim() ?? '' }
  }
  return undefined
}

/** The segments of a message; none if it does not begin as one. A line feed ends a segment of senders that write text files. */
function segmentsOf(content: Uint8Array): string[] {
  const text = Buffer.from(content.buffer, content.byteOffset, Math.min(content.byteLength, READ_BYTES)).toString(
    'latin1',
  )
  return text.startsWith('MSH') ? text.split(/[\r\n]+/) : []
}

/** The header of a message, and all of an acknowledgement but for a long list of errors. */
const READ_BYTES = 64 * 1024

const separatorOf = (header: string): string => header.charAt(3)

const fieldsOf = (segment: string, name: string, separator: string): string[] | undefined =>
  separator !== '' && segment.startsWith(name + separator) ? segment.split(separator) : undefined
