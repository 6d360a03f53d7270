/**
 * A pool of isolated processes, or of threads that take their place, with one call at a time each: the pool of the quick
 * calls, or that of the slow ones.
 */
import { type Backoff, nextPauseMs } from '../core/backoff.ts'
import type { Logger } from '../core/ports/logger-port.ts'
import type { Program } from '../pipeline/sandbox.ts'
import type { CpuQuota } from './cpu-quota.ts'
import { frame, type IsolationResponse, type IsolationTask } from './isolation-protocol.ts'
import type { EndedBy, PoolMember, PoolMemberEvents } from './pool-member.ts'
import { createProgramCache, type ProgramCache } from './program-cache.ts'
import { createQuotaQueue } from './quota-queue.ts'

/** `size`: characters of the program as JSON. */
export type ProgramOwner = Readonly<{ id: number; program: Program; size: number; quota: CpuQuota }>

export type PoolCall = {
  owner: ProgramOwner
  task: IsolationTask
  /** The process of a call that runs longer is killed. */
  limitMs: number
  /** Milliseconds since the epoch. A call that has not started by then does not start. */
  deadlineAt: number
  /** Whether another process killed the first process of this call. */
  isRetry: boolean
  /** Runs until its deadline while it is queued. */
  deadlineTimer: NodeJS.Timeout | undefined
  finish(outcome: CallOutcome): void
}

export type CallOutcome =
  | Readonly<{ response: IsolationResponse }>
  | Readonly<{ ended: 'time' | 'memory' }>
  | Readonly<{ refused: 'deadline' | 'full' }>

