/** Where something was measured, so that a figure can be judged. */
import { readFileSync } from 'node:fs'
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

/**
 * Watches whether the processors of a virtual machine are its own, from the call on.
 *
 * Out: tells which share of the processor time that was wanted since then the hypervisor gave to other machines, 0 to 1;
 * undefined where the system does not count it (Linux does, proc_stat(5)).
 */
export function watchStolenTime(): () => number | undefined {
  const before = processorTicks()
  return () => {
    const after = processorTicks()
    if (before === undefined || after === undefined) return undefined
    const stolen = after.stolen - before.stolen
    return stolen / Math.max(1, after.used - before.used + stolen)
  }
}

function processorTicks(): Readonly<{ used: number; stolen: number }> | undefined {
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
