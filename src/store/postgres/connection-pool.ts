/** The connections that queries share. None of their errors ends the process, and a broken connection is never reused. */
import { createHash } from 'node:crypto'
import pg from 'pg'
import type { Logger } from '../../domain/ports/logger-port.ts'
import { waitForStore } from '../../domain/ports/store-port.ts'
import { render, type Sql, type SqlValues } from '../sql/sql.ts'
import { storeClosed } from '../sql/store-faults.ts'
import { isReadOnly, isRefusal, storeFault } from './error-codes.ts'
import { READS_ONLY, sessionText } from './session.ts'

export type ConnectionOptions = Readonly<{
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

export type Connections = Readonly<{
  /** Rejects with StoreUnavailable if the server did not answer. */
  run: RunStatement
  /** Several queries as one access to the store: for a management call, they share the time that it waits. */
  access<T>(work: () => Promise<T>): Promise<T>
  /** Commits when the promise of `work` resolves, rolls back when it rejects. */
  transaction<T>(work: (run: RunStatement) => Promise<T>): Promise<T>
  /**
   * Replaces every connection: after one was lost, the idle ones may be dead too. Calls that wait for a connection get a
   * new one.
   */
  renew(): void
  /** Accepts no more calls; resolves when the running ones are done and every connection is closed. */
  close(): Promise<void>
}>

export const CONNECT_TIMEOUT_MS = 2_000

/** How long a read-only session is used. The server may go on opening such sessions for hours. */
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

/** Connects at the first call. */
export function createConnections(options: ConnectionOptions): Connections {
  /** Until when a read-only session is used, on the clock of `performance.now()`. */
  const readOnly = new WeakMap<pg.ClientBase, number>()
  const markReadOnly = (client: pg.ClientBase) => {
    if (!readOnly.has(client)) readOnly.set(client, performance.now() + READ_ONLY_MS)
  }
  // A query that its own timeout ends is first.
  const mostMs = options.timeoutMs + 100
  let pool = createPool(options, markReadOnly)
  let closed = false
  const running = new Set<Promise<unknown>>()
  /** Of each call that waits for a connection: the function that makes it ask the current pool. */
  const waiting = new Set<() => void>()

  const connect = (): Promise<pg.PoolClient> =>
    new Promise((resolve, reject) => {
      const reconnect = () => resolve(connect())
      waiting.add(reconnect)
      pool.connect().then(
        (client) => {
          // The connection comes too late, from a pool that was replaced.
          if (!waiting.delete(reconnect)) return client.release(true)
          if (performance.now() < (readOnly.get(client) ?? Number.POSITIVE_INFINITY)) return resolve(client)
          client.release(true)
          resolve(connect())
        },
        (thrown: unknown) => {
          waiting.delete(reconnect)
          reject(thrown)
        },
      )
    })

  async function onConnection<T>(work: (run: RunStatement) => Promise<T>): Promise<T> {
    const client = await connect()
    let broken = true
    try {
      const result = await work(runOn(client))
      broken = false
      return result
    } catch (thrown) {
      broken = !isRefusal(thrown)
      if (isReadOnly(thrown)) markReadOnly(client)
      throw thrown
    } finally {
      client.release(broken)
    }
  }

  function renew(): void {
    if (closed) return
    void pool.end()
    pool = createPool(options, markReadOnly)
    const reconnects = [...waiting]
    waiting.clear()
    for (const reconnect of reconnects) reconnect()
  }

  async function track<T>(work: (run: RunStatement) => Promise<T>): Promise<T> {
    if (closed) throw storeClosed()
    const call = onConnection(work)
    running.add(call)
    try {
      return await call
    } catch (thrown) {
      throw storeFault(thrown)
    } finally {
      running.delete(call)
    }
  }

  const access = <T>(work: () => Promise<T>): Promise<T> => waitForStore(mostMs, work)

  return {
    access,
    run: (statement, values) => access(() => track((run) => run(statement, values))),
    transaction: (work) =>
      access(() =>
        track(async (run) => {
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
      ),
    renew,
    close: async () => {
      closed = true
      await Promise.allSettled(running)
      if (!pool.ended) await pool.end()
    },
  }
}

function createPool(
  { url, poolSize, timeoutMs, logger }: ConnectionOptions,
  markReadOnly: (client: pg.ClientBase) => void,
): pg.Pool {
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
      if (rows[0]?.read_only) markReadOnly(client)
    },
  })
  const warn = (err: Error) => logger.warn({ err }, 'A connection to the store was lost')
  pool.on('error', warn)
  // Also while a query or transaction uses the connection: its own promise rejects.
  pool.on('connect', (client) => client.on('error', () => undefined))
  return pool
}

/** Runs statements on one connection. */
export function runOn(client: pg.ClientBase): RunStatement {
  return async <Values, Row>({ name, text, bind }: Prepared<Values, Row>, values: Values) => {
    const { rows } = await client.query({ name, text, values: bind(values) })
    return rows as Row[]
  }
}
