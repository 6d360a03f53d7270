/**
 * The connections that queries share. None of their errors ends the process, and a broken connection is never reused; those
 * of the server and of the connection are reasons why the store is unavailable.
 */
import { createHash } from 'node:crypto'
import pg from 'pg'
import type { Logger } from '../../core/ports/logger-port.ts'
import { compileStoreFault, storeClosed, storeUnavailable } from '../sql/database.ts'
import { render, type Sql, type SqlValues } from '../sql/sql.ts'
import { StoreUnavailable, waitForStore } from '../store-access.ts'

type ConnectionOptions = Readonly<{
  url: string
  /** The most concurrent connections. */
  poolSize: number
  /** How long a query may take and an open transaction may be idle. */
  timeoutMs: number
  logger: Logger
}>

/** A statement as a connection runs it: prepared once under its name, then run by name. */
export type Prepared<Values, Row> = Readonly<{ name: string; text: string; bind(values: Values): unknown[]; row?: Row }>

/** Runs a statement; gives its rows. */
export type RunStatement = <Values, Row>(statement: Prepared<Values, Row>, values: Values) => Promise<Row[]>

export const CONNECT_TIMEOUT_MS = 2_000

/** How long a read-only session is used. The server may keep opening such sessions for hours. */
const READ_ONLY_MS = 1_000

export function prepare<Values extends SqlValues, Row>(statement: Sql<Values, Row>): Prepared<Values, Row> {
  const { text, bind } = render(statement, 'postgres')
  return prepareText(text, bind)
}

export const prepareText = <Values, Row>(text: string, bind: (values: Values) => unknown[]): Prepared<Values, Row> => ({
  name: createHash('sha256').update(text).digest('hex').slice(0, 32),
  text,
  bind,
})

/** For a query that was written for one call: without a name, as a connection would keep each text for ever. */
export function prepareOnce<Row>(query: Sql<never, Row>): Prepared<undefined, Row> {
  const { text, bind } = render(query, 'postgres')
  return { name: '', text, bind: () => bind({}) }
}

const BEGIN = prepareText<undefined, never>('begin', () => [])
const COMMIT = prepareText<undefined, never>('commit', () => [])
const ROLLBACK = prepareText<undefined, never>('rollback', () => [])

/** Connects at the first call. Every call rejects with StoreUnavailable if the server did not answer. */
export class Connections {
  readonly #options: ConnectionOptions
  /** Of read-only sessions: until when each is used, on the clock of `performance.now()`. */
  readonly #readOnly = new WeakMap<pg.ClientBase, number>()
  readonly #running = new Set<Promise<unknown>>()
  /** Of each call that waits for a connection: the function that makes it ask the current pool. */
  readonly #waiting = new Set<() => void>()
  #pool: pg.Pool
  #isClosed = false

  constructor(options: ConnectionOptions) {
    this.#options = options
    this.#pool = this.#createPool()
  }

  /** Several queries as one access to the store: for a management call, they share the time that it waits. */
  access<T>(work: () => Promise<T>): Promise<T> {
    // A query that its own timeout ends is first.
    return waitForStore(this.#options.timeoutMs + 100, work)
  }

  run<Values, Row>(statement: Prepared<Values, Row>, values: Values): Promise<Row[]> {
    return this.access(() => this.#track((run) => run(statement, values)))
  }

  /** Commits when the promise of `work` resolves, rolls back when it rejects. */
  transaction<T>(work: (run: RunStatement) => Promise<T>): Promise<T> {
    return this.access(() =>
      this.#track(async (run) => {
        await run(BEGIN, undefined)
        try {
          const result = await work(run)
          await run(COMMIT, undefined)
          return result
        } catch (thrown) {
          if (isRefusal(thrown)) await run(ROLLBACK, undefined)
          throw thrown
        }
      }),
    )
  }

