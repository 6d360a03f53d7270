/**
 * Bounds what one message makes: requests, bodies sent, answers read, state, output. Limits of counts and of single sizes do
 * not bound their product, such as 1,000 items with 300 KB in the URL of each; one budget of bytes does.
 */
import { Failure } from './failure.ts'

/** What a message may make without drawing on the bytes that all messages share: ordinary messages never do. */
const OWN_BYTES = 256 * 1024

/** Where MESSAGE_MAX_BYTES is not set. */
const DEFAULT_BYTES = 24 * 1024 * 1024
const DEFAULT_PER_PARSER_LIMIT = 4

/** Names and units as in src/settings/settings.ts. */
export type BudgetLimits = Readonly<{
  parserLimitBytes: number
  messageMaxBytes: number | undefined
  inFlightMaxBytes: number
}>

/** Gives each message its budget; all draw on the same shared bytes. */
export function createBudgets({
  parserLimitBytes,
  messageMaxBytes,
  inFlightMaxBytes,
}: BudgetLimits): () => MessageBudget {
  const limitBytes = messageMaxBytes ?? Math.max(DEFAULT_BYTES, DEFAULT_PER_PARSER_LIMIT * parserLimitBytes)
  const shared: SharedBytes = { leftBytes: Math.max(inFlightMaxBytes, limitBytes) }
  return () => new MessageBudget(limitBytes, shared)
}

/** Bytes that the messages in flight share. */
type SharedBytes = { leftBytes: number }

export class MessageBudget {
  private readonly limitBytes: number
  private readonly shared: SharedBytes
  spentBytes = 0
  private sharedBytes = 0
  private isOwnSpent = false
  private isReleased = false

  constructor(limitBytes: number, shared: SharedBytes) {
    this.limitBytes = limitBytes
    this.shared = shared
  }

  get leftBytes(): number {
    return this.limitBytes - this.spentBytes
  }

  /** Takes bytes; false, and takes none, where the budget of the message or the bytes that all share do not suffice. */
  take(bytes: number): boolean {
    const spentBytes = this.spentBytes + bytes
    // What continues after the end of a message must not take what nothing would give back.
    if (this.isReleased) return false
    if (spentBytes > this.limitBytes) {
      this.isOwnSpent = true
      return false
    }
    const fromShared = spentBytes - OWN_BYTES - this.sharedBytes
    if (fromShared > 0) {
      if (fromShared > this.shared.leftBytes) return false
      this.shared.leftBytes -= fromShared
      this.sharedBytes += fromShared
    }
    this.spentBytes = spentBytes
    return true
  }

  /** As `take`. Fails with MESSAGE_TOO_COSTLY or BUDGET_EXHAUSTED at `path`, the place in the document that asks for the bytes. */
  spend(bytes: number, path: string): void {
    if (!this.take(bytes)) throw this.refusal(path)
  }

  /** The failure after `take` gave false; a call asks for it later, when other calls of the message may have taken more. */
  refusal(path: string): Failure {
    if (!this.isOwnSpent) {
      const sentence = `The messages in flight need more memory than IN_FLIGHT_MAX_BYTES allows, and this one needs more at ${path}; retry shortly.`
      return new Failure('BUDGET_EXHAUSTED', sentence, { path })
    }
    const sentence = `This message needs more than ${this.limitBytes.toLocaleString('en')} bytes for its requests, answers, state and output; the limit was passed at ${path}. Send a smaller message, or raise MESSAGE_MAX_BYTES.`
    return new Failure('MESSAGE_TOO_COSTLY', sentence, { path })
  }

  /** Gives back what was shared, when the message has ended. */
  release(): void {
    this.shared.leftBytes += this.sharedBytes
    this.sharedBytes = 0
    this.isReleased = true
  }
}
