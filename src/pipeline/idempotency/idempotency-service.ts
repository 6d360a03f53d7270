/**
 * Messages with an `Idempotency-Key`. Of several messages with the same key one is processed; the others wait for its
 * response or get the cached one. Within a process they find each other here, across processes by claims in the store.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { type Backoff, nextPauseMs } from '../../core/backoff.ts'
import { Failure } from '../../core/failure.ts'
import type { AnswerKeeper, CachedResponse, KeyedRequest } from '../../core/kept-answer.ts'
import type { Logger } from '../../core/ports/logger-port.ts'
import type { Run } from '../../core/run.ts'
import type { IdempotencyStore } from '../../store/sql/idempotency-store.ts'
import { StoreUnavailable, storeFailure } from '../../store/store-access.ts'
import type { Outcome } from '../outcome.ts'
import { isFinal, replayResponse, toCachedResponse } from './cached-response.ts'
import type { IdempotencyCleanup } from './idempotency-cleanup.ts'

type KeyedMessage = Readonly<{
  request: KeyedRequest
  /** How long its response is cached. */
  ttlMs: number
  /** Processes the message; never rejects. */
  work(): Promise<Outcome>
}>

export interface IdempotencyService {
  /**
   * Processes the message, unless a message with its key was processed or is in progress: then gives that response.
   * Fails with IDEMPOTENCY_KEY_REUSED, IDEMPOTENCY_KEY_IN_USE (at the deadline of the message),
   * IDEMPOTENCY_ANSWER_NOT_KEPT and IDEMPOTENCY_UNAVAILABLE.
   */
  process(message: KeyedMessage, run: Run): Promise<Outcome>
  stop(): void
}

type IdempotencyOptions = Readonly<{
  store: IdempotencyStore
  cleanup: Pick<IdempotencyCleanup, 'isFull' | 'noteCached'>
  logger: Logger
  /** The largest body that is cached. */
  limitBytes: number
}>

/** How long a claim lasts without renewal: then its message may be processed again. A living process renews it well before. */
const LEASE_MS = 10_000
const RENEW_MS = 3_000

/** How often a message polls for the response of another process: soon at first, as most messages take milliseconds. */
const POLL: Backoff = { firstMs: 10, maxMs: 250 }

/** How long caching a response is retried while the store does not answer: its message is processed already. */
const CACHE_TIMEOUT_MS = 3_000
const CACHE_RETRY_MS = 100

/** The message of this process that holds a key. */
type KeyHolder = Readonly<{
  fingerprint: string
  /** False if another message had claimed the key before. */
  isOwner: Promise<boolean>
  /** The response for the waiting messages; undefined if they must ask the store. */
  response: Promise<CachedResponse | undefined>
}>

type Processed = Readonly<{ outcome: Outcome; response?: CachedResponse }>

