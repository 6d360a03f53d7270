/** The store that any number of instances share. */
import { setTimeout as pause } from 'node:timers/promises'
import type { KeyStore } from '../../domain/access.ts'
import type { AnswerStore } from '../../domain/answer-store.ts'
import type { AuditStore } from '../../domain/audit.ts'
import type { MessageStore } from '../../domain/message-record.ts'
import {
  type ChangeFeed,
  type EndpointStore,
  type Logger,
  type StateStore,
  StoreUnavailable,
} from '../../domain/ports.ts'
import type { StatsStore } from '../../domain/stats.ts'
import { MIGRATIONS } from '../sql/migrations.ts'
import { SchemaTooNew } from '../sql/schema-too-new.ts'
import { compileAnswerStore } from './answer-store.ts'
import { compileAuditStore } from './audit-store.ts'
import { createChangeFeed } from './change-feed.ts'
import { createConnections } from './connections.ts'
import { compileQueryBuilder } from './dialect.ts'
import { compileEndpointStore } from './endpoint-store.ts'
import { isDenied, isLasting, serverMessage, unavailableReason } from './faults.ts'
import { compileKeyStore } from './key-store.ts'
import { createMessageStore } from './message-store.ts'
import { migrate } from './migrate.ts'
import { compileStateStore } from './state-store.ts'
import { compileStatsStore } from './stats-store.ts'

export type PostgresStoreOptions = Readonly<{
  url: string
  poolSize: number
  /** How long a query may take. */
  timeoutMs: number
  /** How long to try to reach the server before giving up. */
  startTimeoutMs: number
  logger: Logger
}>

export type PostgresStore = Readonly<{
  endpoints: EndpointStore
  states: StateStore
  answers: AnswerStore
  stats: StatsStore
  messages: MessageStore
  keys: KeyStore
  audit: AuditStore
  changes: ChangeFeed
  close(): Promise<void>
}>

/** One writes, one searches, and one more so that a long search holds up no other. */
const MESSAGE_CONNECTIONS = 3

/**
 * Opens the store and brings its tables up to date.
 *
 * Out: the stores and the changes of other instances; `close` (also as `endpoints.close`) takes no more calls, finishes
 * those under way and closes every connection. Rejects with StoreUnavailable, in one sentence fit for the operator and
 * without the URL, where the server cannot be used.
 */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<PostgresStore> {
  const { url, logger } = options
  const queries = compileQueryBuilder()
  await migratePostgres(options)
  const connections = createConnections(options)
  const states = compileStateStore({ connections, queries })
  const messages = createMessageStore(createConnections({ ...options, poolSize: MESSAGE_CONNECTIONS }))
  const changes = createChangeFeed({ url, connections, logger })
  let closing: Promise<void> | undefined
  const close = () => {
    closing ??= Promise.all([states.close(), changes.close(), messages.close()]).then(connections.close)
    return closing
  }
  const answers = compileAnswerStore({ connections, queries })
  const stats = compileStatsStore({ connections, queries })
  const endpoints = compileEndpointStore({ connections, queries, close })
  const keys = compileKeyStore({ connections, queries })
  const audit = compileAuditStore({ connections, queries })
  return { endpoints, states, answers, stats, messages, keys, audit, changes, close }
}

const RETRY_MS = 500

/** Another instance is waited for so long at least, however short the patience with a server that is away. */
const LEAST_PATIENCE_MS = 10_000

/** Brings the tables up to date; gives the names of the migrations that were due. Rejects as `openPostgresStore` does. */
export async function migratePostgres(
  options: Pick<PostgresStoreOptions, 'url' | 'startTimeoutMs' | 'logger'>,
): Promise<readonly string[]> {
  const { url, startTimeoutMs, logger } = options
  const giveUpAt = performance.now() + startTimeoutMs
  for (;;) {
    try {
      const patienceMs = Math.max(giveUpAt - performance.now(), LEAST_PATIENCE_MS)
      const ran = await migrate({ url, queries: compileQueryBuilder(), migrations: MIGRATIONS, patienceMs })
      if (ran.length > 0) logger.info({ migrations: ran }, 'The tables of the store were brought up to date.')
      return ran
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
  if (thrown instanceof SchemaTooNew)
    return new StoreUnavailable(
      `${start} was written by a newer version: ${thrown.message}; start that version, or name another database.`,
    )
  if (isDenied(thrown))
    return new StoreUnavailable(
      `${start} cannot be used: the user lacks a right; let one who may change its tables run \`npm start -- migrate\` and grant what docs/scaling-out.md lists.`,
      { cause: thrown },
    )
  const reason = unavailableReason(thrown)
  const said = serverMessage(thrown)
  const text = reason === undefined || said === undefined ? (reason ?? textOf(thrown)) : `${reason} (${said})`
  return new StoreUnavailable(`${start} cannot be used: ${text}; mend that, or name another one.`, { cause: thrown })
}

const textOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown))
