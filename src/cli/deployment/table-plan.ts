/** What must change at a service so that it has the tables of a project. */
import { isDeepStrictEqual } from 'node:util'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { checkDocument } from '../../document/checks/check-document.ts'
import { listTableUses } from '../../document/reads/table-uses.ts'
import { tableEtag } from '../../endpoints/table-changes.ts'
import { compareTables, type TableDiff } from '../../endpoints/table-service.ts'
import type { CompactTable } from '../../tables/compact-table.ts'
import { haveSameFrames } from '../../tables/concept-map-table.ts'
import { TABLE_FORMATS, type TableFormat } from '../../tables/table-formats.ts'
import type { ProjectTable } from '../project/project-tables.ts'
import { type ManagementClient, ServiceFault } from '../service-client/management-client.ts'
import { sha256 } from './document-files.ts'
import {
  type DeploymentPlan,
  type DesiredDocument,
  hasLabels,
  type PlannedOperation,
  type PlanOptions,
} from './plan.ts'

export type ServiceTable = Readonly<{ name: string; version: number }>

/** Most documents read none, and checking thousands takes seconds. */
export const readsTables = (document: JsonObject): readonly string[] =>
  JSON.stringify(document).includes('table')
    ? listTableUses(checkDocument(document).endpoint).map(({ table }) => table)
    : []

/** Without those of a port that has none, unless `mustHave`. */
export async function listServiceTables(client: ManagementClient, mustHave = true): Promise<readonly ServiceTable[]> {
  const answer = await client.call('GET', '/tables').catch((thrown: unknown) => {
    if (!mustHave && thrown instanceof ServiceFault && thrown.status === 404) return []
    throw thrown
  })
  return Array.isArray(answer)
    ? answer.filter(isObject).map(({ name, version }) => ({ name: String(name), version: Number(version) }))
    : []
}

/** The rows of one version, as `format` has them; CSV has no more than JSON. */
export async function fetchTable(
  client: ManagementClient,
  { name, version }: ServiceTable,
  format: TableFormat,
): Promise<CompactTable> {
  const { mediaType, read } = format === TABLE_FORMATS.csv ? TABLE_FORMATS.json : format
  const answer = await client.call('GET', `/tables/${name}/versions/${version}`, undefined, mediaType)
  const reading = await read(Buffer.from(JSON.stringify(answer)))
  if (reading.ok) return reading.table
  throw new ServiceFault(`${client.url} answered with a table "${name}" that cannot be read.`)
}

/** From the table of the service to the one of the file; undefined if they are the same, whatever the order of their rows. */
export async function changesToTable(stored: CompactTable, { table, format }: ProjectTable) {
  const diff = await compareTables(stored, table)
  const isFramed = format === TABLE_FORMATS.conceptMap
  const isSame =
    diff.rows.length === 0 &&
    isDeepStrictEqual(stored.columns, table.columns) &&
    (!isFramed || haveSameFrames(stored, table))
  return isSame ? undefined : diff
}

/** As an operation of a batch has it. Rows of JSON are sent as CSV, in which numbers stay as they are written. */
export function batchContent({ content, format, table }: ProjectTable): Json {
  if (format === TABLE_FORMATS.json) return [...TABLE_FORMATS.csv.write(table)].join('')
  const text = content.toString().replace(/^\ufeff/, '')
  return format === TABLE_FORMATS.csv ? text : JSON.parse(text)
}

type PlanInput = Readonly<{
  tables: readonly ProjectTable[]
  documents: readonly DesiredDocument[]
  stored: readonly JsonObject[]
}> &
  Pick<PlanOptions, 'labels' | 'prune'>

/**
 * Adds the tables to the plan; a project without any does not ask for them. Tables have no labels: those that only endpoints of
 * the project read are the project's.
 */
export async function planTables(
  plan: DeploymentPlan,
  client: ManagementClient,
  { tables, documents, stored, labels, prune }: PlanInput,
): Promise<DeploymentPlan> {
  const isOwn = (one: JsonObject): boolean => Object.keys(labels).length > 0 && hasLabels(one, labels)
  const own = new Set(stored.filter(isOwn).flatMap(readsTables))
  const others = new Set(stored.filter((one) => !isOwn(one)).flatMap(readsTables))
  if (tables.length + own.size === 0) return plan
  const served = await listServiceTables(client)
  const written: PlannedOperation[] = []
  for (const one of tables) {
    const { name, file, content, format } = one
    const current = served.find((table) => table.name === name)
    const about = { name, file, changes: [] }
    const body = { content: batchContent(one), digest: sha256(content) }
    if (current === undefined) {
      const { size: added } = one.table
      written.push({ op: 'create', ...about, table: { ...body, added, removed: 0, changed: 0, rows: [] } })
      continue
    }
    const diff = await changesToTable(await fetchTable(client, current, format), one)
    if (diff !== undefined)
      written.push({ op: 'replace', ...about, ...identifyTable(current), table: { ...body, ...diff } })
  }
  const wanted = new Set([
    ...tables.map(({ name }) => name),
    ...documents.flatMap(({ document }) => readsTables(document)),
  ])
  const left = served.filter(({ name }) => own.has(name) && !others.has(name) && !wanted.has(name))
  const deleted = (prune ? left : []).map(
    (one): PlannedOperation => ({ op: 'delete', name: one.name, ...identifyTable(one), changes: [], table: NO_ROWS }),
  )
  return {
    operations: [...written, ...plan.operations, ...deleted],
    unchanged: plan.unchanged + tables.length - written.length,
    leftOver: plan.leftOver,
    leftOverTables: prune ? [] : left.map(({ name }) => name),
  }
}

const NO_ROWS = { added: 0, removed: 0, changed: 0, rows: [] } satisfies TableDiff

const identifyTable = ({ version }: ServiceTable) => ({ ifMatch: tableEtag(version, TABLE_FORMATS.json) })
