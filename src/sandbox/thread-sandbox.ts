/**
 * ISOLATION=none: expressions and schemas run on the thread of messages while they are quick. Documents that may take long
 * to compile, and the programs that exceeded their time, have threads of their own, which start when they are needed.
 */

import { setImmediate as nextIteration, setTimeout } from 'node:timers/promises'
import type { Logger } from '../core/ports/logger-port.ts'
import type { Verdict } from '../language/json-schema/json-schema.ts'
import { ExpressionFault } from '../language/jsonata/expression.ts'
import { isTimeout } from '../language/jsonata/expression-limits.ts'
import type { LocalRuns, Program } from '../pipeline/sandbox.ts'
import { ban, newCpuQuota, threadCpuMs } from './cpu-quota.ts'
import type { ProgramOptions } from './isolation-protocol.ts'
import { startPoolThread } from './pool-member.ts'
import { ProcessPool, type ProgramOwner } from './process-pool.ts'
import { createProgramCalls, type IsolatedSandbox } from './process-sandbox.ts'

type ThreadSandboxOptions = Readonly<{
  programOptions: ProgramOptions
  logger: Logger
  /** After so many milliseconds without a call, a thread stops; 10,000 by default. */
  idleMs?: number
}>

/** One for a program that takes long, and one more so that the others need not wait for it. */
const THREADS = 2
const IDLE_MS = 10_000
/** Long, since a thread may get little of a busy processor, and all programs count their own time or work. */
const COMPILE_MS = 30_000
const GRACE_MS = 30_000

/** After so long, an expression or validation is stopped on the thread of messages: the other messages wait for it. */
const BUDGET_MS = 20

/** An expression or validation that was stopped so often, and took so much processor time in all, leaves. */
const MIN_STOPS = 2
const STOPPED_BUDGET_MS = 25

/** Before it is repeated, so that the messages that waited for it can be answered. */
const PAUSE_MS = 10

/** Processor time of one that nothing could stop before it was complete. */
const COMPLETED_BUDGET_MS = 50

/** Processor time. A program that takes longer to compile stays on its own thread, where its messages take several times as long. */
const COMPILE_BUDGET_MS = 100

/** Code that has not run before takes up to four times as long: what takes less than that is compiled again to be judged. */
const FIRST_COMPILE_BUDGET_MS = 4 * COMPILE_BUDGET_MS

