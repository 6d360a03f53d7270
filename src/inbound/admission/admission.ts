/**
 * Which messages may run: bounds how many run at once, of the whole service and of each endpoint, queues a few, and holds
 * endpoints to their rate. Nothing is counted for an endpoint without limits of its own.
 */
import { Failure } from '../../core/failure.ts'
import { portion, type WorkerSlot } from '../../core/worker-processes.ts'
import type { CompiledEndpoint } from '../../endpoints/compiled-endpoint.ts'
import {
  type Bounds,
  type ConcurrencyLimiter,
  createConcurrencyLimiter,
  createPermits,
  type PermitPool,
  type Waiter,
} from './concurrency-limiter.ts'
import { createRetryAfterEstimator, type RetryAfterEstimator } from './retry-after-estimator.ts'
import { createTokenBucket, type RateLimit, type TokenBucket } from './token-bucket.ts'

export type AdmissionLimits = Readonly<{
  maxMessagesInFlight: number
  /** How many may wait, of all endpoints; a quarter of the former if left out. */
  maxMessagesWaiting?: number | undefined
  /** For each endpoint whose document has no limit; if left out, only the bound of the whole service holds. */
  maxMessagesPerEndpoint?: number | undefined
  messageWaitMs: number
  /** This process among those that divide the limits of an endpoint. */
  workerSlot?: WorkerSlot | undefined
}>

/** The connection of a caller. It ends, or closes, when the caller leaves. */
export type CallerConnection = Readonly<{
  once(event: 'end' | 'close', listener: () => void): unknown
  off(event: 'end' | 'close', listener: () => void): unknown
}>

/** One of the two is called once: the message has a permit, or gets none for the reason of the failure. */
type Candidate = Readonly<{ start(): void; reject(failure: Failure): void }>

export interface Admission extends Pick<ConcurrencyLimiter, 'acquire' | 'release'> {
  /** The pool in which messages of the endpoint count; undefined if it has no limit of its own. */
  poolFor(compiled: CompiledEndpoint): PermitPool | undefined
  /** OVERLOADED if there is no permit and, with `mayWait`, no room in the queue either. */
  refusal(compiled: CompiledEndpoint | undefined, mayWait: boolean): Failure | undefined
  /** Waits for a permit at most `messageWaitMs`, and until the peer closes. */
  wait(
    compiled: CompiledEndpoint,
    pool: PermitPool | undefined,
    candidate: Candidate,
    connection: CallerConnection | undefined,
  ): void
  /** Counts one more message of the endpoint; RATE_LIMITED if it is one too many. */
  overRate(compiled: CompiledEndpoint): Failure | undefined
  /** Forgets removed endpoints; `get` finds the active ones, by id. */
  keep(get: (id: string) => CompiledEndpoint | undefined): void
}

/** The counts of one endpoint with limits; the newest version that a message came by has the limits. */
type Counts = {
  version: number
  pool: PermitPool | undefined
  retryAfter: RetryAfterEstimator | undefined
  bucket: TokenBucket | undefined
}

/** How many may wait by default: they wait about a quarter of the time that a message takes. */
const defaultQueueLength = (permits: number): number => Math.floor(permits / 4)

