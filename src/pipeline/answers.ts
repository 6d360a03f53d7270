/**
 * Messages with an `Idempotency-Key`: of those that are the same one, sent again, one is worked on; the others wait for its
 * answer, or get what was kept of it. Within a process they find each other here, across processes by claims in the
 * store.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { AnswerStore, KeptAnswer, KeyedRequest } from '../domain/answer-store.ts'
import { Failure } from '../domain/failure.ts'
import { type Logger, StoreUnavailable } from '../domain/ports.ts'
import type { Run } from '../domain/run.ts'
import type { Upkeep } from './answer-upkeep.ts'
import type { Outcome } from './compile.ts'
import { giveAgain, isFinal, keptOf } from './kept-answer.ts'

export type Keyed = Readonly<{
  request: KeyedRequest
  /** How long its answer is kept. */
  keepMs: number
  /** Works on the message; never rejects. */
  work(): Promise<Outcome>
}>

export interface Answers {
  /**
   * Fails with IDEMPOTENCY_KEY_REUSED, IDEMPOTENCY_KEY_IN_USE (at the deadline of the message),
   * IDEMPOTENCY_ANSWER_NOT_KEPT and IDEMPOTENCY_UNAVAILABLE.
   */
  once(keyed: Keyed, run: Run): Promise<Outcome>
  stop(): void
}

export type AnswersOptions = Readonly<{
  store: AnswerStore
  upkeep: Pick<Upkeep, 'isFull' | 'grew'>
  logger: Logger
  /** The largest body that is kept. */
  limitBytes: number
}>

/**
 * A claim lapses so long after its owner was last heard of: then its message may be worked on again. It is renewed well
 * before, as long as the process lives.
 */
const LEASE_MS = 10_000
const RENEW_MS = 3_000

/** How often somebody who waits for another process asks: soon at first, since most messages take milliseconds. */
const FIRST_POLL_MS = 10
const LAST_POLL_MS = 250

/** How long a store that does not answer is tried again: what the answer tells of is done already. */
const KEEP_PATIENCE_MS = 3_000
const KEEP_AGAIN_MS = 100

/** A key that a message of this process is at. */
type UnderWay = Readonly<{
  fingerprint: string
  /** Whether it got the key, rather than found it with somebody else. */
  isOwner: Promise<boolean>
  /** What it ended with, as far as others may have it. */
  ended: Promise<KeptAnswer | undefined>
}>

type Worked = Readonly<{ outcome: Outcome; kept?: KeptAnswer }>

