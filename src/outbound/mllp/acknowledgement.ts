/**
 * Reads acknowledgements of HL7 v2 (chapter 2 of the standard): of a message no more than its MSH-10, of an acknowledgement
 * its MSA. Texts are read byte by byte: delimiters and codes are ASCII in every encoding that MLLP can carry, and control
 * ids are only compared.
 */

import { readHeader } from './message-header.ts'

/** `status`: of the answer; undefined if the code is none of HL7. `controlId`: of the message that it is for. `isAccept`: that of enhanced mode, which another one may follow. */
export type Acknowledgement = Readonly<{ status: number | undefined; controlId: string; isAccept: boolean }>

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
export const readControlId = (content: Uint8Array): string | undefined =>
  readHeader(content)?.field(10).trim() || undefined

/** Undefined if the content is no message with an MSA. */
export function readAcknowledgement(content: Uint8Array): Acknowledgement | undefined {
  const header = readHeader(content)
  if (header === undefined) return undefined
  const { fieldMark } = header
  const text = Buffer.from(content.buffer, content.byteOffset, Math.min(content.byteLength, READ_BYTES)).toString(
    'latin1',
  )
  // A line feed ends a segment of senders that write text files.
  const segment = text.split(/[\r\n]+/).find((one) => one.startsWith(`MSA${fieldMark}`))
  if (segment === undefined) return undefined
  const [, code = '', controlId = ''] = segment.split(fieldMark)
  return {
    status: STATUSES.get(code.trim()),
    controlId: controlId.trim(),
    isAccept: code.trimStart().startsWith('C'),
  }
}

/** The header of a message, and all of an acknowledgement but for a long list of errors. */
const READ_BYTES = 64 * 1024
