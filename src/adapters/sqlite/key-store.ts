/** API keys in SQLite. Each look-up reads the file: another process may have made or revoked a key a moment ago. */
import type { DatabaseSync } from 'node:sqlite'
import type { Kysely } from 'kysely'
import type { KeyStore } from '../../domain/access.ts'
import { compileKeyStatements, keyOf, keyValues } from '../sql/key-statements.ts'
import type { Tables } from '../sql/tables.ts'
import type { GroupCommit } from './group-commit.ts'
import { prepare } from './prepare.ts'

export type KeyStoreOptions = Readonly<{ db: DatabaseSync; queries: Kysely<Tables>; writer: GroupCommit }>

/** Builds the store over a connection whose tables are in place. */
export function compileKeyStore({ db, queries, writer }: KeyStoreOptions): KeyStore {
  const statements = compileKeyStatements(queries)
  const insert = prepare(db, statements.insert)
  const get = prepare(db, statements.get)
  const list = prepare(db, statements.list)
  const revoke = prepare(db, statements.revoke)
  return {
    insert: async (key) => {
      await writer.write(() => insert.run(keyValues(key)))
    },
    get: async (id) => {
      const row = get.first({ id })
      return row && keyOf(row)
    },
    list: async () => list.all({}).map(keyOf),
    revoke: (id, at) => writer.write(() => revoke.all({ id, at }).length > 0),
  }
}
