/** Captures of an endpoint: its next messages are recorded with all bodies, whatever its policy for bodies. */

import { setImmediate as nextIteration } from 'node:timers/promises'
import { Failure } from '../../core/failure.ts'
import { readTime } from '../../core/iso-time.ts'
import type { Logger } from '../../core/ports/logger-port.ts'
import type { Clock } from '../../core/run.ts'
import { within } from '../../core/within.ts'
import type { EndpointService } from '../../endpoints/endpoint-service.ts'
import * as failures from '../../endpoints/management-failures.ts'
import type { CompletedMessage } from '../../inbound/completed-message.ts'
import type { CaptureStore, StoredCapture } from '../../store/sql/capture-store.ts'
import { callStore } from '../../store/store-access.ts'

/** Times in ISO 8601. */
export type CaptureView = Readonly<{
  endpointId: string
  isActive: boolean
  messages: number
  remaining: number
  until: string
  startedAt: string
  by: string
}>

/** `until`: a time as in filters. */
export type CaptureRequest = Readonly<{ messages: number; until?: string }>

/** Each call fails with ID_MALFORMED, ENDPOINT_UNKNOWN and STORE_UNAVAILABLE. */
export interface MessageCaptures {
  /**
   * Starts a capture in place of the one before, on all processes. `by`: who starts it. Also fails with CAPTURE_INVALID, for
   * a time that is too late or over.
   */
  start(endpointId: string, request: CaptureRequest, by: string): Promise<CaptureView>
  /** The last capture of the endpoint, in progress or ended. */
  get(endpointId: string): Promise<CaptureView | null>
  /** Ends and forgets it. Also fails with CAPTURE_UNKNOWN. */
  end(endpointId: string): Promise<void>
}

type MessageCapturesOptions = Readonly<{
  store: CaptureStore
  endpointService: Pick<EndpointService, 'get'>
  /** Resolves when every process of this service records by the captures in the store. */
  reload: () => Promise<void>
  /** Resolves when the records of earlier messages are stored, or after a timeout. */
  caughtUp: () => Promise<void>
  clock: Clock
  newId: () => string
}>

export const MAX_CAPTURED = 1_000
const DEFAULT_MS = 3_600_000
const MAX_MS = 24 * 3_600_000

export function createMessageCaptures(options: MessageCapturesOptions): MessageCaptures {
  const { store, endpointService, reload, caughtUp, clock, newId } = options

  async function unknown(endpointId: string): Promise<Failure> {
    await endpointService.get(endpointId)
    return new Failure('CAPTURE_UNKNOWN', `The endpoint '${endpointId}' has no capture.`)
  }

  return {
    start: async (endpointId, { messages, until: text }, by) => {
      const now = clock()
      const until = text === undefined ? now + DEFAULT_MS : readEnd(text, now)
      await endpointService.get(endpointId)
      // Messages that were answered before belong to the capture that this one replaces.
      await caughtUp()
      const capture = { endpointId, id: newId(), messages, until, startedAt: new Date(now).toISOString(), by }
      if (!(await callCaptures(() => store.put(capture)))) throw failures.unknown(endpointId)
      await callCaptures(reload)
      return toCaptureView({ ...capture, remaining: messages, isActive: true })
    },
    get: async (endpointId) => {
      await caughtUp()
      const stored = await callCaptures(() => store.get(endpointId))
      if (stored !== undefined) return toCaptureView(stored)
      await endpointService.get(endpointId)
      return null
    },
    end: async (endpointId) => {
      await caughtUp()
      if (!(await callCaptures(() => store.remove(endpointId)))) throw await unknown(endpointId)
      await callCaptures(reload)
    },
  }
}

const callCaptures = <T>(work: () => Promise<T>): Promise<T> => callStore('The store of captures', work)

function toCaptureView({
  endpointId,
  isActive,
  messages,
  remaining,
  until,
  startedAt,
  by,
}: StoredCapture): CaptureView {
  return { endpointId, isActive, messages, remaining, until: new Date(until).toISOString(), startedAt, by }
}

function readEnd(text: string, now: number): number {
  const until = readTime(text, now)
  if (until !== undefined && until > now && until <= now + MAX_MS) return until
  throw new Failure('CAPTURE_INVALID', wrongEnd(now))
}

export const wrongEnd = (now: number): string =>
  `until must be a time after now and at most 24 hours ahead, such as "${new Date(now + MAX_MS).toISOString()}".`

// The captures that are in progress, as this process knows them. The store decides which messages they record.

type ActiveCapture = {
  readonly endpointId: string
  readonly id: string
  /** Milliseconds since the epoch. */
  readonly until: number
  /** At most so many messages remain: other processes take places too. */
  remaining: number
  /** Completed messages of this process that wait for a place. */
  waiting: number
}

export interface ActiveCaptures {
  /** 0 at most times, so that messages cost nothing more. */
  readonly size: number
  of(endpointId: string): ActiveCapture | undefined
  /** Reads the captures from the store; resolves when this process records by them. Rejects with StoreUnavailable. */
  reload(): Promise<void>
  /** Reloads if this version of the shared store is new, or if the last reload failed. To be called every few seconds. */
  follow(version: number): void
  /** Takes places for up to `count` messages; gives how many. Rejects with StoreUnavailable. */
  claim(capture: ActiveCapture, count: number): Promise<number>
}

