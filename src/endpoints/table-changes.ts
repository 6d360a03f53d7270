/** Changes of tables: checked against what endpoints read of them, and made in one transaction with changes of endpoints. */
import { Failure } from '../core/failure.ts'
import type { Lint } from '../core/lint.ts'
import type { ChangeMethod, Origin } from '../core/stored-document.ts'
import { quote, type TableFault } from '../core/tables/table.ts'
import { type ActiveTable, findUseFault, shapesOf, type TableShapes, type TableUse } from '../core/tables/table-set.ts'
import type { ToAuditEntry } from '../store/sql/audit-store.ts'
import type { TableWrite } from '../store/sql/table-store.ts'
import type { ActiveTables, TableContent } from '../tables/active-tables.ts'
import type { CompactTable } from '../tables/compact-table.ts'
import { TABLE_FORMATS, type TableFormat } from '../tables/table-formats.ts'
import type { TableReading } from '../tables/table-reading.ts'
import type { CompiledEndpoint } from './compiled-endpoint.ts'
import * as failures from './management-failures.ts'
import { isKnownEtag, matchesEtag } from './precondition.ts'

/** One change of one table. */
export type TableChange = Readonly<{
  /** Its index among the operations of a batch. */
  operation: number
  name: string
  ifMatch?: string | undefined
  ifNoneMatch?: string | undefined
  /** Undefined for a deletion. */
  rows: TableContent | undefined
  /** The version that is restored. */
  restored?: number | undefined
  warnings?: readonly TableFault[] | undefined
}>

/** A change that was checked. `before`: the number of the version before it, 0 without one. */
export type CheckedTable = Readonly<{
  change: TableChange
  before: number
  method: ChangeMethod
  current: ActiveTable | undefined
}>

export type ReadTable = Readonly<{ table: CompactTable; warnings: readonly TableFault[] }>

/** Fails with TABLE_INVALID. */
export function tableOf(reading: TableReading): ReadTable {
  if (reading.ok) return reading
  const count = reading.faults.length === 1 ? 'one fault' : `${reading.faults.length} faults`
  throw new Failure('TABLE_INVALID', `The table has ${count}; nothing was stored.`, { details: [...reading.faults] })
}

/** The rows of a table that are not stored. */
export const unkeptRows = (table: CompactTable): TableContent => ({
  head: { columns: table.columns, rows: table.size, bytes: table.bytes },
  content: '',
  table,
  unkept: table,
})

/** Representations of one version differ, so each has a tag of its own; a change may name any of them. */
export const tableEtag = (version: number, { fileEnding }: Pick<TableFormat, 'fileEnding'>): string =>
  `"${version}${fileEnding}"`

export const isCurrent = (ifMatch: string, version: number): boolean =>
  Object.values(TABLE_FORMATS).some((format) => matchesEtag(ifMatch, tableEtag(version, format)))

/** Whether there is what If-None-Match excludes: with `*`, any version. */
const isExcluded = (ifNoneMatch: string | undefined, current: ActiveTable | undefined): boolean =>
  current !== undefined &&
  Object.values(TABLE_FORMATS).some((format) => isKnownEtag(ifNoneMatch, tableEtag(current.version, format)))

export async function checkTableChange(
  change: TableChange,
  tables: ActiveTables,
  fail: (failure: Failure, path?: string) => void,
): Promise<CheckedTable> {
  const { name, ifMatch, ifNoneMatch, rows, restored } = change
  const current = tables.current.get(name)
  if (rows === undefined && current === undefined) fail(failures.unknownTable(name))
  if (ifMatch !== undefined && (current === undefined || !isCurrent(ifMatch, current.version))) {
    fail(failures.staleTable(), `operations[${change.operation}].ifMatch`)
  }
  if (isExcluded(ifNoneMatch, current)) fail(failures.tableExists(name))
  const before = await tables.newestVersion(name)
  const written = current === undefined ? 'create' : 'replace'
  const method = rows === undefined ? 'delete' : restored === undefined ? written : 'restore'
  return { change, before, method, current }
}

/** Whether the table, or a column of it, is gone afterwards. */
export const takesAway = ({ change: { rows }, current }: CheckedTable): boolean =>
  current?.table.columns.some((column) => !rows?.head.columns.includes(column)) ?? false

/** What the tables are after the changes. */
export function shapesAfter(tables: ActiveTables, changes: readonly TableChange[]): TableShapes {
  const shapes = new Map(shapesOf(tables.current))
  for (const { name, rows } of changes) {
    if (rows === undefined) shapes.delete(name)
    else shapes.set(name, rows.head.columns)
  }
  return shapes
}

/** Of memory. */
export function bytesAfter(tables: ActiveTables, changes: readonly TableChange[]): number {
  const bytes = new Map([...tables.current].map(([name, { table }]) => [name, table.bytes]))
  for (const { name, rows } of changes) bytes.set(name, rows?.table.bytes ?? 0)
  return [...bytes.values()].reduce((sum, one) => sum + one, 0)
}

export const lintUses = (uses: readonly TableUse[], shapes: TableShapes): readonly Lint[] =>
  uses.flatMap((use) => {
    const message = findUseFault(use, shapes)
    return message === undefined ? [] : [{ path: use.path, message, severity: 'error' as const }]
  })

/** The failure of a change after which an endpoint finds its table or column no more. In: the endpoints that stay. */
export function findUser(
  { name }: TableChange,
  shapes: TableShapes,
  endpoints: readonly CompiledEndpoint[],
): Failure | undefined {
  for (const { document, tableUses = [] } of endpoints) {
    const use = tableUses.find((one) => one.table === name && findUseFault(one, shapes) !== undefined)
    if (use === undefined) continue
    const isColumn = use.column !== undefined && shapes.get(name) !== undefined
    const what = `${isColumn ? `the column ${quote(use.column)} of ` : ''}the table ${quote(name)}`
    return failures.tableInUse(document, use.path, what)
  }
  return undefined
}

export function toTableWrite(
  { change, before, method }: CheckedTable,
  at: string,
  origin: Origin,
  toAuditEntry: ToAuditEntry | undefined,
): TableWrite {
  const { name, rows, restored } = change
  const { note } = origin
  return {
    name,
    before,
    table: rows && { head: rows.head, content: rows.content },
    change: { method, at, origin, ...(restored === undefined ? {} : { restored }) },
    entry: toAuditEntry?.({ target: name, before, after: before + 1, ...(note === undefined ? {} : { note }) }),
  }
}
