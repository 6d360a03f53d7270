/** Runs the expressions and schemas of documents in isolated processes, and assigns each call to one of the two pools. */
import { Failure } from '../domain/failure.ts'
import { fault } from '../domain/lint.ts'
import type { Verdict } from '../language/json-schema/json-schema.ts'
import type { Program, Sandbox, SandboxedProgram, Transformation } from '../pipeline/sandbox.ts'
import { addCall, newCpuQuota } from './cpu-quota.ts'
import type { Compilation, IsolationTask } from './isolation-protocol.ts'
import {
  type CallOutcome,
  createProcessPool,
  type ProcessPoolCounts,
  type ProcessPoolOptions,
  type ProgramOwner,
} from './process-pool.ts'

/** `processes`: in each of the two pools. `compileMs`: see COMPILE_MS. */
export type SandboxOptions = ProcessPoolOptions & Readonly<{ compileMs?: number }>

export type IsolatedSandbox = Sandbox &
  Readonly<{
    counts(): Readonly<Record<'quick' | 'slow', ProcessPoolCounts>>
    /** Ends every process. Calls in progress are refused. */
    close(): void
  }>

/** The time that a process gets beyond its own limits, since it checks them between steps. */
const GRACE_MS = 1_000
/** The time that it gets beyond the deadline of its message. */
const LATE_MS = 100
/** The limit for compiling a program, and for waiting for a process before that. */
const COMPILE_MS = 10_000

/** Sentences about the process: they quote neither the program nor the message. */
const REASONS = {
  time: 'it exceeded its time limit',
  memory: 'it needs more memory than ISOLATION_MEMORY_MB, or ended its process',
} as const

export function createSandbox(options: SandboxOptions): IsolatedSandbox {
  const { programOptions, compileMs = COMPILE_MS } = options
  const quick = createProcessPool('quick', options)
  const slow = createProcessPool('slow', options)
  let programs = 0

  const call = (owner: ProgramOwner, task: IsolationTask, limitMs: number, deadlineAt: number): Promise<CallOutcome> =>
    new Promise((resolve) => {
      const { quota } = owner
      const finish = (outcome: CallOutcome) => {
        const before = quota.quick
        if (task.kind !== 'compile') {
          if ('response' in outcome) addCall(quota, outcome.response.cpuMs, Date.now())
          else if ('ended' in outcome) addCall(quota, limitMs, Date.now())
        }
        resolve(outcome)
        if (quota.quick === before) return
        const [from, to] = quota.quick ? [slow, quick] : [quick, slow]
        for (const waiting of from.withdraw(owner)) to.submit(waiting)
      }
      const pool = quota.quick ? quick : slow
      pool.submit({ owner, task, limitMs, deadlineAt, isRetry: false, deadlineTimer: undefined, finish })
    })

  /** `step`: the name of the task in failures. */
  const resultOf = <T extends Compilation | Transformation | Verdict>(
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

  const programFor = (owner: ProgramOwner, { expressions, lints }: Compilation): SandboxedProgram => {
    const names = owner.program.expressions.map(([name]) => name)
    const allMs = programOptions.limits.timeoutMs * Math.max(1, names.length) + GRACE_MS
    const late: Transformation = { ok: false, name: names[0] ?? '', why: 'late' }
    return {
      expressions: new Map(expressions),
      lints,
      transform: async (message, deadlineAt, { partial = false, ambient } = {}): Promise<Transformation> => {
        const leftMs = deadlineAt - Date.now()
        const limitMs = Math.min(allMs, leftMs + LATE_MS)
        const task = { kind: 'transform', message, leftMs, ambient, ...(partial ? { partial } : {}) } as const
        const outcome = await call(owner, task, limitMs, deadlineAt)
        if ('refused' in outcome && outcome.refused === 'deadline') return late
        const value = resultOf<Transformation>(outcome, 'expressions')
        if (typeof value !== 'string') return value
        if (value === 'time' && limitMs < allMs) return late
        const name = names.length === 1 ? names[0] : undefined
        return { ok: false, name, why: 'ended', message: `${REASONS[value]}.` }
      },
      validate: async (data, deadlineAt): Promise<Verdict> => {
        const allMs = programOptions.limits.timeoutMs + GRACE_MS
        const limitMs = Math.min(allMs, deadlineAt - Date.now() + LATE_MS)
        const outcome = await call(owner, { kind: 'validate', data }, limitMs, deadlineAt)
        const value = resultOf<Verdict>(outcome, 'validation')
        if (typeof value !== 'string') return value
        if (value === 'time' && limitMs < allMs) throw outOfTime('validation')
        const message = `the message cannot be validated: ${REASONS[value]}`
        return { ok: false, path: '', faults: [{ pointer: '', message, custom: true }] }
      },
    }
  }

  return {
    compile: async (program: Program) => {
      programs += 1
      const size = JSON.stringify(program).length
      const owner: ProgramOwner = { id: programs, program, size, quota: newCpuQuota() }
      const outcome = await call(owner, { kind: 'compile' }, compileMs, Date.now() + 2 * compileMs)
      if ('refused' in outcome) throw noProcess()
      const value = resultOf<Compilation>(outcome, 'compiling')
      if (typeof value !== 'string') return programFor(owner, value)
      return programFor(owner, faulty(program, `It cannot be compiled: ${REASONS[value]}.`))
    },
    counts: () => ({ quick: quick.counts(), slow: slow.counts() }),
    close: () => {
      quick.close()
      slow.close()
    },
  }
}

/** A failure of the service: the program may be free of faults. */
const noProcess = (): Failure =>
  new Failure(
    'OVERLOADED',
    'No isolated process could compile the expressions and schema in time; try again in a moment.',
  )

const outOfTime = (step: string) =>
  new Failure('DEADLINE_EXCEEDED', `The deadline of the message passed before its ${step} was complete.`)

/** The process does not show which part is to blame, so all parts get the fault. */
const faulty = ({ expressions, schema }: Program, message: string): Compilation => ({
  expressions: expressions.map(([name]) => [name, fault(message)]),
  lints: schema === undefined ? [] : [{ path: '', message, severity: 'error' }],
})
