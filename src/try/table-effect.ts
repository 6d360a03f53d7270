/**
 * How many messages of the log a version of a table maps otherwise than the version before it: judged by the codes that they
 * read, which a dry run of the message shows, or by those that their records name as missed.
 */
import { Failure } from '../core/failure.ts'
import type { Table } from '../core/tables/table.ts'
import type { TableLookup } from '../core/tables/table-reads.ts'
import type { Registry } from '../endpoints/endpoint-registry.ts'
import type { TableService } from '../endpoints/table-service.ts'
import type { ListedMessage, MessageSearch } from '../records/message-log/message-search.ts'
import type { DryRun } from './dry-run/dry-run.ts'

export type TableEffect = Readonly<{
  /** The version before it that has rows; 0 without one. */
  before: number
  /** Messages that read the table, the newest ones. */
  messages: number
  changed: number
  /** Of `messages`: their bodies were not kept. */
  unknown: number
  /** Ids of the newest ones that changed. */
  ids: readonly string[]
}>

/** Of the log: those that did not read the table among them. */
const MAX_READ = 2_000
const PAGE = 500
const MAX_IDS = 20

type Options = Readonly<{
  tables: Pick<TableService, 'version' | 'versions'>
  registry: Pick<Registry, 'all'>
  search: Pick<MessageSearch, 'list'>
  dryRun: DryRun
}>

/**
 * In: the name of a table, a version of it, and how many messages are looked at. Messages run meanwhile.
 * Fails with TABLE_UNKNOWN, VERSION_UNKNOWN, STORE_UNAVAILABLE, OVERLOADED and SHUTTING_DOWN.
 */
export type ReadTableEffect = (name: string, version: number, limit: number) => Promise<TableEffect>

export function createTableEffect({ tables, registry, search, dryRun }: Options): ReadTableEffect {
  async function* readers(name: string, limit: number): AsyncGenerator<ListedMessage> {
    const endpoint = registry
      .all()
      .flatMap(({ document, tableUses = [] }) => (tableUses.some(({ table }) => table === name) ? document._id : []))
    let left = limit
    let page: Awaited<ReturnType<MessageSearch['list']>> | undefined
    for (let read = 0; read < MAX_READ && left > 0; read += PAGE) {
      if (page !== undefined && page.next === undefined) return
      page = await search.list({ endpoint, limit: PAGE, ...(page?.next && { cursor: page.next }) })
      for (const message of page.messages) {
        if (message.tables?.[name] !== undefined && left-- > 0) yield message
      }
    }
  }

  /** Undefined if its body was not kept. */
  async function readLookups(
    messageId: string,
  ): Promise<readonly Pick<TableLookup, 'table' | 'column' | 'code'>[] | undefined> {
    try {
      const report = await dryRun(JSON.stringify({ messageId }))
      return (report.tables ?? []) as unknown as readonly TableLookup[]
    } catch (thrown) {
      if (thrown instanceof Failure && thrown.status < 500) return undefined
      throw thrown
    }
  }

  return async (name, version, limit) => {
    const { table: after } = await tables.version(name, version)
    const previous = (await tables.versions(name)).find((one) => one.version < version && one.head !== null)
    const before = previous && (await tables.version(name, previous.version)).table
    const differs = ({ table, column, code }: Pick<TableLookup, 'table' | 'column' | 'code'>) =>
      table === name && readCell(before, column, code) !== readCell(after, column, code)
    const ids: string[] = []
    const counts = { messages: 0, changed: 0, unknown: 0 }
    for await (const { id, missed = [] } of readers(name, limit)) {
      counts.messages += 1
      const lookups = missed.some(differs) ? missed : await readLookups(id)
      if (lookups === undefined) counts.unknown += 1
      else if (lookups.some(differs)) {
        counts.changed += 1
        if (ids.length < MAX_IDS) ids.push(id)
      }
    }
    return { before: previous?.version ?? 0, ...counts, ids }
  }
}

const readCell = (table: Table | undefined, column: string, code: string): string =>
  table === undefined ? '' : table.cell(table.find(code), table.columns.indexOf(column))
