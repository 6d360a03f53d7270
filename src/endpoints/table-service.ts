/** The management of tables: their rows are read and stored ahead, then a version is made of them, as endpoint-writer.ts does it. */
import type { JsonObject } from '../core/json.ts'
import type { Logger } from '../core/ports/logger-port.ts'
import type { Clock } from '../core/run.ts'
import { createPause } from '../core/slice.ts'
import type { Origin } from '../core/stored-document.ts'
import type { StoredTable, TableHead, TableVersion } from '../core/tables/stored-table.ts'
import { readRow, rowObject, type Table, type TableFault } from '../core/tables/table.ts'
import type { TableSet } from '../core/tables/table-set.ts'
import type { ToAuditEntry } from '../store/sql/audit-store.ts'
import type { TableStore } from '../store/sql/table-store.ts'
import type { ActiveTables } from '../tables/active-tables.ts'
import { loadTable } from '../tables/compact-table.ts'
import { TableBuilder } from '../tables/table-builder.ts'
import { TABLE_FORMATS } from '../tables/table-formats.ts'
import type { TableReading } from '../tables/table-reading.ts'
import type { EndpointService } from './endpoint-service.ts'
import * as failures from './management-failures.ts'
import { retryOnConflict } from './store-queue.ts'
import { type ReadTable, tableEtag, tableOf } from './table-changes.ts'

/** Who changes a table: the If-Match header of the call, who calls, and the entry of the audit log. */
export type TableCall = Readonly<{
  ifMatch?: string | undefined
  origin: Origin
  toAuditEntry?: ToAuditEntry | undefined
}>

/** A table after a change; `version`: of the deletion, if it was deleted. */
export type ChangedTable = Readonly<{
  name: string
  version: number
  isNew: boolean
  warnings: readonly TableFault[]
}> &
  Partial<TableHead>

/** The rows of one version. */
export type TableRows = Readonly<{ name: string; version: number; table: Table }>

/** `key`: of the row. */
export type RowChange = Readonly<{
  kind: 'added' | 'removed' | 'changed'
  key: string
  from?: JsonObject
  to?: JsonObject
}>
export type TableDiff = Readonly<{
  added: number
  removed: number
  changed: number
  /** The first ones, by the order of the newer rows; those that are gone last. */
  rows: readonly RowChange[]
}>

const MAX_SHOWN_CHANGES = 1_000

export type TableServiceOptions = Readonly<{
  store: TableStore
  tables: ActiveTables
  endpointService: Pick<EndpointService, 'changeTables'>
  newId: () => string
  clock: Clock
  logger: Logger
}>

/** Every method fails with STORE_UNAVAILABLE; those that name a table with TABLE_UNKNOWN, those with a version with VERSION_UNKNOWN. */
export class TableService {
  readonly #options: TableServiceOptions

  constructor(options: TableServiceOptions) {
    this.#options = options
  }

  list(): Promise<readonly StoredTable[]> {
    return this.#call((store) => store.list())
  }

  get(name: string): TableRows {
    const active = this.#options.tables.current.get(name)
    if (active === undefined) throw failures.unknownTable(name)
    return active
  }

  /** The tables that messages read now. */
  get current(): TableSet {
    return this.#options.tables.current
  }

  /** Newest first, also of a table that was deleted. */
  async versions(name: string): Promise<readonly TableVersion[]> {
    const versions = await this.#call((store) => store.versions(name))
    if (versions.length === 0) throw failures.unknownTable(name)
    return versions
  }

  async version(name: string, version: number): Promise<TableRows & Readonly<{ head: TableHead; content: string }>> {
    const { head, content } = (await this.versions(name)).find((one) => one.version === version) ?? {}
    if (!head || content === undefined) throw failures.unknownTableVersion(name, version)
    const active = this.#options.tables.current.get(name)
    if (active?.version === version) return { name, version, head, content, table: active.table }
    const bytes = await this.#call((store) => store.read(content, head.bytes))
    if (bytes === undefined) throw failures.unknownTableVersion(name, version)
    return { name, version, head, content, table: await loadTable(bytes) }
  }

  async diff(name: string, before: number, after: number): Promise<TableDiff> {
    return compareTables((await this.version(name, before)).table, (await this.version(name, after)).table)
  }

