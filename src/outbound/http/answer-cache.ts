/** Keeps answers of lookups that say so, in the memory of this process and within a bound of bytes. */
import { withoutQuery } from '../../core/http.ts'
import type { CacheRule } from '../../core/ports/destination.ts'
import {
  type OutboundAnswer,
  OutboundError,
  type OutboundFault,
  overBudget,
  timedOut,
} from '../../core/ports/http-client-port.ts'
import type { Outbound } from '../../core/ports/outbound-port.ts'
import type { Sending } from '../../core/run.ts'
import type { CallSpan } from '../../core/tracing/trace.ts'
import { resultWithin } from '../../core/within.ts'

/** `at`: when the answer came, on the clock of messages. */
type Kept = Readonly<{ answer: OutboundAnswer; at: number; bytes: number }>

/** A lookup of one message. */
type Call = Readonly<{
  key: string
  rule: CacheRule
  timeoutMs: number
  /** The call in messages. */
  subject: string
  run: Sending
  called: CallSpan
  /** Asks the target. */
  send(timeoutMs: number): Promise<OutboundAnswer>
}>

/** What became of a call that others wait for. */
type Result = Readonly<{ answer: OutboundAnswer }> | Readonly<{ thrown: unknown }>

const MAX_BYTES = 32 * 1024 * 1024
/** A larger answer would push out too many others. */
const MAX_ANSWER_BYTES = MAX_BYTES / 8
/** What an answer takes beside its texts. */
const ENTRY_BYTES = 1_024

/** Faults that an old answer helps over. */
const IS_AWAY: ReadonlySet<string> = new Set(['unreachable', 'timeout', 'circuit-open'])
/** Faults of the message that made the call: another one may have more time or a larger budget. */
const OF_CALLER: ReadonlySet<string> = new Set(['timeout', 'over-budget'])

/** Asks only for what is not kept, and once for all messages that need it at the same time. */
export function withCache(send: Outbound['send']): Outbound['send'] {
  const cache = new AnswerCache()
  return (to, outgoing, run, called) => {
    const { cache: rule } = to
    const { prepared, timeoutMs } = outgoing
    const { cacheKey, url } = prepared
    if (rule === undefined || cacheKey === undefined || outgoing.body !== undefined) {
      return send(to, outgoing, run, called)
    }
    const key = `${cacheKey} ${url}`
    const subject = `${prepared.method} ${withoutQuery(prepared.shownUrl)}`
    const sendAgain = (leftMs: number) =>
      send(to, { ...outgoing, timeoutMs: leftMs, statedTimeoutMs: timeoutMs }, run, called)
    return cache.answer({ key, rule, timeoutMs, subject, run, called, send: sendAgain })
  }
}

class AnswerCache {
  /** Those that were used last come last. */
  private readonly kept = new Map<string, Kept>()
  private readonly underWay = new Map<string, Promise<Result>>()
  private bytes = 0

  /** Fails with OutboundError. */
  async answer(call: Call): Promise<OutboundAnswer> {
    const { freshMs, staleMs, allows } = call.rule
    const fresh = this.find(call, freshMs)
    if (fresh !== undefined) return take(fresh, call)
    const standIn = (failed: OutboundFault | number): OutboundAnswer | undefined => {
      const old = this.find(call, freshMs + staleMs)
      if (old !== undefined) call.called.stale = failed
      return old && take(old, call)
    }
    try {
      const answer = await this.ask(call)
      const { status } = answer
      return (status >= 500 && !allows(status) ? standIn(status) : undefined) ?? answer
    } catch (thrown) {
      const isAway = thrown instanceof OutboundError && IS_AWAY.has(thrown.fault)
      const old = isAway ? standIn(thrown.fault) : undefined
      if (old === undefined) throw thrown
      return old
    }
  }

  /** An answer of at most this age. */
  private find({ key, run }: Call, maxAgeMs: number): OutboundAnswer | undefined {
    const kept = this.kept.get(key)
    if (kept === undefined || run.clock() - kept.at >= maxAgeMs) return undefined
    this.kept.delete(key)
    this.kept.set(key, kept)
    return kept.answer
  }

  /** Joins a call that is under way, or makes one. */
  private async ask(call: Call): Promise<OutboundAnswer> {
    const { key, timeoutMs, subject, send } = call
    const endAt = performance.now() + timeoutMs
    const late = () => timedOut(subject, timeoutMs)
    for (;;) {
      const leftMs = endAt - performance.now()
      if (leftMs <= 0) throw late()
      const underWay = this.underWay.get(key)
      if (underWay === undefined) return this.lead(call, leftMs)
      const result = await resultWithin(leftMs, underWay, late)
      if ('answer' in result) {
        if (mayBeKept(result.answer)) return take(result.answer, call)
        return send(endAt - performance.now())
      }
      const { thrown } = result
      if (thrown instanceof OutboundError && !OF_CALLER.has(thrown.fault)) throw thrown
    }
  }

  private async lead(call: Call, leftMs: number): Promise<OutboundAnswer> {
    const { key, rule, run } = call
    const { promise, resolve } = Promise.withResolvers<Result>()
    this.underWay.set(key, promise)
    try {
      const received = await call.send(leftMs)
      const isKept = rule.allows(received.status) && mayBeKept(received)
      const answer = isKept ? this.keep(key, received, run.clock()) : received
      resolve({ answer })
      return answer
    } catch (thrown) {
      resolve({ thrown })
      throw thrown
    } finally {
      this.underWay.delete(key)
    }
  }

  private keep(key: string, answer: OutboundAnswer, at: number): OutboundAnswer {
    const { headers, body } = answer
    this.drop(key)
    const bytes = ENTRY_BYTES + 2 * (key.length + JSON.stringify(headers).length) + body.byteLength
    if (bytes > MAX_ANSWER_BYTES) return answer
    for (const oldest of this.kept.keys()) {
      if (this.bytes + bytes <= MAX_BYTES) break
      this.drop(oldest)
    }
    const forget = () => {
      if (this.kept.get(key) === entry) this.drop(key)
    }
    // A body is often a part of what was read from the connection, which it would keep.
    const entry: Kept = { answer: { ...answer, body: new Uint8Array(body), forget }, at, bytes }
    this.kept.set(key, entry)
    this.bytes += bytes
    return entry.answer
  }

  private drop(key: string): void {
    this.bytes -= this.kept.get(key)?.bytes ?? 0
    this.kept.delete(key)
  }
}

/** RFC 9111 section 5.2.2.5. */
const mayBeKept = ({ headers: { 'cache-control': control = '' } }: OutboundAnswer): boolean =>
  !/(?:^|,)\s*no-store\s*(?:,|$)/i.test(String(control))

/** The answer for the message of the call, which pays for it as if it had been read. */
function take(answer: OutboundAnswer, { run, called, subject }: Call): OutboundAnswer {
  if (!run.budget.take(answer.body.byteLength)) throw overBudget(subject)
  called.cached = true
  return { ...answer, headers: { ...answer.headers } }
}
