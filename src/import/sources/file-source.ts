/** One file as a source: a document, an array or lines of them, or an export of MongoDB. */
import { createReadStream, type ReadStream } from 'node:fs'
import { readFault } from '../../domain/files/files.ts'
import { Unreadable } from '../../formats/body-faults.ts'
import { type Manifest, wroteDocument } from '../output/import-manifest.ts'
import { mentionsDocument, sortRecords, WHAT_A_DOCUMENT_HAS } from './found-records.ts'
import { decodeSource, type ReadValue, readJsonValues } from './json-values.ts'
import { faultyReading, MOST_SOURCE_BYTES, type SourceReading, skippedReading, TOO_LARGE } from './source-reading.ts'

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
      `${source}: "${repeated.path}" stands twice, so the first would be lost; join the two or remove one.`,
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

/** Rejects with RangeError beyond MOST_SOURCE_BYTES. */
export async function readBytes(stream: ReadStream | AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of stream as AsyncIterable<Uint8Array>) {
    bytes += chunk.length
    if (bytes > MOST_SOURCE_BYTES) throw new RangeError(TOO_LARGE)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
