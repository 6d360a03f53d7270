/**
 * The door of schedules: starts a message of an endpoint at each of its times, on one instance. What is due, and who may run
 * it, is decided in the store, by its clock: each start is a claim of one due time, with a lease. A run is never repeated: if
 * its instance ends before it, another one continues with a later time.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { Failure, isOverload } from '../../core/failure.ts'
import type { Origin } from '../../core/origin.ts'
import type { Logger } from '../../core/ports/logger-port.ts'
import type { CompiledEndpoint } from '../../endpoints/compiled-endpoint.ts'
import type { Registry } from '../../endpoints/endpoint-registry.ts'
import { compileTimetable, type Timetable } from '../../language/timetable.ts'
import type { ScheduleStore, StoredSchedule } from '../../store/sql/schedule-store.ts'
import { callStore, StoreUnavailable } from '../../store/store-access.ts'
import type { CompletedMessage } from '../completed-message.ts'
import type { Intake } from '../intake.ts'
import { isPaused, refusalIfPaused } from '../paused.ts'
import { stopping } from '../shutdown.ts'
import { RunningLease } from './running-lease.ts'
import { ScheduleCounts } from './schedule-counts.ts'

type RunnerOptions = Readonly<{
  registry: Pick<Registry, 'get' | 'all' | 'watch'>
  /** Whether this process runs the schedule of an endpoint. */
  isOwn(endpointId: string): boolean
  store: ScheduleStore
  intake: Pick<Intake, 'accept' | 'refusal'>
  newId: () => string
  logger: Logger
}>

/** An endpoint with a schedule. */
type Wanted = Readonly<{ compiled: CompiledEndpoint; timetable: Timetable }>

/** How long another instance waits for one that has died. */
export const LEASE_MS = 15_000
/** A time that no instance could run for longer than this has been missed. */
const GRACE_MS = LEASE_MS
/** The instance that ran a schedule last goes first: claims of all instances at once would be in vain for all but one. */
const HANDOVER_MS = 500
/** How often the store is read while nothing is due, and at the most. */
const POLL_MS = 5_000
const MIN_POLL_MS = 500
const LEASED_POLL_MS = 2_000
/** Due times so near to each other are looked at together. */
const TICK_MS = 10
const BUSY_MS = 50

const SCHEDULE: Origin = { door: 'schedule' }

export class ScheduleRunner {
  readonly counts = new ScheduleCounts()
  readonly #options: RunnerOptions
  readonly #owner: string
  /** The active endpoints whose schedules this process runs, by id. */
  readonly #wanted = new Map<string, Wanted>()
  /** Their schedules, as the store had them last. */
  readonly #known = new Map<string, StoredSchedule>()
  /** Endpoints with a claim or run of this process. */
  readonly #busy = new Map<string, Promise<void>>()
  /** Runs that calls have asked for. */
  readonly #askedFor = new Set<Promise<unknown>>()
  #askedForMs = 0
  readonly #stopping = new AbortController()
  /** From `performance.now()` to the clock of the store, which is never behind what this gives. */
  #offsetMs = 0
  #readAt = Number.NEGATIVE_INFINITY
  #isStarted = false
  #isStale = true
  #isReading = false
  #hasFailed = false
  #timer: NodeJS.Timeout | undefined
  #timerAt = Number.POSITIVE_INFINITY

  constructor(options: RunnerOptions) {
    this.#options = options
    this.#owner = options.newId()
  }

  /** Runs the schedules of all active endpoints, and follows every change from then on. */
  start(): void {
    const { registry } = this.#options
    this.#isStarted = true
    for (const compiled of registry.all()) this.#add(compiled)
    registry.watch(({ removed, added }) => {
      let hasChanged = false
      for (const { document, endpoint } of removed) {
        hasChanged ||= endpoint.schedule !== undefined
        this.#wanted.delete(document._id)
        this.#known.delete(document._id)
      }
      for (const compiled of added) hasChanged = this.#add(compiled) || hasChanged
      this.counts.keep((id) => registry.get(id) !== undefined)
      if (hasChanged) this.#readSoon()
    })
    this.#wake(performance.now())
  }

