/**
 * A pool of isolated processes, or of threads that take their place, with one call at a time each: the pool of the quick
 * calls, or that of the slow ones.
 */
import { type Backoff, nextPauseMs } from '../core/backoff.ts'
import { Failure } from '../core/failure.ts'
import type { Logger } from '../core/ports/logger-port.ts'
import type { TranslateNow } from '../core/tables/table-reads.ts'
import { MAX_TRANSLATIONS } from '../language/jsonata/expression-engine.ts'
import type { Program } from '../pipeline/sandbox.ts'
import type { CpuQuota } from './cpu-quota.ts'
import {
  frame,
  type IsolationRequest,
  type IsolationResponse,
  type IsolationTask,
  type Lookup,
  type LookupAnswer,
} from './isolation-protocol.ts'
import type { EndedBy, PoolMember, PoolMemberEvents } from './pool-member.ts'

/** `size`: characters of the program as JSON. */
export type ProgramOwner = Readonly<{ id: number; program: Program; size: number; quota: CpuQuota }>

type PoolCall = {
  owner: ProgramOwner
  task: IsolationTask
  /** The process of a call that runs longer is killed. */
  limitMs: number
  /** Milliseconds since the epoch. A call that has not started by then does not start. */
  deadlineAt: number
  /** For `$table`: the tables stay here. */
  translate?: ((of: string) => TranslateNow) | undefined
  /** The first process of this call was killed by another process. */
  isRetry: boolean
  /** Runs until its deadline while it is queued. */
  deadlineTimer: NodeJS.Timeout | undefined
  finish(outcome: CallOutcome): void
}

export type CallOutcome =
  | Readonly<{ response: IsolationResponse }>
  | Readonly<{ ended: 'time' | 'memory' }>
  | Readonly<{ refused: 'deadline' | 'full' }>

type ProcessPoolOptions = Readonly<{
  /** The most that run at once. */
  processes: number
  /** The word for a member in the log. */
  kind: 'process' | 'thread'
  startMember(events: PoolMemberEvents): PoolMember
  /**
   * Members start when calls need them, and stop after so many milliseconds without a call. By default all start at once and
   * stay.
   */
  idleMs?: number | undefined
  logger: Logger
}>

export type ProcessPoolCounts = Readonly<{
  processes: number
  waiting: number
  ended: Readonly<Record<'time' | 'memory' | 'others', number>>
}>

/** A call in the quick pool that runs twice as long, and uses the processor in the second half, is not quick. */
const OVERDUE_MS = 30
const MAX_WAITING = 512
const MAX_WAITING_EACH = 256

/** The pauses after processes that ended before they were ready. */
const BACKOFF: Backoff = { firstMs: 250, maxMs: 30_000 }

/** A member with its call. */
class PoolProcess {
  readonly member: PoolMember
  readonly cache = new ProgramCache()
  isReady = false
  /** Its call has exceeded its limit. */
  isTimedOut = false
  /** It takes no further calls: another process has replaced it. */
  isRetired = false
  call: PoolCall | undefined
  /** Of the call. */
  lookupsLeft = 0
  #timers: NodeJS.Timeout[] = []

  constructor(startMember: (process: PoolProcess) => PoolMember) {
    this.member = startMember(this)
  }

  after(ms: number, act: () => void): NodeJS.Timeout {
    const timer = setTimeout(act, ms)
    this.#timers.push(timer)
    return timer
  }

  clearTimers(): void {
    for (const timer of this.#timers.splice(0)) clearTimeout(timer)
  }

  look({ of, table, column, code, mustFind }: Lookup): LookupAnswer {
    const { translate } = this.call ?? {}
    this.lookupsLeft -= 1
    if (translate === undefined || this.lookupsLeft < 0) throw new RangeError('The call may not ask for this.')
    try {
      return { kind: 'found', text: translate(of)(table, column, code, mustFind) }
    } catch (thrown) {
      if (!(thrown instanceof Failure)) throw thrown
      const { code, message, unquoted } = thrown
      return { kind: 'found', failure: { code, message, unquoted } }
    }
  }

  clearCall(): PoolCall | undefined {
    const { call } = this
    this.clearTimers()
    this.call = undefined
    return call
  }
}

export class ProcessPool {
  readonly #name: 'quick' | 'slow'
  readonly #options: ProcessPoolOptions
  readonly #active = new Set<PoolProcess>()
  readonly #retired = new Set<PoolProcess>()
  readonly #queue = new QuotaQueue<PoolCall>(MAX_WAITING_EACH, MAX_WAITING)
  readonly #ended = { time: 0, memory: 0, others: 0 }
  #pauseMs = 0
  #isClosed = false

