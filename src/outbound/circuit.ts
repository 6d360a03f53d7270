/**
 * The circuit of an origin: after several failures in a row, calls to it fail at once instead of waiting for it and adding
 * to its load. A probe from time to time finds out when the origin is back.
 */
import { nextPauseMs } from '../core/backoff.ts'

export type CircuitOptions = Readonly<{
  /** The failures in a row that open the circuit. */
  failures: number
  /** How long it stays open at first; twice as long after each failed probe, up to `maxPauseMs`. */
  pauseMs: number
  maxPauseMs: number
}>

/** Why an attempt counts as failed. */
export type Trouble = Readonly<{
  /** What the caller of the service gets: 502, 504, or the status of the origin's answer. */
  status: number
  /** For the log and for callers: "connection refused", "status 503". */
  why: string
  /** The origin's own `Retry-After`. */
  retryAfterMs: number | undefined
}>

/** Times are of `performance.now()`. */
export type Circuit = {
  /** In a row, up to now. */
  failures: number
  /** When a probe may be sent; 0 if the circuit is closed. */
  probeAt: number
  /** How long the circuit stays open since it last opened. */
  pauseMs: number
  probing: boolean
  trouble: Trouble | undefined
  /** When the circuit, if it is open, first opened. */
  openedAt: number
}

/** `probe`: the only attempt, whose outcome closes the circuit or keeps it open. */
export type Pass = 'through' | 'probe'

/**
 * The longest pause that an origin's `Retry-After` can ask for, even beyond `maxPauseMs`: a mistaken header must not shut
 * it out for a day. A longer `maxPauseMs` is cut to it as well.
 */
const MAX_ASKED_MS = 60_000

export const closedCircuit = (): Circuit => ({
  failures: 0,
  probeAt: 0,
  pauseMs: 0,
  probing: false,
  trouble: undefined,
  openedAt: 0,
})

/**
 * Gives none if nothing may be sent now. Otherwise one of the functions below records the outcome of the attempt.
 * If no probe was sent until `maxPauseMs` after it was due, the circuit closes, but the next failure opens it again.
 */
export function enter(circuit: Circuit, now: number, { failures, maxPauseMs }: CircuitOptions): Pass | undefined {
  if (circuit.probeAt === 0) return 'through'
  if (circuit.probing || now < circuit.probeAt) return undefined
  if (isOutdated(circuit, now, maxPauseMs)) {
    Object.assign(circuit, closedCircuit(), { failures: failures - 1 })
    return 'through'
  }
  circuit.probing = true
  return 'probe'
}

const isOutdated = ({ probeAt, probing }: Circuit, now: number, maxPauseMs: number): boolean =>
  !probing && now > probeAt + maxPauseMs

export const isOpen = (circuit: Circuit, now: number, { maxPauseMs }: CircuitOptions): boolean =>
  circuit.probeAt !== 0 && !isOutdated(circuit, now, maxPauseMs)

/** Returns whether this closed the circuit. An attempt that was sent before it opened proves nothing. */
export function recordSuccess(circuit: Circuit, pass: Pass): boolean {
  if (pass === 'probe') {
    Object.assign(circuit, closedCircuit())
    return true
  }
  if (circuit.probeAt === 0) circuit.failures = 0
  return false
}

/** Returns whether this opened a closed circuit. */
export function recordFailure(
  circuit: Circuit,
  pass: Pass,
  trouble: Trouble,
  now: number,
  { failures, pauseMs, maxPauseMs }: CircuitOptions,
): boolean {
  const wasOpen = circuit.probeAt !== 0
  if (wasOpen && pass === 'through') return false
  circuit.failures += 1
  circuit.trouble = trouble
  circuit.probing = false
  if (circuit.failures < failures) return false
  circuit.pauseMs = nextPauseMs(wasOpen ? circuit.pauseMs : 0, { firstMs: pauseMs, maxMs: maxPauseMs })
  if (!wasOpen) circuit.openedAt = now
  circuit.probeAt = now + Math.min(Math.max(circuit.pauseMs, trouble.retryAfterMs ?? 0), MAX_ASKED_MS)
  return !wasOpen
}

/** For an attempt that says nothing about the origin, for example because nothing was sent. */
export function recordNothing(circuit: Circuit, pass: Pass): void {
  if (pass === 'probe') circuit.probing = false
}

/** Milliseconds until a probe may be sent, or until the current one may have ended; 0 if the circuit is closed. */
export const openForMs = (circuit: Circuit, now: number): number =>
  circuit.probeAt === 0 ? 0 : Math.max(circuit.probeAt - now, 1)
