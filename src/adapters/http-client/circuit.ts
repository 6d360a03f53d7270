/**
 * Leaves an origin alone that fails again and again: every further call would only wait for it, and keep it from getting
 * well. A probe now and then finds out when it is back.
 */
import { nextPauseMs } from '../../domain/backoff.ts'

export type CircuitOptions = Readonly<{
  /** So many sendings in a row that failed open the circuit; 0 for none. */
  failures: number
  /** How long it stays open at first; twice as long after each probe that failed, up to `mostPauseMs`. */
  pauseMs: number
  mostPauseMs: number
}>

/** Why a sending counts as failed. */
export type Trouble = Readonly<{
  /** What the caller of the service gets for it: 502, 504, or what the origin answered. */
  status: number
  /** For the log and for whoever waits: "connection refused", "status 503". */
  why: string
  /** How long the origin itself asked to be left alone. */
  retryAfterMs: number | undefined
}>

/** Times are of `performance.now()`. */
export type Circuit = {
  /** In a row, up to now. */
  failures: number
  /** When a probe may be sent; 0 where the circuit is closed. */
  probeAt: number
  /** Of the last time that it was opened. */
  pauseMs: number
  probing: boolean
  trouble: Trouble | undefined
  /** When it was closed last; of an open one. */
  openedAt: number
}

/** `through`: like any other; `probe`: alone, and its outcome decides. */
export type Pass = 'through' | 'probe'

export const closedCircuit = (): Circuit => ({
  failures: 0,
  probeAt: 0,
  pauseMs: 0,
  probing: false,
  trouble: undefined,
  openedAt: 0,
})

/**
 * Undefined where nothing may be sent now. A probe that was let in must be told of by one of the functions below.
 * Where nobody called for long, what is known is old: all go through again, and a single failure opens it anew.
 */
export function enter(circuit: Circuit, now: number, { failures, mostPauseMs }: CircuitOptions): Pass | undefined {
  if (circuit.probeAt === 0) return 'through'
  if (circuit.probing || now < circuit.probeAt) return undefined
  if (isOld(circuit, now, mostPauseMs)) {
    Object.assign(circuit, closedCircuit(), { failures: failures - 1 })
    return 'through'
  }
  circuit.probing = true
  return 'probe'
}

const isOld = ({ probeAt, probing }: Circuit, now: number, mostPauseMs: number): boolean =>
  !probing && now > probeAt + mostPauseMs

/** Whether the origin is left alone, for all that is known. */
export const isOpen = (circuit: Circuit, now: number, { mostPauseMs }: CircuitOptions): boolean =>
  circuit.probeAt !== 0 && !isOld(circuit, now, mostPauseMs)

/** Out: whether this closed the circuit. What was sent before it opened proves nothing any more. */
export function wentWell(circuit: Circuit, pass: Pass): boolean {
  if (pass === 'probe') {
    Object.assign(circuit, closedCircuit())
    return true
  }
  if (circuit.probeAt === 0) circuit.failures = 0
  return false
}

/** Out: whether this opened a circuit that was closed. */
export function wentWrong(
  circuit: Circuit,
  pass: Pass,
  trouble: Trouble,
  now: number,
  { failures, pauseMs, mostPauseMs }: CircuitOptions,
): boolean {
  const wasOpen = circuit.probeAt !== 0
  if (wasOpen && pass === 'through') return false
  circuit.failures += 1
  circuit.trouble = trouble
  circuit.probing = false
  if (circuit.failures < failures) return false
  circuit.pauseMs = nextPauseMs(wasOpen ? circuit.pauseMs : 0, { firstMs: pauseMs, longestMs: mostPauseMs })
  if (!wasOpen) circuit.openedAt = now
  circuit.probeAt = now + Math.min(Math.max(circuit.pauseMs, trouble.retryAfterMs ?? 0), MOST_ASKED_MS)
  return !wasOpen
}

/** The sending said nothing about the origin, for example as it was never begun. */
export function saidNothing(circuit: Circuit, pass: Pass): void {
  if (pass === 'probe') circuit.probing = false
}

/** How long an origin is left alone at most because it asked for it: one that errs must not be out for a day. */
const MOST_ASKED_MS = 60_000

/** Milliseconds until a probe may be sent, or one that is under way may have ended; 0 where the circuit is closed. */
export function openForMs(circuit: Circuit, now: number): number {
  return circuit.probeAt === 0 ? 0 : Math.max(circuit.probeAt - now, 1)
}
