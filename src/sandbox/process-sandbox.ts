/** ISOLATION=process: the expressions and schemas of all documents run in isolated processes. */
import { Failure } from '../core/failure.ts'
import { fault } from '../core/lint.ts'
import type { Logger } from '../core/ports/logger-port.ts'
import type { TranslateNow } from '../core/tables/table-reads.ts'
import type { Verdict } from '../language/json-schema/json-schema.ts'
import type { Evaluation, Program, Sandbox, SandboxedProgram, Transformation } from '../pipeline/sandbox.ts'
import { addCall, newCpuQuota } from './cpu-quota.ts'
import type { Compilation, IsolationTask, ProgramOptions } from './isolation-protocol.ts'
import { startPoolProcess } from './pool-member.ts'
import { type CallOutcome, ProcessPool, type ProcessPoolCounts, type ProgramOwner } from './process-pool.ts'

/** `processes`: in each of the two pools. `compileMs`: the limit for compiling a program, 10,000 by default. */
type SandboxOptions = Readonly<{
  processes: number
  memoryMb: number
  programOptions: ProgramOptions
  logger: Logger
  compileMs?: number
}>

export type IsolatedSandbox = Sandbox &
  Readonly<{
    /** By pool. */
    counts(): Readonly<Record<string, ProcessPoolCounts>>
    /** To be called when the stored documents are compiled and messages may arrive. */
    start?(): void
    /** Ends every process. Calls in progress are refused. */
    close(): void
  }>

const REASONS = {
  time: 'it exceeded its time limit',
  memory: 'it needs more memory than ISOLATION_MEMORY_MB, or ended its process',
} as const

export function createSandbox(options: SandboxOptions): IsolatedSandbox {
  const { processes, memoryMb, programOptions, compileMs, logger } = options
  const open = (name: 'quick' | 'slow') =>
    new ProcessPool(name, {
      processes,
      kind: 'process',
      startMember: (events) => startPoolProcess(memoryMb, programOptions, events),
      logger,
    })
  const quick = open('quick')
  const slow = open('slow')
  const calls = createProgramCalls({ quick, slow, programOptions, compileMs, reasons: REASONS })

  return {
    compile: async (program: Program) => {
      const owner = calls.open(program, JSON.stringify(program).length)
      return calls.programFor(owner, (await calls.compile(owner)).compilation)
    },
    counts: () => ({ quick: quick.counts(), slow: slow.counts() }),
    close: () => {
      quick.close()
      slow.close()
    },
  }
}

type ProgramCallsOptions = Readonly<{
  /** May be the same pool. */
  quick: ProcessPool
  slow: ProcessPool
  programOptions: ProgramOptions
  compileMs?: number | undefined
  /** The time that a call gets beyond the limits of its program, since it checks them between steps; 1,000 by default. */
  graceMs?: number
  /** Sentences about what ended a process or thread: they quote neither the program nor the message. */
  reasons: Readonly<Record<'time' | 'memory', string>>
}>

const GRACE_MS = 1_000
/** The time that it gets beyond the deadline of its message. */
const LATE_MS = 100
/** The limit for compiling a program, and for waiting for a process before that. */
const COMPILE_MS = 10_000

