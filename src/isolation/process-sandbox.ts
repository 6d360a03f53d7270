/** Runs the expressions and schemas of documents in isolated processes: the lanes, and whose calls go where. */
import { Failure } from '../domain/failure.ts'
import type { JsonObject } from '../domain/json.ts'
import { fault } from '../domain/lint.ts'
import type { Logger } from '../domain/ports/logger-port.ts'
import type { Verdict } from '../language/json-schema/json-schema.ts'
import type { Program, Sandbox, SandboxedProgram, Transformation } from '../pipeline/sandbox.ts'
import { newCpuQuota, noteCall } from './cpu-quota.ts'
import type { Compilation, IsolationReply, Terms } from './isolation-protocol.ts'
import {
  type CallOutcome,
  createProcessPool,
  type PoolCall,
  type ProcessPoolCounts,
  type ProgramOwner,
} from './process-pool.ts'

export type SandboxOptions = Readonly<{
  /** Of each of the two lanes. */
  processes: number
  memoryMb: number
  terms: Terms
  /** How long compiling a program may take; it may wait as long for a process before. Default 10,000. */
  compileMs?: number
  logger: Logger
}>

export type IsolatedSandbox = Sandbox &
  Readonly<{
    counts(): Readonly<Record<'quick' | 'slow', ProcessPoolCounts>>
    /** Ends every process. Calls under way are refused. */
    close(): void
  }>

/** What a process may take beyond what its own limits let it: they are looked at between steps. */
const GRACE_MS = 1_000
/** What it may take beyond the deadline of its message. */
const LATE_MS = 100
const COMPILE_MS = 10_000

/** No text of a program or a message is told: only what became of the process. */
const REASONS = {
  time: 'it took longer than it may',
  memory: 'it needs more memory than ISOLATION_MEMORY_MB, or ended its process',
} as const

type Wanted = IsolationReply extends infer One ? (One extends { value: infer Value } ? Value : never) : never

export function createSandbox({
  processes,
  memoryMb,
  terms,
  compileMs = COMPILE_MS,
  logger,
}: SandboxOptions): IsolatedSandbox {
  const common = { processes, memoryMb, terms, logger }
  const quick = createProcessPool({ ...common, name: 'quick' })
  const slow = createProcessPool({ ...common, name: 'slow' })
  let programs = 0

  const call = (
    owner: ProgramOwner,
    body: PoolCall['body'],
    limitMs: number,
    deadlineAt: number,
  ): Promise<CallOutcome> =>
    new Promise((resolve) => {
      const { standing } = owner
      const settle = (outcome: CallOutcome) => {
        const before = standing.quick
        if (body.kind !== 'compile') {
          if ('answer' in outcome && outcome.answer.kind !== 'ready')
            noteCall(standing, outcome.answer.cpuMs, Date.now())
          else if ('ended' in outcome) noteCall(standing, limitMs, Date.now())
        }
        resolve(outcome)
        if (standing.quick === before) return
        const [from, to] = standing.quick ? [slow, quick] : [quick, slow]
        for (const waiting of from.withdraw(owner)) to.submit(waiting)
      }
      const lane = standing.quick ? quick : slow
      lane.submit({ owner, body, limitMs, deadlineAt, again: false, waits: undefined, settle })
    })

  const resultOf = <T extends Wanted>(outcome: CallOutcome, what: string): T | 'time' | 'memory' => {
    if ('ended' in outcome) return outcome.ended
    if ('refused' in outcome) {
      if (outcome.refused === 'late') throw outOfTime(what)
      throw new Failure('OVERLOADED', `Too many messages wait for their ${what}; send this one again in a moment.`)
    }
    if (outcome.answer.kind === 'done') return outcome.answer.value as T
    throw new TypeError(
      outcome.answer.kind === 'bug' ? outcome.answer.message : 'An isolated process answered out of turn.',
    )
  }

  const programFor = (owner: ProgramOwner, { expressions, lints }: Compilation): SandboxedProgram => {
    const names = owner.program.expressions.map(([name]) => name)
    const allMs = terms.limits.timeoutMs * Math.max(1, names.length) + GRACE_MS
    return {
      expressions: new Map(expressions),
      lints,
      transform: async (message: JsonObject, deadlineAt: number): Promise<Transformation> => {
        const leftMs = deadlineAt - Date.now()
        const limitMs = Math.min(allMs, leftMs + LATE_MS)
        const outcome = await call(owner, { kind: 'transform', message, leftMs }, limitMs, deadlineAt)
        if ('refused' in outcome && outcome.refused === 'late') return { ok: false, name: names[0] ?? '', why: 'late' }
        const value = resultOf<Transformation>(outcome, 'expressions')
        if (typeof value !== 'string') return value
        if (value === 'time' && limitMs < allMs) return { ok: false, name: names[0] ?? '', why: 'late' }
        return {
          ok: false,
          name: names.length === 1 ? names[0] : undefined,
          why: 'ended',
          message: `${REASONS[value]}.`,
        }
      },
      validate: async (data, deadlineAt): Promise<Verdict> => {
        const allMs = terms.limits.timeoutMs + GRACE_MS
        const limitMs = Math.min(allMs, deadlineAt - Date.now() + LATE_MS)
        const outcome = await call(owner, { kind: 'validate', data }, limitMs, deadlineAt)
        const value = resultOf<Verdict>(outcome, 'validation')
        if (typeof value !== 'string') return value
        if (value === 'time' && limitMs < allMs) throw outOfTime('validation')
        const message = `the message cannot be validated: ${REASONS[value]}`
        return { ok: false, faults: [{ pointer: '', message, custom: true }] }
      },
    }
  }

  return {
    compile: async (program: Program) => {
      programs += 1
      const owner: ProgramOwner = {
        id: programs,
        program,
        size: JSON.stringify(program).length,
        standing: newCpuQuota(),
      }
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

/** It says nothing of the program, which is not to be held to have faults. */
const noProcess = (): Failure =>
  new Failure(
    'OVERLOADED',
    'No isolated process had the time to compile expressions and schema; try again in a moment.',
  )

const outOfTime = (what: string) =>
  new Failure('DEADLINE_EXCEEDED', `The message ran out of time before the end of its ${what}.`)

/** Where nobody knows which part is to blame, all are. */
const faulty = ({ expressions, schema }: Program, message: string): Compilation => ({
  expressions: expressions.map(([name]) => [name, fault(message)]),
  lints: schema === undefined ? [] : [{ path: '', message, severity: 'error' }],
})
