/** The JSON values of a file: one, or several one after the other, as mongoexport writes them. */
import type { Json } from '../../domain/json.ts'
import { Unreadable } from '../../formats/body-faults.ts'
import { type DroppedMember, findDroppedMembers, MAX_DEPTH, parseJson, position } from '../../formats/json-read.ts'
import { scanJson } from '../../formats/json-scan.ts'
import { decodeText } from '../../formats/text.ts'

export type ReadValue = Readonly<{ value: Json; dropped: readonly DroppedMember[] }>

/**
 * UTF-8, or UTF-16 with or without a byte order mark, which shells of Windows write.
 * Throws Unreadable for bytes that are neither, with the line and column.
 */
export function decodeSource(bytes: Uint8Array): string {
  const [first, second] = bytes
  const isUtf16 = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)
  try {
    return decodeText(bytes, isUtf16 || first === 0 || second === 0 ? 'utf-16' : 'utf-8')
  } catch (thrown) {
    if (!(thrown instanceof Unreadable)) throw thrown
    const text = Buffer.from(bytes).toString('utf8')
    const where = position(text, text.indexOf('\ufffd'))
    throw new Unreadable('malformed', `The file is not valid UTF-8 ${where}; save it as UTF-8.`)
  }
}

/**
 * In: a text of JSON values, with nothing but white space between them. Out: the values; several of one file are read
 * alike, whether each has a line of its own or many. Throws Unreadable, with the line and column of the first fault.
 */
export function readJsonValues(text: string): readonly ReadValue[] {
  const values: ReadValue[] = []
  let start = skipSpace(text, 0)
  if (start === text.length) throw new Unreadable('malformed', 'The file is empty.')
  while (start < text.length) {
    const rest = text.slice(start)
    const length = scanJson(rest) ?? rest.length
    const literal = rest.slice(0, length)
    if (length === 0 || scanJson(literal) !== undefined) throw malformed(text, start + length)
    values.push({ value: parseAt(text, start, literal), dropped: findDroppedMembers(literal) })
    start = skipSpace(text, start + length)
  }
  return values
}

const skipSpace = (text: string, start: number): number => {
  const space = /[ \t\r\n]*/y
  space.lastIndex = start
  space.test(text)
  return space.lastIndex
}

function parseAt(text: string, start: number, literal: string): Json {
  try {
    return parseJson(literal)
  } catch (thrown) {
    if (!(thrown instanceof Unreadable)) throw thrown
    const place = `in the value that starts ${position(text, start)}`
    if (thrown.reason === 'too-deep') {
      throw new Unreadable('too-deep', `The JSON is nested deeper than ${MAX_DEPTH} levels ${place}.`)
    }
    throw new Unreadable('malformed', `The JSON has a number beyond 1.8e308 ${place}.`)
  }
}

function malformed(text: string, at: number): Unreadable {
  const where = position(text, at)
  if (at >= text.length) return new Unreadable('malformed', `The JSON ends before it is complete, ${where}.`)
  return new Unreadable('malformed', `The JSON is not well-formed ${where}: ${faultAt(text, at)}.`)
}

/** The usual slips of files that people write, in words; the text itself may hold credentials and is not repeated. */
function faultAt(text: string, at: number): string {
  const next = text[at] ?? ''
  if (next === '/' || next === '#') return 'JSON has no comments; remove them'
  if (next === "'") return 'names and texts stand in double quotes'
  if ((next === '}' || next === ']') && text.slice(0, at).trimEnd().endsWith(',')) {
    return 'a comma stands before the closing bracket; remove the comma'
  }
  if (/[A-Za-z_$]/.test(next)) return 'names and texts stand in double quotes, and only true, false and null in none'
  return 'unexpected character'
}