  /** Starts no further run; resolves when those under way have ended and their ends are stored. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    clearTimeout(this.#timer)
    await Promise.allSettled([...this.#busy.values(), ...this.#askedFor])
  }

  /** The schedules that this process runs. */
  status(): readonly Readonly<{ endpoint: string; schedule: StoredSchedule; nowMs: number }>[] {
    const nowMs = this.#nowMs()
    return [...this.#wanted].flatMap(([id, { compiled }]) => {
      const schedule = this.#known.get(id)
      return schedule === undefined ? [] : [{ endpoint: compiled.document.name, schedule, nowMs }]
    })
  }

  /** The stored schedule of an active endpoint. Fails with SCHEDULE_UNKNOWN, STORE_UNAVAILABLE. */
  async get(endpointId: string): Promise<StoredSchedule> {
    const wanted = this.#find(endpointId)
    return callStore('The store', async () => {
      const found = (await this.#put(endpointId, wanted)) ?? (await this.#options.store.get(endpointId))
      return found ?? unknown()
    })
  }

  /** By the ids of their endpoints. Fails with STORE_UNAVAILABLE. */
  all(): Promise<ReadonlyMap<string, StoredSchedule>> {
    return callStore('The store', async () => {
      const schedules = await this.#options.store.list()
      return new Map(schedules.map((schedule) => [schedule.endpointId, schedule]))
    })
  }

  /**
   * Runs the schedule of an active endpoint now; its due times stay as they are. Resolves to how the message ended. Fails with
   * SCHEDULE_UNKNOWN, SCHEDULE_BUSY, ENDPOINT_PAUSED, OVERLOADED, SHUTTING_DOWN, STORE_UNAVAILABLE.
   */
  async runNow(endpointId: string): Promise<Readonly<{ completed: CompletedMessage; scheduledFor: string }>> {
    const wanted = this.#find(endpointId)
    const refusal = refusalIfPaused(wanted.compiled) ?? this.#options.intake.refusal(wanted.compiled)
    if (refusal !== undefined) throw refusal
    const schedule = await this.get(endpointId)
    // Calls may have read the same time, and a lease is known by the time of its run.
    this.#askedForMs = Math.max(schedule.nowMs, this.#askedForMs + 1)
    const now = new Date(this.#askedForMs).toISOString()
    const lease = this.#newLease(endpointId, { scheduledFor: now, startedAt: now })
    const isTaken = await callStore('The store', () => this.#options.store.take(schedule, lease.claimed, LEASE_MS))
    if (!isTaken) throw busy()
    const ended = this.#perform(wanted, schedule.dueMs, schedule, lease)
    this.#askedFor.add(ended)
    try {
      const completed = await ended
      if (completed !== undefined) return { completed, scheduledFor: now }
      if (this.#stopping.signal.aborted) throw stopping()
      const isTakenOver = !lease.isHeld && this.#options.registry.get(endpointId) !== undefined
      throw isTakenOver ? busy() : (this.#options.intake.refusal() ?? gone())
    } finally {
      this.#askedFor.delete(ended)
      this.#readSoon()
    }
  }

  #add(compiled: CompiledEndpoint): boolean {
    const { _id } = compiled.document
    const wanted = compileWanted(compiled)
    if (wanted === undefined || !this.#options.isOwn(_id)) return false
    // Its due time stays: once it is resumed, what has passed was missed.
    if (isPaused(compiled)) return true
    this.#wanted.set(_id, wanted)
    return true
  }

  #find(endpointId: string): Wanted {
    const compiled = this.#options.registry.get(endpointId)
    return this.#wanted.get(endpointId) ?? (compiled && compileWanted(compiled)) ?? unknown()
  }

  #nowMs(): number {
    return performance.now() + this.#offsetMs
  }

  #readSoon(): void {
    this.#isStale = true
    this.#wake(performance.now())
  }

  /** `at`: on the clock of `performance.now()`. */
  #wake(at: number): void {
    if (!this.#isStarted || this.#stopping.signal.aborted || at >= this.#timerAt) return
    clearTimeout(this.#timer)
    this.#timerAt = at
    const pauseMs = Math.min(Math.max(at - performance.now(), TICK_MS), POLL_MS)
    this.#timer = setTimeout(() => {
      this.#timerAt = Number.POSITIVE_INFINITY
      this.#tick()
    }, pauseMs)
    this.#timer.unref()
  }

  /** Claims what is due, and reads the store if it may have changed. */
  #tick(): void {
    if (this.#isReading) return
    const now = performance.now()
    const isOld = this.#wanted.size > 0 && now >= this.#readAt + POLL_MS
    let mustRead = this.#isStale || isOld
    let nextAt = this.#wanted.size === 0 ? Number.POSITIVE_INFINITY : this.#readAt + POLL_MS
    for (const [endpointId, schedule] of this.#known) {
      const wanted = this.#wanted.get(endpointId)
      if (wanted === undefined || this.#busy.has(endpointId)) continue
      const at = this.#startAt(schedule)
      if (at > now) nextAt = Math.min(nextAt, at)
      else if (!['', this.#owner].includes(schedule.owner) && at > this.#readAt) mustRead = true
      else this.#track(endpointId, this.#runDue(wanted, schedule))
    }
    if (!mustRead) this.#wake(nextAt)
    else if (now < this.#readAt + MIN_POLL_MS && !this.#isNew())
      this.#wake(Math.min(nextAt, this.#readAt + MIN_POLL_MS))
    else void this.#read()
  }

  /** A new schedule may be due before the next regular read. */
  #isNew(): boolean {
    return [...this.#wanted.keys()].some((id) => !this.#known.has(id))
  }

  /** When this process may start a schedule, on the clock of `performance.now()`. */
  #startAt({ dueMs, owner, isLeased, untilMs }: StoredSchedule): number {
    const dueAt = dueMs - this.#offsetMs
    if (isLeased) {
      const freeAt = Math.min(untilMs - this.#offsetMs + BUSY_MS, this.#readAt + LEASED_POLL_MS)
      return Math.max(dueAt + HANDOVER_MS, freeAt)
    }
    return owner === '' || owner === this.#owner ? dueAt : dueAt + HANDOVER_MS
  }

  async #read(): Promise<void> {
    const { store, registry } = this.#options
    this.#isReading = true
    this.#isStale = false
    const startedAt = performance.now()
    try {
      const schedules = await store.list()
      this.#offsetMs = (schedules[0]?.nowMs ?? (await store.now())) - performance.now()
      this.#readAt = startedAt
      const found = new Map(schedules.map((schedule) => [schedule.endpointId, schedule]))
      for (const { endpointId, version } of schedules) {
        const compiled = registry.get(endpointId)
        if (compiled === undefined || compiled.endpoint.schedule !== undefined) continue
        if (compiled.version > version) await store.remove(endpointId, compiled.version)
      }
      for (const [endpointId, wanted] of this.#wanted) {
        const stored = found.get(endpointId)
        const isStored = stored?.timetable === wanted.timetable.text
        const schedule = isStored ? stored : await this.#put(endpointId, wanted, stored)
        if (schedule !== undefined && !this.#busy.has(endpointId)) this.#known.set(endpointId, schedule)
      }
      this.#hasFailed = false
    } catch (thrown) {
      this.#isStale = true
      this.#report(thrown, 'Schedules could not be read')
    }
    this.#isReading = false
    this.#wake(performance.now() + (this.#hasFailed ? LEASED_POLL_MS : 0))
  }

  /** A store that is away is reported once. */
  #report(thrown: unknown, message: string): void {
    const { logger } = this.#options
    if (!(thrown instanceof StoreUnavailable)) logger.error({ err: thrown }, message)
    else if (!this.#hasFailed) logger.warn({ err: thrown }, 'Schedules wait for the store')
    this.#hasFailed = true
  }

  /** Stores the timetable, unless it is stored. Out: the schedule; undefined while a newer version of its endpoint decides. */
  async #put(endpointId: string, { compiled, timetable }: Wanted, before?: StoredSchedule) {
    const { store } = this.#options
    const stored = before ?? (await store.get(endpointId))
    if (stored?.timetable === timetable.text) return stored
    const nowMs = stored?.nowMs ?? (await store.now())
    const { version } = compiled
    await store.put({ endpointId, version, timetable: timetable.text, dueMs: timetable.first(nowMs) })
    const after = await store.get(endpointId)
    return after?.timetable === timetable.text ? after : undefined
  }

  #track(endpointId: string, work: Promise<void>): void {
    const done = work
      .catch((thrown: unknown) => {
        this.#report(thrown, 'A schedule could not be run')
        this.#forget(endpointId)
      })
      .finally(() => {
        this.#busy.delete(endpointId)
        this.#wake(performance.now())
      })
    this.#busy.set(endpointId, done)
  }

  /** The schedule is not as it was read. */
  #forget(endpointId: string): void {
    this.#known.delete(endpointId)
    this.#isStale = true
  }

  /** Claims a due time and runs it, or skips what was missed. */
  async #runDue(wanted: Wanted, schedule: StoredSchedule): Promise<void> {
    const { store } = this.#options
    const { endpointId, dueMs } = schedule
    const { compiled, timetable } = wanted
    const nowMs = this.#nowMs()
    const { count, latestMs, nextMs } = timetable.passed(dueMs, nowMs)
    if (nowMs - latestMs > GRACE_MS && !catchesUp(compiled)) {
      const isSkipped = await store.skip(schedule, { nextMs, skipped: count })
      if (isSkipped) this.counts.addMissed(compiled.document, count)
      if (isSkipped && schedule.running !== undefined) this.counts.addRun(compiled.document, 'interrupted')
      this.#forget(endpointId)
      return
    }
    const startedAt = new Date(nowMs).toISOString()
    const lease = this.#newLease(endpointId, { scheduledFor: new Date(latestMs).toISOString(), startedAt })
    const due = { nextMs, skipped: count - 1 }
    if (!(await lease.take(() => store.claim(schedule, lease.claimed, due, LEASE_MS)))) {
      this.#forget(endpointId)
      return
    }
    // For the metrics, until the run has ended.
    if (this.#wanted.has(endpointId)) this.#known.set(endpointId, { ...schedule, dueMs: nextMs })
    if (schedule.running !== undefined) this.counts.addRun(compiled.document, 'interrupted')
    this.counts.addMissed(compiled.document, count - 1)
    await this.#perform(wanted, nextMs, { ...schedule, dueMs: latestMs }, lease)
  }

  #newLease(endpointId: string, run: Readonly<{ scheduledFor: string; startedAt: string }>): RunningLease {
    const { store, logger } = this.#options
    return new RunningLease({ endpointId, owner: this.#owner, run }, { store, logger, leaseMs: LEASE_MS })
  }

  /**
   * Runs a message under a lease. Out: how it ended; undefined if it did not start, since the service stops, the endpoint is gone
   * or the lease was lost first. `nextMs`: when the schedule is due next.
   */
  async #perform(
    { compiled, timetable }: Wanted,
    nextMs: number,
    before: StoredSchedule,
    lease: RunningLease,
  ): Promise<CompletedMessage | undefined> {
    const { endpointId } = before
    lease.hold()
    try {
      const completed = await this.#runMessage(lease)
      if (completed === undefined) {
        await lease.giveBack({ dueMs: before.dueMs, nextMs })
        this.#forget(endpointId)
        return undefined
      }
      const nowMs = this.#nowMs()
      const passed = nowMs < nextMs ? undefined : timetable.passed(nextMs, nowMs)
      const isCaughtUp = passed !== undefined && catchesUp(this.#options.registry.get(endpointId) ?? compiled)
      const overruns = (passed?.count ?? 0) - (isCaughtUp ? 1 : 0)
      const dueMs = passed === undefined ? nextMs : isCaughtUp ? passed.latestMs : passed.nextMs
      const { outcome, messageId, code } = completed
      const last = { ...lease.claimed.run, outcome, messageId, ...(code === '' ? {} : { code }) }
      this.counts.addRun(compiled.document, outcome)
      this.counts.addOverruns(compiled.document, overruns)
      const isStored = await lease.end(last, { dueMs: nextMs, nextMs: dueMs, skipped: overruns })
      const isUnchanged = isStored && this.#options.registry.get(endpointId) === compiled
      if (isUnchanged && this.#wanted.has(endpointId)) {
        const { running: _, ...rest } = before
        const ended = { ...rest, last, dueMs, owner: this.#owner, isLeased: false, untilMs: 0 }
        this.#known.set(endpointId, ended)
      }
      // A change meanwhile may have set another due time.
      if (!isUnchanged) this.#forget(endpointId)
      return completed
    } finally {
      lease.close()
    }
  }

  async #runMessage(lease: RunningLease): Promise<CompletedMessage | undefined> {
    const { registry, intake } = this.#options
    const { endpointId, run } = lease.claimed
    for (;;) {
      const compiled = registry.get(endpointId)
      if (compiled?.endpoint.schedule === undefined || this.#stopping.signal.aborted || !lease.isHeld) return undefined
      if (isPaused(compiled)) return undefined
      const refusal = intake.refusal(compiled)
      if (refusal === undefined) {
        return intake.accept(compiled, {
          origin: SCHEDULE,
          requestHeaders: {},
          body: undefined,
          scheduledFor: run.scheduledFor,
          lease,
        })
      }
      if (!isOverload(refusal)) return undefined
      await pause(BUSY_MS, undefined, { ref: false })
    }
  }
}

const catchesUp = ({ endpoint: { schedule } }: CompiledEndpoint): boolean => schedule?.catchUp === 'one'

/** Undefined without a schedule. */
function compileWanted(compiled: CompiledEndpoint): Wanted | undefined {
  const { schedule } = compiled.endpoint
  if (schedule === undefined) return undefined
  const timetable = compileTimetable(schedule)
  return timetable.ok ? { compiled, timetable: timetable.value } : undefined
}

function busy(): Failure {
  return new Failure('SCHEDULE_BUSY', 'A run of the schedule is under way; try again when it has ended.')
}

function gone(): Failure {
  return new Failure('SCHEDULE_UNKNOWN', 'The endpoint was deleted, or has no schedule any more.')
}

function unknown(): never {
  throw new Failure(
    'SCHEDULE_UNKNOWN',
    'The endpoint has no schedule that is active; give it "schedule", and look at its faults if it has one.',
  )
}
