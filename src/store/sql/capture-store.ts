/** The store of captures, of both databases. A capture records the next messages of an endpoint with all bodies. */
import { type Database, step } from './database.ts'
import type { Tables } from './schema.ts'
import { LOCK_ROWS, NOW, type NoValues, sql } from './sql.ts'

export type NewCapture = Readonly<{
  endpointId: string
  /** Distinguishes it from other captures of the endpoint. */
  id: string
  /** How many messages it records at most. */
  messages: number
  /** When it ends at the latest, in milliseconds since the epoch. */
  until: number
  /** ISO 8601. */
  startedAt: string
  /** Who started it, as the audit log names callers. */
  by: string
}>

/** `isActive`: whether messages remain and `until` is not over, by the clock of the store. */
export type StoredCapture = NewCapture & Readonly<{ remaining: number; isActive: boolean }>

/** PostgreSQL's driver gives its large numbers as text. */
type Row = Omit<Tables['captures'], 'until'> & Readonly<{ until: number | string; active: number }>
type ByEndpoint = Readonly<{ endpointId: string }>
type ById = ByEndpoint & Readonly<{ id: string }>
type Detail = Pick<NewCapture, 'messages' | 'startedAt' | 'by'>

const IS_ACTIVE = sql`remaining > 0 and until > ${NOW}`
const SELECT = sql`select endpoint_id, id, remaining, until, detail, case when ${IS_ACTIVE} then 1 else 0 end as active
  from captures`

const FIND_ENDPOINT = sql<ByEndpoint>`select id from endpoints where id = :endpointId`
const GET = sql<ByEndpoint, Row>`${SELECT} where endpoint_id = :endpointId`
const ACTIVE = sql<NoValues, Row>`${SELECT} where ${IS_ACTIVE}`
const INSERT = sql<ById & Readonly<{ remaining: number; until: number; detail: string }>>`
  insert into captures (endpoint_id, id, remaining, until, detail)
  values (:endpointId, :id, :remaining, :until, :detail)`
const REMOVE = sql<ByEndpoint>`delete from captures where endpoint_id = :endpointId returning id`
const CLAIMABLE = sql<ById, Pick<Row, 'remaining'>>`
  select remaining from captures where endpoint_id = :endpointId and id = :id and ${IS_ACTIVE} ${LOCK_ROWS}`
const SET_REMAINING = sql<ByEndpoint & Readonly<{ remaining: number }>>`
  update captures set remaining = :remaining where endpoint_id = :endpointId`

export type CaptureStore = ReturnType<typeof compileCaptureStore>

/**
 * Builds the store over a database whose tables are up to date. It has at most one capture of each endpoint, which is deleted
 * with it. Each call rejects with StoreUnavailable if the database does not answer.
 */
export function compileCaptureStore(database: Database) {
  return {
    /** Stores a capture in place of the one before. Resolves to false if there is no such endpoint. */
    put: ({ endpointId, id, messages, until, startedAt, by }: NewCapture): Promise<boolean> =>
      database.transaction(function* () {
        const [endpoint] = yield* step(FIND_ENDPOINT, { endpointId })
        if (endpoint === undefined) return false
        const detail: Detail = { messages, startedAt, by }
        yield* step(REMOVE, { endpointId })
        yield* step(INSERT, { endpointId, id, remaining: messages, until, detail: JSON.stringify(detail) })
        return true
      }),
    get: async (endpointId: string): Promise<StoredCapture | undefined> =>
      (await database.read(GET, { endpointId })).map(captureFromRow)[0],
    active: async (): Promise<readonly StoredCapture[]> => (await database.read(ACTIVE, {})).map(captureFromRow),
    /**
     * Takes places for up to `count` messages. Out: how many places the caller has, and how many remain; 0 of both if the
     * capture has ended or another one is in its place.
     */
    claim: (
      { endpointId, id }: Pick<NewCapture, 'endpointId' | 'id'>,
      count: number,
    ): Promise<Readonly<{ claimed: number; remaining: number }>> =>
      database.transaction(function* () {
        const [row] = yield* step(CLAIMABLE, { endpointId, id })
        if (row === undefined) return { claimed: 0, remaining: 0 }
        const claimed = Math.min(count, row.remaining)
        const remaining = row.remaining - claimed
        yield* step(SET_REMAINING, { endpointId, remaining })
        return { claimed, remaining }
      }),
    /**
     * Resolves to whether the endpoint had a capture. Not a single write: its trigger would take the lock of the other
     * transactions after the row, which they take before.
     */
    remove: (endpointId: string): Promise<boolean> =>
      database.transaction(function* () {
        return (yield* step(REMOVE, { endpointId })).length > 0
      }),
  }
}

const captureFromRow = ({ endpoint_id: endpointId, id, remaining, until, active, detail }: Row): StoredCapture => ({
  endpointId,
  id,
  remaining,
  until: Number(until),
  isActive: active === 1,
  ...(JSON.parse(detail) as Detail),
})
