/** What must change at a service so that it has the documents of a project. */
import { checkDocument } from '../config/checks/check-document.ts'
import { diffDocuments, type PlaceChange } from '../document-diff/document-diff.ts'
import type { JsonObject } from '../domain/json.ts'
import { contentOf } from '../domain/stored-document.ts'
import { etagOf } from '../endpoints/precondition.ts'
import { type HadName, type IdentifiedDocument, matchEndpoints } from './match-endpoints.ts'

/** A document of the project as it is sent, with the project's labels. */
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
  changes: readonly PlaceChange[]
}>

export type DeploymentPlan = Readonly<{
  operations: readonly PlannedOperation[]
  unchanged: number
  /** Names of endpoints that have the project's labels and no document; empty where they are deleted. */
  leftOver: readonly string[]
}>

export type PlanOptions = Readonly<{
  labels: Readonly<Record<string, string>>
  /** Whether endpoints of the project without a document are deleted. */
  prune: boolean
  hadName: HadName
}>

export type PlanReading =
  | Readonly<{ plan: DeploymentPlan; faults?: undefined }>
  | Readonly<{ faults: readonly string[] }>

/** In: the documents of the project and all of the service. Out: the plan, or sentences on why there is none. */
export async function planDeployment(
  documents: readonly DesiredDocument[],
  stored: readonly JsonObject[],
  { labels, prune, hadName }: PlanOptions,
): Promise<PlanReading> {
  if (prune && Object.keys(labels).length === 0) {
    return { faults: ['--prune needs "labels" in the project file: only endpoints that have them are deleted.'] }
  }
  const byName = new Map(stored.map((document) => [String(document.name), document]))
  const { endpoints, renamed, faults } = await matchEndpoints(documents, byName, hadName)
  if (faults.length > 0) return { faults }
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
        ...identityOf(endpoint),
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
      ...identityOf(document),
      changes: [],
    }),
  )
  const plan = {
    operations: [...written, ...deleted],
    unchanged: documents.length - written.length,
    leftOver: prune ? [] : others.map(({ name }) => String(name)),
  }
  return { plan }
}

/** From the stored document to the one of a file, as the service would store that. */
export const changesTo = (stored: JsonObject, document: JsonObject): readonly PlaceChange[] =>
  diffDocuments(contentOf(stored), checkDocument(document).endpoint as unknown as JsonObject)

export function hasLabels({ labels: own }: JsonObject, labels: Readonly<Record<string, string>>): boolean {
  const given = new Map(Object.entries((own ?? {}) as JsonObject))
  return Object.entries(labels).every(([name, value]) => given.get(name) === value)
}

const identityOf = (stored: JsonObject): Readonly<{ id: string; ifMatch: string }> => ({
  id: String(stored._id),
  ifMatch: etagOf(stored),
})

/** The batch that makes the plan, as it is sent. */
export const batchOf = ({ operations }: DeploymentPlan): readonly JsonObject[] =>
  operations.map(({ op, id, ifMatch, document }) => ({
    op,
    ...(id === undefined ? {} : { id }),
    ...(ifMatch === undefined ? {} : { ifMatch }),
    ...(document === undefined ? {} : { document }),
  }))
