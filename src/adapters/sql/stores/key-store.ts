/** The store of API keys, of both databases. Every lookup reads the database: another process may have changed a key. */
import { isRole } from '../../../domain/access.ts'
import type { KeyStore, StoredKey } from '../../../domain/ports/key-store-port.ts'
import { type Database, step } from '../database.ts'
import { type NoValues, sql } from '../sql.ts'
import { keyText, type Tables } from '../tables.ts'
import { addEntries } from './audit-store.ts'

type Row = Tables['api_keys']

const SELECT = sql`select id, name, roles, hash, created_at, revoked_at, expires_at from api_keys`

const INSERT = sql<Row>`
  insert into api_keys (id, name, roles, hash, created_at, revoked_at, expires_at)
  values (:id, :name, :roles, :hash, :created_at, :revoked_at, :expires_at)`
const GET = sql<{ id: string }, Row>`${SELECT} where id = :id`
const LIST = sql<NoValues, Row>`${SELECT} order by created_at, id`
const REVOKE = sql<{ id: string; at: string }>`
  update api_keys set revoked_at = :at where id = :id and revoked_at = '' returning id`

/** Builds the store over a database whose tables are up to date. */
export function compileKeyStore(database: Database): KeyStore {
  return {
    insert: (key, entry) =>
      database.transaction(function* () {
        yield* step(INSERT, rowOf(key))
        yield* addEntries([entry])
      }),
    get: async (id) => (await database.read(GET, { id })).map(keyOf)[0],
    list: async () => (await database.read(LIST, {})).map(keyOf),
    revoke: (id, at, entry) =>
      database.transaction(function* () {
        const isRevoked = (yield* step(REVOKE, { id, at })).length > 0
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
