/** API keys in PostgreSQL, for all instances: each look-up asks the server. */
import type { Kysely } from 'kysely'
import type { KeyStore } from '../../domain/access.ts'
import { compileKeyStatements, keyOf, keyValues } from '../sql/key-statements.ts'
import type { Tables } from '../sql/tables.ts'
import { type Connections, prepare } from './connections.ts'

export type KeyStoreOptions = Readonly<{ connections: Connections; queries: Kysely<Tables> }>

/** Builds the store over a database whose tables are in place. */
export function compileKeyStore({ connections, queries }: KeyStoreOptions): KeyStore {
  const statements = compileKeyStatements(queries)
  const insert = prepare(statements.insert)
  const get = prepare(statements.get)
  const list = prepare(statements.list)
  const revoke = prepare(statements.revoke)
  return {
    insert: async (key) => {
      await connections.run(insert, keyValues(key))
    },
    get: async (id) => {
      const [row] = await connections.run(get, { id })
      return row && keyOf(row)
    },
    list: async () => (await connections.run(list, {})).map(keyOf),
    revoke: async (id, at) => (await connections.run(revoke, { id, at })).length > 0,
  }
}
