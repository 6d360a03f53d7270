/** Files of endpoint documents: their names, and the list by which those that an import wrote are known. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { isObject, type Json } from '../../core/json.ts'

export const MANIFEST_FILE = 'import-manifest.json'

export type WrittenFile = Readonly<{
  kind: 'document' | 'state' | 'table' | 'report' | 'secrets'
  /** Hexadecimal SHA-256 of its bytes. */
  sha256: string
  /** That of the file which it replaces: the folder has this one if the import was stopped before it was complete. */
  replaces?: string
  /** Of a document: the name of the endpoint. Of a state: the file of its document. */
  of?: string
}>

/** By the name of the file, relative to the folder. */
export type Manifest = ReadonlyMap<string, WrittenFile>

const KINDS: readonly string[] = ['document', 'state', 'table', 'report', 'secrets'] satisfies WrittenFile['kind'][]

/** Out: the manifest; an empty one if the folder has none or has another file of that name. */
export function readManifest(folder: string): Manifest {
  let files: Json | undefined
  try {
    const value: Json = JSON.parse(readFileSync(join(folder, MANIFEST_FILE), 'utf8'))
    files = isObject(value) && value.writtenBy === WRITTEN_BY ? value.files : undefined
  } catch {
    files = undefined
  }
  return new Map(Object.entries(isObject(files) ? files : {}).flatMap(([name, file]) => readManifestEntry(name, file)))
}

function readManifestEntry(name: string, file: Json): [string, WrittenFile][] {
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

/** True if an import wrote the document at `path`; people may have changed it since. */
export const wroteDocument = (manifest: Manifest, path: string): boolean =>
  manifest.get(basename(path))?.kind === 'document'

export const manifestBeside = (path: string): Manifest => readManifest(dirname(path))

export type NamedDocument = Readonly<{
  name: string
  /** The name that the file has already, without `.json`. */
  earlier: string | undefined
}>

const MAX_CHARACTERS = 60

/** Not names of files on Windows, and names that other files of an import have. */
const TAKEN = /^(?:con|prn|aux|nul|com\d|lpt\d|import-report|import-manifest|package|package-lock)$/

/**
 * Out: a name for each document, without `.json`, of letters a to z, digits and hyphens.
 *
 * A document keeps the name that it had. Different names that would give one file each get a part of their hash, so that
 * the order of the documents does not matter; only documents of the very same name are numbered.
 */
export function nameFiles(documents: readonly NamedDocument[]): readonly string[] {
  const namesBySlug = new Map<string, Set<string>>()
  for (const { name } of documents) {
    const slug = toSlug(name)
    namesBySlug.set(slug, (namesBySlug.get(slug) ?? new Set()).add(name))
  }
  const taken = new Set(documents.flatMap(({ earlier }) => earlier ?? []))
  const given = new Set<string>()
  return documents.map(({ name, earlier }) => {
    if (earlier !== undefined && !given.has(earlier)) {
      given.add(earlier)
      return earlier
    }
    const slug = toSlug(name)
    const isShared = (namesBySlug.get(slug)?.size ?? 0) > 1
    const base = isShared ? `${slug}-${sha256(name).slice(0, 8)}` : slug
    let file = base
    for (let count = 2; taken.has(file); count++) file = `${base}-${count}`
    taken.add(file)
    given.add(file)
    return file
  })
}

function toSlug(name: string): string {
  const slug = name
    .slice(0, 1_000)
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_CHARACTERS)
    .replace(/^-+|-+$/g, '')
  if (slug === '') return `endpoint-${sha256(name).slice(0, 8)}`
  return TAKEN.test(slug) ? `endpoint-${slug}` : slug
}
