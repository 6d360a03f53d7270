/** The store of replay plans, of both databases. */
import { sql } from 'kysely'
import type { PlanProgress, PlanState, StoredPlan } from '../../../domain/replays/replay-plan.ts'
import type { PlanChange, ReplayPlanStore } from '../../../domain/replays/replay-plan-store-port.ts'
import { type SqlDatabase, type SqlDialect, step, type TransactionWork } from '../database.ts'
import { compileStatement, rawQuery } from '../statement.ts'
import type { Tables } from '../tables.ts'

type Row = Omit<Tables['replay_plans'], 'until'>
type ById = Readonly<{ id: string }>
type ChangeValues = ById & Readonly<{ state: string; progress: string; owner: string; leaseMs: number }>

/** Ids of a row: about 24 kB. */
const PART = 1_000
const ID_LENGTH = 24

function compileStatements({ queries, now, elements }: SqlDialect) {
  const raw = rawQuery(queries)
  const isLeased = sql`owner <> '' and until > ${now}`
  const select = sql`select id, state, case when ${isLeased} then owner else '' end as owner, content, progress
    from replay_plans`
  const leaseEnd = (leaseMs: ReturnType<typeof sql>) => sql`${now} + cast(${leaseMs} as integer)`
  return {
    get: compileStatement<ById, Row>((value) => raw(sql<Row>`${select} where id = ${value('id')}`)),
    list: compileStatement<Record<never, never>, Row>(() => raw(sql<Row>`${select} order by id desc`)),
    abandoned: compileStatement<Record<never, never>, ById>(() =>
      raw(sql<ById>`select id from replay_plans where state = 'running' and not (${isLeased}) order by id`),
    ),
    overdue: compileStatement<Readonly<{ before: string }>, ById>((value) =>
      raw(sql<ById>`select id from replay_plans
        where state in ('planned', 'waiting', 'paused') and not (${isLeased}) and id < ${value('before')}`),
    ),
    cancel: compileStatement<Readonly<{ before: string }>>((value) =>
      raw(sql`update replay_plans set state = 'cancelled'
        where state in ('planned', 'waiting', 'paused') and not (${isLeased}) and id < ${value('before')}`),
    ),
    unended: compileStatement<Record<never, never>, ById>(() =>
      raw(sql<ById>`select id from replay_plans
        where state not in ('finished', 'cancelled') or ${isLeased} order by id`),
    ),
    count: compileStatement<Record<never, never>, Readonly<{ count: number | string }>>(() =>
      raw(sql<{ count: number | string }>`select count(*) as count from replay_plans`),
    ),
    removeOldest: compileStatement<Record<never, never>, ById>(() =>
      raw(sql<ById>`delete from replay_plans where id = (
          select id from replay_plans where state <> 'running' and not (${isLeased})
          order by case when state in ('finished', 'cancelled') then 0 else 1 end, id limit 1
        ) returning id`),
    ),
    insert: compileStatement<ById & Readonly<{ content: string; progress: string }>>((value) =>
      raw(sql`insert into replay_plans (id, state, owner, until, content, progress)
        values (${value('id')}, 'planned', '', 0, ${value('content')}, ${value('progress')})`),
    ),
    insertMessages: compileStatement<ById & Readonly<{ rows: string }>>((value) =>
      raw(sql`insert into replay_plan_messages (plan_id, part, ids)
        select cast(${value('id')} as text), cast(element.value ->> 0 as integer), element.value ->> 1
        from ${elements(value('rows'))} as element`),
    ),
    messages: compileStatement<ById, Readonly<{ ids: string }>>((value) =>
      queries.selectFrom('replay_plan_messages').select('ids').where('plan_id', '=', value('id')).orderBy('part'),
    ),
    change: compileStatement<Omit<ChangeValues, 'owner' | 'leaseMs'>>((value) =>
      raw(sql`update replay_plans set state = ${value('state')}, progress = ${value('progress')}
        where id = ${value('id')}`),
    ),
    lease: compileStatement<Omit<ChangeValues, 'state' | 'progress'>>((value) =>
      raw(sql`update replay_plans set owner = ${value('owner')}, until = ${leaseEnd(value('leaseMs'))}
        where id = ${value('id')}`),
    ),
    /** An expired lease stays with its owner until another process takes it. */
    save: compileStatement<Omit<ChangeValues, 'state'>, Pick<Row, 'state'>>((value) =>
      raw(sql<Pick<Row, 'state'>>`update replay_plans
        set progress = ${value('progress')}, until = ${leaseEnd(value('leaseMs'))}
        where id = ${value('id')} and owner = ${value('owner')} returning state`),
    ),
  }
}