/** The calls of programs: each call is assigned to one of two pools, and has its limit. */
export function createProgramCalls(options: ProgramCallsOptions) {
  const { quick, slow, programOptions, compileMs = COMPILE_MS, graceMs = GRACE_MS, reasons } = options
  let programs = 0

  const call = (
    owner: ProgramOwner,
    task: IsolationTask,
    limitMs: number,
    deadlineAt: number,
    translate?: (of: string) => TranslateNow,
  ): Promise<CallOutcome> =>
    new Promise((resolve) => {
      const { quota } = owner
      const finish = (outcome: CallOutcome) => {
        const { quick: before } = quota
        if (task.kind !== 'compile') {
          if ('response' in outcome) addCall(quota, outcome.response.cpuMs, Date.now())
          else if ('ended' in outcome) addCall(quota, limitMs, Date.now())
        }
        resolve(outcome)
        if (quota.quick === before || quick === slow) return
        const [from, to] = quota.quick ? [slow, quick] : [quick, slow]
        for (const waiting of from.withdraw(owner)) to.submit(waiting)
      }
      const pool = quota.quick ? quick : slow
      pool.submit({ owner, task, limitMs, deadlineAt, translate, isRetry: false, deadlineTimer: undefined, finish })
    })

  /** `step`: the name of the task in failures. */
  const unwrapOutcome = <T extends Compilation | Transformation | Evaluation | Verdict>(
    outcome: CallOutcome,
    step: string,
  ): T | 'time' | 'memory' => {
    if ('ended' in outcome) return outcome.ended
    if ('response' in outcome) {
      if (outcome.response.kind === 'done') return outcome.response.value as T
      throw new TypeError(outcome.response.message)
    }
    if (outcome.refused === 'deadline') throw outOfTime(step)
    throw new Failure('OVERLOADED', `Too many messages wait for their ${step}; send this one again in a moment.`)
  }

  const programFor = (owner: ProgramOwner, { expressions, values, lints }: Compilation): SandboxedProgram => {
    const names = owner.program.expressions.map(([name]) => name)
    const allMs = programOptions.limits.timeoutMs * Math.max(1, names.length) + graceMs
    const late: Transformation = { ok: false, name: names[0] ?? '', why: 'late' }
    return {
      expressions: new Map(expressions),
      values: new Map(values),
      lints: new Map(lints),
      transform: async (message, deadlineAt, { partial = false, ambient, translate } = {}): Promise<Transformation> => {
        const leftMs = deadlineAt - Date.now()
        const limitMs = Math.min(allMs, leftMs + LATE_MS)
        const task = { kind: 'transform', message, leftMs, ambient, ...(partial ? { partial } : {}) } as const
        const outcome = await call(owner, task, limitMs, deadlineAt, translate)
        if ('refused' in outcome && outcome.refused === 'deadline') return late
        const value = unwrapOutcome<Transformation>(outcome, 'expressions')
        if (typeof value !== 'string') return value
        if (value === 'time' && limitMs < allMs) return late
        const name = names.length === 1 ? names[0] : undefined
        return { ok: false, name, why: 'ended', message: `${reasons[value]}.` }
      },
      evaluate: async (text, message, deadlineAt, { ambient, translate } = {}): Promise<Evaluation> => {
        const oneMs = programOptions.limits.timeoutMs + graceMs
        const limitMs = Math.min(oneMs, deadlineAt - Date.now() + LATE_MS)
        const task = { kind: 'evaluate', text, message, ambient } as const
        const outcome = await call(owner, task, limitMs, deadlineAt, translate && (() => translate))
        const isLate = 'refused' in outcome && outcome.refused === 'deadline'
        const value = isLate ? 'time' : unwrapOutcome<Evaluation>(outcome, 'expressions')
        if (typeof value !== 'string') return value
        const sentence = `${reasons[value]}.`
        const why = isLate || (value === 'time' && limitMs < oneMs) ? 'late' : 'ended'
        return { ok: false, why, message: sentence, unquoted: sentence }
      },
      validate: async (place, data, deadlineAt): Promise<Verdict> => {
        const allMs = programOptions.limits.timeoutMs + graceMs
        const limitMs = Math.min(allMs, deadlineAt - Date.now() + LATE_MS)
        const outcome = await call(owner, { kind: 'validate', place, data }, limitMs, deadlineAt)
        const value = unwrapOutcome<Verdict>(outcome, 'validation')
        if (typeof value !== 'string') return value
        if (value === 'time' && limitMs < allMs) throw outOfTime('validation')
        const message = `the message cannot be validated: ${reasons[value]}`
        return { ok: false, path: '', faults: [{ pointer: '', message, custom: true }] }
      },
    }
  }

  return {
    /** `size`: of the program as JSON, in characters. */
    open: (program: Program, size: number, quota = newCpuQuota()): ProgramOwner => {
      programs += 1
      return { id: programs, program, size, quota }
    },
    /** `cpuMs`: what compiling took. Faults of the program are in the result. Rejects with OVERLOADED. */
    compile: async (owner: ProgramOwner): Promise<Readonly<{ compilation: Compilation; cpuMs: number }>> => {
      const outcome = await call(owner, { kind: 'compile' }, compileMs, Date.now() + 2 * compileMs)
      if ('refused' in outcome) throw notCompiled()
      const value = unwrapOutcome<Compilation>(outcome, 'compiling')
      const cpuMs = 'response' in outcome ? outcome.response.cpuMs : compileMs
      if (typeof value !== 'string') return { compilation: value, cpuMs }
      return { compilation: faulty(owner.program, `It cannot be compiled: ${reasons[value]}.`), cpuMs }
    },
    programFor,
  }
}

/** A failure of the service: the program may be free of faults. */
const notCompiled = (): Failure =>
  new Failure('OVERLOADED', 'The expressions and schema could not be compiled in time; try again in a moment.')

const outOfTime = (step: string) =>
  new Failure('DEADLINE_EXCEEDED', `The deadline of the message passed before its ${step} was complete.`)

/** The process does not show which part is to blame, so all parts get the fault. */
const faulty = ({ expressions, values = [], schemas = [] }: Program, message: string): Compilation => ({
  expressions: expressions.map(([name]) => [name, fault(message)]),
  values: values.map((text) => [text, fault(message)]),
  lints: schemas.map(([place]) => [place, [{ path: '', message, severity: 'error' }]]),
})
