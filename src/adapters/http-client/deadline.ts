/**
 * The moment at which an exchange is given up, its retries included. One timer and one listener, the attempt under way,
 * is all that it takes; an AbortController is made for many listeners.
 */
import type { OutboundError } from '../../domain/ports.ts'

export type Deadline = {
  /** What the exchange fails with; undefined until the moment has come. */
  passed: OutboundError | undefined
  /** Set by the attempt under way: called once at that moment, if the attempt has not ended by then. */
  onPass: ((error: OutboundError) => void) | undefined
  /** On the clock of `performance.now()`. */
  readonly at: number
  readonly timer: NodeJS.Timeout
}

/** `describe` makes what the exchange fails with. */
export function startDeadline(timeoutMs: number, describe: () => OutboundError): Deadline {
  const deadline: Deadline = {
    passed: undefined,
    onPass: undefined,
    at: performance.now() + timeoutMs,
    timer: setTimeout(() => {
      deadline.passed = describe()
      deadline.onPass?.(deadline.passed)
    }, timeoutMs),
  }
  return deadline
}

/** The exchange has ended in time. */
export const endDeadline = ({ timer }: Deadline): void => clearTimeout(timer)

export const leftMs = ({ at }: Deadline): number => at - performance.now()
