/** Endpoints in PostgreSQL. Writes of all instances happen one after the other, so a check holds until its commit. */
import type { Kysely } from 'kysely'
import type { Clash, EndpointStore } from '../../domain/ports.ts'
import { clashOf, compileEndpointStatements, endpointValues } from '../sql/endpoint-statements.ts'
import { documentOf, documentText, type Tables } from '../sql/tables.ts'
import {
  compileVersionStatements,
  deletionValues,
  newestOf,
  summaryOf,
  type VersionValues,
  versionOf,
  versionValues,
} from '../sql/version-statements.ts'
import { type Connections, prepare, prepareText, type RunStatement } from './connections.ts'
import { storeEmpty, TakesNoWrites, violatedIndex } from './faults.ts'
import { READS_ONLY } from './session.ts'

export type EndpointStoreOptions = Readonly<{
  connections: Connections
  queries: Kysely<Tables>
  close(): Promise<void>
}>

const CLASHES: Readonly<Record<string, Clash>> = { endpoints_name: 'name', endpoints_route_key: 'route' }

/** Taken by the trigger of every change too: it orders the versions as the commits. */
const LOCK = prepareText<undefined, never>('select version from configuration for update', () => [])
const PING = prepareText<undefined, { read_only: boolean }>(
  `select ${READS_ONLY} as read_only from configuration`,
  () => [],
)

/** Builds the store over a database whose tables are in place. */
export function compileEndpointStore({ connections, queries, close }: EndpointStoreOptions): EndpointStore {
  const statements = compileEndpointStatements(queries)
  const list = prepare(statements.list)
  const get = prepare(statements.get)
  const clashes = prepare(statements.clashes)
  const insert = prepare(statements.insert)
  const replace = prepare(statements.replace)
  const remove = prepare(statements.remove)

  const versions = compileVersionStatements(queries)
  const add = prepare(versions.add)
  const trim = prepare(versions.trim)
  const trimDeleted = prepare(versions.trimDeleted)
  const listVersions = prepare(versions.list)
  const getVersion = prepare(versions.get)
  const newest = prepare(versions.newest)

  /** In the transaction of the change. */
  async function keep(run: RunStatement, version: VersionValues): Promise<void> {
    await run(add, version)
    await run(trim, version)
    if (version.document === '') await run(trimDeleted, {})
  }

  async function compare(run: RunStatement, id: string, expected: string): Promise<'gone' | 'stale' | undefined> {
    const [row] = await run(get, { id })
    if (row === undefined) return 'gone'
    return row.document === expected ? undefined : 'stale'
  }

  /** The unique indexes have the last word, whoever else writes to the tables. */
  async function change<T>(work: (run: RunStatement) => Promise<T>): Promise<T | Clash> {
    try {
      return await connections.transaction(async (run) => {
        await run(LOCK, undefined)
        return work(run)
      })
    } catch (thrown) {
      const clash = CLASHES[violatedIndex(thrown) ?? '']
      if (clash === undefined) throw thrown
      return clash
    }
  }

  return {
    list: async () => (await connections.run(list, {})).map(documentOf),
    get: async (id) => {
      const [row] = await connections.run(get, { id })
      return row && documentOf(row)
    },
    insert: (record, about) => {
      const values = endpointValues(record)
      const version = versionValues('create', record, about)
      return change(async (run) => {
        const clash = clashOf(await run(clashes, values), values)
        if (clash !== undefined) return clash
        await run(insert, values)
        await keep(run, version)
        return 'stored'
      })
    },
    replace: (record, expected, about) => {
      const values = endpointValues(record)
      const version = versionValues('replace', record, about)
      const expectedText = documentText(expected)
      return change(async (run) => {
        const refused = (await compare(run, values.id, expectedText)) ?? clashOf(await run(clashes, values), values)
        if (refused !== undefined) return refused
        await run(replace, values)
        await keep(run, version)
        return 'stored'
      })
    },
    remove: (expected, about) => {
      const version = deletionValues(expected, about)
      const id = expected._id
      const expectedText = documentText(expected)
      return connections.transaction(async (run) => {
        await run(LOCK, undefined)
        const refused = await compare(run, id, expectedText)
        if (refused !== undefined) return refused
        await run(remove, { id })
        await keep(run, version)
        return 'removed'
      })
    },
    versions: async (id) => (await connections.run(listVersions, { id })).map(summaryOf),
    version: async (id, version) => {
      const [row] = await connections.run(getVersion, { id, version })
      return row && versionOf(row)
    },
    newestVersions: async () => newestOf(await connections.run(newest, {})),
    ping: () =>
      connections.transaction(async (run) => {
        const [row] = await run(PING, undefined)
        if (row === undefined) throw storeEmpty()
        if (row.read_only) throw new TakesNoWrites()
      }),
    close,
  }
}
