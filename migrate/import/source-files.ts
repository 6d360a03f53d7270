/** One file as a source: its JSON values, one or several, and the parts of a document of version 0.2. */

import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import { type Manifest, wroteDocument } from '../../src/cli/deployment/document-files.ts'
import { readFault } from '../../src/core/files/files.ts'
import { isObject, type Json, type JsonObject } from '../../src/core/json.ts'
import { Unreadable } from '../../src/formats/body-faults.ts'
import { findDroppedMembers, MAX_DEPTH, parseJson, position } from '../../src/formats/json-read.ts'
import { scanJson } from '../../src/formats/json-scan.ts'
import { decodeText } from '../../src/formats/text.ts'
import {
  duplicate,
  faultyReading,
  hasPattern,
  joinReadings,
  MAX_SOURCE_BYTES,
  mentionsDocument,
  NOTHING_READ,
  type ReadValue,
  type SourceReading,
  skippedReading,
  sortRecords,
  TOO_LARGE,
  WHAT_A_DOCUMENT_HAS,
} from './found-records.ts'

export type SourceFile = Readonly<{
  path: string
  /** The name in reports. */
  source: string
  /** What earlier imports wrote into the folder of the file. */
  manifest: Manifest
  /** A file that was named must be a source; one that was found in a folder may be anything. */
  isNamed: boolean
}>

/** Never throws. Reads a pipe too, so that `<(mongoexport …)` is a source. */
export async function readFileSource(file: SourceFile): Promise<SourceReading> {
  const { path, source, isNamed } = file
  const unread = (reason: string) =>
    isNamed ? faultyReading(`${source}: ${reason}.`) : skippedReading(source, `It was not read: ${reason}.`)
  let bytes: Uint8Array
  try {
    bytes = await readBytes(createReadStream(path))
  } catch (thrown) {
    if (thrown instanceof RangeError) return unread(TOO_LARGE)
    return faultyReading(readFault(source, thrown))
  }
  let text = ''
  try {
    text = decodeSource(bytes)
    return sorted(readJsonValues(text), file)
  } catch (thrown) {
    if (!(thrown instanceof Unreadable)) throw thrown
    if (isNamed || mentionsDocument(text)) return faultyReading(`${source}: ${thrown.message}`)
    return skippedReading(source, `No endpoint document, and not readable as JSON. ${thrown.message}`)
  }
}

function sorted(values: readonly ReadValue[], { path, source, manifest, isNamed }: SourceFile): SourceReading {
  const isCanonical = wroteDocument(manifest, path)
  const reading = sortRecords(values, source, isCanonical)
  const [repeated] = isCanonical ? reading.documents.flatMap(({ duplicateNames }) => duplicateNames) : []
  if (repeated !== undefined) {
    // The import wrote no such name, so a person added the second one and wants both.
    return faultyReading(
      `${source}: "${repeated.path}" is there twice, so the first would be lost; join the two or remove one.`,
    )
  }
  if (reading.documents.length + reading.states.length > 0) return reading
  if (isNamed) return faultyReading(`${source} has no endpoint document and no state: ${WHAT_A_DOCUMENT_HAS}.`)
  return skippedReading(source, 'No endpoint document.')
}

/** The single JSON value of a file. Throws Unreadable, and the errors of node:fs; RangeError for a file that is too large. */
export async function readOneValue(path: string): Promise<ReadValue> {
  const text = decodeSource(await readBytes(createReadStream(path)))
  const [first, ...more] = readJsonValues(text)
  if (first === undefined || more.length > 0) {
    throw new Unreadable('malformed', 'The file must hold one JSON value, and it holds several.')
  }
  return first
}

/** The whole of a stream. Rejects with RangeError, with this sentence, beyond the limit. */
export async function readBytes(
  stream: AsyncIterable<Uint8Array>,
  limitBytes = MAX_SOURCE_BYTES,
  tooLarge = TOO_LARGE,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of stream) {
    bytes += chunk.length
    if (bytes > limitBytes) throw new RangeError(tooLarge)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

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
  if (next === "'") return 'names and texts are in double quotes'
  if ((next === '}' || next === ']') && text.slice(0, at).trimEnd().endsWith(',')) {
    return 'there is a comma before the closing bracket; remove the comma'
  }
  if (/[A-Za-z_$]/.test(next)) return 'names and texts are in double quotes, and only true, false and null in none'
  return 'unexpected character'
}

const META_FILE = 'meta.json'

/** The field of the document that each other file holds. */
const FIELDS: Readonly<Record<string, string>> = {
  'constants.json': 'constants',
  'input-mapping.json': 'inputMapping',
  'input-validation.json': 'inputValidation',
}

export const PART_FILES: readonly string[] = [META_FILE, ...Object.keys(FIELDS)]

const VERSION = '0.2.0'

/** Other programs have files of these names too. `names`: of the files in the folder. */
export async function isPartsFolder(path: string, names: readonly string[]): Promise<boolean> {
  if (!names.includes(META_FILE)) return false
  try {
    const { value } = await readOneValue(join(path, META_FILE))
    return isObject(value) && hasPattern(value)
  } catch {
    return names.includes('input-mapping.json')
  }
}

/** Out: the document of the folder, or the faults of its files. Never throws. */
export async function readPartsFolder(path: string, source: string, names: readonly string[]): Promise<SourceReading> {
  const readings = await Promise.all(
    PART_FILES.filter((name) => names.includes(name)).map((name) =>
      readPart(join(path, name), join(source, name), name),
    ),
  )
  const reading = joinReadings(readings)
  if (reading.faults.length > 0) return { ...NOTHING_READ, faults: reading.faults }
  const document: JsonObject = Object.assign({}, ...reading.documents.map((part) => part.document))
  const duplicateNames = reading.documents.flatMap((part) => part.duplicateNames)
  return {
    ...NOTHING_READ,
    documents: [{ source, document, duplicateNames, isCanonical: false, peerVersion: VERSION }],
  }
}

/** The part as a document that has only its fields. */
async function readPart(path: string, source: string, name: string): Promise<SourceReading> {
  try {
    const { value, dropped } = await readOneValue(path)
    if (!isObject(value)) return faultyReading(`${source} must hold an object.`)
    const field = FIELDS[name]
    const duplicateNames = dropped.map(({ steps, value }) =>
      duplicate({ steps: field === undefined ? steps : [field, ...steps], value }),
    )
    const document = field === undefined ? value : { [field]: value }
    return { ...NOTHING_READ, documents: [{ source, document, duplicateNames, isCanonical: false }] }
  } catch (thrown) {
    if (thrown instanceof Unreadable) return faultyReading(`${source}: ${thrown.message}`)
    return faultyReading(readFault(source, thrown))
  }
}
