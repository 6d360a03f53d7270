/** Documents of an import with the files that they are written to, and the report of them. */

import { lstatSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { parseEnv } from 'node:util'
import type { SecretLine } from '../../src/cli/deployment/credential-names.ts'
import {
  MANIFEST_FILE,
  type Manifest,
  manifestText,
  nameFiles,
  readManifest,
  sha256,
  type WrittenFile,
} from '../../src/cli/deployment/document-files.ts'
import { makeFolder } from '../../src/core/files/files.ts'
import { isObject, type JsonObject } from '../../src/core/json.ts'
import type { ConvertedDocument } from './convert-documents.ts'
import type { SourceReading } from './found-records.ts'
import { createReport, type DocumentReport, type ImportReport } from './import-report.ts'
import type { CheckedDocument } from './register-documents.ts'

export type ImportedDocument = ConvertedDocument &
  Readonly<{
    /** Names of files in the folder of the import. */
    file: string
    stateFile: string
    /** An earlier import wrote the document to this very file. */
    isInPlace: boolean
  }>

export const ENV_FILE = '.env.import'

/** Gives each converted document its file, and its state if an earlier import had written one. `folder`: absolute. */
export function assignDocuments(
  documents: readonly ConvertedDocument[],
  { documents: found }: SourceReading,
  folder: string,
): readonly ImportedDocument[] {
  const canonical = new Map(found.filter(({ isCanonical }) => isCanonical).map((one) => [one.source, one]))
  const manifest = readManifest(folder)
  const names = nameFiles(
    documents.map(({ source, document }) => {
      const earlier = canonical.has(source) ? basename(source) : findFile(document, manifest)
      return { name: readName(document), earlier: earlier?.replace(/\.json$/i, '') }
    }),
  )
  return documents.map((one, index) => {
    const [file, stateFile] = [`${names[index]}.json`, `${names[index]}.state.json`]
    const isInPlace = canonical.has(one.source) && resolve(one.source) === resolve(folder, file)
    const state = one.state ?? canonical.get(one.source)?.ownState
    return { ...one, ...(state === undefined ? {} : { state }), file, stateFile, isInPlace }
  })
}

/** The file that an earlier import wrote for the endpoint of this name. */
const findFile = (document: JsonObject, manifest: Manifest): string | undefined =>
  [...manifest].find(([, { kind, of }]) => kind === 'document' && of === document.name)?.[0]

const readName = ({ name }: JsonObject): string => (typeof name === 'string' ? name : '')

const formatRoute = ({ endpoint }: JsonObject): string => {
  const { method, pattern } = isObject(endpoint) ? endpoint : {}
  return `${typeof method === 'string' ? method : 'POST'} ${typeof pattern === 'string' ? pattern : ''}`
}

export type ReportInput = Readonly<{
  /** As they may be shown. */
  sources: readonly string[]
  found: SourceReading
  imported: readonly ImportedDocument[]
  checks: readonly CheckedDocument[]
  secrets: readonly SecretLine[]
  env: EnvText
}>

export function describeImport({ sources, found, imported, checks, secrets, env }: ReportInput): ImportReport {
  const documents = imported.map(({ source, document, changes, state, file, stateFile }, index): DocumentReport => {
    const { faults = [], warnings = [] } = checks[index] ?? {}
    const about = { name: readName(document), route: formatRoute(document), source, file }
    return { ...about, ...(state === undefined ? {} : { state: stateFile }), changes, faults, warnings }
  })
  const names = secrets.map(({ name }) => name)
  const { changed, unwritable } = env
  const skipped = [...found.skipped, ...orphanedStates(found)]
  return createReport({ sources, documents, skipped, secrets: { file: ENV_FILE, names, changed, unwritable } }, secrets)
}

/** States of endpoints that no source has. Exports of states are long, so there is one line for each endpoint. */
function orphanedStates({ documents, states }: SourceReading) {
  const ids = new Set(documents.map(({ document }) => document._id))
  const unknown = states.filter(({ endpointId }) => !ids.has(endpointId))
  return [...Map.groupBy(unknown, ({ endpointId }) => endpointId)].map(([id, { length }]) => ({
    source: `states of the endpoint ${id}`,
    reason: `No source has this endpoint, so its ${length} states were left out; give its document with its "_id".`,
  }))
}

/** `secrets`: the text of the file of secrets. */
export function toFiles(
  imported: readonly ImportedDocument[],
  secrets: string | undefined,
  reports: readonly Readonly<{ path: string; content: string }>[],
  tables: readonly Readonly<{ path: string; content: string }>[] = [],
): readonly NewFile[] {
  const documents = imported.flatMap(({ document, state, file, stateFile, isInPlace }): NewFile[] => {
    const own = { path: file, content: formatJson(document), kind: 'document', of: readName(document) } as const
    // Values of messages, which may be about persons.
    const kept =
      state && ({ path: stateFile, content: formatJson(state), kind: 'state', of: file, isSecret: true } as const)
    return [own, ...(kept === undefined ? [] : [kept])].map((one) => ({ ...one, replacesAny: isInPlace }))
  })
  // The lines of the earlier file are in it.
  const env = { path: ENV_FILE, kind: 'secrets', isSecret: true, replacesAny: true } as const
  return [
    ...documents,
    ...tables.map((table): NewFile => ({ ...table, kind: 'table', replacesAny: false })),
    ...(secrets === undefined ? [] : [{ ...env, content: secrets }]),
    ...reports.map((report): NewFile => ({ ...report, kind: 'report', replacesAny: false })),
  ]
}

const formatJson = (value: JsonObject): string => `${JSON.stringify(value, null, 2)}\n`

export type EnvText = Readonly<{
  text: string
  /** Names whose values no line of a `.env` file can hold. */
  unwritable: readonly string[]
  /** Names that had another value in the earlier file. */
  changed: readonly string[]
}>

const HEAD = `# Credentials that \`crosswalk import\` took out of the documents. Keep this file out of version control.
# Add the lines to the .env file of the service, or set the variables in another way.
`

/** In: the file of an earlier import, if there is one: its other lines stay. */
export function envText(secrets: readonly SecretLine[], earlier: string | undefined): EnvText {
  const kept = parseEnv(earlier ?? '')
  const values = new Map(Object.entries(kept).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
  const changed: string[] = []
  for (const { name, value } of secrets) {
    if (values.has(name) && values.get(name) !== value) changed.push(name)
    values.set(name, value)
  }
  const unwritable: string[] = []
  const lines = [...values].map(([name, value]) => {
    const line = formatEnvLine(name, value)
    if (line === undefined) unwritable.push(name)
    return line ?? `# ${name} has a value that such a file cannot hold: set the variable in another way.\n`
  })
  return { text: HEAD + lines.join(''), unwritable, changed }
}

/** The first way to quote the value that Node.js reads as the same value; its rules of quoting are not those of shells. */
function formatEnvLine(name: string, value: string): string | undefined {
  const lines = [value, `'${value}'`, `"${value}"`, `\`${value}\``].map((written) => `${name}=${written}\n`)
  return lines.find((line) => {
    const read = parseEnv(line)
    return read[name] === value && Object.keys(read).length === 1
  })
}

export type NewFile = Readonly<{
  /** Absolute, or relative to the folder. */
  path: string
  content: string
  kind: WrittenFile['kind']
  of?: string
  /** Only its owner may read it. */
  isSecret?: true
  /** It may replace a file that was changed since an import wrote it: its content is taken from that file. */
  replacesAny: boolean
}>

/** A file that is not replaced, with a sentence for people. */
export class FileExists extends Error {}

const STAGING = '.crosswalk-import'

/**
 * Writes all files under other names first and renames them afterwards, so that none is ever there in half. Files of earlier
 * imports that this one does not replace stay.
 *
 * Throws FileExists before it changes anything, and the errors of node:fs.
 */
export function writeFiles(folder: string, files: readonly NewFile[]): void {
  const manifest = readManifest(folder)
  const entries = new Map(files.map((file) => [nameIn(folder, file.path), file]))
  const replaced = new Map(
    [...entries].map(([name, file]) => [name, hashToReplace(folder, name, manifest, file.replacesAny)]),
  )
  const list = join(folder, MANIFEST_FILE)
  if (lstatSync(list, { throwIfNoEntry: false }) !== undefined && manifest.size === 0) throw foreignFile(list)

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
    const newList = join(staging, 'manifest')
    writeFileSync(newList, manifestText(newManifest(folder, manifest, entries, replaced)), { flag: 'wx' })
    // First, so that the files of an import that is stopped in between are known as its own.
    renameSync(newList, list)
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

/** The hash of the file that is there. Throws FileExists for one that no import wrote. */
function hashToReplace(folder: string, name: string, manifest: Manifest, isAny: boolean): string | undefined {
  const path = resolve(folder, name)
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (stats === undefined) return undefined
  const known = manifest.get(name)
  if (!stats.isFile() || known === undefined) throw foreignFile(path)
  const hash = sha256(readFileSync(path))
  if (isAny || hash === known.sha256 || hash === known.replaces) return hash
  throw new FileExists(`${path} was changed since it was imported; move it, or name another folder.`)
}

const foreignFile = (path: string): FileExists =>
  new FileExists(`${path} is there already, and no import wrote it; move it, or name another folder.`)

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
