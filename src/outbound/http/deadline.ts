/**
 * The time at which an exchange is aborted, its retries included. It needs one timer and one listener, the current attempt;
 * an AbortController is made for many listeners.
 */
import type { OutboundError } from '../../core/ports/http-client-port.ts'
import { type ClientCall, subjectOf } from './call.ts'
import { timedOut } from './client-faults.ts'

export type Deadline = {
  /** What the exchange fails with; undefined until the deadline has passed. */
  passed: OutboundError | undefined
  /** The current attempt, which sets it and removes it when it ends. */
  listener: Readonly<{ abort(error: OutboundError): void }> | undefined
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

/** A delay of a timer that only a busy event loop explains. */
const BUSY_MS = 20

/**
 * If this process was busy at the deadline, the answer may have arrived without being read: the event loop runs timers
 * before it reads. It gets one more read, so that no upstream is blamed for this service's own lack of time.
 */
function expire(deadline: Deadline): void {
  if (performance.now() - deadline.at < BUSY_MS) pass(deadline)
  else setImmediate(passUnlessStopped, deadline)
}

function passUnlessStopped(deadline: Deadline): void {
  if (deadline.timer !== undefined) pass(deadline)
}

function pass(deadline: Deadline): void {
  const passed = timedOut(subjectOf(deadline.call), deadline.timeoutMs)
  deadline.passed = passed
  deadline.listener?.abort(passed)
}

export function stopDeadline(deadline: Deadline): void {
  clearTimeout(deadline.timer)
  deadline.timer = undefined
}

export const leftMs = ({ at }: Deadline): number => at - performance.now()