export function createAnswers({ store, upkeep, logger, limitBytes }: AnswersOptions): Answers {
  const underWay = new Map<string, UnderWay>()
  const owners = new Set<string>()
  const renewing = setInterval(() => {
    if (owners.size === 0) return
    store.renew([...owners], LEASE_MS).catch((err: unknown) => logger.warn({ err }, 'Claims could not be renewed'))
  }, RENEW_MS)
  renewing.unref()

  /** Asks until the key is this message's, or its answer is there. */
  async function claim({ request }: Keyed, run: Run): Promise<KeptAnswer | 'mine' | 'gone'> {
    for (let pollMs = FIRST_POLL_MS; ; pollMs = Math.min(pollMs * 2, LAST_POLL_MS)) {
      const found = await guard(store.claim(request, run.messageId, LEASE_MS), NOT_BEGUN)
      if (found.kind === 'mine' || found.kind === 'gone') return found.kind
      if (found.fingerprint !== request.fingerprint) throw reused()
      if (found.kind === 'kept') return found.answer
      const leftMs = run.deadlineAt - run.clock()
      if (leftMs <= 0) throw inUse()
      await pause(Math.min(pollMs, leftMs))
    }
  }

  /** Where that fails, the claim lapses by itself. */
  const release = ({ request }: Keyed, { messageId }: Run) => store.release(request, messageId).catch(() => undefined)

  async function keep({ request, keepMs }: Keyed, { messageId }: Run, answer: KeptAnswer) {
    const giveUpAt = performance.now() + KEEP_PATIENCE_MS
    for (;;) {
      try {
        return await store.keep(request, messageId, answer, keepMs)
      } catch (thrown) {
        if (!(thrown instanceof StoreUnavailable) || performance.now() > giveUpAt) throw thrown
        await pause(KEEP_AGAIN_MS)
      }
    }
  }

  async function workOn(keyed: Keyed, run: Run): Promise<Worked | 'lost'> {
    if (upkeep.isFull) {
      await release(keyed, run)
      throw new Failure('IDEMPOTENCY_UNAVAILABLE', FULL)
    }
    const outcome = await keyed.work()
    if (!isFinal(outcome)) {
      await release(keyed, run)
      return { outcome }
    }
    const answer = keptOf(outcome, run.messageId, limitBytes)
    const result = await guard(keep(keyed, run, answer), NOT_KEPT)
    upkeep.grew(answer.body?.byteLength ?? 0)
    if (result === 'lost') return 'lost'
    return result === 'gone' ? { outcome } : { outcome, kept: answer }
  }

  /** As the first of this process that has the key; 'lost' where it must ask again. */
  async function lead(keyed: Keyed, run: Run, tellOwner: (isOwner: boolean) => void): Promise<Worked | 'lost'> {
    owners.add(run.messageId)
    try {
      const claimed = await claim(keyed, run)
      tellOwner(claimed === 'mine')
      if (claimed === 'gone') return { outcome: await keyed.work() }
      if (claimed !== 'mine') return { outcome: giveAgain(claimed), kept: claimed }
      return await workOn(keyed, run)
    } finally {
      owners.delete(run.messageId)
    }
  }

  async function first(place: string, keyed: Keyed, run: Run): Promise<Outcome | undefined> {
    const owner = Promise.withResolvers<boolean>()
    const end = Promise.withResolvers<KeptAnswer | undefined>()
    const { fingerprint } = keyed.request
    underWay.set(place, { fingerprint, isOwner: owner.promise, ended: end.promise })
    let worked: Worked | 'lost' | undefined
    try {
      worked = await lead(keyed, run, owner.resolve)
    } finally {
      underWay.delete(place)
      owner.resolve(false)
      end.resolve(typeof worked === 'object' ? worked.kept : undefined)
    }
    if (worked !== 'lost') return worked.outcome
    // Somebody took it for dead and works on it, or has: theirs is the answer that is given from now on.
    logger.warn({ messageId: run.messageId }, 'The claim of a message had lapsed before the message ended')
    return undefined
  }

  async function wait(other: UnderWay, { request }: Keyed, run: Run): Promise<Outcome | undefined> {
    if (other.fingerprint !== request.fingerprint) {
      if (await other.isOwner) throw reused()
      // The store says whose key it is, and for what.
      await inTime(other.ended, run)
      return undefined
    }
    const kept = await inTime(other.ended, run)
    return kept && giveAgain(kept)
  }

  return {
    once: async (keyed, run) => {
      const place = `${keyed.request.endpointId} ${keyed.request.key}`
      for (;;) {
        const other = underWay.get(place)
        const outcome = await (other === undefined ? first(place, keyed, run) : wait(other, keyed, run))
        if (outcome !== undefined) return outcome
      }
    },
    stop: () => clearInterval(renewing),
  }
}

/** Fails with IDEMPOTENCY_KEY_IN_USE at the deadline of the message. */
async function inTime<T>(ended: Promise<T>, run: Run): Promise<T> {
  const over = new AbortController()
  const timeUp = pause(Math.max(0, run.deadlineAt - run.clock()), TIME_UP, { signal: over.signal })
  try {
    const first = await Promise.race([ended, timeUp])
    if (first === TIME_UP) throw inUse()
    return first as T
  } finally {
    timeUp.catch(() => undefined)
    over.abort()
  }
}

const TIME_UP = Symbol('time up')

async function guard<T>(asked: Promise<T>, sentence: string): Promise<T> {
  try {
    return await asked
  } catch (thrown) {
    if (!(thrown instanceof StoreUnavailable)) throw thrown
    throw new Failure('IDEMPOTENCY_UNAVAILABLE', sentence, { cause: thrown })
  }
}

const NOT_BEGUN = 'It cannot be seen now whether the message was done already, so it was not begun; send it again.'
const NOT_KEPT =
  'The message was worked on, but its answer could not be kept; sent again, it is worked on again, and what it had sent by now may have arrived.'
const FULL =
  'There is no room to keep the answer (IDEMPOTENCY_MAX_MB), so the message was not begun; send it again later.'

const reused = (): Failure =>
  new Failure(
    'IDEMPOTENCY_KEY_REUSED',
    'Another message was sent with this key already; give each message its own key.',
  )

const inUse = (): Failure =>
  new Failure(
    'IDEMPOTENCY_KEY_IN_USE',
    'The message with this key is under way still; send it again in a moment, with the same key.',
    { headers: { 'retry-after': '1' } },
  )