  /** Replaces the whole table, or makes a new one. Fails with TABLE_INVALID, TABLE_IN_USE, TABLES_FULL, PRECONDITION_FAILED. */
  put(name: string, reading: TableReading, call: TableCall): Promise<ChangedTable> {
    return this.#store(name, tableOf(reading), call)
  }

  /** Adds rows by the names of their columns; a row whose key is there already replaces it. Fails as `put` does. */
  addRows(name: string, rows: readonly Readonly<Record<string, string>>[], call: TableCall): Promise<ChangedTable> {
    return retryOnConflict(call.ifMatch, async () => {
      const { version, table } = this.get(name)
      const built = tableOf(await withRows(table, rows))
      const ifMatch = call.ifMatch ?? tableEtag(version, TABLE_FORMATS.json)
      return this.#store(name, built, { ...call, ifMatch })
    })
  }

  async remove(name: string, call: TableCall): Promise<ChangedTable> {
    return this.#change({ name, rows: undefined }, call)
  }

  /** Makes the rows of an earlier version the table again, as a new version. Fails as `put` does. */
  async restore(name: string, version: number, call: TableCall): Promise<ChangedTable> {
    const { head, content, table } = await this.version(name, version)
    return this.#change({ name, rows: { head, content, table }, restored: version }, call)
  }

  async #store(name: string, { table, warnings }: ReadTable, call: TableCall): Promise<ChangedTable> {
    const rows = await this.#call(() => this.#options.tables.keep(this.#options.newId(), table))
    return { ...(await this.#change({ name, rows }, call)), warnings }
  }

  async #change(change: Omit<TableChangeOf, 'operation'>, { ifMatch, origin, toAuditEntry }: TableCall) {
    const [made] = await this.#options.endpointService.changeTables(
      [{ ...change, operation: 0, ifMatch }],
      origin,
      toAuditEntry,
    )
    const { before = 0, method } = made ?? {}
    return { name: change.name, version: before + 1, isNew: method === 'create', warnings: [], ...change.rows?.head }
  }

  #call<T>(work: (store: TableStore) => Promise<T>): Promise<T> {
    return failures.callEndpointStore(() => work(this.#options.store))
  }
}

type TableChangeOf = Parameters<EndpointService['changeTables']>[0][number]

async function withRows(table: Table, rows: readonly Readonly<Record<string, string>>[]): Promise<TableReading> {
  const { columns, size, bytes } = table
  const builder = new TableBuilder(columns, { pathTo: (place) => `rows[${place}]`, expectedBytes: bytes })
  const [key = ''] = columns
  const added = new Map(rows.map((row, index) => [row[key] ?? '', index]))
  const cellsOf = (row: Readonly<Record<string, string>>) => columns.map((column) => row[column] ?? '')
  for (const [index, row] of rows.entries()) {
    for (const name of Object.keys(row)) {
      if (!columns.includes(name)) builder.fault(`rows[${index}].${name}`, `The table has no column "${name}".`)
    }
  }
  for (let row = 0; row < size; row += 1) {
    const index = added.get(table.cell(row, 0))
    if (index === undefined) builder.add(readRow(table, row), row)
    else {
      builder.add(cellsOf(rows[index] ?? {}), index)
      added.delete(table.cell(row, 0))
    }
    await builder.pause()
  }
  for (const index of added.values()) builder.add(cellsOf(rows[index] ?? {}), index)
  return builder.finish(table.frame)
}

export async function compareTables(before: Table, after: Table): Promise<TableDiff> {
  const pause = createPause()
  const counts = { added: 0, removed: 0, changed: 0 }
  const rows: RowChange[] = []
  const add = (change: RowChange) => {
    counts[change.kind] += 1
    if (rows.length < MAX_SHOWN_CHANGES) rows.push(change)
  }
  for (let row = 0; row < after.size; row += 1) {
    const key = after.cell(row, 0)
    const found = before.find(key)
    const to = rowObject(after, row)
    if (found === -1) add({ kind: 'added', key, to })
    else {
      const from = rowObject(before, found)
      if (JSON.stringify(from) !== JSON.stringify(to)) add({ kind: 'changed', key, from, to })
    }
    await pause()
  }
  for (let row = 0; row < before.size; row += 1) {
    const key = before.cell(row, 0)
    if (after.find(key) === -1) add({ kind: 'removed', key, from: rowObject(before, row) })
    await pause()
  }
  return { ...counts, rows }
}
