/** What must change at a service so that it has the documents of a project. */

import type { Json, JsonObject } from '../../core/json.ts'
import { withoutStamps } from '../../core/stored-document.ts'
import { checkDocument } from '../../document/checks/check-document.ts'
import { diffDocuments, type LocatedChange } from '../../document/diff/document-diff.ts'
import { computeEtag } from '../../endpoints/precondition.ts'
import type { TableDiff } from '../../endpoints/table-service.ts'
import { CommandFault } from '../command.ts'

export type IdentifiedDocument = Readonly<{
  /** As shown to people. */
  file: string
  name: string
  /** The name that its endpoint had before. */
  renamedFrom: string | undefined
}>

export type StoredEndpoints = ReadonlyMap<string, JsonObject>

/** True if an earlier version of the endpoint with this id had this name. */
export type HadName = (id: string, name: string) => Promise<boolean>

export type EndpointMatches<T> = Readonly<{
  /** For each document that has one, its endpoint; the others are new. */
  endpoints: ReadonlyMap<T, JsonObject>
  /** Those whose endpoint still has the name of before. */
  renamed: ReadonlySet<T>
}>

/** A document of the project as sent, with the project's labels. */
export type DesiredDocument = IdentifiedDocument & Readonly<{ document: JsonObject }>

export type PlannedOperation = Readonly<{
  op: 'create' | 'replace' | 'delete'
  name: string
  /** Of a document; undefined for a deletion. */
  file?: string
  document?: JsonObject
  /** Of the stored endpoint, with the ETag of the document that was compared. */
  id?: string
  ifMatch?: string
  renamedFrom?: string
  /** The endpoint has not the labels of the project yet: it was made by others. */
  takesOver?: true
  changes: readonly LocatedChange[]
  /** Of an operation on a table. */
  table?: PlannedTable
}>

/** `digest`: of the file; `content`: as a batch has it. A deletion has the counts alone. */
export type PlannedTable = TableDiff & Partial<Readonly<{ content: Json; digest: string }>>

export type DeploymentPlan = Readonly<{
  operations: readonly PlannedOperation[]
  unchanged: number
  /** Names of endpoints that have the project's labels and no document; empty where they are deleted. */
  leftOver: readonly string[]
  /** The same of tables that only endpoints of the project read. */
  leftOverTables: readonly string[]
}>

export type PlanOptions = Readonly<{
  labels: Readonly<Record<string, string>>
  /** Endpoints of the project without a document are deleted. */
  prune: boolean
  hadName: HadName
}>

/** In: the documents of the project and all of the service. Throws CommandFault. */
export async function planDeployment(
  documents: readonly DesiredDocument[],
  stored: readonly JsonObject[],
  { labels, prune, hadName }: PlanOptions,
): Promise<DeploymentPlan> {
  if (prune && Object.keys(labels).length === 0) {
    throw new CommandFault('--prune needs "labels" in the project file: only endpoints that have them are deleted.')
  }
  const byName = new Map(stored.map((document) => [String(document.name), document]))
  const { endpoints, renamed } = await matchEndpoints(documents, byName, hadName)
  const written = documents.flatMap((one): readonly PlannedOperation[] => {
    const endpoint = endpoints.get(one)
    const { file, name, document } = one
    if (endpoint === undefined) return [{ op: 'create', name, file, document, changes: [] }]
    const changes = changesTo(endpoint, document)
    if (changes.length === 0) return []
    const { renamedFrom } = renamed.has(one) ? one : { renamedFrom: undefined }
    return [
      {
        op: 'replace',
        name,
        file,
        document,
        ...identify(endpoint),
        ...(renamedFrom === undefined ? {} : { renamedFrom }),
        ...(hasLabels(endpoint, labels) ? {} : { takesOver: true }),
        changes,
      },
    ]
  })
  const kept = new Set(endpoints.values())
  const others = stored.filter(
    (document) => Object.keys(labels).length > 0 && !kept.has(document) && hasLabels(document, labels),
  )
  const deleted = (prune ? others : []).map(
    (document): PlannedOperation => ({
      op: 'delete',
      name: String(document.name),
      ...identify(document),
      changes: [],
    }),
  )
  return {
    operations: [...written, ...deleted],
    unchanged: documents.length - written.length,
    leftOver: prune ? [] : others.map(({ name }) => String(name)),
    leftOverTables: [],
  }
}

/** From the stored document to the one of a file, as the service would store that. */
export const changesTo = (stored: JsonObject, document: JsonObject): readonly LocatedChange[] =>
  diffDocuments(withoutStamps(stored), checkDocument(document).endpoint as unknown as JsonObject)

export function hasLabels({ labels: own }: JsonObject, labels: Readonly<Record<string, string>>): boolean {
  const given = new Map(Object.entries((own ?? {}) as JsonObject))
  return Object.entries(labels).every(([name, value]) => given.get(name) === value)
}

const identify = (stored: JsonObject): Readonly<{ id: string; ifMatch: string }> => ({
  id: String(stored._id),
  ifMatch: computeEtag(stored),
})

