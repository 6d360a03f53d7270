/**
 * The tables that messages read: those that the store holds. They are replaced as one set, so that a message that keeps the
 * set it began with reads one version of each.
 */
import { timeFromId } from '../core/id.ts'
import type { Logger } from '../core/ports/logger-port.ts'
import type { StoredTable, TableHead } from '../core/tables/stored-table.ts'
import type { Table } from '../core/tables/table.ts'
import type { ActiveTable, TableSet } from '../core/tables/table-set.ts'
import type { TableStore } from '../store/sql/table-store.ts'
import { type CompactTable, loadTable } from './compact-table.ts'

type Kept = ActiveTable & Pick<StoredTable, 'content'>

/** The rows of a version, which the store keeps as `content`. `unkept`: they are yet to be stored. */
export type TableContent = Readonly<{ head: TableHead; content: string; table: Table; unkept?: CompactTable }>

export type ActiveTablesOptions = Readonly<{ store: TableStore; logger: Logger }>

export class ActiveTables {
  readonly #options: ActiveTablesOptions
  #current: ReadonlyMap<string, Kept> = new Map()
  #damaged = new Set<string>()

  constructor(options: ActiveTablesOptions) {
    this.#options = options
  }

  /** Names of stored tables whose rows cannot be read; undefined without one. */
  get damaged(): readonly string[] | undefined {
    return this.#damaged.size === 0 ? undefined : [...this.#damaged]
  }

  /** Never changed: a later set is another map. */
  get current(): TableSet {
    return this.#current
  }

  /** The tables that the store holds now. Rejects with StoreUnavailable. */
  list(): Promise<readonly StoredTable[]> {
    return this.#options.store.list()
  }

  /**
   * Reads the rows of the tables that the store holds. Out: activates them. Calls must not overlap. Rejects with StoreUnavailable.
   */
  async read(stored: readonly StoredTable[]): Promise<() => void> {
    const next = new Map<string, Kept>()
    const damaged = new Set<string>()
    for (const one of stored) {
      const kept = await this.#load(one)
      if (kept === undefined) damaged.add(one.name)
      else next.set(one.name, kept)
    }
    return () => {
      this.#current = next
      this.#damaged = damaged
    }
  }

  /** Of a name that may have no table now; 0 if it never had one. */
  async newestVersion(name: string): Promise<number> {
    return this.#current.get(name)?.version ?? (await this.#options.store.versions(name))[0]?.version ?? 0
  }

  /** Stores the rows of a version to come as `content`, a new id. Rejects with StoreUnavailable. */
  async keep(content: string, table: CompactTable): Promise<TableContent> {
    await this.#options.store.keep(content, table.packed)
    this.removeUnused(timeFromId(content))
    return { head: { columns: table.columns, rows: table.size, bytes: table.bytes }, content, table }
  }

  /** Removes stored rows that no change has used, in the background. `now`: milliseconds since the epoch. */
  removeUnused(now: number): void {
    this.#remove((store) => store.removeUnused(now))
  }

  /** Removes the rows of a change that was refused, in the background. */
  unkeep({ content }: TableContent): void {
    this.#remove((store) => store.unkeep(content))
  }

  /** What it leaves is found at the next change. */
  #remove(work: (store: TableStore) => Promise<void>): void {
    const { store, logger } = this.#options
    void work(store).catch((err: unknown) => logger.warn({ err }, 'Old rows of tables were not removed'))
  }

  /** Activates changes that were stored. `table`: undefined for a deletion. */
  change(changes: readonly (Omit<Kept, 'table'> & Readonly<{ table: Table | undefined }>)[]): void {
    const next = new Map(this.#current)
    for (const { table, ...one } of changes) {
      this.#damaged.delete(one.name)
      if (table === undefined) next.delete(one.name)
      else next.set(one.name, { ...one, table })
    }
    this.#current = next
  }

  async #load({ name, version, content, bytes }: StoredTable): Promise<Kept | undefined> {
    const active = this.#current.get(name)
    if (active?.content === content) return { ...active, version }
    const packed = await this.#options.store.read(content, bytes)
    try {
      if (packed !== undefined) return { name, version, content, table: await loadTable(packed) }
    } catch (err) {
      const message =
        'A table is damaged in the store, or of another version, and left out; store it again with PUT, or restore an earlier version'
      this.#options.logger.error({ err, table: name, version }, message)
      return undefined
    }
    // Many changes since the list was read have removed it; the next read finds a newer version.
    this.#options.logger.warn({ table: name, version }, 'A version of a table was removed before it was read')
    return active
  }
}
