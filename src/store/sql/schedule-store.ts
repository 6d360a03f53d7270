/**
 * The store of schedules, of both databases: when each is due, who runs it, and how its last run ended. A lease makes one
 * instance at a time run it. The clock of the database decides what is due and which leases have expired. Rows are deleted
 * with their endpoint.
 */
import { leaseLost, type RunLease, type ScheduledRun } from '../../core/lease.ts'
import { type Database, readClock, step, type TransactionWork } from './database.ts'
import type { Tables } from './schema.ts'
import { differing, NOW, type NoValues, sql } from './sql.ts'

/** `outcome`: that of its message, or `interrupted` if the instance ended before it, or lost its lease. */
export type EndedRun = ScheduledRun & Readonly<{ outcome: string; messageId?: string; code?: string }>

export type StoredSchedule = Readonly<{
  endpointId: string
  /** Of the endpoint, when the timetable was stored. */
  version: number
  /** `Timetable.text` */
  timetable: string
  dueMs: number
  /** Who runs it, or has run it last; empty before the first run. */
  owner: string
  /** The run that holds the lease. */
  running?: ScheduledRun
  /** When the lease expires; 0 without one. */
  untilMs: number
  last?: EndedRun
  /** Times that were skipped since a run was under way. */
  overruns: number
  /** Times that were skipped for another reason: no instance could run the schedule. */
  missed: number
  /** The clock of the database when this was read. */
  nowMs: number
  /** Whether the lease held then. */
  isLeased: boolean
}>

/** Identifies a run: no two runs share an owner and a lease. */
type Owned = Readonly<{ endpointId: string; owner: string; run: string }>
type PutValues = Readonly<{ endpointId: string; version: number; timetable: string; dueMs: number }>
type Row = Omit<Tables['schedules'], 'version' | 'due' | 'until' | 'overruns' | 'missed'> &
  Readonly<Record<'version' | 'due' | 'until' | 'overruns' | 'missed', number | string>> &
  Readonly<{ now: number | string; leased: number }>

const IS_LEASED = sql`running <> '' and until > ${NOW}`
const LEASE_END = sql`${NOW} + cast(:leaseMs as integer)`
/** The run that holds the row; an expired lease stays with it until another run takes it. */
const IS_OWN = sql`endpoint_id = :endpointId and owner = :owner and running = :run and running <> ''`
const SELECT = sql`select endpoint_id, version, timetable, due, owner, until, running, last, overruns, missed,
  ${NOW} as now, case when ${IS_LEASED} then 1 else 0 end as leased from schedules`

const LIST = sql<NoValues, Row>`${SELECT} order by endpoint_id`
const GET = sql<Readonly<{ endpointId: string }>, Row>`${SELECT} where endpoint_id = :endpointId`
/** The document of an instance that has not seen a change yet is older, and replaces nothing. */
const PUT = sql<PutValues>`
  insert into schedules (endpoint_id, version, timetable, due, owner, until, running, last, overruns, missed)
  select id, cast(:version as integer), :timetable, cast(:dueMs as bigint), '', 0, '', '', 0, 0 from endpoints
  where id = :endpointId
  on conflict (endpoint_id) do update set version = excluded.version, timetable = excluded.timetable,
    due = case when schedules.timetable = excluded.timetable then schedules.due else excluded.due end
  where schedules.version < excluded.version
    or (schedules.version = excluded.version and schedules.timetable <> excluded.timetable) returning endpoint_id`
const REMOVE = sql<Readonly<{ endpointId: string; version: number }>>`
  delete from schedules where endpoint_id = :endpointId and version < cast(:version as integer) returning endpoint_id`
const IS_FREE = sql`endpoint_id = :endpointId and not (${IS_LEASED}) and running = :before`
const IS_DUE = sql`timetable = :timetable and due = cast(:dueMs as bigint) and due <= ${NOW}`
const COUNT_MISSED = sql`due = cast(:nextMs as bigint), missed = missed + cast(:skipped as integer)`
const KEEP_INTERRUPTED = sql`last = case when cast(:interrupted as text) = '' then last else :interrupted end`
type ReadValues = ReturnType<typeof readValues>
type TakeValues = ReadValues & Owned & Readonly<{ leaseMs: number }>
const CLAIM = sql<TakeValues & PassedRun>`
  update schedules set owner = :owner, running = :run, until = ${LEASE_END}, ${KEEP_INTERRUPTED}, ${COUNT_MISSED}
  where ${IS_FREE} and ${IS_DUE} returning endpoint_id`
const SKIP = sql<ReadValues & PassedRun>`
  update schedules set running = '', until = 0, ${KEEP_INTERRUPTED}, ${COUNT_MISSED}
  where ${IS_FREE} and ${IS_DUE} returning endpoint_id`
const TAKE = sql<TakeValues>`
  update schedules set owner = :owner, running = :run, until = ${LEASE_END}, ${KEEP_INTERRUPTED}
  where ${IS_FREE} returning endpoint_id`
const RENEW = sql<Owned & Readonly<{ leaseMs: number }>>`
  update schedules set until = ${LEASE_END} where ${IS_OWN} returning endpoint_id`
/** A change of the timetable during the run has set another due time, which stays. */
const END = sql<Owned & DueRun & Readonly<{ last: string }>>`
  update schedules set running = '', until = 0, last = :last,
    overruns = case when due = cast(:dueMs as bigint) then overruns + cast(:skipped as integer) else overruns end,
    due = case when due = cast(:dueMs as bigint) then cast(:nextMs as bigint) else due end
  where ${IS_OWN} returning endpoint_id`
