/** The sessions of the service: how they are set, and how one that is alone is asked. */
import type pg from 'pg'

/** For a question that costs the server nothing: a connection that takes longer is dead. */
const ANSWER_TIMEOUT_MS = 5_000

/** Asks such a question, outside the connections that queries share. */
export async function ask<Row extends object>(client: pg.Client, text: string): Promise<Row[]> {
  const query = { text, query_timeout: ANSWER_TIMEOUT_MS }
  return (await client.query<Row>(query)).rows
}

/**
 * What each session is set to. After connecting, not with it: a pooler refuses connections that begin with settings
 * which it does not know.
 */
export type SessionSettings = Readonly<{
  /** How long a statement may take; without a limit where it is left out. */
  statementTimeoutMs?: number
  /** How long an open transaction may stand still. */
  idleTimeoutMs: number
}>

/** One text of several statements. */
export function sessionText({ statementTimeoutMs = 0, idleTimeoutMs }: SessionSettings): string {
  return [
    `set statement_timeout = ${Math.ceil(statementTimeoutMs)}`,
    `set idle_in_transaction_session_timeout = ${Math.ceil(idleTimeoutMs)}`,
    // Who waits for a lock must see what was committed meanwhile, whatever the default of the database.
    `set default_transaction_isolation = 'read committed'`,
  ].join('; ')
}

/** Whether the session can only read: it may stay so, whatever becomes of the server. */
export const READS_ONLY = `pg_is_in_recovery() or current_setting('transaction_read_only')::boolean`
