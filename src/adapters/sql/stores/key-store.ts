/** The store of API keys, of both databases. Every lookup reads the database: another process may have changed a key. */
import type { Kysely } from 'kysely'
import { isRole } from '../../../domain/access.ts'
import type { KeyStore, StoredKey } from '../../../domain/ports/key-store-port.ts'
import { type SqlDatabase, step } from '../database.ts'
import { compileStatement } from '../statement.ts'
import { keyText, type Tables } from '../tables.ts'
import { compileEntries } from './audit-store.ts'

type Row = Tables['api_keys']

function compileStatements(queries: Kysely<Tables>) {
  return {
    insert: compileStatement<Row>((value) =>
      queries.insertInto('api_keys').values({
        id: value('id'),
        name: value('name'),
        roles: value('roles'),
        hash: value('hash'),
        created_at: value('created_at'),
        revoked_at: value('revoked_at'),
        expires_at: value('expires_at'),
      }),
    ),
    get: compileStatement<Readonly<{ id: string }>, Row>((value) =>
      queries.selectFrom('api_keys').selectAll().where('id', '=', value('id')),
    ),
    list: compileStatement<Record<never, never>, Row>(() =>
      queries.selectFrom('api_keys').selectAll().orderBy('created_at').orderBy('id'),
    ),
    revoke: compileStatement<Readonly<{ id: string; at: string }>, Pick<Row, 'id'>>((value) =>
      queries
        .updateTable('api_keys')
        .set({ revoked_at: value('at') })
        .where('id', '=', value('id'))
        .where('revoked_at', '=', '')
        .returning('id'),
    ),
  }
}

/** Builds the store over a database whose tables are up to date. */
export function compileKeyStore(database: SqlDatabase): KeyStore {
  const statements = compileStatements(database.dialect.queries)
  const addEntries = compileEntries(database)
  return {
    insert: (key, entry) =>
      database.transaction(function* () {
        yield* step(statements.insert, rowOf(key))
        yield* addEntries([entry])
      }),
    get: async (id) => (await database.read(statements.get, { id })).map(keyOf)[0],
    list: async () => (await database.read(statements.list, {})).map(keyOf),
    revoke: (id, at, entry) =>
      database.transaction(function* () {
        const isRevoked = (yield* step(statements.revoke, { id, at })).length > 0
        if (isRevoked) yield* addEntries([entry])
        return isRevoked
      }),
  }
}

const rowOf = ({ id, name, roles, hash, createdAt, expiresAt = '' }: StoredKey): Row => ({
  id,
  name: keyText(name),
  roles: roles.join(' '),
  hash,
  created_at: createdAt,
  revoked_at: '',
  expires_at: expiresAt,
})

const keyOf = ({ id, name, roles, hash, created_at, revoked_at, expires_at }: Row): StoredKey => ({
  id,
  name: JSON.parse(`"${name}"`) as string,
  roles: roles.split(' ').filter(isRole),
  hash,
  createdAt: created_at,
  ...(expires_at === '' ? {} : { expiresAt: expires_at }),
  ...(revoked_at === '' ? {} : { revokedAt: revoked_at }),
})