/** The batch that makes the plan, as sent. */
export const toBatch = ({ operations }: DeploymentPlan): readonly JsonObject[] =>
  operations.map(({ op, name, id, ifMatch, document, table }) => ({
    ...(table === undefined ? { op } : { op: op === 'delete' ? 'deleteTable' : 'putTable', table: name }),
    ...(table?.content === undefined ? {} : { content: table.content }),
    ...(id === undefined ? {} : { id }),
    ...(ifMatch === undefined ? {} : { ifMatch }),
    ...(document === undefined ? {} : { document }),
  }))

/**
 * A rename is made once: when the new name is stored already, `renamedFrom` says nothing any more, unless the endpoint of that
 * name is itself renamed. Names that are swapped are there before and afterwards, so the versions of their endpoints decide.
 * Throws CommandFault if documents have the same name, or only some renames of a circle were made.
 */
export async function matchEndpoints<T extends IdentifiedDocument>(
  documents: readonly T[],
  stored: StoredEndpoints,
  hadName: HadName,
): Promise<EndpointMatches<T>> {
  const faults = [...repeatedNames(documents), ...repeatedRenames(documents)]
  if (faults.length > 0) throw new CommandFault(faults)
  const byFormerName = new Map(documents.flatMap((one) => (isRename(one, stored) ? [[one.renamedFrom, one]] : [])))
  const renamed = new Set<T>()
  const decided = new Set<T>()
  for (const document of byFormerName.values()) {
    const chain = followRenames(document, byFormerName, stored, decided)
    const isMade = await isChainMade(chain, renamed, stored, hadName)
    if (isMade === undefined) {
      const names = chain.documents.map(({ name }) => JSON.stringify(name)).join(', ')
      faults.push(
        `Some of these renames were made and some were not: ${names}. Remove "renamedFrom" from those that were.`,
      )
    }
    for (const one of chain.documents) {
      decided.add(one)
      if (isMade === true) renamed.add(one)
    }
  }
  if (faults.length > 0) throw new CommandFault(faults)
  const movedAway = new Set([...renamed].map(({ renamedFrom }) => renamedFrom))
  const endpoints = new Map(
    documents.flatMap((one) => {
      const isRenamed = renamed.has(one)
      const endpoint =
        isRenamed || !movedAway.has(one.name) ? stored.get(isRenamed ? (one.renamedFrom ?? '') : one.name) : undefined
      return endpoint === undefined ? [] : [[one, endpoint]]
    }),
  )
  return { endpoints, renamed }
}

const isRename = ({ renamedFrom }: IdentifiedDocument, stored: StoredEndpoints): boolean =>
  renamedFrom !== undefined && stored.has(renamedFrom)

/** The documents that can be renamed only together: each takes the name that the next one gives up. */
type RenameChain<T> = Readonly<{ documents: readonly T[]; end: 'free' | 'taken' | 'circle' | T }>

function followRenames<T extends IdentifiedDocument>(
  first: T,
  byFormerName: ReadonlyMap<string | undefined, T>,
  stored: StoredEndpoints,
  decided: ReadonlySet<T>,
): RenameChain<T> {
  const documents: T[] = []
  let next: T | undefined = first
  while (next !== undefined) {
    if (decided.has(next)) return { documents, end: next }
    if (documents.includes(next)) return { documents, end: 'circle' }
    documents.push(next)
    if (!stored.has(next.name)) return { documents, end: 'free' }
    next = byFormerName.get(next.name)
  }
  return { documents, end: 'taken' }
}

/** True if the renames are to be made now; undefined if some of a circle were made. */
async function isChainMade<T extends IdentifiedDocument>(
  { documents, end }: RenameChain<T>,
  renamed: ReadonlySet<T>,
  stored: StoredEndpoints,
  hadName: HadName,
): Promise<boolean | undefined> {
  if (end === 'free') return true
  if (end === 'taken') return false
  if (end !== 'circle') return renamed.has(end)
  const done = await Promise.all(
    documents.map(({ name, renamedFrom = '' }) => hadName(String(stored.get(name)?._id), renamedFrom)),
  )
  if (done.every((one) => one)) return false
  return done.some((one) => one) ? undefined : true
}

function repeatedNames(documents: readonly IdentifiedDocument[]): readonly string[] {
  return repeated(documents, ({ name }) => name).map(
    ([name, files]) => `${files.join(' and ')} have the same name ${JSON.stringify(name)}; give one of them another.`,
  )
}

function repeatedRenames(documents: readonly IdentifiedDocument[]): readonly string[] {
  return repeated(documents, ({ renamedFrom }) => renamedFrom).map(
    ([name, files]) => `${files.join(' and ')} were both ${JSON.stringify(name)}; one of them is new.`,
  )
}

function repeated(
  documents: readonly IdentifiedDocument[],
  readText: (document: IdentifiedDocument) => string | undefined,
): readonly (readonly [string, readonly string[]])[] {
  const files = new Map<string, string[]>()
  for (const document of documents) {
    const text = readText(document)
    if (text !== undefined) files.set(text, [...(files.get(text) ?? []), document.file])
  }
  return [...files].filter(([, some]) => some.length > 1)
}