type ActiveCapturesOptions = Readonly<{
  store: Pick<CaptureStore, 'active' | 'claim'>
  clock: Clock
  logger: Logger
}>

export function createActiveCaptures({ store, clock, logger }: ActiveCapturesOptions): ActiveCaptures {
  let active = new Map<string, ActiveCapture>()
  /** Reads run one after the other, so that an earlier one never replaces what a later one found. */
  let reading: Promise<unknown> = Promise.resolve()
  let followed: number | undefined

  async function read(): Promise<void> {
    const found = await store.active()
    const before = active
    active = new Map(
      found.map(({ endpointId, id, until, remaining }) => {
        const known = before.get(endpointId)
        if (known?.id !== id) return [endpointId, { endpointId, id, until, remaining, waiting: 0 }]
        known.remaining = Math.min(known.remaining, remaining)
        return [endpointId, known]
      }),
    )
  }

  function reload(): Promise<void> {
    const next = reading.then(read).catch((thrown: unknown) => {
      followed = undefined
      throw thrown
    })
    reading = next.catch(() => undefined)
    return next
  }

  const remove = (capture: ActiveCapture): void => {
    if (active.get(capture.endpointId) === capture) active.delete(capture.endpointId)
  }

  return {
    get size() {
      return active.size
    },
    of: (endpointId) => {
      const capture = active.get(endpointId)
      if (capture === undefined || clock() < capture.until) return capture
      remove(capture)
      return undefined
    },
    reload,
    follow: (version) => {
      if (version === followed) return
      followed = version
      reload().catch((err: unknown) => logger.warn({ err }, 'The captures of messages could not be read; trying again'))
    },
    claim: async (capture, count) => {
      const { claimed, remaining } = await store.claim(capture, count)
      capture.remaining = Math.min(capture.remaining, remaining)
      if (remaining === 0) remove(capture)
      return claimed
    },
  }
}

// Completed messages of endpoints with a capture. They wait for their place in it before their records are built, as only
// the store knows which messages of all processes are the next ones.

export interface ClaimQueue {
  /** Quick, and never throws. Out: whether `record` is called with the message later. */
  offer(completed: CompletedMessage): boolean
  readonly count: number
  /** Resolves when no message waits, or after the timeout. */
  drained(timeoutMs: number): Promise<void>
  /** The same; what still waits after the timeout is not captured, nor is any later message. */
  close(timeoutMs: number): Promise<void>
}

type ClaimQueueOptions = Readonly<{
  captures: Pick<ActiveCaptures, 'of' | 'claim'>
  /** Estimates what a message holds in memory. */
  estimateBytes(completed: CompletedMessage): number
  /** The most that several waiting messages hold together; further ones are not captured. */
  limitBytes: number
  /** `isCaptured`: whether the message has a place. */
  record(completed: CompletedMessage, isCaptured: boolean): void
  logger: Logger
}>

type Waiting = Readonly<{ completed: CompletedMessage; bytes: number; capture: ActiveCapture }>

export function createClaimQueue({
  captures,
  estimateBytes: toBytes,
  limitBytes,
  record,
  logger,
}: ClaimQueueOptions): ClaimQueue {
  const waiting = new Set<Waiting>()
  let waitingBytes = 0
  let running: Promise<void> | undefined
  let isClosed = false

  function finish(one: Waiting, isCaptured: boolean): void {
    if (!waiting.delete(one)) return
    waitingBytes -= one.bytes
    one.capture.waiting -= 1
    record(one.completed, isCaptured)
  }

  /** Resolves to 0 if the store does not answer: the records must not wait for it. */
  async function claim(capture: ActiveCapture, count: number): Promise<number> {
    try {
      return await captures.claim(capture, count)
    } catch (err) {
      const { endpointId } = capture
      logger.warn({ err, endpointId, messages: count }, 'The store did not answer; messages were not captured')
      return 0
    }
  }

  async function run(): Promise<void> {
    while (waiting.size > 0) {
      // Messages are answered first, and those that complete in the same iteration share a write.
      await nextIteration()
      const [first] = waiting
      if (first === undefined) return
      const batch = [...waiting].filter(({ capture }) => capture === first.capture)
      let places = await claim(first.capture, batch.length)
      for (const one of batch) {
        finish(one, places > 0)
        places -= 1
      }
    }
  }

  return {
    offer: (completed) => {
      const { compiled, trace, answer } = completed
      // A message that no stage saw has nothing to capture, and a cached response is recorded with the first message.
      if (compiled === undefined || trace === undefined || answer.repeats !== undefined || isClosed) return false
      const capture = captures.of(compiled.document._id)
      if (capture === undefined || capture.waiting >= capture.remaining) return false
      const bytes = toBytes(completed)
      if (waiting.size > 0 && waitingBytes + bytes > limitBytes) return false
      waiting.add({ completed, bytes, capture })
      waitingBytes += bytes
      capture.waiting += 1
      running ??= run().finally(() => {
        running = undefined
      })
      return true
    },
    get count() {
      return waiting.size
    },
    drained: (timeoutMs) => within(timeoutMs, running ?? Promise.resolve()),
    close: async (timeoutMs) => {
      isClosed = true
      await within(timeoutMs, running ?? Promise.resolve())
      for (const one of [...waiting]) finish(one, false)
    },
  }
}