/** A shorter program compiles in less than COMPILE_BUDGET_MS, unless its patterns repeat things more often than this. */
const SHORT_PROGRAM = 4_000
const MAX_REPETITIONS = 200
const REPETITION = /\{\s*(\d+)\s*,?\s*(\d*)/g

/** After a run of this length, other work runs before the next one. */
const LONG_RUN_MS = 5

const REASONS = {
  time: 'it exceeded its time limit',
  memory: 'it needs too much memory, or ended its thread',
} as const

export function createThreadSandbox(options: ThreadSandboxOptions): IsolatedSandbox {
  const { programOptions, logger, idleMs = IDLE_MS } = options
  const { timeoutMs } = programOptions.limits
  const pool = new ProcessPool('slow', {
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
  })
  const runExclusive = createRunLock()
  /** Until then no message waits for a compilation. */
  let isStarted = false

  const localRuns = ({ program, quota }: ProgramOwner): LocalRuns => {
    const leave = () => {
      if (!quota.quick) return
      ban(quota, Date.now())
      logger.warn(
        { endpoint: program.endpoint, pauseMs: quota.banMs },
        'Expressions or the schema of an endpoint take too long for the thread of messages, and run on a thread of their own for now',
      )
    }
    /** The last validation exceeded the clock, so the processor time of the next one is read, which costs more. */
    let isWatched = false
    const noteCompleted = (cpuMs: number) => {
      if (cpuMs > COMPLETED_BUDGET_MS) leave()
    }

    /** A run that the clock stops is repeated: on a busy machine, or while memory is collected, it may have done little. */
    const runSerially = async <T>(work: (timeoutMs: number) => Promise<T>): Promise<T> => {
      const giveUpAt = Date.now() + timeoutMs
      let stops = 0
      let cpuMs = 0
      for (;;) {
        try {
          return await runExclusive(async () => {
            // It may have become slow while the message waited for its slot.
            if (!quota.quick) throw stopped()
            const startCpuMs = threadCpuMs()
            try {
              return await work(Math.min(BUDGET_MS, timeoutMs))
            } finally {
              const tookMs = threadCpuMs() - startCpuMs
              cpuMs += tookMs
              noteCompleted(tookMs)
            }
          })
        } catch (thrown) {
          if (!isTimeout(thrown)) throw thrown
          stops += 1
          if (stops >= MIN_STOPS && cpuMs > STOPPED_BUDGET_MS) leave()
          if (!quota.quick || Date.now() >= giveUpAt) throw thrown
        }
        await setTimeout(PAUSE_MS)
      }
    }

    return {
      isQuick: () => quota.quick,
      runExclusive: runSerially,
      validate: (validator, data) => {
        const startMs = Date.now()
        const startCpuMs = isWatched ? threadCpuMs() : undefined
        const verdict = validator(data, BUDGET_MS)
        if (!isStopped(verdict)) {
          isWatched = startCpuMs === undefined && Date.now() - startMs > COMPLETED_BUDGET_MS
          if (startCpuMs !== undefined) noteCompleted(threadCpuMs() - startCpuMs)
          return verdict
        }
        const again = async (limitMs: number) => {
          const later = validator(data, limitMs)
          if (isStopped(later)) throw stopped()
          return later
        }
        return runSerially(again).catch((thrown: unknown) => {
          if (!isTimeout(thrown)) throw thrown
          return undefined
        })
      },
    }
  }

  const isCompiledHere = (text: string): boolean => !isStarted || !mayTakeLong(text)

  return {
    compilesHere: (program: Program) => isCompiledHere(JSON.stringify(program)),
    compile: async (program: Program) => {
      const text = JSON.stringify(program)
      const quota = { ...newCpuQuota(), quick: true }
      let owner = calls.open(program, text.length, quota)
      if (!isCompiledHere(text)) {
        let compiled = await calls.compile(owner)
        if (compiled.cpuMs > COMPILE_BUDGET_MS && compiled.cpuMs < FIRST_COMPILE_BUDGET_MS) {
          owner = calls.open(program, text.length, quota)
          compiled = await calls.compile(owner)
        }
        if (compiled.cpuMs > COMPILE_BUDGET_MS) return calls.programFor(owner, compiled.compilation)
      }
      const local = localRuns(owner)
      return { ...calls.programFor(owner, { expressions: [], values: [], lints: [] }), local }
    },
    counts: () => ({ thread: pool.counts() }),
    start: () => {
      isStarted = true
    },
    close: () => pool.close(),
  }
}

/** Patterns are compiled with one state for each repetition. */
function mayTakeLong(program: string): boolean {
  if (program.length > SHORT_PROGRAM) return true
  let count = 0
  for (const [, min, max] of program.matchAll(REPETITION)) count += Math.max(Number(min), Number(max))
  return count > MAX_REPETITIONS
}

const isStopped = (verdict: Verdict): boolean => !verdict.ok && verdict.isStopped === true

/** It is not sent: the call runs again in the sandbox. */
const stopped = () => new ExpressionFault('The run was stopped', undefined, undefined, true)

/** Evaluations that start together would alternate at every step, and each would take the time of all. */
function createRunLock(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<void> | undefined

  const run = async <T>(work: () => Promise<T>): Promise<T> => {
    const start = Date.now()
    try {
      return await work()
    } finally {
      if (Date.now() - start > LONG_RUN_MS) await nextIteration()
    }
  }

  return (work) => {
    const result = last === undefined ? run(work) : last.then(() => run(work))
    const finish = () => {
      if (last === finished) last = undefined
    }
    const finished: Promise<void> = result.then(finish, finish)
    last = finished
    return result
  }
}
