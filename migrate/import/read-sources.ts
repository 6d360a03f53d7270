/** Reads what `crosswalk import` was given: files, folders and URLs. */

import { type Dirent, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { MANIFEST_FILE, type Manifest, manifestBeside, readManifest } from '../../src/cli/deployment/document-files.ts'
import { readFault } from '../../src/core/files/files.ts'
import { missingScheme } from '../../src/core/http.ts'
import { isObject, type Json } from '../../src/core/json.ts'
import { Unreadable } from '../../src/formats/body-faults.ts'
import { attempt } from '../attempt.ts'
import {
  faultyReading,
  joinReadings,
  MAX_SOURCE_BYTES,
  NOTHING_READ,
  type SourceReading,
  skippedReading,
  sortRecords,
  TOO_LARGE,
} from './found-records.ts'
import {
  decodeSource,
  isPartsFolder,
  PART_FILES,
  readBytes,
  readFileSource,
  readJsonValues,
  readPartsFolder,
} from './source-files.ts'

export type ReadOptions = PeerOptions &
  Readonly<{
    /** The folder that the import writes to; it isn't a source unless it is named as one. */
    output: string
  }>

/** Never throws: `faults` of the reading has everything that could not be read, from all sources. */
export async function readSources(sources: readonly string[], options: ReadOptions): Promise<SourceReading> {
  const readings: SourceReading[] = []
  for (const source of new Set(sources)) {
    const reading = await (isUrl(source) ? readPeerSource(source, options) : readPath(source, options.output))
    const { documents, states, faults } = reading
    const isEmpty = documents.length + states.length + faults.length === 0
    readings.push(isEmpty ? { ...reading, faults: [`${source} has no endpoint document and no state.`] } : reading)
  }
  const reading = joinReadings(readings)
  return { ...reading, faults: [...reading.faults, ...repeatedSources(reading)] }
}

async function readPath(path: string, output: string): Promise<SourceReading> {
  let isFolder: boolean
  try {
    isFolder = statSync(path).isDirectory()
  } catch (thrown) {
    return faultyReading(missingScheme(path) ?? readFault(path, thrown))
  }
  if (isFolder) return readFolderSource({ path, source: path, output: tryRealpath(output) })
  const manifest = manifestBeside(path)
  return withOwnStates(await readFileSource({ path, source: path, manifest, isNamed: true }), dirname(path), manifest)
}

/** A file that was given both by itself and in its folder would be imported twice. */
function repeatedSources({ documents }: SourceReading): readonly string[] {
  const bySource = Map.groupBy(documents, ({ source }) => source)
  return [...bySource].flatMap(([source, [, ...more]]) => more.map(() => `${source} was given twice.`))
}

/** Extensions of JSON, JSON lines and exports. Other files are not looked at. */
const JSON_FILE = /\.(?:json|jsonl|ndjson)$/i

/** Folders that hold other people's files. */
const FOREIGN_FOLDER = /^(?:node_modules|\..+)$/

type Folder = Readonly<{
  path: string
  /** The name in reports. */
  source: string
  /** The real path of the folder that the import writes to. */
  output: string | undefined
}>

/** Never throws. Links to files are followed, links to folders are not. */
export async function readFolderSource(folder: Folder): Promise<SourceReading> {
  let entries: readonly Dirent[]
  try {
    entries = readdirSync(folder.path, { withFileTypes: true }).sort((one, other) => (one.name < other.name ? -1 : 1))
  } catch (thrown) {
    return faultyReading(readFault(folder.source, thrown, 'folder'))
  }
  const manifest = readManifest(folder.path)
  const names = entries.map(({ name }) => name)
  const isParts = await isPartsFolder(folder.path, names)
  const readings: SourceReading[] = isParts ? [await readPartsFolder(folder.path, folder.source, names)] : []
  for (const entry of entries) {
    if (isParts && PART_FILES.includes(entry.name)) continue
    readings.push(await readEntry(entry, folder, manifest))
  }
  return joinReadings(readings)
}

async function readEntry(entry: Dirent, folder: Folder, manifest: Manifest): Promise<SourceReading> {
  const path = join(folder.path, entry.name)
  const source = join(folder.source, entry.name)
  if (entry.isDirectory()) {
    if (FOREIGN_FOLDER.test(entry.name)) return skippedReading(source, 'The files of such a folder are not yours.')
    if (tryRealpath(path) === folder.output)
      return skippedReading(source, 'It is the folder that the import writes to.')
    return readFolderSource({ ...folder, path, source })
  }
  if (!JSON_FILE.test(entry.name) || isOfImport(entry.name, manifest)) return NOTHING_READ
  // Undefined for a link that leads nowhere or in a circle.
  const stats = attempt(() => statSync(path))
  if (stats?.isDirectory()) return skippedReading(source, 'Links to folders are not followed.')
  if (!stats?.isFile()) return skippedReading(source, 'No file.')
  if (stats.size > MAX_SOURCE_BYTES) return skippedReading(source, `It was not read: ${TOO_LARGE}.`)
  return withOwnStates(await readFileSource({ path, source, manifest, isNamed: false }), folder.path, manifest)
}

/** A file of an earlier import that isn't a document. */
const isOfImport = (name: string, manifest: Manifest): boolean =>
  name === MANIFEST_FILE || !['document', undefined].includes(manifest.get(name)?.kind)

/** Adds the states that an earlier import wrote beside the documents. `path`: the folder of the documents. */
function withOwnStates(reading: SourceReading, path: string, manifest: Manifest): SourceReading {
  const faults = [...reading.faults]
  const documents = reading.documents.map((found) => {
    const [file] = [...manifest].find(([, { kind, of }]) => kind === 'state' && of === basename(found.source)) ?? []
    if (!found.isCanonical || file === undefined) return found
    const ownState: unknown = attempt(() => JSON.parse(readFileSync(join(path, file), 'utf8')))
    if (isObject(ownState)) return { ...found, ownState }
    faults.push(`${join(path, file)} is no longer the state of an endpoint.`)
    return found
  })
  return { ...reading, documents, faults }
}

export const tryRealpath = (path: string): string | undefined => attempt(() => realpathSync(path))

const MAX_REDIRECTS = 5

export type PeerOptions = Readonly<{ timeoutMs: number }>

export const isUrl = (source: string): boolean => /^https?:\/\//i.test(source)

/** The source as it may be shown: a URL without its user and password. */
export function shownSource(source: string): string {
  if (!isUrl(source) || !URL.canParse(source)) return source
  const url = new URL(source)
  url.username = ''
  url.password = ''
  url.search = ''
  return url.href.replace(/\/$/, '')
}

/** Never throws. A user and password in the URL are sent as basic authentication, to that origin only. */
export async function readPeerSource(source: string, { timeoutMs }: PeerOptions): Promise<SourceReading> {
  const shown = shownSource(source)
  if (!URL.canParse(source)) return faultyReading(`${shown} is not a URL.`)
  const signal = AbortSignal.timeout(timeoutMs)
  try {
    const response = await follow(endpointsUrl(new URL(source)), signal)
    const { status } = response
    if (status !== 200) return faultyReading(`${shown} answered with status ${status} to GET /endpoints; ${CHECK_URL}`)
    const text = decodeSource(await readBytes(response.body ?? new Blob([]).stream()))
    const values = readJsonValues(text)
    if (values.length !== 1 || !Array.isArray(values[0]?.value)) {
      return faultyReading(
        `${shown} answered GET /endpoints with something other than a list of endpoints; ${CHECK_URL}`,
      )
    }
    if (values[0].value.some(isOfCrosswalk)) {
      return faultyReading(`${shown} is Crosswalk itself; give the URL of the openhim-mediator-mapping.`)
    }
    const reading = sortRecords(values, shown, false)
    if (reading.documents.length === 0) return faultyReading(`${shown} has no endpoints.`)
    return reading
  } catch (thrown) {
    return faultyReading(`${shown} ${describeProblem(thrown, timeoutMs)}.`)
  }
}

const CHECK_URL = 'check that the URL is that of openhim-mediator-mapping.'

/** The peer keeps no field that it does not know, and Crosswalk gives this one to every document. */
const isOfCrosswalk = (document: Json): boolean => isObject(document) && isObject(document.labels)

function endpointsUrl(url: URL): URL {
  if (/\/endpoints\/?$/.test(url.pathname)) return url
  const target = new URL(url)
  target.pathname = `${url.pathname.replace(/\/$/, '')}/endpoints`
  return target
}

/** Follows redirects itself: `fetch` refuses a URL with a password, and would not say where the last redirect led. */
async function follow(start: URL, signal: AbortSignal): Promise<Response> {
  const { origin, username, password } = start
  const credentials = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64')
  let url = start
  for (let count = 0; count <= MAX_REDIRECTS; count++) {
    const bare = new URL(url)
    bare.username = ''
    bare.password = ''
    const isKnown = username !== '' && url.origin === origin
    const headers = { accept: 'application/json', ...(isKnown ? { authorization: `Basic ${credentials}` } : {}) }
    const response = await fetch(bare.href, { redirect: 'manual', headers, signal })
    const location = response.headers.get('location')
    if (response.status < 300 || response.status > 399 || location === null) return response
    await response.body?.cancel()
    if (!URL.canParse(location, bare.href)) throw new PeerFault('redirects to something other than a URL')
    url = new URL(location, bare)
    if (!/^https?:$/.test(url.protocol)) throw new PeerFault('redirects to something other than an http URL')
  }
  throw new PeerFault(`redirects more than ${MAX_REDIRECTS} times`)
}

class PeerFault extends Error {}

function describeProblem(thrown: unknown, timeoutMs: number): string {
  if (thrown instanceof PeerFault) return thrown.message
  if (thrown instanceof Unreadable)
    return `answered GET /endpoints unreadably; ${CHECK_URL} ${thrown.message.replace(/\.$/, '')}`
  if (thrown instanceof RangeError) return `gives too much: ${TOO_LARGE}`
  if (thrown instanceof DOMException && thrown.name === 'TimeoutError') {
    return `did not answer GET /endpoints within ${timeoutMs / 1000} s`
  }
  const cause = thrown instanceof Error ? thrown.cause : undefined
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : undefined
  return `cannot be reached${code === undefined ? '' : ` (${code})`}; check the address, and that the service runs`
}
