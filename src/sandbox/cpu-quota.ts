/**
 * The processor time that a program has used, which decides on its pool: quick calls never wait behind slow ones. It is
 * processor time, so that a busy machine makes no program slow.
 */
import { type Backoff, nextPauseMs } from '../core/backoff.ts'

/** A call that takes more is slow. */
const QUICK_MS = 20

/** The total of slow calls from which their program is slow: the first calls of a new process take longer. */
const CREDIT_MS = 300
/** The share of elapsed time by which the total decreases. */
const FORGIVEN_SHARE = 0.02

const BANS: Backoff = { firstMs: 1_000, maxMs: 600_000 }

export type CpuQuota = {
  /** Processor time of the last call; undefined before the first. */
  cpuMs: number | undefined
  /** Its calls run in the quick pool. */
  quick: boolean
  /** Processor time of its slow calls, less what is forgiven. */
  debtMs: number
  /** Milliseconds since the epoch. */
  notedAt: number
  /** Milliseconds since the epoch; until then it is slow, whatever its calls take. */
  bannedUntil: number
  banMs: number
}

export const newCpuQuota = (): CpuQuota => ({
  cpuMs: undefined,
  quick: false,
  debtMs: 0,
  notedAt: 0,
  bannedUntil: 0,
  banMs: 0,
})

/** Milliseconds of this thread: compiling code and collecting garbage on other threads is not the program's fault. */
export function threadCpuMs(): number {
  // Not yet in the types of Node.js 24.
  const { user, system } = (process as unknown as { threadCpuUsage(): NodeJS.CpuUsage }).threadCpuUsage()
  return (user + system) / 1_000
}

/** Adds a call. A program that becomes slow is banned from the quick pool, each time twice as long. */
export function addCall(quota: CpuQuota, cpuMs: number, now: number): void {
  quota.cpuMs = cpuMs
  quota.debtMs = Math.max(0, quota.debtMs - (now - quota.notedAt) * FORGIVEN_SHARE)
  quota.notedAt = now
  if (cpuMs > QUICK_MS) quota.debtMs += cpuMs
  if (!quota.quick) {
    quota.quick = cpuMs <= QUICK_MS && now >= quota.bannedUntil
    if (quota.quick) quota.debtMs = 0
    return
  }
  if (quota.debtMs > CREDIT_MS) ban(quota, now)
}

/** Makes a program slow, each time for twice as long. `now`: milliseconds since the epoch. */
export function ban(quota: CpuQuota, now: number): void {
  quota.quick = false
  quota.banMs = nextPauseMs(quota.banMs, BANS)
  quota.bannedUntil = now + quota.banMs
}
