/** Endpoints in SQLite: reads at once, writes in the next transaction. */
import type { DatabaseSync } from 'node:sqlite'
import type { Kysely } from 'kysely'
import type { EndpointStore } from '../../domain/ports.ts'
import { clashOf, compileEndpointStatements, endpointValues } from '../sql/endpoint-statements.ts'
import { documentOf, documentText, type Tables } from '../sql/tables.ts'
import type { GroupCommit } from './group-commit.ts'
import { prepare } from './prepare.ts'

export type EndpointStoreOptions = Readonly<{
  db: DatabaseSync
  queries: Kysely<Tables>
  writer: GroupCommit
  close(): Promise<void>
}>

/** Builds the store over a connection whose tables are in place. */
export function compileEndpointStore({ db, queries, writer, close }: EndpointStoreOptions): EndpointStore {
  const statements = compileEndpointStatements(queries)
  const list = prepare(db, statements.list)
  const get = prepare(db, statements.get)
  const clashes = prepare(db, statements.clashes)
  const insert = prepare(db, statements.insert)
  const replace = prepare(db, statements.replace)
  const remove = prepare(db, statements.remove)

  function compare(id: string, expected: string): 'gone' | 'stale' | undefined {
    const row = get.first({ id })
    if (row === undefined) return 'gone'
    return row.document === expected ? undefined : 'stale'
  }

  return {
    list: async () => list.all({}).map(documentOf),
    get: async (id) => {
      const row = get.first({ id })
      return row && documentOf(row)
    },
    insert: async (record) => {
      const values = endpointValues(record)
      return writer.write(() => {
        const clash = clashOf(clashes.all(values), values)
        if (clash !== undefined) return clash
        insert.run(values)
        return 'stored'
      })
    },
    replace: async (record, expected) => {
      const values = endpointValues(record)
      const expectedText = documentText(expected)
      return writer.write(() => {
        const refused = compare(values.id, expectedText) ?? clashOf(clashes.all(values), values)
        if (refused !== undefined) return refused
        replace.run(values)
        return 'stored'
      })
    },
    remove: async (expected) => {
      const expectedText = documentText(expected)
      return writer.write(() => {
        const refused = compare(expected._id, expectedText)
        if (refused !== undefined) return refused
        remove.run({ id: expected._id })
        return 'removed'
      })
    },
    ping: async () => {
      get.first({ id: '' })
    },
    close,
  }
}
