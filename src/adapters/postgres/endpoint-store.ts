/** Endpoints in PostgreSQL. Writes of all instances happen one after the other, so a check holds until its commit. */
import type { Kysely } from 'kysely'
import type { Clash, EndpointStore } from '../../domain/ports.ts'
import { clashOf, compileEndpointStatements, endpointValues } from '../sql/endpoint-statements.ts'
import { documentOf, documentText, type Tables } from '../sql/tables.ts'
import { type Connections, prepare, prepareText, type RunStatement } from './connections.ts'
import { violatedIndex } from './faults.ts'

export type EndpointStoreOptions = Readonly<{
  connections: Connections
  queries: Kysely<Tables>
  close(): Promise<void>
}>

const CLASHES: Readonly<Record<string, Clash>> = { endpoints_name: 'name', endpoints_route_key: 'route' }

/** Taken by the trigger of every change too: it orders the versions as the commits. */
const LOCK = prepareText<undefined, never>('select version from configuration for update', () => [])
const PING = prepareText<undefined, never>('select version from configuration', () => [])

/** Builds the store over a database whose tables are in place. */
export function compileEndpointStore({ connections, queries, close }: EndpointStoreOptions): EndpointStore {
  const statements = compileEndpointStatements(queries)
  const list = prepare(statements.list)
  const get = prepare(statements.get)
  const clashes = prepare(statements.clashes)
  const insert = prepare(statements.insert)
  const replace = prepare(statements.replace)
  const remove = prepare(statements.remove)

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
    insert: (record) => {
      const values = endpointValues(record)
      return change(async (run) => {
        const clash = clashOf(await run(clashes, values), values)
        if (clash !== undefined) return clash
        await run(insert, values)
        return 'stored'
      })
    },
    replace: (record, expected) => {
      const values = endpointValues(record)
      const expectedText = documentText(expected)
      return change(async (run) => {
        const refused = (await compare(run, values.id, expectedText)) ?? clashOf(await run(clashes, values), values)
        if (refused !== undefined) return refused
        await run(replace, values)
        return 'stored'
      })
    },
    remove: (expected) => {
      const id = expected._id
      const expectedText = documentText(expected)
      return connections.transaction(async (run) => {
        await run(LOCK, undefined)
        const refused = await compare(run, id, expectedText)
        if (refused !== undefined) return refused
        await run(remove, { id })
        return 'removed'
      })
    },
    ping: async () => {
      await connections.run(PING, undefined)
    },
    close,
  }
}
