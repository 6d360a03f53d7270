/** Documents of an import with the files that they are written to, and the report of them. */
import { basename, resolve } from 'node:path'
import { isObject, type JsonObject } from '../../domain/json.ts'
import type { ConvertedDocument, SecretLine } from '../conversion.ts'
import type { SourceReading } from '../sources/source-reading.ts'
import type { CheckedDocument } from './check-documents.ts'
import type { EnvText } from './env-lines.ts'
import { nameFiles } from './file-names.ts'
import { type Manifest, readManifest } from './import-manifest.ts'
import { type DocumentReport, type ImportReport, reportOf } from './import-report.ts'
import type { NewFile } from './write-files.ts'

export type ImportedDocument = ConvertedDocument &
  Readonly<{
    /** Names of files in the folder of the import. */
    file: string
    stateFile: string
    /** An earlier import wrote the document to this very file, so it is imported already. */
    isInPlace: boolean
  }>

export const ENV_FILE = '.env.import'

/** Gives each converted document its file, and its state if an earlier import had written one. `folder`: absolute. */
export function placeDocuments(
  documents: readonly ConvertedDocument[],
  { documents: found, ownStates }: SourceReading,
  folder: string,
): readonly ImportedDocument[] {
  const canonical = new Set(found.filter(({ isCanonical }) => isCanonical).map(({ source }) => source))
  const manifest = readManifest(folder)
  const names = nameFiles(
    documents.map(({ source, document }) => {
      const earlier = canonical.has(source) ? basename(source) : fileOf(document, manifest)
      return { name: nameOf(document), earlier: earlier?.replace(/\.json$/i, '') }
    }),
  )
  return documents.map((one, index) => {
    const file = `${names[index]}.json`
    const isInPlace = canonical.has(one.source) && resolve(one.source) === resolve(folder, file)
    const state = one.state ?? ownStates.get(one.source)
    return {
      ...one,
      ...(state === undefined ? {} : { state }),
      file,
      stateFile: `${names[index]}.state.json`,
      isInPlace,
    }
  })
}

/** The file that an earlier import wrote for the endpoint of this name. */
const fileOf = (document: JsonObject, manifest: Manifest): string | undefined =>
  [...manifest].find(([, { kind, of }]) => kind === 'document' && of === document.name)?.[0]

const nameOf = ({ name }: JsonObject): string => (typeof name === 'string' ? name : '')

const routeOf = ({ endpoint }: JsonObject): string => {
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
    const name = nameOf(document)
    const route = routeOf(document)
    return {
      name,
      route,
      source,
      file,
      ...(state === undefined ? {} : { state: stateFile }),
      changes,
      faults,
      warnings,
    }
  })
  const names = secrets.map(({ name }) => name)
  const { changed, unwritable } = env
  const skipped = [...found.skipped, ...statesOfNone(found)]
  return reportOf({ sources, documents, skipped, secrets: { file: ENV_FILE, names, changed, unwritable } }, secrets)
}

/** States of endpoints that no source has. Exports of states are long, so there is one line for each endpoint. */
function statesOfNone({ documents, states }: SourceReading) {
  const ids = new Set(documents.map(({ document }) => document._id))
  const counts = new Map<string, number>()
  for (const { endpointId } of states.filter((state) => !ids.has(state.endpointId))) {
    counts.set(endpointId, (counts.get(endpointId) ?? 0) + 1)
  }
  return [...counts].map(([id, count]) => ({
    source: `states of the endpoint ${id}`,
    reason: `No source has this endpoint, so its ${count} states were left out; give its document with its "_id".`,
  }))
}

/** `secrets`: the text of the file of secrets; undefined if there are none. */
export function filesOf(
  imported: readonly ImportedDocument[],
  secrets: string | undefined,
  reports: readonly Readonly<{ path: string; content: string }>[],
): readonly NewFile[] {
  const documents = imported.flatMap(({ document, state, file, stateFile, isInPlace }): readonly NewFile[] => [
    { path: file, content: textOf(document), kind: 'document', of: nameOf(document), replacesAny: isInPlace },
    ...(state === undefined
      ? []
      : // Values of messages, which may be about persons.
        [
          {
            path: stateFile,
            content: textOf(state),
            kind: 'state',
            of: file,
            isSecret: true,
            replacesAny: isInPlace,
          } as const,
        ]),
  ])
  const env: readonly NewFile[] =
    secrets === undefined
      ? []
      : // The lines of the earlier file are in it.
        [{ path: ENV_FILE, content: secrets, kind: 'secrets', isSecret: true, replacesAny: true }]
  return [
    ...documents,
    ...env,
    ...reports.map((report): NewFile => ({ ...report, kind: 'report', replacesAny: false })),
  ]
}

const textOf = (value: JsonObject): string => `${JSON.stringify(value, null, 2)}\n`
