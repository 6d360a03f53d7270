/** A few isolated processes that take calls one at a time each: the lane of the quick calls, or that of the slow ones. */
import { type Backoff, nextPauseMs } from '../domain/backoff.ts'
import type { Logger } from '../domain/ports/logger-port.ts'
import type { Program } from '../pipeline/sandbox.ts'
import type { CpuQuota } from './cpu-quota.ts'
import { frame, type IsolationReply, type IsolationRequest, type Terms } from './isolation-protocol.ts'
import { type End, type PoolMember, startPoolMember } from './pool-member.ts'
import { type ProgramCache, programCache } from './program-cache.ts'
import { createQuotaQueue } from './quota-queue.ts'

/** A program with what is known of it; `size` is that of its text. */
export type ProgramOwner = Readonly<{ id: number; program: Program; size: number; standing: CpuQuota }>

type Body = IsolationRequest extends infer One
  ? One extends IsolationRequest
    ? Omit<One, 'id' | 'program' | 'forget'>
    : never
  : never

export type PoolCall = {
  owner: ProgramOwner
  body: Body
  /** From its beginning; then its process is ended. */
  limitMs: number
  /** Milliseconds since the epoch. What has not begun by then does not begin. */
  deadlineAt: number
  /** Whether it was begun once before, by a process that somebody else ended. */
  again: boolean
  /** While it waits, until its deadline. */
  waits: NodeJS.Timeout | undefined
  settle(outcome: CallOutcome): void
}

export type CallOutcome =
  | Readonly<{ answer: IsolationReply }>
  | Readonly<{ ended: 'time' | 'memory' }>
  | Readonly<{ refused: 'late' | 'full' }>

export type ProcessPoolOptions = Readonly<{
  name: 'quick' | 'slow'
  processes: number
  memoryMb: number
  terms: Terms
  logger: Logger
}>

export type ProcessPool = Readonly<{
  submit(call: PoolCall): void
  /** Takes out the calls of a program that have not begun. */
  withdraw(owner: ProgramOwner): PoolCall[]
  counts(): ProcessPoolCounts
  close(): void
}>

export type ProcessPoolCounts = Readonly<{
  processes: number
  waiting: number
  ended: Readonly<Record<'time' | 'memory' | 'others', number>>
}>

type Seat = {
  member: PoolMember
  ready: boolean
  call: PoolCall | undefined
  timers: NodeJS.Timeout[]
  known: ProgramCache
  /** Its call has taken longer than it may. */
  late: boolean
  /** It takes no further calls: another one has its place. */
  retired: boolean
}

/** A quick call is expected to be over by then; one that still runs for as long again, and does not wait for the processor, is not quick. */
const OVERDUE_MS = 30
const MOST_WAITING = 512
const MOST_WAITING_EACH = 256

/** After a process that ended before it was ready; doubles up to the longest. */
const BACKOFF: Backoff = { firstMs: 250, longestMs: 30_000 }

