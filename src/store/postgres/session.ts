/** The settings of the service's sessions, and queries on a connection outside the pool. */
import type pg from 'pg'

/** For a query that costs the server nothing: a connection that takes longer is dead. */
const ANSWER_TIMEOUT_MS = 5_000

/** Runs such a query on a connection outside the pool. */
export async function ask<Row extends object>(client: pg.Client, text: string): Promise<Row[]> {
  const query = { text, query_timeout: ANSWER_TIMEOUT_MS }
  return (await client.query<Row>(query)).rows
}

/**
 * The settings of each session. They are set after connecting: a pooler rejects connections that start with settings which
 * it does not know.
 */
export type SessionSettings = Readonly<{
  /** How long a statement may take; no limit by default. */
  statementTimeoutMs?: number
  /** How long an open transaction may be idle. */
  idleTimeoutMs: number
}>

/** One text of several statements. */
export function sessionText({ statementTimeoutMs = 0, idleTimeoutMs }: SessionSettings): string {
  return [
    `set statement_timeout = ${Math.ceil(statementTimeoutMs)}`,
    `set idle_in_transaction_session_timeout = ${Math.ceil(idleTimeoutMs)}`,
    // A transaction that waited for a lock must see what was committed meanwhile, whatever the default of the database.
    `set default_transaction_isolation = 'read committed'`,
  ].join('; ')
}

/** Whether the session is read-only. It may stay so after the server has become writable. */
export const READS_ONLY = `pg_is_in_recovery() or current_setting('transaction_read_only')::boolean`