export function createAdmission(limits: AdmissionLimits): Admission {
  const { maxMessagesInFlight, maxMessagesPerEndpoint, messageWaitMs } = limits
  const { workerSlot = { slot: 0, workers: 1 } } = limits
  const total = createPermits({
    permits: maxMessagesInFlight,
    queue: limits.maxMessagesWaiting ?? defaultQueueLength(maxMessagesInFlight),
  })
  const totalRetryAfter = createRetryAfterEstimator(total)
  const limiter = createConcurrencyLimiter(total)
  const counts = new Map<string, Counts>()

  const boundsFor = ({ endpoint }: CompiledEndpoint): Bounds | undefined => {
    const concurrency = endpoint.limits?.concurrency ?? maxMessagesPerEndpoint
    if (concurrency === undefined) return undefined
    const permits = portion(concurrency, workerSlot)
    const queue = endpoint.limits?.queue
    return { permits, queue: queue === undefined ? defaultQueueLength(permits) : Math.ceil(queue / workerSlot.workers) }
  }
  const isLimited = ({ endpoint }: CompiledEndpoint): boolean =>
    maxMessagesPerEndpoint !== undefined || endpoint.limits !== undefined || endpoint.rateLimit !== undefined

  const countsFor = (compiled: CompiledEndpoint): Counts => {
    const id = compiled.document._id
    const known = counts.get(id)
    if (known !== undefined && known.version >= compiled.version) return known
    const bounds = boundsFor(compiled)
    const limit = compiled.endpoint.rateLimit
    // Messages of the version before still count.
    const pool = bounds && (known?.pool ?? createPermits(bounds))
    const bucket = limit && (known?.bucket ?? createTokenBucket(limit, workerSlot.workers))
    const renewed = {
      version: compiled.version,
      pool,
      retryAfter: pool && (known?.retryAfter ?? createRetryAfterEstimator(pool)),
      bucket,
    }
    counts.set(id, renewed)
    if (limit !== undefined) bucket?.change(limit)
    if (pool !== undefined && bounds !== undefined) limiter.change(pool, bounds)
    return renewed
  }
  const overloaded = (compiled: CompiledEndpoint | undefined, pool: PermitPool | undefined): Failure => {
    const isOwn = pool !== undefined && total.used < total.bounds.permits
    const { used } = isOwn ? pool : total
    const waiting = isOwn ? limiter.countWaiting(pool) : limiter.waiting
    const retryAfter = (isOwn && compiled && counts.get(compiled.document._id)?.retryAfter) || totalRetryAfter
    const seconds = retryAfter(waiting + 1, performance.now())
    const whose = isOwn ? 'of this endpoint ' : ''
    const what =
      used === 1 ? `1 message ${whose}is in progress already` : `${used} messages ${whose}are in progress already`
    return new Failure('OVERLOADED', `${what}; send this one again in ${inSeconds(seconds)}.`, {
      headers: { 'retry-after': String(seconds) },
    })
  }
  const poolFor = (compiled: CompiledEndpoint): PermitPool | undefined =>
    isLimited(compiled) ? countsFor(compiled).pool : undefined

  return {
    poolFor,
    acquire: limiter.acquire,
    release: limiter.release,
    refusal: (compiled, mayWait) => {
      const pool = compiled && poolFor(compiled)
      if (limiter.hasPermit(pool)) return undefined
      const canWait = mayWait && compiled !== undefined && limiter.canWait(pool ?? compiled.document._id)
      return canWait ? undefined : overloaded(compiled, pool)
    },
    wait: (compiled, pool, candidate, connection) => {
      const owner = pool ?? compiled.document._id
      const stopWaiting = (notify: () => void) => () => {
        clearTimeout(timer)
        connection?.off('end', onLeave)
        connection?.off('close', onLeave)
        notify()
      }
      const waiter: Waiter = {
        start: stopWaiting(candidate.start),
        displace: stopWaiting(() => candidate.reject(overloaded(compiled, pool))),
      }
      const onLeave = () => {
        if (limiter.leave(owner, waiter)) stopWaiting(() => candidate.reject(callerLeft()))()
      }
      const timer = setTimeout(() => {
        if (limiter.leave(owner, waiter)) waiter.displace()
      }, messageWaitMs)
      connection?.once('end', onLeave)
      connection?.once('close', onLeave)
      if (!limiter.wait(owner, waiter)) waiter.displace()
    },
    overRate: (compiled) => {
      if (compiled.endpoint.rateLimit === undefined) return undefined
      const waitMs = countsFor(compiled).bucket?.take(performance.now()) ?? 0
      if (waitMs === 0) return undefined
      return rateLimited(compiled.endpoint.rateLimit, workerSlot.workers, Math.ceil(waitMs / 1_000))
    },
    keep: (get) => {
      for (const [id, { pool }] of counts) {
        const isIdle = pool === undefined || (pool.used === 0 && limiter.countWaiting(pool) === 0)
        if (isIdle && get(id) === undefined) counts.delete(id)
      }
    },
  }
}

const callerLeft = (): Failure =>
  new Failure('OVERLOADED', 'The caller closed its connection while the message waited for a permit.')

/** A caller with one connection reaches one worker: the number of workers explains why it never gets the whole rate. */
function rateLimited({ messages, seconds }: RateLimit, workers: number, wait: number): Failure {
  const among = workers === 1 ? '' : `, divided among ${workers} workers`
  const rate = `${messages} ${messages === 1 ? 'message' : 'messages'} in ${inSeconds(seconds)}${among}`
  return new Failure('RATE_LIMITED', `This endpoint takes ${rate}; send this one again in ${inSeconds(wait)}.`, {
    path: 'rateLimit',
    headers: { 'retry-after': String(wait) },
  })
}

const inSeconds = (count: number): string => `${count} ${count === 1 ? 'second' : 'seconds'}`
