/**
 * What the calls of a program have taken so far, which decides where its next ones run: quick ones never wait behind slow
 * ones, whoever wrote them. By processor time, so that a busy machine makes nobody slow.
 */

/** A call that takes more is slow. */
export const QUICK_MS = 20
const FIRST_BAN_MS = 1_000
const LONGEST_BAN_MS = 600_000

export type Standing = {
  /** Of the last call; undefined before the first. */
  cpuMs: number | undefined
  /** Whether its calls run among the quick ones. */
  quick: boolean
  /** Milliseconds since the epoch until which they do not, whatever they take. */
  bannedUntil: number
  banMs: number
}

export const newStanding = (): Standing => ({ cpuMs: undefined, quick: false, bannedUntil: 0, banMs: FIRST_BAN_MS / 2 })

/** Notes a call. One that was slow among the quick ones keeps the program from them, each time twice as long. */
export function noteCall(standing: Standing, cpuMs: number, now: number): void {
  standing.cpuMs = cpuMs
  if (cpuMs <= QUICK_MS) {
    standing.quick = now >= standing.bannedUntil
    return
  }
  if (standing.quick) {
    standing.banMs = Math.min(standing.banMs * 2, LONGEST_BAN_MS)
    standing.bannedUntil = now + standing.banMs
  }
  standing.quick = false
}
