/** The store of captures, of both databases. */
import type { CaptureStore, NewCapture, StoredCapture } from '../../../domain/records/capture-store-port.ts'
import { type Database, step } from '../database.ts'
import { LOCK_ROWS, NOW } from '../dialect.ts'
import { type NoValues, sql } from '../sql.ts'
import type { Tables } from '../tables.ts'

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

/** Builds the store over a database whose tables are up to date. */
export function compileCaptureStore(database: Database): CaptureStore {
  return {
    put: ({ endpointId, id, messages, until, startedAt, by }) =>
      database.transaction(function* () {
        const [endpoint] = yield* step(FIND_ENDPOINT, { endpointId })
        if (endpoint === undefined) return false
        const detail: Detail = { messages, startedAt, by }
        yield* step(REMOVE, { endpointId })
        yield* step(INSERT, { endpointId, id, remaining: messages, until, detail: JSON.stringify(detail) })
        return true
      }),
    get: async (endpointId) => (await database.read(GET, { endpointId })).map(captureOf)[0],
    active: async () => (await database.read(ACTIVE, {})).map(captureOf),
    claim: ({ endpointId, id }, count) =>
      database.transaction(function* () {
        const [row] = yield* step(CLAIMABLE, { endpointId, id })
        if (row === undefined) return { claimed: 0, remaining: 0 }
        const claimed = Math.min(count, row.remaining)
        const remaining = row.remaining - claimed
        yield* step(SET_REMAINING, { endpointId, remaining })
        return { claimed, remaining }
      }),
    // Not a single write: its trigger would take the lock of the other transactions after the row, which they take before.
    remove: (endpointId) =>
      database.transaction(function* () {
        return (yield* step(REMOVE, { endpointId })).length > 0
      }),
  }
}

const captureOf = ({ endpoint_id: endpointId, id, remaining, until, active, detail }: Row): StoredCapture => ({
  endpointId,
  id,
  remaining,
  until: Number(until),
  isActive: active === 1,
  ...(JSON.parse(detail) as Detail),
})