export function createProcessPool({ name, processes, memoryMb, terms, logger }: ProcessPoolOptions): ProcessPool {
  const seats = new Set<Seat>()
  const retired = new Set<Seat>()
  const waiting = createQuotaQueue<PoolCall>(MOST_WAITING_EACH, MOST_WAITING)
  const ended = { time: 0, memory: 0, others: 0 }
  let pauseMs = 0
  let closed = false

  function sit(): void {
    const member = startPoolMember(memoryMb, terms, {
      onReady: () => {
        seat.ready = true
        pauseMs = 0
        serve()
      },
      onAnswer: (answer) => {
        const { call } = seat
        release(seat)
        call?.settle({ answer })
        if (seat.retired) seat.member.kill()
        else serve()
      },
      onEnd: (how) => leave(seat, how),
    })
    const seat: Seat = {
      member,
      ready: false,
      call: undefined,
      timers: [],
      known: programCache(),
      late: false,
      retired: false,
    }
    if (name === 'slow') member.lower()
    seats.add(seat)
  }

  function release(seat: Seat): void {
    for (const timer of seat.timers.splice(0)) clearTimeout(timer)
    seat.call = undefined
  }

  function leave(seat: Seat, how: End): void {
    const { call } = seat
    release(seat)
    seats.delete(seat)
    retired.delete(seat)
    if (closed) call?.settle({ refused: 'late' })
    if (closed || (how === 'ours' && !seat.late)) return
    // One that was never ready had nothing that could need memory: something kept it from its start.
    const cause = seat.late ? 'time' : how === 'itself' && seat.ready ? 'memory' : 'others'
    ended[cause] += 1
    logger.warn(
      { lane: name, pid: seat.member.pid, cause, endpoint: call?.owner.program.endpoint },
      'An isolated process was ended',
    )
    if (!seat.ready) pauseMs = nextPauseMs(pauseMs, BACKOFF)
    if (call !== undefined) {
      // Nobody knows whether the call or its process was meant: a second end tells.
      if (cause === 'others' && !call.again) {
        call.again = true
        submit(call)
      } else call.settle({ ended: cause === 'time' ? 'time' : 'memory' })
    }
    if (pauseMs === 0) fill()
    else setTimeout(fill, pauseMs).unref()
  }

  function fill(): void {
    while (!closed && seats.size < processes) sit()
  }

  function submit(call: PoolCall): void {
    if (!waiting.add(call.owner.id, call.owner.standing, call)) {
      call.settle({ refused: 'full' })
      return
    }
    const late = () => {
      waiting.remove(call.owner.id, call)
      call.settle({ refused: 'late' })
    }
    // Not released, nor is the one of its limit: the processes keep no service alive, but whoever waits for them must.
    call.waits = setTimeout(late, Math.max(call.deadlineAt - Date.now(), 0))
    serve()
  }

  function serve(): void {
    for (const seat of seats) {
      if (!seat.ready || seat.call !== undefined) continue
      const call = waiting.next()
      if (call === undefined) return
      begin(seat, call)
    }
  }

  function begin(seat: Seat, call: PoolCall): void {
    const { owner, body } = call
    const { program, forget } = seat.known.introduce(owner)
    seat.call = call
    clearTimeout(call.waits)
    const after = (ms: number, act: () => void) => seat.timers.push(setTimeout(act, ms))
    after(call.limitMs, () => {
      seat.late = true
      seat.member.kill()
    })
    const overdue = (before: number | undefined) => {
      const now = seat.member.cpuMs()
      const runs = before === undefined || now === undefined || now - before >= OVERDUE_MS / 2
      if (runs && waiting.size > 0 && retired.size < processes) retire(seat)
      else after(OVERDUE_MS, () => overdue(now))
    }
    if (name === 'quick') {
      after(OVERDUE_MS, () => {
        const now = seat.member.cpuMs()
        after(OVERDUE_MS, () => overdue(now))
      })
    }
    seat.member.ask(frame({ ...body, id: owner.id, program, forget }))
  }

  /** Lets it end its call where it disturbs nobody; another one takes its place. */
  function retire(seat: Seat): void {
    seat.retired = true
    seat.member.lower()
    seats.delete(seat)
    retired.add(seat)
    fill()
  }

  fill()
  return {
    submit,
    withdraw: ({ id }) => {
      const calls = waiting.takeAll(id)
      for (const { waits } of calls) clearTimeout(waits)
      return calls
    },
    counts: () => ({ processes: seats.size + retired.size, waiting: waiting.size, ended: { ...ended } }),
    close: () => {
      closed = true
      for (const seat of [...seats, ...retired]) seat.member.kill()
      for (let call = waiting.next(); call !== undefined; call = waiting.next()) {
        clearTimeout(call.waits)
        call.settle({ refused: 'late' })
      }
    },
  }
}
