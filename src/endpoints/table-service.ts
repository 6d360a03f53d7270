/** The management of tables: changes of their rows are built and compared here; endpoint-writer.ts makes a version of them. */
import type { JsonObject } from '../core/json.ts'
import { createPause } from '../core/slice.ts'
import type { Origin } from '../core/stored-document.ts'
import type { StoredTable, TableHead, TableVersion } from '../core/tables/stored-table.ts'
import { quote, readRow, rowObject, TABLE_LIMITS, type Table, type TableFault } from '../core/tables/table.ts'
import type { TableSet } from '../core/tables/table-set.ts'
import type { ToAuditEntry } from '../store/sql/audit-store.ts'
import type { TableStore } from '../store/sql/table-store.ts'
import type { ActiveTables } from '../tables/active-tables.ts'
import { loadTable } from '../tables/compact-table.ts'
import { TABLE_FORMATS } from '../tables/table-formats.ts'
import { inOrder, type TableReading } from '../tables/table-reading.ts'
import { changeTable } from '../tables/table-thread.ts'
import type { EndpointService } from './endpoint-service.ts'
import * as failures from './management-failures.ts'
import { retryOnConflict } from './store-queue.ts'
import { isCurrent, type ReadTable, tableEtag, tableOf, unkeptRows } from './table-changes.ts'

/** Who changes a table: the headers If-Match and If-None-Match of the call, who calls, and the entry of the audit log. */
export type TableCall = Readonly<{
  ifMatch?: string | undefined
  ifNoneMatch?: string | undefined
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
  /** Names; absent where there are none. */
  columns?: Readonly<{ added: readonly string[]; removed: readonly string[] }>
  /** The first ones, by the order of the newer rows; those that are gone last. */
  rows: readonly RowChange[]
}>

/** Rows by the names of their columns, and keys of rows to remove. Of a row that is there, columns that are not named keep their values. */
export type RowsChange = Readonly<{
  rows: readonly Readonly<Record<string, string>>[]
  remove?: readonly string[] | undefined
}>

/** `from`: index of a row. */
export type RowSearch = Readonly<{ search: string; from: number; limit: number }>

/** `rows`: their cells; `matches`: rows of the whole table that have the text; `next`: the first of them behind the page. */
export type RowPage = Readonly<{
  version: number
  columns: readonly string[]
  total: number
  matches: number
  rows: readonly (readonly string[])[]
  next?: number
}>

const MAX_SHOWN_CHANGES = 1_000

export type TableServiceOptions = Readonly<{
  store: TableStore
  tables: ActiveTables
  endpointService: Pick<EndpointService, 'changeTables' | 'checkTables' | 'refresh'>
}>

/** Every method fails with STORE_UNAVAILABLE; those that name a table with TABLE_UNKNOWN, those with a version with VERSION_UNKNOWN. */
export class TableService {
  readonly #options: TableServiceOptions
  /** The last change of rows of each table: made at once, all but one would be in vain. */
  readonly #rowChanges = new Map<string, Promise<unknown>>()

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

  /** Rows of which a cell has the text, in whatever case, from row `from` on. Out: undefined once the caller has left. */
  async find(name: string, { search, from, limit }: RowSearch, hasLeft: () => boolean): Promise<RowPage | undefined> {
    const { version, table } = this.get(name)
    const { columns, size } = table
    const wanted = search.toLowerCase()
    const rows: string[][] = []
    const pause = createPause()
    let [matches, next] = [0, size]
    // Without a text all rows match: those of the page are enough.
    const end = wanted === '' ? Math.min(from + limit + 1, size) : size
    for (let row = wanted === '' ? from : 0; row < end; row += 1) {
      const cells = readRow(table, row)
      if (cells.some((cell) => cell.toLowerCase().includes(wanted))) {
        matches += 1
        if (row >= from && rows.length < limit) rows.push(cells)
        else if (row >= from) next = Math.min(next, row)
      }
      const due = pause()
      if (due !== undefined) await due
      if (due !== undefined && hasLeft()) return undefined
    }
    const page = { version, columns, total: size, matches: wanted === '' ? size : matches, rows }
    return next < size ? { ...page, next } : page
  }

