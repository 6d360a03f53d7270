/** A folder as a source, with all folders below it: repositories hold much JSON beside endpoint documents. */
import { type Dirent, readdirSync, readFileSync, realpathSync, type Stats, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { readFault } from '../../domain/files/files.ts'
import { isObject, type JsonObject } from '../../domain/json.ts'
import { MANIFEST_FILE, type Manifest, readManifest } from '../output/import-manifest.ts'
import { readFileSource } from './file-source.ts'
import { isPartsFolder, PART_FILES, readPartsFolder } from './parts-folder.ts'
import {
  faultyReading,
  joinReadings,
  MOST_SOURCE_BYTES,
  NOTHING_READ,
  type SourceReading,
  skippedReading,
  TOO_LARGE,
} from './source-reading.ts'

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
    if (realpathOf(path) === folder.output) return skippedReading(source, 'It is the folder that the import writes to.')
    return readFolderSource({ ...folder, path, source })
  }
  if (!JSON_FILE.test(entry.name) || isOfImport(entry.name, manifest)) return NOTHING_READ
  const stats = statsOf(path)
  if (stats?.isDirectory()) return skippedReading(source, 'Links to folders are not followed.')
  if (!stats?.isFile()) return skippedReading(source, 'No file.')
  if (stats.size > MOST_SOURCE_BYTES) return skippedReading(source, `It was not read: ${TOO_LARGE}.`)
  return withOwnStates(await readFileSource({ path, source, manifest, isNamed: false }), folder.path, manifest)
}

/** Undefined for a link that leads nowhere or in a circle. */
function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path)
  } catch {
    return undefined
  }
}

/** A file of an earlier import that is no document. */
const isOfImport = (name: string, manifest: Manifest): boolean =>
  name === MANIFEST_FILE || !['document', undefined].includes(manifest.get(name)?.kind)

/** Adds the states that an earlier import wrote beside the documents. `path`: the folder of the documents. */
export function withOwnStates(reading: SourceReading, path: string, manifest: Manifest): SourceReading {
  const states = new Map<string, JsonObject>()
  const faults: string[] = []
  for (const { source, isCanonical } of reading.documents) {
    if (!isCanonical) continue
    const [file] = [...manifest].find(([, { kind, of }]) => kind === 'state' && of === basename(source)) ?? []
    if (file === undefined) continue
    const state = stateIn(join(path, file))
    if (state === undefined) faults.push(`${join(path, file)} is no longer the state of an endpoint.`)
    else states.set(source, state)
  }
  return { ...reading, ownStates: states, faults: [...reading.faults, ...faults] }
}

function stateIn(path: string): JsonObject | undefined {
  try {
    const state: unknown = JSON.parse(readFileSync(path, 'utf8'))
    return isObject(state) ? state : undefined
  } catch {
    return undefined
  }
}

/** Undefined for a path that leads nowhere. */
export function realpathOf(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    return undefined
  }
}
