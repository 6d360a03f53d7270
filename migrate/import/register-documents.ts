/** Checks the documents of an import as their registration would, with their states. */

import { isDeepStrictEqual } from 'node:util'
import { createManagementClient, fetchDocuments, ServiceFault } from '../../src/cli/service-client/management-client.ts'
import { isObject, type Json, type JsonObject } from '../../src/core/json.ts'
import type { Lint } from '../../src/core/lint.ts'
import { withoutStamps } from '../../src/core/stored-document.ts'
import { checkOperation } from '../../src/document/checks/batch-operation.ts'
import { checkFiles, type FileCheckOptions } from '../../src/endpoints/check-files.ts'
import { faultsIn } from './draft.ts'

export type FoundFault = Readonly<{ path: string; message: string }>

/** What a registration would refuse and what it would warn of. `stored`: the document as it would be stored, if it is sound. */
export type CheckedDocument = Readonly<{
  faults: readonly FoundFault[]
  warnings: readonly FoundFault[]
  stored: JsonObject | undefined
}>

export type CheckedFiles = Readonly<{ file: string; document: JsonObject; stateFile: string; state?: JsonObject }>

/** In: documents with the files that they are written to. Out: a check for each, in their order. */
export async function checkDocuments(
  documents: readonly CheckedFiles[],
  options: FileCheckOptions,
): Promise<readonly CheckedDocument[]> {
  const checks = await checkFiles(documents, options)
  return documents.map((one, index) => {
    const { lints = [], stored } = checks[index] ?? {}
    const some = (wanted: Lint['severity']) =>
      lints.filter(({ severity }) => severity === wanted).map(({ path, message }) => ({ path, message }))
    return { faults: [...some('error'), ...stateFaults(one)], warnings: some('warning'), stored }
  })
}

function stateFaults({ document, stateFile, state }: CheckedFiles): readonly FoundFault[] {
  if (state === undefined) return []
  const faults = faultsIn((lint) => checkOperation({ op: 'create', document, state }, lint))
  return faults.map(({ path, message }) => ({ path, message: `In ${stateFile}: ${message}` }))
}

export type Registration = Readonly<{
  file: string
  document: JsonObject
  /** The document with every default, as the service would store it. */
  stored: JsonObject
  state: JsonObject | undefined
}>

export type RegisterOptions = Readonly<{
  url: string
  /** API key or access token. */
  key: string | undefined
  /** Endpoints of the same name are replaced; without it, one that differs is a fault. */
  replaces: boolean
  /** What the documents read: stored with them. */
  tables: readonly Readonly<{ name: string; content: Json }>[]
  timeoutMs: number
}>

/** `faults`: sentences; with one, nothing was registered. */
export type RegisterResult = Readonly<{
  created: number
  replaced: number
  unchanged: number
  /** Of the documents that were registered, such as a secret that the service does not have. */
  warnings: readonly string[]
  faults: readonly string[]
}>

/** As many as the service takes in one batch. */
const MAX_OPERATIONS = 1_000

/** Never throws. */
export async function registerDocuments(
  documents: readonly Registration[],
  options: RegisterOptions,
): Promise<RegisterResult> {
  let files: readonly string[] = []
  try {
    const client = createManagementClient({
      ...options,
      role: 'author',
      unanswered: 'It may have registered the documents; run the import again to see.',
    })
    const known = new Map((await fetchDocuments(client)).map((document) => [document.name, document]))
    const { operations, faults } = plan(documents, known, options)
    files = operations.map(({ file }) => file)
    if (faults.length > 0) return { ...NOTHING, faults }
    if (operations.length > MAX_OPERATIONS) {
      const fault = `There are ${operations.length} documents, and a batch has at most ${MAX_OPERATIONS}; import them in parts.`
      return { ...NOTHING, faults: [fault] }
    }
    const puts = options.tables.map(({ name, content }) => ({ op: 'putTable', table: name, content }))
    const body = { operations: [...operations.map(({ operation }) => operation), ...puts], note: 'crosswalk import' }
    const answer = operations.length === 0 ? {} : await client.call('POST', '/endpoints/batch', body)
    const count = (op: string) => operations.filter(({ operation }) => operation.op === op).length
    const [created, replaced] = [count('create'), count('replace')]
    const unchanged = documents.length - operations.length
    return { created, replaced, unchanged, warnings: warningsByFile(answer, files), faults: [] }
  } catch (thrown) {
    if (!(thrown instanceof ServiceFault)) throw thrown
    return { ...NOTHING, faults: [thrown.message, ...thrown.details.map((detail) => formatSentence(detail, files))] }
  }
}

const NOTHING: RegisterResult = { created: 0, replaced: 0, unchanged: 0, warnings: [], faults: [] }

type Operation = Readonly<{ op: 'create' | 'replace'; id?: string; document: JsonObject; state?: JsonObject }>

/** The operations of documents that the service does not have as they are; a fault for each that it has otherwise. */
function plan(
  documents: readonly Registration[],
  known: ReadonlyMap<Json | undefined, JsonObject>,
  { url, replaces }: RegisterOptions,
) {
  const operations: { file: string; operation: Operation }[] = []
  const faults: string[] = []
  for (const { file, document, stored, state } of documents) {
    const there = known.get(document.name)
    const content = { document, ...(state === undefined ? {} : { state }) }
    if (there === undefined) operations.push({ file, operation: { op: 'create', ...content } })
    else if (isSameContent(there, stored) && (state === undefined || !replaces)) continue
    else if (replaces) operations.push({ file, operation: { op: 'replace', id: String(there._id), ...content } })
    else {
      faults.push(
        `${file}: ${url} has another endpoint with the name ${JSON.stringify(document.name)}; rename one, or give --replace to replace it.`,
      )
    }
  }
  return { operations, faults }
}

/** JSON, so that properties which are undefined do not count. */
const isSameContent = (one: JsonObject, other: JsonObject): boolean =>
  isDeepStrictEqual(JSON.parse(JSON.stringify(withoutStamps(one))), JSON.parse(JSON.stringify(withoutStamps(other))))

function warningsByFile(answer: Json, files: readonly string[]): readonly string[] {
  const results = isObject(answer) && Array.isArray(answer.results) ? answer.results.filter(isObject) : []
  return results.flatMap(({ operation, warnings }) =>
    (Array.isArray(warnings) ? warnings.filter(isObject) : []).map((warning) =>
      formatSentence({ ...warning, operation: operation ?? null }, files),
    ),
  )
}

function formatSentence({ operation, path, message }: JsonObject, files: readonly string[]): string {
  const file = typeof operation === 'number' ? files[operation] : undefined
  const place = typeof path === 'string' && path !== '' ? `${path}: ` : ''
  return `${file === undefined ? '' : `${file}: `}${place}${String(message)}`
}
