/** The errors of PostgreSQL and of the connection to it as reasons why the store is unavailable. */
import pg from 'pg'
import { compileStoreFault, storeUnavailable } from '../sql/database.ts'
import { StoreUnavailable } from '../store-access.ts'

/**
 * Classes and codes of https://www.postgresql.org/docs/current/errcodes-appendix.html for faults of the server, the
 * connection or another transaction. The other codes report a wrong query or value, which a retry does not fix.
 */
const UNAVAILABLE: readonly (readonly [code: string, reason: string])[] = [
  ['08', 'the connection failed'],
  ['25006', 'it takes no writes now'],
  ['28', 'it refused the user or password'],
  ['3D000', 'there is no such database'],
  ['40', 'another transaction stood in the way'],
  ['42P01', 'its tables are not there'],
  ['42501', 'the user may not use its tables'],
  ['53', 'it has run out of connections, memory or disk'],
  ['55P03', 'a lock was held for too long'],
  ['57', 'it is shutting down, starting, or was too slow'],
  ['58', 'its disk or system failed'],
  ['XX', 'its data is damaged'],
]

/** Faults that only an operator can fix, so that the start does not wait for them to end. */
const LASTING = ['28', '3D000', '42501']

const sqlState = (thrown: unknown): string | undefined =>
  thrown instanceof pg.DatabaseError && thrown.code !== undefined ? thrown.code : undefined

export const isLasting = (thrown: unknown): boolean => LASTING.some((code) => sqlState(thrown)?.startsWith(code))

/** Whether the user lacks a right. Without any right on a schema, PostgreSQL reports that there is no schema (3F000). */
export const isDenied = (thrown: unknown): boolean => ['42501', '3F000'].includes(sqlState(thrown) ?? '')

/** Whether the server rejected a query and the connection is still usable. */
export const isRefusal = (thrown: unknown): boolean => {
  const code = sqlState(thrown)
  return code !== undefined && !/^(?:08|57P)/.test(code)
}

/** The session was asked and is read-only. */
export class TakesNoWrites extends StoreUnavailable {
  constructor() {
    super('The store did not answer: it takes no writes now.')
  }
}

/** Whether the error came from a read-only session: it may stay read-only after the server has become writable. */
export const isReadOnly = (thrown: unknown): boolean => thrown instanceof TakesNoWrites || sqlState(thrown) === '25006'

/** The unique index that a write violated; undefined for any other error. */
export const violatedIndex = (thrown: unknown): string | undefined =>
  thrown instanceof pg.DatabaseError && thrown.code === '23505' ? thrown.constraint : undefined

/** The fault of the server or the connection, as part of a sentence; undefined for any other error. */
export function unavailableReason(thrown: unknown): string | undefined {
  const code = sqlState(thrown)
  if (code !== undefined) return UNAVAILABLE.find(([start]) => code.startsWith(start))?.[1]
  if (thrown instanceof AggregateError) return unavailableReason(thrown.errors[0])
  if (!(thrown instanceof Error)) return undefined
  // The driver throws plain errors for lost connections and its own timeouts, the system errors with a code.
  if ('code' in thrown && typeof thrown.code === 'string') return `the connection failed (${thrown.code})`
  return thrown.constructor === Error ? 'the connection failed or was too slow' : undefined
}

/** The message of the server or a pooler, on one line; undefined if neither sent one. */
export const serverMessage = (thrown: unknown): string | undefined =>
  thrown instanceof pg.DatabaseError ? thrown.message.replaceAll(/\s+/g, ' ') : undefined

/** Maps what the driver throws to what the ports promise. */
export const storeFault = compileStoreFault(unavailableReason)

/** The one row of `configuration` is missing: a backup is being restored, or the database was emptied. */
export const storeEmpty = (): StoreUnavailable => storeUnavailable('its tables are being restored')
