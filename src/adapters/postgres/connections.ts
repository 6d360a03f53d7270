/** The connections that queries share. None of their errors ends the process, and a broken one is never used again. */
import { createHash } from 'node:crypto'
import pg from 'pg'
import type { Logger } from '../../domain/ports.ts'
import type { SqlValues, Statement } from '../sql/statement.ts'
import { isReadOnly, isRefusal, storeClosed, storeFault } from './faults.ts'
import { READS_ONLY, sessionText } from './session.ts'

export type ConnectionOptions = Readonly<{
  url: string
  /** The most connections at once. */
  poolSize: number
  /** How long a query may take, and an open transaction may stand still. */
  timeoutMs: number
  logger: Logger
}>

/** A statement as a connection runs it: prepared once under its name, then by that. */
export type Prepared<Values, Row> = Readonly<{ name: string; text: string; bind(values: Values): unknown[]; row?: Row }>

/** Runs a statement where it stands: in a transaction, or by itself. */
export type RunStatement = <Values, Row>(statement: Prepared<Values, Row>, values: Values) => Promise<Row[]>

export type Connections = Readonly<{
  /** Rejects with StoreUnavailable where the server did not answer. */
  run: RunStatement
  /** Commits what `work` did when its promise resolves, else nothing of it. */
  transaction<T>(work: (run: RunStatement) => Promise<T>): Promise<T>
  /**
   * Lets go of every connection, for new ones: after a break, those at rest may be dead without knowing. Calls that
   * wait for a connection wait for a new one.
   */
  renew(): void
  /** Takes no more calls; resolves when those under way are done and every connection is closed. */
  close(): Promise<void>
}>

/** A connection that takes longer is not worth waiting for. */
export const CONNECT_TIMEOUT_MS = 2_000

/** A session that can only read is used so long and no longer: the server may go on making such for hours. */
const READ_ONLY_MS = 1_000

export const prepare = <Values extends SqlValues, Row>({ sql, bind }: Statement<Values, Row>): Prepared<Values, Row> =>
  prepareText(sql, bind)

export const prepareText = <Values, Row>(text: string, bind: (values: Values) => unknown[]): Prepared<Values, Row> => ({
  name: createHash('sha256').update(text).digest('hex').slice(0, 32),
  text,
  bind,
})

const BEGIN = prepareText<undefined, never>('begin', () => [])
const COMMIT = prepareText<undefined, never>('commit', () => [])
const ROLLBACK = prepareText<undefined, never>('rollback', () => [])

/** Connects when it is first asked. */
export function createConnections(options: ConnectionOptions): Connections {
  /** Until when a session that can only read is used. */
  const readOnly = new WeakMap<pg.ClientBase, number>()
  const markReadOnly = (client: pg.ClientBase) => {
    if (!readOnly.has(client)) readOnly.set(client, performance.now() + READ_ONLY_MS)
  }
  let pool = createPool(options, markReadOnly)
  let closed = false
  const underWay = new Set<Promise<unknown>>()
  /** Of each call that waits for a connection: how it turns to the pool of now. */
  const waiting = new Set<() => void>()

  const connect = (): Promise<pg.PoolClient> =>
    new Promise((resolve, reject) => {
      const turn = () => resolve(connect())
      waiting.add(turn)
      pool.connect().then(
        (client) => {
          // Where it comes too late, from a pool that is no more.
          if (!waiting.delete(turn)) return client.release(true)
          if (performance.now() < (readOnly.get(client) ?? Number.POSITIVE_INFINITY)) return resolve(client)
          client.release(true)
          resolve(connect())
        },
        (thrown: unknown) => {
          waiting.delete(turn)
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
    const turns = [...waiting]
    waiting.clear()
    for (const turn of turns) turn()
  }

  async function track<T>(work: (run: RunStatement) => Promise<T>): Promise<T> {
    if (closed) throw storeClosed()
    const running = onConnection(work)
    underWay.add(running)
    try {
      return await running
    } catch (thrown) {
      throw storeFault(thrown)
    } finally {
      underWay.delete(running)
    }
  }

  return {
    run: (statement, values) => track((run) => run(statement, values)),
    transaction: (work) =>
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
    renew,
    close: async () => {
      closed = true
      await Promise.allSettled(underWay)
      if (!pool.ended) await pool.end()
    },
  }
}

function createPool(
  { url, poolSize, timeoutMs, logger }: ConnectionOptions,
  markReadOnly: (client: pg.ClientBase) => void,
): pg.Pool {
  // The server gives up first, so that a slow query costs no connection.
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
  // Also while a query or transaction has it: whoever waits is told by its own promise.
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
