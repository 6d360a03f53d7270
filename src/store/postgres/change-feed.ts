/**
 * Listens to changes on a connection of its own. PostgreSQL sends a notification at the commit of each change. Polling the
 * version every few seconds on the same connection finds lost notifications and a lost connection. Without a connection,
 * the pool of the queries is asked.
 */

import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { type Backoff, nextPauseMs } from '../../core/backoff.ts'
import type { Logger } from '../../core/ports/logger-port.ts'
import { readDocument } from '../sql/schema.ts'
import type { ChangeFeed, StoreChanges } from '../store.ts'
import {
  CONNECT_TIMEOUT_MS,
  type Connections,
  prepareText,
  type RunStatement,
  runOn,
  storeEmpty,
} from './connection-pool.ts'

type ChangeFeedOptions = Readonly<{ url: string; connections: Connections; logger: Logger }>

const POLL_MS = 5_000
const ANSWER_TIMEOUT_MS = 2_000
const BACKOFF: Backoff = { firstMs: 100, maxMs: 2_000 }

type SinceRow = Readonly<{
  /** A database without its row of `configuration` has none. */
  version: string | null
  id: string | null
  document: string | null
  number: number | null
}>

/**
 * One statement, so that version and documents are of one moment. It returns one row if nothing is new. The version is read
 * as a scalar: for a join, a server without statistics expects thousands of rows and compiles the statement at every run.
 */
const SINCE = prepareText<number, SinceRow>(
  `select current.version, endpoints.id, case when endpoints.revision > $1 then endpoints.document end as document,
    case when endpoints.revision > $1 then (select max(version) from endpoint_versions where endpoint_id = endpoints.id) end as number
  from (select (select version from configuration) as version) current
    left join endpoints on (select version from configuration) > $1 order by endpoints.id`,
  (version) => [version],
)

const VERSION = prepareText<undefined, Readonly<{ version: string }>>('select version from configuration', () => [])

export class PostgresChangeFeed implements ChangeFeed {
  readonly #url: string
  readonly #connections: Connections
  readonly #logger: Logger
  readonly #closing = new AbortController()
  /** The connection that is not known to be lost, and the function that reports it lost. */
  #listening: Readonly<{ run: RunStatement; lose(): void }> | undefined
  #watching: Promise<void> | undefined

  constructor({ url, connections, logger }: ChangeFeedOptions) {
    this.#url = url
    this.#connections = connections
    this.#logger = logger
  }

  since(version: number): Promise<StoreChanges> {
    return this.#connections.access(async () => {
      const alive = this.#listening
      // This one is asked first, as the idle connections of the pool may be dead.
      const rows = await alive?.run(SINCE, version).catch(() => alive.lose())
      return toStoreChanges(rows ?? (await this.#connections.run(SINCE, version)))
    })
  }

  watch(notify: (version: number) => void): void {
    this.#watching ??= this.#keepListening(notify)
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#watching
  }

  async #keepListening(notify: (version: number) => void): Promise<void> {
    const { signal } = this.#closing
    let pauseMs = 0
    let isReported = false
    while (!signal.aborted) {
      let wasConnected = false
      let err: unknown
      await this.#listen(notify, () => {
        if (isReported) this.#logger.info({}, 'Changes of other instances are received again')
        wasConnected = true
        isReported = false
        pauseMs = 0
      }).catch((thrown: unknown) => {
        err = thrown
      })
      if (signal.aborted) return
      if (!isReported)
        this.#logger.warn({ err }, 'Changes of other instances are not received: the store cannot be reached')
      isReported = true
      if (wasConnected) this.#connections.renew()
      void this.#pollOnce(notify)
      pauseMs = nextPauseMs(pauseMs, BACKOFF)
      await pause(pauseMs, undefined, { signal }).catch(() => undefined)
    }
  }

  /** Listens until the connection is lost or the store is closed. */
  async #listen(notify: (version: number) => void, connected: () => void): Promise<void> {
    const client = new pg.Client({
      connectionString: this.#url,
      application_name: 'crosswalk changes',
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: ANSWER_TIMEOUT_MS,
      keepAlive: true,
    })
    const lost = new AbortController()
    const lose = () => {
      if (this.#listening?.lose === lose) this.#listening = undefined
      lost.abort()
    }
    client.on('error', lose)
    client.on('end', lose)
    client.on('notification', ({ payload }) => notify(Number(payload)))
    try {
      await client.connect()
      await client.query('listen crosswalk_configuration')
      const run = runOn(client)
      this.#listening = { run, lose }
      connected()
      const over = AbortSignal.any([this.#closing.signal, lost.signal])
      while (!over.aborted) {
        for (const { version } of await run(VERSION, undefined)) notify(Number(version))
        await pause(POLL_MS, undefined, { signal: over }).catch(() => undefined)
      }
    } finally {
      lose()
      // Not awaited: a dead connection would not answer.
      client.end().catch(() => undefined)
    }
  }

  /** Polls the version through the pool; the reconnection does not wait for it. */
  async #pollOnce(notify: (version: number) => void): Promise<void> {
    const rows = await this.#connections.run(VERSION, undefined).catch(() => [])
    if (!this.#closing.signal.aborted) for (const { version } of rows) notify(Number(version))
  }
}

function toStoreChanges(rows: readonly SinceRow[]): StoreChanges {
  const version = Number(rows[0]?.version ?? undefined)
  // An empty answer would deactivate every endpoint.
  if (!Number.isSafeInteger(version)) throw storeEmpty()
  return {
    version,
    documents: rows.flatMap(({ document }) => (document === null ? [] : [readDocument({ document })])),
    versions: new Map(
      rows.flatMap(({ id, number }) => (id === null || number === null ? [] : [[id, number] as const])),
    ),
    ids: new Set(rows.flatMap(({ id }) => (id === null ? [] : [id]))),
  }
}
