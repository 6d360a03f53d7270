/** What the errors of PostgreSQL and of the way to it mean to whoever asked the store. */
import pg from 'pg'
import { StoreUnavailable } from '../../domain/ports.ts'

/**
 * Classes and codes of https://www.postgresql.org/docs/current/errcodes-appendix.html that tell of the server, the way
 * to it or another transaction. The others tell of a wrong query or value, which trying again would not mend.
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

/** What only a person can mend, so that waiting at start would not help. */
const LASTING = ['28', '3D000', '42501']

const sqlState = (thrown: unknown): string | undefined =>
  thrown instanceof pg.DatabaseError && thrown.code !== undefined ? thrown.code : undefined

export const isLasting = (thrown: unknown): boolean => LASTING.some((code) => sqlState(thrown)?.startsWith(code))

/** Whether the user lacks a right; without any on a schema, PostgreSQL says that there is none to create in (3F000). */
export const isDenied = (thrown: unknown): boolean => ['42501', '3F000'].includes(sqlState(thrown) ?? '')

/** Whether the server refused a query on a connection that is still good. */
export const isRefusal = (thrown: unknown): boolean => {
  const code = sqlState(thrown)
  return code !== undefined && !/^(?:08|57P)/.test(code)
}

/** A session that can only read, as found out by asking it. */
export class TakesNoWrites extends StoreUnavailable {
  constructor() {
    super('The store did not answer: it takes no writes now.')
  }
}

/** Whether it came of a session that can only read: it may stay so, whatever becomes of the server. */
export const isReadOnly = (thrown: unknown): boolean => thrown instanceof TakesNoWrites || sqlState(thrown) === '25006'

/** The unique index that a write ran into; undefined for any other error. */
export const violatedIndex = (thrown: unknown): string | undefined =>
  thrown instanceof pg.DatabaseError && thrown.code === '23505' ? thrown.constraint : undefined

/** What is wrong with the server or the way to it, as part of a sentence; undefined where it is neither. */
export function unavailableReason(thrown: unknown): string | undefined {
  const code = sqlState(thrown)
  if (code !== undefined) return UNAVAILABLE.find(([start]) => code.startsWith(start))?.[1]
  if (thrown instanceof AggregateError) return unavailableReason(thrown.errors[0])
  if (!(thrown instanceof Error)) return undefined
  // The driver tells of lost connections and its own timeouts by plain errors, the system by errors with a code.
  if ('code' in thrown && typeof thrown.code === 'string') return `the connection failed (${thrown.code})`
  return thrown.constructor === Error ? 'the connection failed or was too slow' : undefined
}

/** What the server or a pooler says of it, on one line; undefined where neither has said anything. */
export const serverMessage = (thrown: unknown): string | undefined =>
  thrown instanceof pg.DatabaseError ? thrown.message.replaceAll(/\s+/g, ' ') : undefined

/** A thrown value as what the ports promise: `StoreUnavailable` where trying again may help, else itself. */
export function storeFault(thrown: unknown): unknown {
  if (thrown instanceof StoreUnavailable) return thrown
  const reason = unavailableReason(thrown)
  return reason === undefined ? thrown : new StoreUnavailable(`The store did not answer: ${reason}.`, { cause: thrown })
}

export const storeClosed = (): StoreUnavailable => new StoreUnavailable('The store is closed.')

/** The one row of `configuration` is not there: somebody is putting a backup back, or has emptied the database. */
export const storeEmpty = (): StoreUnavailable =>
  new StoreUnavailable('The store did not answer: its tables are being restored.')
