/** The store of captures, of both databases. */
import { sql } from 'kysely'
import type { CaptureStore, NewCapture, StoredCapture } from '../../../domain/records/capture-store-port.ts'
import { type SqlDatabase, type SqlDialect, step } from '../database.ts'
import { compileStatement, rawQuery } from '../statement.ts'
import type { Tables } from '../tables.ts'

/** PostgreSQL's driver gives its large numbers as text. */
type Row = Omit<Tables['captures'], 'until'> & Readonly<{ until: number | string; active: number }>
type ByEndpoint = Readonly<{ endpointId: string }>
type ById = ByEndpoint & Readonly<{ id: string }>
type Values = ById & Readonly<{ remaining: number; until: number; detail: string }>
type Detail = Pick<NewCapture, 'messages' | 'startedAt' | 'by'>

function compileStatements({ queries, now, lockRows }: SqlDialect) {
  const raw = rawQuery(queries)
  const isActive = sql`remaining > 0 and until > ${now}`
  const select = sql`select endpoint_id, id, remaining, until, detail, case when ${isActive} then 1 else 0 end as active
    from captures`
  return {
    endpoint: compileStatement<ByEndpoint>((value) =>
      queries.selectFrom('endpoints').select('id').where('id', '=', value('endpointId')),
    ),
    get: compileStatement<ByEndpoint, Row>((value) =>
      raw(sql<Row>`${select} where endpoint_id = ${value('endpointId')}`),
    ),
    active: compileStatement<Record<never, never>, Row>(() => raw(sql<Row>`${select} where ${isActive}`)),
    insert: compileStatement<Values>((value) =>
      raw(sql`insert into captures (endpoint_id, id, remaining, until, detail)
        values (${value('endpointId')}, ${value('id')}, ${value('remaining')}, ${value('until')}, ${value('detail')})`),
    ),
    remove: compileStatement<ByEndpoint, ById>((value) =>
      raw(sql<ById>`delete from captures where endpoint_id = ${value('endpointId')} returning id`),
    ),
    claimable: compileStatement<ById, Pick<Row, 'remaining'>>((value) =>
      raw(sql<Pick<Row, 'remaining'>>`select remaining from captures
        where endpoint_id = ${value('endpointId')} and id = ${value('id')} and ${isActive} ${lockRows}`),
    ),
    setRemaining: compileStatement<ByEndpoint & Readonly<{ remaining: number }>>((value) =>
      raw(sql`update captures set remaining = ${value('remaining')} where endpoint_id = ${value('endpointId')}`),
    ),
  }
}

/** Builds the store over a database whose tables are up to date. */
export function compileCaptureStore(database: SqlDatabase): CaptureStore {
  const statements = compileStatements(database.dialect)
  return {
    put: ({ endpointId, id, messages, until, startedAt, by }) =>
      database.transaction(function* () {
        const [endpoint] = yield* step(statements.endpoint, { endpointId })
        if (endpoint === undefined) return false
        const detail: Detail = { messages, startedAt, by }
        yield* step(statements.remove, { endpointId })
        yield* step(statements.insert, { endpointId, id, remaining: messages, until, detail: JSON.stringify(detail) })
        return true
      }),
    get: async (endpointId) => (await database.read(statements.get, { endpointId })).map(captureOf)[0],
    active: async () => (await database.read(statements.active, {})).map(captureOf),
    claim: ({ endpointId, id }, count) =>
      database.transaction(function* () {
        const [row] = yield* step(statements.claimable, { endpointId, id })
        if (row === undefined) return { claimed: 0, remaining: 0 }
        const claimed = Math.min(count, row.remaining)
        const remaining = row.remaining - claimed
        yield* step(statements.setRemaining, { endpointId, remaining })
        return { claimed, remaining }
      }),
    // Not a single write: its trigger would take the lock of the other transactions after the row, which they take before.
    remove: (endpointId) =>
      database.transaction(function* () {
        return (yield* step(statements.remove, { endpointId })).length > 0
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