export type ProcessPoolOptions = Readonly<{
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

export type ProcessPool = Readonly<{
  submit(call: PoolCall): void
  /** Removes the calls of a program that have not started. */
  withdraw(owner: ProgramOwner): PoolCall[]
  counts(): ProcessPoolCounts
  close(): void
}>

export type ProcessPoolCounts = Readonly<{
  processes: number
  waiting: number
  ended: Readonly<Record<'time' | 'memory' | 'others', number>>
}>

type ProcessRecord = {
  member: PoolMember
  isReady: boolean
  call: PoolCall | undefined
  timers: NodeJS.Timeout[]
  cache: ProgramCache
  /** Its call has exceeded its limit. */
  isTimedOut: boolean
  /** It takes no further calls: another process has replaced it. */
  isRetired: boolean
}

/** A call in the quick pool that runs twice as long, and uses the processor in the second half, is not quick. */
const OVERDUE_MS = 30
const MOST_WAITING = 512
const MOST_WAITING_EACH = 256

/** The pauses after processes that ended before they were ready. */
const BACKOFF: Backoff = { firstMs: 250, longestMs: 30_000 }

export function createProcessPool(
  name: 'quick' | 'slow',
  { processes, kind, startMember, idleMs, logger }: ProcessPoolOptions,
): ProcessPool {
  const active = new Set<ProcessRecord>()
  const retired = new Set<ProcessRecord>()
  const queue = createQuotaQueue<PoolCall>(MOST_WAITING_EACH, MOST_WAITING)
  const ended = { time: 0, memory: 0, others: 0 }
  let pauseMs = 0
  let isClosed = false

  function startProcess(): void {
    const member = startMember({
      onReady: () => {
        record.isReady = true
        pauseMs = 0
        dispatch()
        endWhenIdle(record)
      },
      onResponse: (response) => {
        const call = clearCall(record)
        call?.finish({ response })
        if (record.isRetired) member.kill()
        else dispatch()
        endWhenIdle(record)
      },
      onEnd: (endedBy) => handleEnd(record, endedBy),
    })
    const record: ProcessRecord = {
      member,
      isReady: false,
      call: undefined,
      timers: [],
      cache: createProgramCache(),
      isTimedOut: false,
      isRetired: false,
    }
    if (name === 'slow') member.lowerPriority()
    active.add(record)
  }

  function endWhenIdle(record: ProcessRecord): void {
    if (idleMs === undefined || record.call !== undefined || !active.has(record)) return
    const end = () => {
      active.delete(record)
      record.member.kill()
    }
    record.timers.push(setTimeout(end, idleMs).unref())
  }

  function clearCall(record: ProcessRecord): PoolCall | undefined {
    const { call } = record
    clearTimers(record)
    record.call = undefined
    return call
  }

  function clearTimers({ timers }: ProcessRecord): void {
    for (const timer of timers.splice(0)) clearTimeout(timer)
  }

  function handleEnd(record: ProcessRecord, endedBy: EndedBy): void {
    const call = clearCall(record)
    active.delete(record)
    retired.delete(record)
    if (isClosed) call?.finish({ refused: 'deadline' })
    if (isClosed || (endedBy === 'service' && !record.isTimedOut)) return
    // A process that was never ready had no program that could need memory.
    const cause = record.isTimedOut ? 'time' : endedBy === 'itself' && record.isReady ? 'memory' : 'others'
    ended[cause] += 1
    logger.warn(
      { lane: name, pid: record.member.pid, cause, endpoint: call?.owner.program.endpoint },
      `An isolated ${kind} was ended`,
    )
    if (!record.isReady) pauseMs = nextPauseMs(pauseMs, BACKOFF)
    if (call !== undefined) {
      // The system may have killed the process because of this call: that shows if it happens twice.
      if (cause === 'others' && !call.isRetry) {
        call.isRetry = true
        submit(call)
      } else call.finish({ ended: cause === 'time' ? 'time' : 'memory' })
    }
    if (pauseMs === 0) fill()
    else setTimeout(fill, pauseMs).unref()
  }

  function fill(): void {
    while (!isClosed && active.size < Math.min(processes, neededNow())) startProcess()
  }

  function neededNow(): number {
    if (idleMs === undefined) return processes
    return queue.size + [...active].filter(({ call }) => call !== undefined).length
  }

  function submit(call: PoolCall): void {
    if (!queue.add(call.owner.id, call.owner.quota, call)) {
      call.finish({ refused: 'full' })
      return
    }
    const expire = () => {
      queue.remove(call.owner.id, call)
      call.finish({ refused: 'deadline' })
    }
    // This timer and that of the limit keep the service alive, since the processes do not: callers wait for the result.
    call.deadlineTimer = setTimeout(expire, Math.max(call.deadlineAt - Date.now(), 0))
    dispatch()
    // After a member that was never ready, the timer of its pause starts the next.
    if (idleMs !== undefined && pauseMs === 0) fill()
  }

  function dispatch(): void {
    for (const record of active) {
      if (!record.isReady || record.isTimedOut || record.call !== undefined) continue
      const call = queue.next()
      if (call === undefined) return
      start(record, call)
    }
  }

  function start(record: ProcessRecord, call: PoolCall): void {
    const { owner, task } = call
    const { member } = record
    clearTimers(record)
    record.call = call
    clearTimeout(call.deadlineTimer)
    const after = (ms: number, act: () => void) => record.timers.push(setTimeout(act, ms))
    after(call.limitMs, () => {
      record.isTimedOut = true
      member.kill()
    })
    const retireIfSlow = (before: number | undefined) => {
      const now = member.cpuMs()
      const runs = before === undefined || now === undefined || now - before >= OVERDUE_MS / 2
      if (runs && queue.size > 0 && retired.size < processes) retire(record)
      else after(OVERDUE_MS, () => retireIfSlow(now))
    }
    if (name === 'quick') {
      after(OVERDUE_MS, () => {
        const now = member.cpuMs()
        after(OVERDUE_MS, () => retireIfSlow(now))
      })
    }
    member.send(frame({ id: owner.id, ...record.cache.add(owner), task }))
  }

  /** Lets the process finish its call at low priority, and starts another one in its place. */
  function retire(record: ProcessRecord): void {
    record.isRetired = true
    record.member.lowerPriority()
    active.delete(record)
    retired.add(record)
    fill()
  }

  fill()
  return {
    submit,
    withdraw: ({ id }) => {
      const calls = queue.takeAll(id)
      for (const { deadlineTimer } of calls) clearTimeout(deadlineTimer)
      return calls
    },
    counts: () => ({ processes: active.size + retired.size, waiting: queue.size, ended: { ...ended } }),
    close: () => {
      isClosed = true
      for (const { member } of [...active, ...retired]) member.kill()
      for (let call = queue.next(); call !== undefined; call = queue.next()) {
        clearTimeout(call.deadlineTimer)
        call.finish({ refused: 'deadline' })
      }
    },
  }
}
