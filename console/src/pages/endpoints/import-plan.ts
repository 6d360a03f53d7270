/** What an import would do: each document of the files, what it creates or replaces, and its faults as the service says them. */
import { ApiFailure } from '../../api/api-failure.ts'
import { type ImportOperation, sendBatch } from '../../api/document-calls.ts'
import { listEndpoints } from '../../api/endpoint-calls.ts'
import { type FoundDocument, splitDocuments } from './split-documents.ts'

/** `file`: for people. */
export type ImportSource = Readonly<{ file: string; text: string }>

type PlannedFault = Readonly<{ path: string; message: string }>
export type PlannedDocument = Readonly<{
  file: string
  name: string
  operation: ImportOperation
  /** The version that it would have. */
  version?: number
  warnings: readonly PlannedFault[]
  faults: readonly PlannedFault[]
}>

export type ImportPlan = Readonly<{
  documents: readonly PlannedDocument[]
  /** Files that cannot be read. */
  unreadable: readonly Readonly<{ file: string; why: string }>[]
  /** Faults of the whole import. */
  faults: readonly string[]
}>

type Named = FoundDocument & Readonly<{ file: string }>

/** Endpoints that are looked up by one call. */
const LOOKED_UP = 50

/** Nothing is stored. Fails with an ApiFailure, but not for faults of documents: these are in the plan. */
export async function planImport(sources: readonly ImportSource[]): Promise<ImportPlan> {
  const read = sources.map(({ file, text }) => ({ file, found: splitDocuments(text) }))
  const unreadable = read.flatMap(({ file, found }) => (typeof found === 'string' ? [{ file, why: found }] : []))
  const found = read.flatMap(({ file, found }): Named[] =>
    typeof found === 'string' ? [] : found.map((document) => ({ ...document, file })),
  )
  if (found.length === 0) return { documents: [], unreadable, faults: [] }
  const findId = await knownEndpoints(found)
  const operations = found.map(({ text, name, id }): ImportOperation => {
    const known = findId(id, name)
    return known === undefined ? { op: 'create', document: text } : { op: 'replace', id: known, document: text }
  })
  const documents = found.map(
    ({ file, name, id }, index): PlannedDocument => ({
      file,
      name: name ?? id ?? `document ${index + 1}`,
      operation: operations[index] as ImportOperation,
      warnings: [],
      faults: [],
    }),
  )
  return check(documents, unreadable)
}

async function check(documents: readonly PlannedDocument[], unreadable: ImportPlan['unreadable']): Promise<ImportPlan> {
  try {
    const { results } = await sendBatch(
      documents.map(({ operation }) => operation),
      true,
    )
    return {
      documents: documents.map((document, index) => {
        const result = results.find(({ operation }) => operation === index)
        if (result === undefined) return document
        const { version, warnings, ifMatch } = result
        return { ...document, operation: { ...document.operation, ...(ifMatch && { ifMatch }) }, version, warnings }
      }),
      unreadable,
      faults: [],
    }
  } catch (thrown) {
    if (!(thrown instanceof ApiFailure) || thrown.details.length === 0) throw thrown
    const faultsFor = (operation: number | undefined): readonly PlannedFault[] =>
      thrown.details
        .filter((detail) => detail.operation === operation)
        .map(({ path = '', message = '' }) => ({ path, message }))
    return {
      documents: documents.map((document, index) => ({ ...document, faults: faultsFor(index) })),
      unreadable,
      faults: faultsFor(undefined).map(({ message }) => message),
    }
  }
}

/** Out: the id of the endpoint that a document replaces: that with its id, else that with its name. */
async function knownEndpoints(
  found: readonly Named[],
): Promise<(id: string | undefined, name: string | undefined) => string | undefined> {
  const ids = await lookUp('_id', [...new Set(found.flatMap(({ id }) => id ?? []))])
  const names = await lookUp('name', [...new Set(found.flatMap(({ name }) => name ?? []))])
  const byId = new Set(ids.map(({ id }) => id))
  const byName = new Map(names.map(({ id, name }) => [name, id]))
  return (id, name) => (id !== undefined && byId.has(id) ? id : name === undefined ? undefined : byName.get(name))
}

async function lookUp(field: string, values: readonly string[]) {
  const rows = []
  for (let from = 0; from < values.length; from += LOOKED_UP) {
    const { endpoints } = await listEndpoints({ fields: { [field]: values.slice(from, from + LOOKED_UP) }, limit: 200 })
    rows.push(...endpoints)
  }
  return rows
}