  constructor(name: 'quick' | 'slow', options: ProcessPoolOptions) {
    this.#name = name
    this.#options = options
    this.#fill()
  }

  submit(call: PoolCall): void {
    const { owner } = call
    if (!this.#queue.add(owner.id, owner.quota, call)) {
      call.finish({ refused: 'full' })
      return
    }
    const expire = () => {
      this.#queue.remove(owner.id, call)
      call.finish({ refused: 'deadline' })
    }
    // This timer and that of the limit keep the service alive, since the processes do not: callers wait for the result.
    call.deadlineTimer = setTimeout(expire, Math.max(call.deadlineAt - Date.now(), 0))
    this.#dispatch()
    // After a member that was never ready, the timer of its pause starts the next.
    if (this.#options.idleMs !== undefined && this.#pauseMs === 0) this.#fill()
  }

  /** Removes the calls of a program that have not started. */
  withdraw({ id }: ProgramOwner): PoolCall[] {
    const calls = this.#queue.takeAll(id)
    for (const { deadlineTimer } of calls) clearTimeout(deadlineTimer)
    return calls
  }

  counts(): ProcessPoolCounts {
    const processes = this.#active.size + this.#retired.size
    return { processes, waiting: this.#queue.size, ended: { ...this.#ended } }
  }

  close(): void {
    this.#isClosed = true
    for (const { member } of [...this.#active, ...this.#retired]) member.kill()
    for (let call = this.#queue.next(); call !== undefined; call = this.#queue.next()) {
      clearTimeout(call.deadlineTimer)
      call.finish({ refused: 'deadline' })
    }
  }

  #fill(): void {
    const { processes } = this.#options
    while (!this.#isClosed && this.#active.size < Math.min(processes, this.#neededNow())) this.#startProcess()
  }

  #neededNow(): number {
    const { processes, idleMs } = this.#options
    if (idleMs === undefined) return processes
    return this.#queue.size + [...this.#active].filter(({ call }) => call !== undefined).length
  }

  #startProcess(): void {
    const started = new PoolProcess((process) =>
      this.#options.startMember({
        onReady: () => {
          process.isReady = true
          this.#pauseMs = 0
          this.#dispatch()
          this.#endWhenIdle(process)
        },
        onLookup: (lookup) => process.member.send(frame(process.look(lookup))),
        onResponse: (response) => {
          process.clearCall()?.finish({ response })
          if (process.isRetired) process.member.kill()
          else this.#dispatch()
          this.#endWhenIdle(process)
        },
        onEnd: (endedBy) => this.#handleEnd(process, endedBy),
      }),
    )
    if (this.#name === 'slow') started.member.lowerPriority()
    this.#active.add(started)
  }

  #endWhenIdle(process: PoolProcess): void {
    const { idleMs } = this.#options
    if (idleMs === undefined || process.call !== undefined || !this.#active.has(process)) return
    const end = () => {
      this.#active.delete(process)
      process.member.kill()
    }
    process.after(idleMs, end).unref()
  }

  #handleEnd(process: PoolProcess, endedBy: EndedBy): void {
    const call = process.clearCall()
    this.#active.delete(process)
    this.#retired.delete(process)
    if (this.#isClosed) call?.finish({ refused: 'deadline' })
    if (this.#isClosed || (endedBy === 'service' && !process.isTimedOut)) return
    // A process that was never ready had no program that could need memory.
    const cause = process.isTimedOut ? 'time' : endedBy === 'itself' && process.isReady ? 'memory' : 'others'
    this.#ended[cause] += 1
    this.#options.logger.warn(
      { lane: this.#name, pid: process.member.pid, cause, endpoint: call?.owner.program.endpoint },
      `An isolated ${this.#options.kind} was ended`,
    )
    if (!process.isReady) this.#pauseMs = nextPauseMs(this.#pauseMs, BACKOFF)
    if (call !== undefined) {
      // The system may have killed the process because of this call: that shows if it happens twice.
      if (cause === 'others' && !call.isRetry) {
        call.isRetry = true
        this.submit(call)
      } else call.finish({ ended: cause === 'time' ? 'time' : 'memory' })
    }
    if (this.#pauseMs === 0) this.#fill()
    else setTimeout(() => this.#fill(), this.#pauseMs).unref()
  }

  #dispatch(): void {
    for (const process of this.#active) {
      if (!process.isReady || process.isTimedOut || process.call !== undefined) continue
      const call = this.#queue.next()
      if (call === undefined) return
      this.#run(process, call)
    }
  }

  #run(process: PoolProcess, call: PoolCall): void {
    const { owner, task } = call
    const { member } = process
    process.clearTimers()
    process.call = call
    process.lookupsLeft = MAX_TRANSLATIONS * Math.max(1, owner.program.expressions.length)
    clearTimeout(call.deadlineTimer)
    process.after(call.limitMs, () => {
      process.isTimedOut = true
      member.kill()
    })
    if (this.#name === 'quick') process.after(OVERDUE_MS, () => this.#retireIfSlow(process, member.cpuMs()))
    member.send(frame({ id: owner.id, ...process.cache.add(owner), task }))
  }

  /** Lets a process whose call is slow finish it at low priority, and starts another one in its place. */
  #retireIfSlow(process: PoolProcess, before: number | undefined): void {
    process.after(OVERDUE_MS, () => {
      const now = process.member.cpuMs()
      const runs = before === undefined || now === undefined || now - before >= OVERDUE_MS / 2
      if (!runs || this.#queue.size === 0 || this.#retired.size >= this.#options.processes) {
        this.#retireIfSlow(process, now)
        return
      }
      process.isRetired = true
      process.member.lowerPriority()
      this.#active.delete(process)
      this.#retired.add(process)
      this.#fill()
    })
  }
}

/** Characters of all programs; compiled, they may take a hundred times as much. */
const MAX_CHARACTERS = 500_000
const MAX_PROGRAMS = 500

/** Which programs a process keeps compiled: the least recently used ones are dropped. */
class ProgramCache {
  readonly #sizes = new Map<number, number>()
  #characters = 0

  /** Marks a program as used. Out: the program, if the process does not have it, and the programs to drop for it. */
  add({ id, size, program }: ProgramOwner): Pick<IsolationRequest, 'program' | 'forget'> {
    const isNew = !this.#sizes.delete(id)
    if (isNew) this.#characters += size
    this.#sizes.set(id, size)
    const forget: number[] = []
    for (const [oldest, oldestSize] of this.#sizes) {
      if (oldest === id || (this.#characters <= MAX_CHARACTERS && this.#sizes.size <= MAX_PROGRAMS)) break
      this.#sizes.delete(oldest)
      this.#characters -= oldestSize
      forget.push(oldest)
    }
    return { program: isNew ? program : undefined, forget }
  }
}

/**
 * The FIFO queues of calls that wait for a process, one for each program. The program whose last call took the least
 * processor time is next; programs with equal times alternate.
 */
export class QuotaQueue<Call> {
  readonly #queues = new Map<number, { quota: CpuQuota; calls: Call[] }>()
  readonly #maxEach: number
  readonly #maxInAll: number
  size = 0

  constructor(maxEach: number, maxInAll: number) {
    this.#maxEach = maxEach
    this.#maxInAll = maxInAll
  }

  /** Returns false if the queue of the program, or all of them together, are full. */
  add(key: number, quota: CpuQuota, call: Call): boolean {
    const queue = this.#queues.get(key) ?? { quota, calls: [] }
    if (queue.calls.length >= this.#maxEach || this.size >= this.#maxInAll) return false
    queue.calls.push(call)
    this.#queues.set(key, queue)
    this.size += 1
    return true
  }

  next(): Call | undefined {
    let best: number | undefined
    let min = Number.POSITIVE_INFINITY
    for (const [key, { quota }] of this.#queues) {
      const cost = quota.cpuMs ?? 0
      if (cost < min) [best, min] = [key, cost]
    }
    const queue = best === undefined ? undefined : this.#queues.get(best)
    if (best === undefined || queue === undefined) return undefined
    const call = queue.calls.shift()
    this.#queues.delete(best)
    // Inserted again, it is behind the other programs of the same cost.
    if (queue.calls.length > 0) this.#queues.set(best, queue)
    this.size -= 1
    return call
  }

  /** Removes the calls of a program; they are in their order. */
  takeAll(key: number): Call[] {
    const calls = this.#queues.get(key)?.calls ?? []
    this.#queues.delete(key)
    this.size -= calls.length
    return calls
  }

  remove(key: number, call: Call): void {
    const queue = this.#queues.get(key)
    const at = queue?.calls.indexOf(call) ?? -1
    if (queue === undefined || at < 0) return
    queue.calls.splice(at, 1)
    this.size -= 1
    if (queue.calls.length === 0) this.#queues.delete(key)
  }
}
