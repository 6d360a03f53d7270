/**
 * The moment at which an exchange is given up, its retries included. One timer and one listener, the attempt under way,
 * is all that it takes; an AbortController is made for many listeners.
 */
import type { OutboundError } from '../../domain/ports/http-client-port.ts'
import { type ClientCall, subjectOf } from './call.ts'
import { timedOut } from './client-faults.ts'

export type Deadline = {
  /** What the exchange fails with; undefined until the moment has come. */
  passed: OutboundError | undefined
  /** Set by the attempt under way: told once at that moment, if the attempt has not ended by then. */
  listener: Readonly<{ giveUp(error: OutboundError): void }> | undefined
  /** On the clock of `performance.now()`. */
  readonly at: number
  readonly timeoutMs: number
  readonly call: ClientCall
  timer: NodeJS.Timeout | undefined
}

export function startDeadline(timeoutMs: number, call: ClientCall): Deadline {
  const at = performance.now() + timeoutMs
  const deadline: Deadline = { passed: undefined, listener: undefined, at, timeoutMs, call, timer: undefined }
  deadline.timer = setTimeout(expire, timeoutMs, deadline)
  return deadline
}

/** Timers are never so late while the loop goes round. */
const LATE_MS = 20

/**
 * Where this process was busy when the moment came, the answer may be there unread: timers come before it in the loop, so it is
 * read once before it counts as none. Else the service would blame an upstream for its own lack of time.
 */
function expire(deadline: Deadline): void {
  if (performance.now() - deadline.at < LATE_MS) pass(deadline)
  else setImmediate(passUnlessEnded, deadline)
}

function passUnlessEnded(deadline: Deadline): void {
  if (deadline.timer !== undefined) pass(deadline)
}

function pass(deadline: Deadline): void {
  const passed = timedOut(subjectOf(deadline.call), deadline.timeoutMs)
  deadline.passed = passed
  deadline.listener?.giveUp(passed)
}

/** The exchange has ended in time. */
export function endDeadline(deadline: Deadline): void {
  clearTimeout(deadline.timer)
  deadline.timer = undefined
}

export const leftMs = ({ at }: Deadline): number => at - performance.now()