  /**
   * Replaces every connection: after one was lost, the idle ones may be dead too. Calls that wait for a connection get a
   * new one.
   */
  renew(): void {
    if (this.#isClosed) return
    void this.#pool.end()
    this.#pool = this.#createPool()
    const reconnects = [...this.#waiting]
    this.#waiting.clear()
    for (const reconnect of reconnects) reconnect()
  }

  /** Accepts no more calls; resolves when the running ones are done and every connection is closed. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.allSettled(this.#running)
    if (!this.#pool.ended) await this.#pool.end()
  }

  async #track<T>(work: (run: RunStatement) => Promise<T>): Promise<T> {
    if (this.#isClosed) throw storeClosed()
    const call = this.#onConnection(work)
    this.#running.add(call)
    try {
      return await call
    } catch (thrown) {
      throw storeFault(thrown)
    } finally {
      this.#running.delete(call)
    }
  }

  async #onConnection<T>(work: (run: RunStatement) => Promise<T>): Promise<T> {
    const client = await this.#connect()
    let broken = true
    try {
      const result = await work(runOn(client))
      broken = false
      return result
    } catch (thrown) {
      broken = !isRefusal(thrown)
      if (isReadOnly(thrown)) this.#markReadOnly(client)
      throw thrown
    } finally {
      client.release(broken)
    }
  }

  #connect(): Promise<pg.PoolClient> {
    return new Promise((resolve, reject) => {
      const reconnect = () => resolve(this.#connect())
      this.#waiting.add(reconnect)
      this.#pool.connect().then(
        (client) => {
          // The connection is ready too late, from a pool that was replaced.
          if (!this.#waiting.delete(reconnect)) return client.release(true)
          if (performance.now() < (this.#readOnly.get(client) ?? Number.POSITIVE_INFINITY)) return resolve(client)
          client.release(true)
          resolve(this.#connect())
        },
        (thrown: unknown) => {
          this.#waiting.delete(reconnect)
          reject(thrown)
        },
      )
    })
  }

  #markReadOnly(client: pg.ClientBase): void {
    if (!this.#readOnly.has(client)) this.#readOnly.set(client, performance.now() + READ_ONLY_MS)
  }

  #createPool(): pg.Pool {
    const { url, poolSize, timeoutMs, logger } = this.#options
    // The timeout of the server is the shorter one, so that a slow query costs no connection.
    const session = sessionText({ statementTimeoutMs: timeoutMs * 0.9, idleTimeoutMs: timeoutMs })
    const pool = new pg.Pool({
      connectionString: url,
      application_name: 'crosswalk',
      max: poolSize,
      connectionTimeoutMillis: Math.min(CONNECT_TIMEOUT_MS, timeoutMs),
      query_timeout: timeoutMs,
      keepAlive: true,
      onConnect: async (client) => {
        await client.query(session)
        const { rows } = await client.query<{ read_only: boolean }>(`select ${READS_ONLY} as read_only`)
        if (rows[0]?.read_only) this.#markReadOnly(client)
      },
    })
    pool.on('error', (err: Error) => logger.warn({ err }, 'A connection to the store was lost'))
    // Also while a query or transaction uses the connection: its own promise rejects.
    pool.on('connect', (client) => client.on('error', () => undefined))
    return pool
  }
}

/** Runs statements on one connection. */
export function runOn(client: pg.ClientBase): RunStatement {
  return async <Values, Row>({ name, text, bind }: Prepared<Values, Row>, values: Values) => {
    const { rows } = await client.query({ name, text, values: bind(values) })
    return rows as Row[]
  }
}

/** For a query that costs the server nothing: a connection that takes longer is dead. */
const ANSWER_TIMEOUT_MS = 5_000

/** Runs such a query on a connection outside the pool. */
export async function ask<Row extends object>(client: pg.ClientBase, text: string): Promise<Row[]> {
  const query = { text, query_timeout: ANSWER_TIMEOUT_MS }
  return (await client.query<Row>(query)).rows
}

/**
 * The settings of each session. They are set after connecting: a pooler rejects connections that start with settings which
 * it does not know.
 */
type SessionSettings = Readonly<{
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

/** The session may stay read-only after the server has become writable. */
export const READS_ONLY = `pg_is_in_recovery() or current_setting('transaction_read_only')::boolean`

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

/** True if the user lacks a right. Without any right on a schema, PostgreSQL reports that there is no schema (3F000). */
export const isDenied = (thrown: unknown): boolean => ['42501', '3F000'].includes(sqlState(thrown) ?? '')

/** True if the server rejected a query and the connection is still usable. */
const isRefusal = (thrown: unknown): boolean => {
  const code = sqlState(thrown)
  return code !== undefined && !/^(?:08|57P)/.test(code)
}

/** The session was asked and is read-only. */
export class TakesNoWrites extends StoreUnavailable {
  constructor() {
    super('The store did not answer: it takes no writes now.')
  }
}

const isReadOnly = (thrown: unknown): boolean => thrown instanceof TakesNoWrites || sqlState(thrown) === '25006'

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

/** In characters: a statement is one message to the server, and held in memory as a whole. */
export const CHUNK_LIMIT = 4_000_000

/** The size of a row besides its text, in characters. */
const ROW_SIZE = 1_000

/** Splits rows into chunks of one statement each, in their order. A single row may be larger than the limit. */
export function* splitIntoChunks<Row>(
  rows: Iterable<Row>,
  countCharacters: (row: Row) => number,
): Generator<readonly Row[]> {
  let chunk: Row[] = []
  let size = 0
  for (const row of rows) {
    const more = countCharacters(row) + ROW_SIZE
    if (chunk.length > 0 && size + more > CHUNK_LIMIT) {
      yield chunk
      chunk = []
      size = 0
    }
    chunk.push(row)
    size += more
  }
  if (chunk.length > 0) yield chunk
}
