/**
 * What the calls of a program have taken so far, which decides where its next ones run: quick ones never wait behind slow
 * ones, whoever wrote them. By processor time, so that a busy machine makes nobody slow.
 */
import { type Backoff, nextPauseMs } from '../domain/backoff.ts'

/** A call that takes more is slow. */
export const QUICK_MS = 20

/** What slow calls may take in all before their program is slow: a process that is new takes longer for its first calls. */
const CREDIT_MS = 300
/** The share of the time that is forgiven. */
const FORGIVEN_SHARE = 0.02

const BANS: Backoff = { firstMs: 1_000, longestMs: 600_000 }

export type CpuQuota = {
  /** Of the last call; undefined before the first. */
  cpuMs: number | undefined
  /** Whether its calls run among the quick ones. */
  quick: boolean
  /** What its slow calls took, as far as it is not forgiven. */
  debtMs: number
  /** Milliseconds since the epoch. */
  notedAt: number
  /** Milliseconds since the epoch until which it is slow, whatever its calls take. */
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

/** Notes a call. A program that turns out slow among the quick ones is kept from them, each time twice as long. */
export function noteCall(standing: CpuQuota, cpuMs: number, now: number): void {
  standing.cpuMs = cpuMs
  standing.debtMs = Math.max(0, standing.debtMs - (now - standing.notedAt) * FORGIVEN_SHARE)
  standing.notedAt = now
  if (cpuMs > QUICK_MS) standing.debtMs += cpuMs
  if (!standing.quick) {
    standing.quick = cpuMs <= QUICK_MS && now >= standing.bannedUntil
    if (standing.quick) standing.debtMs = 0
    return
  }
  if (standing.debtMs <= CREDIT_MS) return
  standing.quick = false
  standing.banMs = nextPauseMs(standing.banMs, BANS)
  standing.bannedUntil = now + standing.banMs
}
