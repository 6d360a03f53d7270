/** Writes the files of an import: all of them whole, and none over a file that the import did not write. */
import { lstatSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { makeFolder } from '../../domain/files/files.ts'
import {
  MANIFEST_FILE,
  type Manifest,
  manifestText,
  readManifest,
  sha256,
  type WrittenFile,
} from './import-manifest.ts'

export type NewFile = Readonly<{
  /** Absolute, or relative to the folder. */
  path: string
  content: string
  kind: WrittenFile['kind']
  of?: string
  /** Only its owner may read it. */
  isSecret?: true
  /** Whether it may replace a file that was changed since an import wrote it: its content is taken from that file. */
  replacesAny: boolean
}>

/** A file that is not replaced, with a sentence for people. */
export class FileInTheWay extends Error {}

const STAGING = '.crosswalk-import'

/**
 * Writes all files under other names first and renames them afterwards, so that none is ever there in half. Files of earlier
 * imports that this one does not replace stay.
 *
 * Throws FileInTheWay before it changes anything, and the errors of node:fs.
 */
export function writeFiles(folder: string, files: readonly NewFile[]): void {
  const manifest = readManifest(folder)
  const entries = new Map(files.map((file) => [nameIn(folder, file.path), file]))
  const replaced = new Map(
    [...entries].map(([name, file]) => [name, hashToReplace(folder, name, manifest, file.replacesAny)]),
  )
  refuseForeignManifest(folder)

  const staging = join(folder, STAGING)
  makeFolder(resolve(folder))
  rmSync(staging, { recursive: true, force: true })
  mkdirSync(staging, { mode: 0o700 })
  try {
    const staged = [...entries].map(([name, file], index) => {
      const path = join(staging, String(index))
      writeFileSync(path, file.content, { flag: 'wx', mode: file.isSecret ? 0o600 : 0o666 })
      return { path, target: resolve(folder, name) }
    })
    for (const { target } of staged) makeFolder(dirname(target))
    const list = join(staging, 'manifest')
    writeFileSync(list, manifestText(newManifest(folder, manifest, entries, replaced)), { flag: 'wx' })
    // First, so that the files of an import that is stopped in between are known as its own.
    renameSync(list, join(folder, MANIFEST_FILE))
    for (const { path, target } of staged) renameAcross(path, target)
  } finally {
    rmSync(staging, { recursive: true, force: true })
  }
}

/** A report may be on another file system than the folder; a rename does not cross. */
function renameAcross(path: string, target: string): void {
  try {
    renameSync(path, target)
  } catch (thrown) {
    if (!(thrown instanceof Error && 'code' in thrown && thrown.code === 'EXDEV')) throw thrown
    writeFileSync(`${target}.part`, readFileSync(path))
    renameSync(`${target}.part`, target)
  }
}

const nameIn = (folder: string, path: string): string => relative(folder, resolve(folder, path))

/** The hash of the file that is there, undefined if there is none. Throws FileInTheWay for one that no import wrote. */
function hashToReplace(folder: string, name: string, manifest: Manifest, isAny: boolean): string | undefined {
  const path = resolve(folder, name)
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (stats === undefined) return undefined
  const known = manifest.get(name)
  if (!stats.isFile() || known === undefined) {
    throw new FileInTheWay(`${path} is there already, and no import wrote it; move it, or name another folder.`)
  }
  const hash = sha256(readFileSync(path))
  if (isAny || hash === known.sha256 || hash === known.replaces) return hash
  throw new FileInTheWay(`${path} was changed since it was imported; move it, or name another folder.`)
}

function refuseForeignManifest(folder: string): void {
  const path = join(folder, MANIFEST_FILE)
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (stats !== undefined && readManifest(folder).size === 0) {
    throw new FileInTheWay(`${path} is there already, and no import wrote it; move it, or name another folder.`)
  }
}

function newManifest(
  folder: string,
  earlier: Manifest,
  files: ReadonlyMap<string, NewFile>,
  replaced: ReadonlyMap<string, string | undefined>,
): Manifest {
  const kept = [...earlier].filter(([name]) => lstatSync(resolve(folder, name), { throwIfNoEntry: false })?.isFile())
  const written = [...files].map(([name, { kind, content, of }]): [string, WrittenFile] => {
    const hash = sha256(content)
    const before = replaced.get(name)
    const replaces = before === undefined || before === hash ? {} : { replaces: before }
    return [name, { kind, sha256: hash, ...replaces, ...(of === undefined ? {} : { of }) }]
  })
  return new Map([...new Map([...kept, ...written])].sort(([one], [other]) => (one < other ? -1 : 1)))
}