const GIVE_BACK = sql<Owned & Omit<DueRun, 'skipped'>>`
  update schedules set running = '', until = 0,
    due = case when due = cast(:nextMs as bigint) then cast(:dueMs as bigint) else due end
  where ${IS_OWN} returning endpoint_id`

/** Locked: no other run can take the schedule before the transaction has ended. */
const OWNER = sql<Readonly<{ endpointId: string }>, Pick<Owned, 'owner'> & Readonly<{ running: string }>>`
  select owner, running from schedules where endpoint_id = :endpointId ${differing(sql``, sql`for share`)}`

/** Within a transaction of a run. Fails with SCHEDULE_LEASE_LOST if another one has the schedule, which may be deleted. */
export function* assertLease(lease: RunLease): TransactionWork<void> {
  const { endpointId, owner, run } = ownedValues(lease)
  const [found] = yield* step(OWNER, { endpointId })
  if (found !== undefined && (found.owner !== owner || found.running !== run)) throw leaseLost()
}

/** What follows when a due time is taken: when the schedule is due next, and how many times are skipped. */
export type PassedRun = Readonly<{ nextMs: number; skipped: number }>

/** The same of the schedule that is due at `dueMs`. */
export type DueRun = PassedRun & Readonly<{ dueMs: number }>

export type ScheduleStore = ReturnType<typeof compileScheduleStore>

/** Builds the store over a database whose tables are up to date. Rejects with StoreUnavailable if it does not answer. */
export function compileScheduleStore(database: Database) {
  const has = (rows: readonly unknown[]): boolean => rows.length > 0
  return {
    /** The clock of the database, in milliseconds since the epoch. */
    now: () => readClock(database),
    list: async (): Promise<readonly StoredSchedule[]> => (await database.read(LIST, {})).map(scheduleFromRow),
    get: async (endpointId: string): Promise<StoredSchedule | undefined> =>
      (await database.read(GET, { endpointId })).map(scheduleFromRow)[0],
    /**
     * Stores the timetable of an endpoint, unless a newer version of it has stored one. It is due at `dueMs` if the timetable
     * is new; otherwise when it was. Resolves to whether anything was stored.
     */
    put: async (schedule: PutValues): Promise<boolean> => has(await database.write(PUT, schedule)),
    /** Ends the schedule of an endpoint that has none since `version`. */
    remove: async (endpointId: string, version: number): Promise<boolean> =>
      has(await database.write(REMOVE, { endpointId, version })),
    /** Starts the run of a due time, of a schedule as it was read. Resolves to false unless the caller may run it now. */
    claim: async (read: StoredSchedule, lease: RunLease, passed: PassedRun, leaseMs: number): Promise<boolean> =>
      has(await database.write(CLAIM, { ...readValues(read), ...ownedValues(lease), ...passed, leaseMs })),
    /** Skips the due times up to `nextMs`. Resolves to false if the schedule is not as it was read. */
    skip: async (read: StoredSchedule, passed: PassedRun): Promise<boolean> =>
      has(await database.write(SKIP, { ...readValues(read), ...passed })),
    /** Starts a run that was asked for. Resolves to false if another one is under way, or the schedule is gone. */
    take: async (read: StoredSchedule, lease: RunLease, leaseMs: number): Promise<boolean> =>
      has(await database.write(TAKE, { ...readValues(read), ...ownedValues(lease), leaseMs })),
    renew: async (lease: RunLease, leaseMs: number): Promise<boolean> =>
      has(await database.write(RENEW, { ...ownedValues(lease), leaseMs })),
    /**
     * Stores how a run ended. If the schedule is still due at `dueMs`, it is due at `nextMs` from now on. Resolves to false
     * if the lease is lost.
     */
    end: async (lease: RunLease, last: EndedRun, due: DueRun): Promise<boolean> =>
      has(await database.write(END, { ...ownedValues(lease), ...due, last: JSON.stringify(last) })),
    /** Ends a claim whose run did not start: the schedule is due at `dueMs` again. */
    giveBack: async (lease: RunLease, due: Omit<DueRun, 'skipped'>): Promise<boolean> =>
      has(await database.write(GIVE_BACK, { ...ownedValues(lease), ...due })),
  }
}

const ownedValues = ({ endpointId, owner, run }: RunLease): Owned => ({ endpointId, owner, run: JSON.stringify(run) })

/** An expired run is fenced by its own text, and reported as interrupted. */
const readValues = ({ endpointId, timetable, dueMs, running }: StoredSchedule) => ({
  endpointId,
  timetable,
  dueMs,
  before: running === undefined ? '' : JSON.stringify(running),
  interrupted: running === undefined ? '' : JSON.stringify(interrupted(running)),
})

/** What became of a run whose lease has expired. */
export const interrupted = (run: ScheduledRun): EndedRun => ({ ...run, outcome: 'interrupted' })

const scheduleFromRow = ({
  endpoint_id: endpointId,
  timetable,
  owner,
  running,
  last,
  ...row
}: Row): StoredSchedule => ({
  endpointId,
  version: Number(row.version),
  timetable,
  dueMs: Number(row.due),
  owner,
  ...(running === '' ? {} : { running: JSON.parse(running) as ScheduledRun }),
  untilMs: Number(row.until),
  ...(last === '' ? {} : { last: JSON.parse(last) as EndedRun }),
  overruns: Number(row.overruns),
  missed: Number(row.missed),
  nowMs: Number(row.now),
  isLeased: row.leased === 1,
})
