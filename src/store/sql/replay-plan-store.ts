/**
 * The store of replay plans and their messages, of both databases. A lease makes one instance at a time run a plan; leases
 * expire by the clock of the store.
 */
import type { PlanProgress, PlanState, StoredPlan } from '../../core/replays/replay-plan.ts'
import { type Database, step, type TransactionWork } from './database.ts'
import type { Tables } from './schema.ts'
import { elements, NOW, type NoValues, named, sql } from './sql.ts'

export type NewPlan = Pick<StoredPlan, 'id' | 'content' | 'progress'>

/** `lease`: who holds it from now on and for how long; 'drop' ends it; without it, it stays unchanged. */
export type PlanChange = Readonly<{
  state: PlanState
  progress: PlanProgress
  lease?: Readonly<{ owner: string; ms: number }> | 'drop'
}>

type Row = Omit<Tables['replay_plans'], 'until'>
type ById = Readonly<{ id: string }>
type Before = Readonly<{ before: string }>
type Lease = ById & Readonly<{ owner: string; leaseMs: number }>

/** Ids of a row: about 24 kB. */
const PART = 1_000
const ID_LENGTH = 24

const IS_LEASED = sql`owner <> '' and until > ${NOW}`
const LEASE_END = sql`${NOW} + cast(:leaseMs as integer)`
const SELECT = sql`
  select id, state, case when ${IS_LEASED} then owner else '' end as owner, content, progress from replay_plans`
const IS_OVERDUE = sql`state in ('planned', 'waiting', 'paused') and not (${IS_LEASED}) and id < :before`

const GET = sql<ById, Row>`${SELECT} where id = :id`
const LIST = sql<NoValues, Row>`${SELECT} order by id desc`
const ABANDONED = sql<NoValues, ById>`
  select id from replay_plans where state = 'running' and not (${IS_LEASED}) order by id`
const OVERDUE = sql<Before, ById>`select id from replay_plans where ${IS_OVERDUE}`
const CANCEL = sql<Before>`update replay_plans set state = 'cancelled' where ${IS_OVERDUE}`
const UNENDED = sql<NoValues, ById>`
  select id from replay_plans where state not in ('finished', 'cancelled') or ${IS_LEASED} order by id`
const COUNT = sql<NoValues, { count: number | string }>`select count(*) as count from replay_plans`
const REMOVE_OLDEST = sql<NoValues, ById>`
  delete from replay_plans where id = (
    select id from replay_plans where state <> 'running' and not (${IS_LEASED})
    order by case when state in ('finished', 'cancelled') then 0 else 1 end, id limit 1
  ) returning id`
const INSERT = sql<ById & Readonly<{ content: string; progress: string }>>`
  insert into replay_plans (id, state, owner, until, content, progress)
  values (:id, 'planned', '', 0, :content, :progress)`
const INSERT_MESSAGES = sql<ById & Readonly<{ rows: string }>>`
  insert into replay_plan_messages (plan_id, part, ids)
  select cast(:id as text), cast(element.value ->> 0 as integer), element.value ->> 1
  from ${elements(named('rows'))} as element`
const MESSAGES = sql<ById, { ids: string }>`select ids from replay_plan_messages where plan_id = :id order by part`
const CHANGE = sql<ById & Readonly<{ state: string; progress: string }>>`
  update replay_plans set state = :state, progress = :progress where id = :id`
const LEASE = sql<Lease>`update replay_plans set owner = :owner, until = ${LEASE_END} where id = :id`
/** An expired lease stays with its owner until another process takes it. */
const SAVE = sql<Lease & Readonly<{ progress: string }>, Pick<Row, 'state'>>`
  update replay_plans set progress = :progress, until = ${LEASE_END}
  where id = :id and owner = :owner returning state`

export type ReplayPlanStore = ReturnType<typeof compileReplayPlanStore>

/** Builds the store over a database whose tables are up to date. Rejects with StoreUnavailable if it does not answer. */
export function compileReplayPlanStore(database: Database) {
  function* makeRoom(max: number): TransactionWork<boolean> {
    const [row] = yield* step(COUNT, {})
    for (let count = Number(row?.count); count >= max; count -= 1) {
      const [removed] = yield* step(REMOVE_OLDEST, {})
      if (removed === undefined) return false
    }
    return true
  }

  function* changed(id: string, { state, progress, lease }: PlanChange): TransactionWork<void> {
    yield* step(CHANGE, { id, state, progress: JSON.stringify(progress) })
    if (lease === 'drop') yield* step(LEASE, { id, owner: '', leaseMs: 0 })
    else if (lease !== undefined) yield* step(LEASE, { id, owner: lease.owner, leaseMs: lease.ms })
  }

  return {
    /**
     * Stores a plan in the state `planned`, with the ids of its messages. If the store has `max` plans already, it removes
     * old ones first: those that have ended, then those that wait, never one that runs. Resolves to false, and stores
     * nothing, if that does not make room.
     */
    insert: ({ id, content, progress }: NewPlan, messageIds: readonly string[], max: number): Promise<boolean> =>
      database.transaction(function* () {
        if (!(yield* makeRoom(max))) return false
        yield* step(INSERT, { id, content: JSON.stringify(content), progress: JSON.stringify(progress) })
        for (let start = 0; start < messageIds.length; start += PART) {
          const rows = JSON.stringify([[start / PART, messageIds.slice(start, start + PART).join('')]])
          yield* step(INSERT_MESSAGES, { id, rows })
        }
        return true
      }),
    get: async (id: string): Promise<StoredPlan | undefined> => (await database.read(GET, { id })).map(planFromRow)[0],
    /** Newest first. */
    list: async (): Promise<readonly StoredPlan[]> => (await database.read(LIST, {})).map(planFromRow),
    messageIds: async (id: string): Promise<readonly string[]> =>
      (await database.read(MESSAGES, { id })).flatMap(({ ids }) => idsIn(ids)),
    /**
     * Changes a plan in one transaction: `decide` gets the plan and gives the change, undefined for none; it must not
     * throw. Resolves to the plan after the change; undefined if there is no such plan.
     */
    change: (id: string, decide: (plan: StoredPlan) => PlanChange | undefined): Promise<StoredPlan | undefined> =>
      database.transaction(function* () {
        const [row] = yield* step(GET, { id })
        const change = row && decide(planFromRow(row))
        if (change === undefined) return row && planFromRow(row)
        yield* changed(id, change)
        const [after] = yield* step(GET, { id })
        return after && planFromRow(after)
      }),
    /**
     * Stores the progress and extends the lease of its owner. Resolves to the state of the plan; undefined, and
     * nothing is stored, unless the owner has the lease.
     */
    save: async (
      id: string,
      owner: string,
      progress: PlanProgress,
      leaseMs: number,
    ): Promise<PlanState | undefined> => {
      const [row] = await database.write(SAVE, { id, owner, progress: JSON.stringify(progress), leaseMs })
      return row?.state as PlanState | undefined
    },
    /**
     * Cancels the plans whose ids are less than `before` and that do not run. Resolves to the ids of those that have not ended
     * then.
     */
    unended: async (before: string): Promise<readonly string[]> => {
      if ((await database.read(OVERDUE, { before })).length > 0) {
        await database.write(CANCEL, { before })
      }
      return (await database.read(UNENDED, {})).map(({ id }) => id)
    },
    /** The ids of plans that are `running` while no instance has their lease, oldest first. */
    abandoned: async (): Promise<readonly string[]> => (await database.read(ABANDONED, {})).map(({ id }) => id),
  }
}

const planFromRow = ({ id, state, owner, content, progress }: Row): StoredPlan => ({
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
