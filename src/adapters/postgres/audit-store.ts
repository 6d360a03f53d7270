/** The audit log in PostgreSQL, for all instances together. */
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
import type { Tables } from '../sql/tables.ts'
import { type Connections, type Prepared, prepare } from './connections.ts'

export type AuditStoreOptions = Readonly<{ connections: Connections; queries: Kysely<Tables> }>

/** Builds the store over a database whose tables are in place. */
export function compileAuditStore({ connections, queries }: AuditStoreOptions): AuditStore {
  const statements = compileAuditStatements(queries)
  const append = prepare(statements.append)
  const purge = prepare(statements.purge)
  const purgeRefused = prepare(statements.purgeRefused)
  return {
    append: async (entry) => {
      await connections.run(append, auditRow(entry))
    },
    find: async (filter, limit, before) => {
      const { sql, parameters } = compileAuditFind(queries, filter, limit, before)
      // Not prepared under a name: its text differs with the filter, and a connection would keep each for ever.
      const find: Prepared<undefined, AuditRow> = { name: '', text: sql, bind: () => [...parameters] }
      return (await connections.run(find, undefined)).map(auditEntryOf)
    },
    purge: async (before, refused) => {
      await connections.run(purge, { oldest: idFrom(before) })
      await connections.run(purgeRefused, { most: refused })
    },
  }
}
