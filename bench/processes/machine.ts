/** Where something was measured, so that a figure can be judged. */
import { readFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg, release, totalmem, type } from 'node:os'
import { loadTool } from '../load/load.ts'
import { pinned } from './cores.ts'

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

/** In ticks of 10 ms, of all processors together: what this machine used, and what it wanted and its host gave to others. */
export type ProcessorTime = Readonly<{ used: number; stolen: number }>

/** 0 to 1. Above it, the processors were often elsewhere, and one of two servers may have had less of them than the other. */
export const MAX_STOLEN = 0.1

/** Of the processor time that was wanted, 0 to 1. */
export const stolenShare = ({ used, stolen }: ProcessorTime): number => stolen / Math.max(1, used + stolen)

/**
 * Measures processor time from now on, also the time that the host gave to other machines.
 *
 * Out: a function that returns the time since the call; undefined if the system does not count it (Linux does, proc_stat(5)).
 */
export function watchProcessorTime(): () => ProcessorTime | undefined {
  const before = processorTicks()
  return () => {
    const after = processorTicks()
    if (before === undefined || after === undefined) return undefined
    return { used: after.used - before.used, stolen: after.stolen - before.stolen }
  }
}

function processorTicks(): ProcessorTime | undefined {
  try {
    const [, user, nice, system, , , interrupts, softInterrupts, stolen] = readFileSync('/proc/stat', 'utf8')
      .split('\n', 1)
      .flatMap((line) => line.split(/\s+/).map(Number))
    const parts = [user, nice, system, interrupts, softInterrupts].map((ticks) => ticks ?? Number.NaN)
    const used = parts.reduce((sum, ticks) => sum + ticks, 0)
    return Number.isNaN(used) || stolen === undefined ? undefined : { used, stolen }
  } catch {
    return undefined
  }
}