/** Builds the store over a database whose tables are up to date. */
export function compileReplayPlanStore(database: SqlDatabase): ReplayPlanStore {
  const statements = compileStatements(database.dialect)

  function* makeRoom(most: number): TransactionWork<boolean> {
    const [row] = yield* step(statements.count, {})
    for (let count = Number(row?.count); count >= most; count -= 1) {
      const [removed] = yield* step(statements.removeOldest, {})
      if (removed === undefined) return false
    }
    return true
  }

  function* changed(id: string, { state, progress, lease }: PlanChange): TransactionWork<void> {
    yield* step(statements.change, { id, state, progress: JSON.stringify(progress) })
    if (lease === 'drop') yield* step(statements.lease, { id, owner: '', leaseMs: 0 })
    else if (lease !== undefined) yield* step(statements.lease, { id, owner: lease.owner, leaseMs: lease.ms })
  }

  return {
    insert: ({ id, content, progress }, messageIds, most) =>
      database.transaction(function* () {
        if (!(yield* makeRoom(most))) return false
        yield* step(statements.insert, { id, content: JSON.stringify(content), progress: JSON.stringify(progress) })
        for (let start = 0; start < messageIds.length; start += PART) {
          const rows = JSON.stringify([[start / PART, messageIds.slice(start, start + PART).join('')]])
          yield* step(statements.insertMessages, { id, rows })
        }
        return true
      }),
    get: async (id) => (await database.read(statements.get, { id })).map(planOf)[0],
    list: async () => (await database.read(statements.list, {})).map(planOf),
    messageIds: async (id) => (await database.read(statements.messages, { id })).flatMap(({ ids }) => idsIn(ids)),
    change: (id, decide) =>
      database.transaction(function* () {
        const [row] = yield* step(statements.get, { id })
        const change = row && decide(planOf(row))
        if (change === undefined) return row && planOf(row)
        yield* changed(id, change)
        const [after] = yield* step(statements.get, { id })
        return after && planOf(after)
      }),
    save: async (id, owner, progress, leaseMs) => {
      const [row] = await database.write(statements.save, { id, owner, progress: JSON.stringify(progress), leaseMs })
      return row?.state as PlanState | undefined
    },
    unended: async (before) => {
      if ((await database.read(statements.overdue, { before })).length > 0) {
        await database.write(statements.cancel, { before })
      }
      return (await database.read(statements.unended, {})).map(({ id }) => id)
    },
    abandoned: async () => (await database.read(statements.abandoned, {})).map(({ id }) => id),
  }
}

const planOf = ({ id, state, owner, content, progress }: Row): StoredPlan => ({
  id,
  state: state as PlanState,
  owner: owner === '' ? undefined : owner,
  content: JSON.parse(content) as StoredPlan['content'],
  progress: JSON.parse(progress) as PlanProgress,
})

/** Ids have one length, so they need no separator. */
function idsIn(text: string): readonly string[] {
  const ids: string[] = []
  for (let at = 0; at < text.length; at += ID_LENGTH) ids.push(text.slice(at, at + ID_LENGTH))
  return ids
}
