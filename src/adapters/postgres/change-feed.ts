/**
 * Hears of changes on a connection of its own. PostgreSQL sends a notification at the commit of each change; asking for
 * the version every few seconds on the same connection finds what was lost, and finds out that the connection is. While
 * there is none, the connections of the queries are asked.
 */
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import type { ChangeFeed, Changes, Logger } from '../../domain/ports.ts'
import { documentOf } from '../sql/tables.ts'
import { CONNECT_TIMEOUT_MS, type Connections, prepareText, type RunStatement, runOn } from './connections.ts'
import { storeEmpty } from './faults.ts'

export type ChangeFeedOptions = Readonly<{ url: string; connections: Connections; logger: Logger }>

export type ClosableChangeFeed = ChangeFeed & Readonly<{ close(): Promise<void> }>

const POLL_MS = 5_000
const ANSWER_TIMEOUT_MS = 2_000
const LEAST_PAUSE_MS = 100
const MOST_PAUSE_MS = 2_000

type SinceRow = Readonly<{ version: string; id: string | null; document: string | null; number: number | null }>

/** One statement, so that version and documents belong to one moment; where nothing is new, one row. */
const SINCE = prepareText<number, SinceRow>(
  `select configuration.version, endpoints.id, case when endpoints.revision > $1 then endpoints.document end as document,
    case when endpoints.revision > $1 then (select max(version) from endpoint_versions where endpoint_id = endpoints.id) end as number
  from configuration left join endpoints on configuration.version > $1 order by endpoints.id`,
  (version) => [version],
)

const VERSION = prepareText<undefined, Pick<SinceRow, 'version'>>('select version from configuration', () => [])

export function createChangeFeed({ url, connections, logger }: ChangeFeedOptions): ClosableChangeFeed {
  const closing = new AbortController()
  /** The connection that is alive as far as is known, and how to say that it is not. */
  let listening: Readonly<{ run: RunStatement; lose(): void }> | undefined
  let watching: Promise<void> | undefined

  /** Listens until the connection is lost or the store closed. */
  async function listen(tell: (version: number) => void, connected: () => void): Promise<void> {
    const client = new pg.Client({
      connectionString: url,
      application_name: 'crosswalk changes',
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: ANSWER_TIMEOUT_MS,
      keepAlive: true,
    })
    const lost = new AbortController()
    const lose = () => {
      if (listening?.lose === lose) listening = undefined
      lost.abort()
    }
    client.on('error', lose)
    client.on('end', lose)
    client.on('notification', ({ payload }) => tell(Number(payload)))
    try {
      await client.connect()
      await client.query('listen crosswalk_configuration')
      const run = runOn(client)
      listening = { run, lose }
      connected()
      const over = AbortSignal.any([closing.signal, lost.signal])
      while (!over.aborted) {
        for (const { version } of await run(VERSION, undefined)) tell(Number(version))
        await pause(POLL_MS, undefined, { signal: over }).catch(() => undefined)
      }
    } finally {
      lose()
      // Does not wait for an answer where the connection is dead.
      client.end().catch(() => undefined)
    }
  }

  /** Without the connection, and without holding up that it is made again. */
  async function askOnce(tell: (version: number) => void): Promise<void> {
    const rows = await connections.run(VERSION, undefined).catch(() => [])
    if (!closing.signal.aborted) for (const { version } of rows) tell(Number(version))
  }

  async function keepListening(tell: (version: number) => void): Promise<void> {
    let pauseMs = LEAST_PAUSE_MS
    let told = false
    while (!closing.signal.aborted) {
      let wasConnected = false
      let err: unknown
      await listen(tell, () => {
        if (told) logger.info({}, 'Changes of other instances are heard again')
        wasConnected = true
        told = false
        pauseMs = LEAST_PAUSE_MS
      }).catch((thrown: unknown) => {
        err = thrown
      })
      if (closing.signal.aborted) return
      if (!told) logger.warn({ err }, 'Changes of other instances are not heard: the store cannot be reached')
      told = true
      if (wasConnected) connections.renew()
      void askOnce(tell)
      await pause(pauseMs, undefined, { signal: closing.signal }).catch(() => undefined)
      pauseMs = Math.min(pauseMs * 2, MOST_PAUSE_MS)
    }
  }

  return {
    since: async (version) => {
      const alive = listening
      // The others may have broken unnoticed, so this one is asked first.
      const rows = await alive?.run(SINCE, version).catch(() => alive.lose())
      return changesOf(rows ?? (await connections.run(SINCE, version)))
    },
    watch: (tell) => {
      watching ??= keepListening(tell)
    },
    close: async () => {
      closing.abort()
      await watching
    },
  }
}

function changesOf(rows: readonly SinceRow[]): Changes {
  const version = Number(rows[0]?.version)
  // Taken at its word, it would put every endpoint out of force.
  if (!Number.isSafeInteger(version)) throw storeEmpty()
  return {
    version,
    documents: rows.flatMap(({ document }) => (document === null ? [] : [documentOf({ document })])),
    versions: new Map(
      rows.flatMap(({ id, number }) => (id === null || number === null ? [] : [[id, number] as const])),
    ),
    ids: new Set(rows.flatMap(({ id }) => (id === null ? [] : [id]))),
  }
}
