/** The audit log in SQLite: in the file of the store, flushed to the disk before a call is answered. */
import type { DatabaseSync } from 'node:sqlite'
import type { Kysely } from 'kysely'
import type { AuditStore } from '../../domain/audit.ts'
import { idFrom } from '../../domain/id.ts'
import {
  type AuditRow,
  auditEntryOf,
  auditRow,
  compileAuditFind,
  compileAuditStatements,
} from '../sql/audit-statements.ts'
import type { SqlValue } from '../sql/statement.ts'
import type { Tables } from '../sql/tables.ts'
import type { GroupCommit } from './group-commit.ts'
import { prepare } from './prepare.ts'

export type AuditStoreOptions = Readonly<{ db: DatabaseSync; queries: Kysely<Tables>; writer: GroupCommit }>

/** Builds the store over a connection whose tables are in place. */
export function compileAuditStore({ db, queries, writer }: AuditStoreOptions): AuditStore {
  const statements = compileAuditStatements(queries)
  const append = prepare(db, statements.append)
  const purge = prepare(db, statements.purge)
  const purgeRefused = prepare(db, statements.purgeRefused)
  return {
    append: async (entry) => {
      await writer.write(() => append.run(auditRow(entry)))
    },
    find: async (filter, limit, before) => {
      const { sql, parameters } = compileAuditFind(queries, filter, limit, before)
      const found = prepare<Record<never, never>, AuditRow>(db, { sql, bind: () => parameters as SqlValue[] })
      return found.all({}).map(auditEntryOf)
    },
    purge: async (before, refused) => {
      await writer.write(() => {
        purge.run({ oldest: idFrom(before) })
        purgeRefused.run({ most: refused })
      })
    },
  }
}
