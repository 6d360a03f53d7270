/** Reads all of a database at one moment; a service may go on working on it. */
import { DatabaseSync } from 'node:sqlite'
import { sql } from 'kysely'
import type { AnswerRow, StoreRows } from '../sql/rows.ts'
import { compileStatement } from '../sql/statement.ts'
import type { Tables } from '../sql/tables.ts'
import { compileQueryBuilder } from './dialect.ts'
import { prepare } from './prepare.ts'

/** The tables must be up to date. Rejects with StoreUnavailable, or what SQLite throws. */
export function readRows(path: string): StoreRows {
  const queries = compileQueryBuilder()
  const endpoints = compileStatement<Record<never, never>, Tables['endpoints']>(() =>
    queries.selectFrom('endpoints').select(['id', 'name', 'route_key', 'document']),
  )
  const states = compileStatement<Record<never, never>, Tables['states']>(() =>
    queries.selectFrom('states').select(['endpoint_id', 'lookup_status', 'network_error', 'sequence', 'state']),
  )
  const versions = compileStatement<Record<never, never>, Tables['endpoint_versions']>(() =>
    queries.selectFrom('endpoint_versions').select(['endpoint_id', 'version', 'at', 'about', 'document']),
  )
  const answers = compileStatement<Record<never, never>, AnswerRow>(() =>
    queries
      .selectFrom('kept_answers')
      .select(['endpoint_id', 'key', 'fingerprint', 'until', 'size', 'detail', 'body'])
      .where('owner', '=', sql.lit('')),
  )
  const db = new DatabaseSync(path, { readOnly: true, timeout: 5_000 })
  try {
    db.exec('BEGIN')
    return {
      endpoints: prepare(db, endpoints).all({}),
      states: prepare(db, states).all({}),
      versions: prepare(db, versions).all({}),
      answers: prepare(db, answers).all({}),
    }
  } finally {
    db.close()
  }
}

/** Whether it is the file of a service, of whatever version. Throws what SQLite throws. */
export function holdsStore(path: string): boolean {
  const db = new DatabaseSync(path, { readOnly: true, timeout: 5_000 })
  try {
    return db.prepare(`select 1 from sqlite_master where name = 'schema_version'`).get() !== undefined
  } finally {
    db.close()
  }
}
