/** Where something was measured, so that a figure can be judged. */
import { availableParallelism, cpus, loadavg, release, totalmem, type } from 'node:os'
import { pinned } from './cores.ts'
import { loadTool } from './load.ts'

export type Machine = Readonly<{
  cpu: string
  cores: number
  memoryBytes: number
  system: string
  node: string
  loadTool: string
  /** Whether the server and the load had a core each. */
  pinned: boolean
}>

export const describeMachine = (): Machine => ({
  cpu: cpus()[0]?.model.trim() ?? 'unknown',
  cores: availableParallelism(),
  memoryBytes: totalmem(),
  system: `${type()} ${release()} ${process.arch}`,
  node: process.versions.node,
  loadTool,
  pinned,
})

/** Processes that wanted to run in the last minute; near zero on a machine that is quiet enough to measure on. */
export const loadAverage = (): number => loadavg()[0] ?? Number.NaN
