/**
 * The list of files that imports wrote into a folder. By it, a later import knows its own files: it replaces no other, gives
 * a document the file name that it had, and reads its documents as those of this service.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { isObject, type Json } from '../../domain/json.ts'

export const MANIFEST_FILE = 'import-manifest.json'

export type WrittenFile = Readonly<{
  kind: 'document' | 'state' | 'report' | 'secrets'
  /** Hexadecimal SHA-256 of its bytes. */
  sha256: string
  /** That of the file which it replaces: the folder has this one if the import was stopped before it was complete. */
  replaces?: string
  /** Of a document: the name of the endpoint. Of a state: the file of its document. */
  of?: string
}>

/** By the name of the file, relative to the folder. */
export type Manifest = ReadonlyMap<string, WrittenFile>

const KINDS: readonly string[] = ['document', 'state', 'report', 'secrets'] satisfies WrittenFile['kind'][]

/** Out: the manifest; an empty one if the folder has none or has another file of that name. */
export function readManifest(folder: string): Manifest {
  let files: Json | undefined
  try {
    const value: Json = JSON.parse(readFileSync(join(folder, MANIFEST_FILE), 'utf8'))
    files = isObject(value) && value.writtenBy === WRITTEN_BY ? value.files : undefined
  } catch {
    files = undefined
  }
  return new Map(Object.entries(isObject(files) ? files : {}).flatMap(([name, file]) => entryOf(name, file)))
}

function entryOf(name: string, file: Json): [string, WrittenFile][] {
  if (!isObject(file) || typeof file.sha256 !== 'string') return []
  const kind = KINDS.indexOf(String(file.kind))
  if (kind === -1) return []
  const { sha256, replaces, of } = file
  const entry: WrittenFile = {
    kind: String(file.kind) as WrittenFile['kind'],
    sha256,
    ...(typeof replaces === 'string' ? { replaces } : {}),
    ...(typeof of === 'string' ? { of } : {}),
  }
  return [[name, entry]]
}

const WRITTEN_BY = 'crosswalk import'

export const manifestText = (manifest: Manifest): string =>
  `${JSON.stringify({ writtenBy: WRITTEN_BY, files: Object.fromEntries(manifest) }, null, 2)}\n`

export const sha256 = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex')

/** Whether an import wrote the document at `path`; people may have changed it since. */
export const wroteDocument = (manifest: Manifest, path: string): boolean =>
  manifest.get(basename(path))?.kind === 'document'

export const manifestBeside = (path: string): Manifest => readManifest(dirname(path))