  /** What `put` would change. Fails as `put` does. */
  async comparePut(name: string, reading: TableReading, ifNoneMatch: string | undefined): Promise<TableDiff> {
    const { table } = tableOf(reading)
    const rows = unkeptRows(table)
    await this.#options.endpointService.checkTables([{ operation: 0, name, ifNoneMatch, rows }])
    return compareTables(this.#options.tables.current.get(name)?.table, table)
  }

  /** What `changeRows` would change. Fails with TABLE_UNKNOWN, TABLE_INVALID. */
  async compareRows(name: string, change: RowsChange): Promise<TableDiff> {
    const { table } = this.get(name)
    const keys = [...change.rows.map((row) => row[table.columns[0] ?? ''] ?? ''), ...(change.remove ?? [])]
    return compareTables(table, tableOf(await readChange(table, change)).table, new Set(keys))
  }

  /** Replaces the whole table, or makes a new one. Fails with TABLE_INVALID, TABLE_IN_USE, TABLES_FULL, PRECONDITION_FAILED. */
  put(name: string, reading: TableReading, call: TableCall): Promise<ChangedTable> {
    return this.#store(name, tableOf(reading), call)
  }

  /** Fails as `put` does. */
  changeRows(name: string, change: RowsChange, call: TableCall): Promise<ChangedTable> {
    const before = this.#rowChanges.get(name)
    const work = () => this.#changeRows(name, change, call)
    const changed = before === undefined ? work() : before.then(work)
    const settled: Promise<unknown> = changed
      .catch(() => undefined)
      .finally(() => {
        if (this.#rowChanges.get(name) === settled) this.#rowChanges.delete(name)
      })
    this.#rowChanges.set(name, settled)
    return changed
  }

  #changeRows(name: string, change: RowsChange, call: TableCall): Promise<ChangedTable> {
    return retryOnConflict(call.ifMatch, async () => {
      await this.#options.endpointService.refresh()
      const { version, table } = this.get(name)
      if (call.ifMatch !== undefined && !isCurrent(call.ifMatch, version)) throw failures.staleTable()
      const built = tableOf(await readChange(table, change))
      // The rows are those of this version: whatever the caller would accept, they replace no other one.
      return this.#store(name, built, { ...call, ifMatch: tableEtag(version, TABLE_FORMATS.json) })
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
    return { ...(await this.#change({ name, rows: unkeptRows(table) }, call)), warnings }
  }

  async #change(change: Omit<TableChangeOf, 'operation'>, { origin, toAuditEntry, ...conditions }: TableCall) {
    const [made] = await this.#options.endpointService.changeTables(
      [{ ...change, operation: 0, ...conditions }],
      origin,
      toAuditEntry,
    )
    const { before = 0, method, change: { rows } = change } = made ?? {}
    return { name: change.name, version: before + 1, isNew: method === 'create', warnings: [], ...rows?.head }
  }

  #call<T>(work: (store: TableStore) => Promise<T>): Promise<T> {
    return failures.callEndpointStore(() => work(this.#options.store))
  }
}

type TableChangeOf = Parameters<EndpointService['changeTables']>[0][number]

async function readChange(table: Table, { rows, remove = [] }: RowsChange): Promise<TableReading> {
  const { columns } = table
  const [keyColumn = ''] = columns
  const faults: TableFault[] = []
  const changes = new Map<string, readonly string[] | undefined>()
  const indexes: number[] = []
  for (const [index, row] of rows.entries()) {
    const path = `rows[${index}]`
    const key = row[keyColumn] ?? ''
    for (const name of Object.keys(row)) {
      if (!columns.includes(name))
        faults.push({ path: `${path}.${name}`, message: `The table has no column ${quote(name)}.` })
    }
    if (changes.has(key)) {
      faults.push({ path, message: `The key ${quote(key)} is that of an earlier row; remove one.` })
      continue
    }
    indexes.push(index)
    const found = table.find(key)
    changes.set(
      key,
      columns.map((name, column) => row[name] ?? table.cell(found, column)),
    )
  }
  for (const [index, key] of remove.entries()) {
    if (changes.get(key) === undefined) changes.set(key, undefined)
    else
      faults.push({
        path: `remove[${index}]`,
        message: `The key ${quote(key)} is also that of a row; remove one of both.`,
      })
  }
  const changed = await changeTable(table, changes, indexes)
  if (faults.length === 0) return changed
  const all = changed.ok ? faults : [...faults, ...changed.faults]
  return inOrder({ ok: false, faults: all.slice(0, TABLE_LIMITS.faults) })
}

/** `keys`: of the rows that are compared, by default all. */
export async function compareTables(
  before: Table | undefined,
  after: Table,
  keys: Iterable<string> = allKeys(before, after),
): Promise<TableDiff> {
  const pause = createPause()
  const counts = { added: 0, removed: 0, changed: 0 }
  const rows: RowChange[] = []
  const hasSameColumns = before?.columns.join('\n') === after.columns.join('\n')
  for (const key of keys) {
    const [was, is] = [before?.find(key) ?? -1, after.find(key)]
    const isSame = hasSameColumns && after.columns.every((_, at) => before?.cell(was, at) === after.cell(is, at))
    if (!isSame) {
      const kind = was === -1 ? 'added' : is === -1 ? 'removed' : 'changed'
      counts[kind] += 1
      if (rows.length < MAX_SHOWN_CHANGES) {
        const from = before !== undefined && was !== -1 ? { from: rowObject(before, was) } : {}
        rows.push({ kind, key, ...from, ...(is !== -1 && { to: rowObject(after, is) }) })
      }
    }
    const due = pause()
    if (due !== undefined) await due
  }
  const isMissingIn = (table: Table) => (name: string) => !table.columns.includes(name)
  const added = before === undefined ? [] : after.columns.filter(isMissingIn(before))
  const removed = before?.columns.filter(isMissingIn(after)) ?? []
  return { ...counts, ...(added.length + removed.length > 0 && { columns: { added, removed } }), rows }
}

/** Those of the newer rows, then those that are gone. */
function* allKeys(before: Table | undefined, after: Table): Generator<string> {
  for (let row = 0; row < after.size; row += 1) yield after.cell(row, 0)
  for (let row = 0; before !== undefined && row < before.size; row += 1) {
    const key = before.cell(row, 0)
    if (after.find(key) === -1) yield key
  }
}
