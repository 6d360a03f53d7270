/** Opens the store that any number of instances share. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from '../../core/ports/logger-port.ts'
import { compileAuditStore } from '../sql/audit-store.ts'
import { compileCaptureStore } from '../sql/capture-store.ts'
import { compileEndpointStore, compileEndpointTestStore } from '../sql/endpoint-store.ts'
import { compileFailureGroupStore } from '../sql/failure-group-store.ts'
import { compileIdempotencyStore } from '../sql/idempotency-store.ts'
import { compileKeyStore } from '../sql/key-store.ts'
import { compileReplayPlanStore } from '../sql/replay-plan-store.ts'
import { migrationsOf, UnknownSchema } from '../sql/schema.ts'
import { compileStatsStore } from '../sql/stats-store.ts'
import type { Store } from '../store.ts'
import { StoreUnavailable } from '../store-access.ts'
import { PostgresChangeFeed } from './change-feed.ts'
import { Connections } from './connection-pool.ts'
import { isDenied, isLasting, serverMessage, unavailableReason } from './error-codes.ts'
import { createMessageStore } from './message-store.ts'
import { hasTables, migrate } from './migrate.ts'
import { createPostgresDatabase } from './postgres-database.ts'
import { PostgresStateStore } from './state-store.ts'

export type PostgresStoreOptions = Readonly<{
  url: string
  poolSize: number
  /** How long a query may take. */
  timeoutMs: number
  /** How long to retry until the server can be reached. */
  startTimeoutMs: number
  logger: Logger
}>

/** One writes, one searches, and a third one so that a long search does not delay the next. */
const MESSAGE_CONNECTIONS = 3

/**
 * Opens the store and brings its tables up to date.
 *
 * Out: the stores and the feed of the changes of other instances. `close` (also as `endpoints.close`) accepts no more
 * calls, finishes the running ones and closes every connection. Rejects with StoreUnavailable, whose message is one
 * sentence for the operator without the URL, if the server cannot be used.
 */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<Required<Store>> {
  const { url, logger } = options
  await migratePostgres(options)
  const connections = new Connections(options)
  const states = new PostgresStateStore(connections)
  const messages = createMessageStore(new Connections({ ...options, poolSize: MESSAGE_CONNECTIONS }))
  const changes = new PostgresChangeFeed({ url, connections, logger })
  let closing: Promise<void> | undefined
  const close = () => {
    closing ??= Promise.all([states.close(), changes.close(), messages.close()]).then(() => connections.close())
    return closing
  }
  const database = createPostgresDatabase(connections)
  return {
    endpoints: compileEndpointStore(database, close),
    tests: compileEndpointTestStore(database),
    states,
    idempotency: compileIdempotencyStore(database),
    stats: compileStatsStore(database),
    messages,
    keys: compileKeyStore(database),
    audit: compileAuditStore(database),
    replayPlans: compileReplayPlanStore(database),
    failureGroups: compileFailureGroupStore(database),
    captures: compileCaptureStore(database),
    changes,
    close,
  }
}

const RETRY_MS = 500

/** The least time to wait for another instance that migrates, however short the timeout for an unreachable server. */
const LEAST_LOCK_TIMEOUT_MS = 10_000

type StartOptions = Pick<PostgresStoreOptions, 'url' | 'startTimeoutMs' | 'logger'>

/** Brings the tables up to date; gives the names of the migrations that ran. Rejects as `openPostgresStore` does. */
export const migratePostgres = (options: StartOptions): Promise<readonly string[]> =>
  whenReachable(options, async (giveUpAt) => {
    const { url, logger } = options
    const lockTimeoutMs = Math.max(giveUpAt - performance.now(), LEAST_LOCK_TIMEOUT_MS)
    const ran = await migrate({ url, migrations: migrationsOf('postgres'), lockTimeoutMs })
    if (ran.length > 0) logger.info({ migrations: ran }, 'The tables of the store were brought up to date.')
    return ran
  })

/** Whether the database holds a store of any version; makes none. Rejects as `openPostgresStore` does. */
export const holdsPostgresStore = (options: StartOptions): Promise<boolean> =>
  whenReachable(options, () => hasTables(options.url))

async function whenReachable<T>(
  { startTimeoutMs, logger }: StartOptions,
  work: (giveUpAt: number) => Promise<T>,
): Promise<T> {
  const giveUpAt = performance.now() + startTimeoutMs
  for (;;) {
    try {
      return await work(giveUpAt)
    } catch (thrown) {
      const reason = unavailableReason(thrown)
      if (reason === undefined || isLasting(thrown) || performance.now() > giveUpAt) throw openFault(thrown)
      logger.warn({ reason }, 'The store cannot be reached yet; trying again')
      await pause(RETRY_MS)
    }
  }
}

function openFault(thrown: unknown): StoreUnavailable {
  const start = 'The database of DATABASE_URL'
  if (thrown instanceof UnknownSchema)
    return new StoreUnavailable(`${start} ${thrown.message}; start that version, or name another database.`)
  if (isDenied(thrown))
    return new StoreUnavailable(
      `${start} cannot be used: the user lacks a right; let one who may change its tables run \`npm start -- migrate\` and grant what docs/scaling-out.md lists.`,
      { cause: thrown },
    )
  const reason = unavailableReason(thrown)
  const said = serverMessage(thrown)
  const text = reason === undefined || said === undefined ? (reason ?? formatError(thrown)) : `${reason} (${said})`
  return new StoreUnavailable(`${start} cannot be used: ${text}; fix that, or name another one.`, { cause: thrown })
}

const formatError = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown))
