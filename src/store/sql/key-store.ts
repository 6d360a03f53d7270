/** The store of API keys, of both databases. Every lookup reads the database: another process may have changed a key. */
import { isRole, type Role } from '../../core/access.ts'
import { type AuditEntry, addEntries } from './audit-store.ts'
import { type Database, step } from './database.ts'
import { keyText, type Tables } from './schema.ts'
import { type NoValues, sql } from './sql.ts'

/** An API key without the key itself, which is stored nowhere. */
export type StoredKey = Readonly<{
  /** The part of the key that finds it: 16 lower-case hex digits. */
  id: string
  name: string
  roles: readonly Role[]
  /** SHA-256 of the whole key, in lower-case hex. */
  hash: string
  /** ISO 8601 with milliseconds and `Z`, as the others. */
  createdAt: string
  /** From then on the key is not accepted; absent if it does not expire. */
  expiresAt?: string
  revokedAt?: string
}>

type Row = Tables['api_keys']

const SELECT = sql`select id, name, roles, hash, created_at, revoked_at, expires_at from api_keys`

const INSERT = sql<Row>`
  insert into api_keys (id, name, roles, hash, created_at, revoked_at, expires_at)
  values (:id, :name, :roles, :hash, :created_at, :revoked_at, :expires_at)`
const GET = sql<{ id: string }, Row>`${SELECT} where id = :id`
const LIST = sql<NoValues, Row>`${SELECT} order by created_at, id`
const REVOKE = sql<{ id: string; at: string }>`
  update api_keys set revoked_at = :at where id = :id and revoked_at = '' returning id`

export type KeyStore = ReturnType<typeof compileKeyStore>

/**
 * Builds the store over a database whose tables are up to date. Revoked keys stay, so that the audit log can be read later. A
 * change is written in one transaction with its `entry` in the audit log. Rejects with StoreUnavailable.
 */
export function compileKeyStore(database: Database) {
  return {
    insert: (key: StoredKey, entry?: AuditEntry): Promise<void> =>
      database.transaction(function* () {
        yield* step(INSERT, toRow(key))
        yield* addEntries([entry])
      }),
    get: async (id: string): Promise<StoredKey | undefined> => (await database.read(GET, { id })).map(keyFromRow)[0],
    /** Oldest first. */
    list: async (): Promise<readonly StoredKey[]> => (await database.read(LIST, {})).map(keyFromRow),
    /** Resolves to false if there is no such key or it is revoked already. */
    revoke: (id: string, at: string, entry?: AuditEntry): Promise<boolean> =>
      database.transaction(function* () {
        const isRevoked = (yield* step(REVOKE, { id, at })).length > 0
        if (isRevoked) yield* addEntries([entry])
        return isRevoked
      }),
  }
}

const toRow = ({ id, name, roles, hash, createdAt, expiresAt = '' }: StoredKey): Row => ({
  id,
  name: keyText(name),
  roles: roles.join(' '),
  hash,
  created_at: createdAt,
  revoked_at: '',
  expires_at: expiresAt,
})

const keyFromRow = ({ id, name, roles, hash, created_at, revoked_at, expires_at }: Row): StoredKey => ({
  id,
  name: JSON.parse(`"${name}"`) as string,
  roles: roles.split(' ').filter(isRole),
  hash,
  createdAt: created_at,
  ...(expires_at === '' ? {} : { expiresAt: expires_at }),
  ...(revoked_at === '' ? {} : { revokedAt: revoked_at }),
})