export function createIdempotencyService(options: IdempotencyOptions): IdempotencyService {
  const { store, cleanup, logger, limitBytes } = options
  const holders = new Map<string, KeyHolder>()
  const owners = new Set<string>()
  const renewing = setInterval(() => {
    if (owners.size === 0) return
    store.renew([...owners], LEASE_MS).catch((err: unknown) => logger.warn({ err }, 'Claims could not be renewed'))
  }, RENEW_MS)
  renewing.unref()

  /** Polls until the message holds the key, or the response is cached. */
  async function claim({ request }: KeyedMessage, run: Run): Promise<CachedResponse | 'claimed' | 'endpoint-deleted'> {
    for (let pollMs = POLL.firstMs; ; pollMs = nextPauseMs(pollMs, POLL)) {
      const result = await failUnavailable(store.claim(request, run.messageId, LEASE_MS), NOT_PROCESSED)
      if (result.kind === 'claimed' || result.kind === 'endpoint-deleted') return result.kind
      if (result.fingerprint !== request.fingerprint) throw keyReused()
      if (result.kind === 'completed') return result.response
      const leftMs = run.deadlineAt - run.clock()
      if (leftMs <= 0) throw keyInUse()
      await pause(Math.min(pollMs, leftMs))
    }
  }

  /** If it fails, the claim expires by itself. */
  const release = ({ request }: KeyedMessage, { messageId }: Run) =>
    store.release(request, messageId).catch(() => undefined)

  async function complete({ request, ttlMs }: KeyedMessage, { messageId }: Run, response: CachedResponse) {
    const giveUpAt = performance.now() + CACHE_TIMEOUT_MS
    for (;;) {
      try {
        return await store.complete(request, messageId, response, ttlMs)
      } catch (thrown) {
        if (!(thrown instanceof StoreUnavailable) || performance.now() > giveUpAt) throw thrown
        await pause(CACHE_RETRY_MS)
      }
    }
  }

  async function processClaimed(message: KeyedMessage, run: Run): Promise<Processed | 'claim-lost'> {
    const { request, ttlMs } = message
    const { endpointId } = request
    if (cleanup.isFull(endpointId)) {
      await release(message, run)
      throw new Failure('IDEMPOTENCY_UNAVAILABLE', STORE_FULL)
    }
    const owner = run.messageId
    const keeper: AnswerKeeper = {
      make: (answer) => {
        const outcome = { answer, failure: undefined }
        if (!isFinal(outcome)) return undefined
        return { request, owner, ttlMs, response: toCachedResponse(outcome, owner, limitBytes) }
      },
      result: undefined,
    }
    run.answerKeeper = keeper
    const outcome = await message.work()
    if (keeper.result === 'lost') return 'claim-lost'
    if (!isFinal(outcome)) {
      await release(message, run)
      return { outcome }
    }
    const response = toCachedResponse(outcome, owner, limitBytes)
    const result = keeper.result ?? (await failUnavailable(complete(message, run, response), NOT_CACHED))
    cleanup.noteCached(endpointId, response.body?.byteLength ?? 0)
    if (result === 'claim-lost') return 'claim-lost'
    return result === 'endpoint-deleted' ? { outcome } : { outcome, response }
  }

  /** For the first message of this process with the key; 'claim-lost' if it must ask the store again. */
  async function processFirst(
    message: KeyedMessage,
    run: Run,
    reportOwner: (isOwner: boolean) => void,
  ): Promise<Processed | 'claim-lost'> {
    owners.add(run.messageId)
    try {
      const claimed = await claim(message, run)
      reportOwner(claimed === 'claimed')
      if (claimed === 'endpoint-deleted') return { outcome: await message.work() }
      if (claimed !== 'claimed') return { outcome: replayResponse(claimed), response: claimed }
      return await processClaimed(message, run)
    } finally {
      owners.delete(run.messageId)
    }
  }

  async function hold(id: string, message: KeyedMessage, run: Run): Promise<Outcome | undefined> {
    const owner = Promise.withResolvers<boolean>()
    const response = Promise.withResolvers<CachedResponse | undefined>()
    const { fingerprint } = message.request
    holders.set(id, { fingerprint, isOwner: owner.promise, response: response.promise })
    let processed: Processed | 'claim-lost' | undefined
    try {
      processed = await processFirst(message, run, owner.resolve)
    } finally {
      holders.delete(id)
      owner.resolve(false)
      response.resolve(typeof processed === 'object' ? processed.response : undefined)
    }
    if (processed !== 'claim-lost') return processed.outcome
    // Another process claimed the key after the claim expired: its response is replayed.
    logger.warn({ messageId: run.messageId }, 'The claim of a message expired before the message ended')
    return undefined
  }

  async function wait(holder: KeyHolder, { request }: KeyedMessage, run: Run): Promise<Outcome | undefined> {
    if (holder.fingerprint !== request.fingerprint) {
      if (await holder.isOwner) throw keyReused()
      // The store knows which request holds the key.
      await beforeDeadline(holder.response, run)
      return undefined
    }
    const response = await beforeDeadline(holder.response, run)
    return response && replayResponse(response)
  }

  return {
    process: async (message, run) => {
      const id = `${message.request.endpointId} ${message.request.key}`
      for (;;) {
        const holder = holders.get(id)
        const outcome = await (holder === undefined ? hold(id, message, run) : wait(holder, message, run))
        if (outcome !== undefined) return outcome
      }
    },
    stop: () => clearInterval(renewing),
  }
}

/** Fails with IDEMPOTENCY_KEY_IN_USE at the deadline of the message. */
async function beforeDeadline<T>(promise: Promise<T>, run: Run): Promise<T> {
  const settled = new AbortController()
  const timeout = pause(Math.max(0, run.deadlineAt - run.clock()), TIMEOUT, { signal: settled.signal })
  try {
    const first = await Promise.race([promise, timeout])
    if (first === TIMEOUT) throw keyInUse()
    return first as T
  } finally {
    timeout.catch(() => undefined)
    settled.abort()
  }
}

const TIMEOUT = Symbol('timeout')

async function failUnavailable<T>(call: Promise<T>, sentence: string): Promise<T> {
  try {
    return await call
  } catch (thrown) {
    throw storeFailure('IDEMPOTENCY_UNAVAILABLE', sentence, thrown)
  }
}

const NOT_PROCESSED =
  'The store does not answer whether the message was already processed, so the message was not started; send it again.'
const NOT_CACHED =
  'The message was processed, but its response could not be cached. If it is sent again, it is processed again, and its requests may already have arrived.'
const STORE_FULL =
  'The cached responses of this endpoint take its share of the room (IDEMPOTENCY_MAX_MB), so the message was not started; send it again later.'

const keyReused = (): Failure =>
  new Failure(
    'IDEMPOTENCY_KEY_REUSED',
    'Another message was already sent with this key; give each message its own key.',
  )

const keyInUse = (): Failure =>
  new Failure(
    'IDEMPOTENCY_KEY_IN_USE',
    'The message with this key is still in progress; send it again in a moment, with the same key.',
  )
