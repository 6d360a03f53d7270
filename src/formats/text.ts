/** Bytes to text, strictly: bytes that are not in their charset are refused, never decoded into garbled names. */
import { isAscii } from 'node:buffer'
import { TextDecoder } from 'node:util'
import { Unreadable } from './body-faults.ts'

const UTF_8 = new TextDecoder('utf-8', { fatal: true })

/**
 * Decodes a body by the charset of its media type, undefined for UTF-8. Drops a byte order mark.
 *
 * Labels are those of the WHATWG Encoding Standard §4.2 (`iso-8859-1` is its superset windows-1252), but `us-ascii` is
 * ASCII. UTF-16 without a byte order mark has the byte order in which the first character is ASCII.
 * Throws Unreadable for an unknown charset and for bytes that are not valid in theirs.
 */
export function decodeText(bytes: Uint8Array, charset: string | undefined): string {
  const label = charset === undefined ? 'utf-8' : charset.trim().toLowerCase()
  const decoder = findDecoder(label, bytes)
  if (decoder === undefined) {
    const unquoted = 'The charset is not known.'
    throw new Unreadable('malformed', `The charset ${quoted(label)} is not known; send the body as UTF-8.`, unquoted)
  }
  if (isAsciiLabel(label) && !isAscii(bytes))
    throw invalidBytes(
      label,
      bytes.findIndex((byte) => byte > 0x7f),
    )
  try {
    return decoder.decode(bytes)
  } catch {
    throw invalidBytes(label, findValidLength(bytes, decoder))
  }
}

/** An unknown charset is a wrong media type rather than a broken body. */
export function isKnownCharset(charset: string): boolean {
  return findDecoder(charset.trim().toLowerCase(), new Uint8Array(0)) !== undefined
}

function findDecoder(label: string, bytes: Uint8Array): TextDecoder | undefined {
  if (label === 'utf-8' || isAsciiLabel(label)) return UTF_8
  try {
    return new TextDecoder(label === 'utf-16' ? utf16Order(bytes) : label, { fatal: true })
  } catch {
    return undefined
  }
}

const isAsciiLabel = (label: string): boolean => label === 'us-ascii' || label === 'ascii'

function utf16Order(bytes: Uint8Array): string {
  const bigEndianMark = bytes[0] === 0xfe && bytes[1] === 0xff
  return bigEndianMark || bytes[0] === 0 ? 'utf-16be' : 'utf-16le'
}

const invalidBytes = (label: string, index: number): Unreadable =>
  new Unreadable(
    'malformed',
    `The body is not valid ${quoted(label)} at byte ${index + 1}; name the charset that it is encoded in, or send it as UTF-8.`,
  )

/** The number of bytes before the first invalid one; all of them if the text ends within a character. */
function findValidLength(bytes: Uint8Array, { encoding }: TextDecoder): number {
  let valid = 0
  let invalid = bytes.length + 1
  while (invalid - valid > 1) {
    const middle = Math.floor((valid + invalid) / 2)
    try {
      // A new decoder each time: one that failed keeps the rest of its stream.
      new TextDecoder(encoding, { fatal: true }).decode(bytes.subarray(0, middle), { stream: true })
      valid = middle
    } catch {
      invalid = middle
    }
  }
  return valid
}

/** The label comes from the sender: bounded, and of characters that any log and format can hold. */
const quoted = (label: string): string => `"${label.slice(0, 40).replace(/[^ -~]/g, '?')}"`
