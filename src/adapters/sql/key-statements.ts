/** The queries behind API keys, and keys as rows. */
import type { Kysely } from 'kysely'
import { isRole, type StoredKey } from '../../domain/access.ts'
import { compileStatement } from './statement.ts'
import { keyText, type Tables } from './tables.ts'

type Row = Tables['api_keys']
export type KeyValues = Readonly<{ id: string; name: string; roles: string; hash: string; createdAt: string }>

export function compileKeyStatements(db: Kysely<Tables>) {
  return {
    insert: compileStatement<KeyValues>((value) =>
      db
        .insertInto('api_keys')
        .columns(['id', 'name', 'roles', 'hash', 'created_at', 'revoked_at'])
        .values({
          id: value('id'),
          name: value('name'),
          roles: value('roles'),
          hash: value('hash'),
          created_at: value('createdAt'),
          revoked_at: '',
        }),
    ),
    get: compileStatement<Readonly<{ id: string }>, Row>((value) =>
      db.selectFrom('api_keys').selectAll().where('id', '=', value('id')),
    ),
    list: compileStatement<Record<never, never>, Row>(() =>
      db.selectFrom('api_keys').selectAll().orderBy('created_at').orderBy('id'),
    ),
    revoke: compileStatement<Readonly<{ id: string; at: string }>, Pick<Row, 'id'>>((value) =>
      db
        .updateTable('api_keys')
        .set({ revoked_at: value('at') })
        .where('id', '=', value('id'))
        .where('revoked_at', '=', '')
        .returning('id'),
    ),
  }
}

export const keyValues = ({ id, name, roles, hash, createdAt }: StoredKey): KeyValues => ({
  id,
  name: keyText(name),
  roles: roles.join(' '),
  hash,
  createdAt,
})

export const keyOf = ({ id, name, roles, hash, created_at, revoked_at }: Row): StoredKey => ({
  id,
  name: JSON.parse(`"${name}"`) as string,
  roles: roles.split(' ').filter(isRole),
  hash,
  createdAt: created_at,
  ...(revoked_at === '' ? {} : { revokedAt: revoked_at }),
})
