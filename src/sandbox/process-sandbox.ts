/** ISOLATION=process: the expressions and schemas of all documents run in isolated processes. */
import type { Logger } from '../core/ports/logger-port.ts'
import type { Program, Sandbox } from '../pipeline/sandbox.ts'
import { newCpuQuota } from './cpu-quota.ts'
import type { ProgramOptions } from './isolation-protocol.ts'
import { startPoolProcess } from './pool-process.ts'
import { createProcessPool, type ProcessPoolCounts } from './process-pool.ts'
import { createProgramCalls } from './sandboxed-programs.ts'

/** `processes`: in each of the two pools. `compileMs`: the limit for compiling a program, 10,000 by default. */
export type SandboxOptions = Readonly<{
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
    createProcessPool(name, {
      processes,
      kind: 'process',
      startMember: (events) => startPoolProcess(memoryMb, programOptions, events),
      logger,
    })
  const quick = open('quick')
  const slow = open('slow')
  const calls = createProgramCalls({ quick, slow, programOptions, compileMs, reasons: REASONS })
  let programs = 0

  return {
    compile: async (program: Program) => {
      programs += 1
      const owner = { id: programs, program, size: JSON.stringify(program).length, quota: newCpuQuota() }
      return calls.programFor(owner, (await calls.compile(owner)).compilation)
    },
    counts: () => ({ quick: quick.counts(), slow: slow.counts() }),
    close: () => {
      quick.close()
      slow.close()
    },
  }
}
