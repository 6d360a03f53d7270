/**
 * ISOLATION=none: expressions and schemas run on the thread of messages while they are quick. Documents that may take long
 * to compile, and the programs that exceeded their time, have threads of their own, which start when they are needed.
 */
import { setImmediate as turn } from 'node:timers/promises'
import type { Logger } from '../domain/ports/logger-port.ts'
import { ExpressionFault } from '../language/jsonata/expression.ts'
import type { LocalRuns, Program } from '../pipeline/sandbox.ts'
import { newCpuQuota, QUICK_MS, threadCpuMs } from './cpu-quota.ts'
import type { ProgramOptions } from './isolation-protocol.ts'
import { startPoolThread } from './pool-thread.ts'
import { createProcessPool, type ProgramOwner } from './process-pool.ts'
import type { IsolatedSandbox } from './process-sandbox.ts'
import { createProgramCalls } from './sandboxed-programs.ts'

export type ThreadSandboxOptions = Readonly<{
  programOptions: ProgramOptions
  logger: Logger
  /** After so many milliseconds without a call, a thread ends; 10,000 by default. */
  idleMs?: number
}>

/** One for a program that takes long, and one more so that the others need not wait for it. */
const THREADS = 2
const IDLE_MS = 10_000
/** Long, since a thread may get little of a busy processor, and all programs count their own time or work. */
const COMPILE_MS = 30_000
const GRACE_MS = 30_000

/** After so long, an expression or validation is stopped on the thread of messages: the other messages wait for it. */
const BUDGET_MS = 25

/** One that nothing could stop before it was complete. */
const COMPLETED_BUDGET_MS = 50

/** A program that takes longer to compile stays on its own thread. */
const COMPILE_BUDGET_MS = 40

/** A shorter program compiles in less than COMPILE_BUDGET_MS, unless its patterns repeat things more often than this. */
const SHORT_PROGRAM = 4_000
const MOST_REPETITIONS = 200
const REPETITION = /\{\s*(\d+)\s*,?\s*(\d*)/g

/** After a turn of this length, other work runs before the next one. */
const LONG_TURN_MS = 5

const REASONS = {
  time: 'it exceeded its time limit',
  memory: 'it needs too much memory, or ended its thread',
} as const

export function createThreadSandbox(options: ThreadSandboxOptions): IsolatedSandbox {
  const { programOptions, logger, idleMs = IDLE_MS } = options
  const pool = createProcessPool('slow', {
    processes: THREADS,
    kind: 'thread',
    startMember: (events) => startPoolThread(programOptions, events),
    idleMs,
    logger,
  })
  const calls = createProgramCalls({
    quick: pool,
    slow: pool,
    programOptions,
    compileMs: COMPILE_MS,
    graceMs: GRACE_MS,
    reasons: REASONS,
    onSlow: ({ program, quota }) =>
      logger.warn(
        { endpoint: program.endpoint, pauseMs: quota.banMs },
        'Expressions or the schema of an endpoint take too long for the thread of messages, and run on another one for now',
      ),
  })
  const takeTurn = createTurns()
  let programs = 0
  /** Until then no message waits for a compilation. */
  let isStarted = false

  const localRuns = (owner: ProgramOwner): LocalRuns => {
    const { quota } = owner
    let isCheckDue = false
    /** Out: to be called when the run is over, with whether it was stopped because of its time. */
    const startRun = () => {
      const startMs = Date.now()
      const startCpuMs = quota.isSuspected ? threadCpuMs() : undefined
      return (isStopped: boolean): number => {
        const ms = Date.now() - startMs
        if (!isStopped) {
          if (ms > COMPLETED_BUDGET_MS) isCheckDue = true
          return ms
        }
        // Processor time confirms it, of this run or that on a thread. Until then the other messages stay here: they would
        // wait behind those that take long.
        const cpuMs = startCpuMs === undefined ? 0 : threadCpuMs() - startCpuMs
        if (cpuMs > QUICK_MS) calls.count(owner, cpuMs)
        else if (quota.quick) quota.isSuspected = true
        return ms
      }
    }
    return {
      budgetMs: BUDGET_MS,
      isQuick: () => {
        if (!isCheckDue) return quota.quick
        isCheckDue = false
        quota.isSuspected = true
        return false
      },
      takeTurn: (work) =>
        takeTurn(() => {
          // It has become slow while the message waited for its turn.
          if (!quota.quick)
            throw new ExpressionFault('The expression runs on another thread', undefined, undefined, true)
          return work()
        }, startRun),
      validate: (validator, data) => {
        const finish = startRun()
        const verdict = validator(data)
        const isStopped = !verdict.ok && verdict.isLimit === true
        finish(isStopped)
        return isStopped ? undefined : verdict
      },
    }
  }

  const compilesHere = (program: Program): boolean => !isStarted || !mayTakeLong(JSON.stringify(program))

  return {
    compilesHere,
    compile: async (program: Program) => {
      programs += 1
      const quota = { ...newCpuQuota(), quick: true }
      const owner: ProgramOwner = { id: programs, program, size: JSON.stringify(program).length, quota }
      if (!compilesHere(program)) {
        const { compilation, cpuMs } = await calls.compile(owner)
        if (cpuMs > COMPILE_BUDGET_MS) return calls.programFor(owner, compilation)
      }
      const local = localRuns(owner)
      return { ...calls.programFor(owner, { expressions: [], lints: [] }), local }
    },
    counts: () => ({ thread: pool.counts() }),
    start: () => {
      isStarted = true
    },
    close: pool.close,
  }
}

/** Patterns are compiled with one state for each repetition. */
function mayTakeLong(program: string): boolean {
  if (program.length > SHORT_PROGRAM) return true
  let count = 0
  for (const [, least, most] of program.matchAll(REPETITION)) count += Math.max(Number(least), Number(most))
  return count > MOST_REPETITIONS
}

type Turns = <T>(work: () => Promise<T>, startRun: () => (isStopped: boolean) => number) => Promise<T>

/** Evaluations that start together would take turns at every step, and each would take the time of all. */
function createTurns(): Turns {
  /** Undefined while no evaluation runs. */
  let last: Promise<void> | undefined

  const run: Turns = async (work, startRun) => {
    const finish = startRun()
    let isStopped = false
    try {
      return await work()
    } catch (thrown) {
      isStopped = thrown instanceof ExpressionFault && thrown.isTimeout
      throw thrown
    } finally {
      if (finish(isStopped) > LONG_TURN_MS) await turn()
    }
  }

  return (work, startRun) => {
    const result = last === undefined ? run(work, startRun) : last.then(() => run(work, startRun))
    const finish = () => {
      if (last === finished) last = undefined
    }
    const finished: Promise<void> = result.then(finish, finish)
    last = finished
    return result
  }
}
