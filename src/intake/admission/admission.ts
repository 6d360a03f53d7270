/**
 * Which messages may begin: bounds how many are under way, of the whole service and of each endpoint, lets a few wait for
 * a place, and holds endpoints to their rate. An endpoint without limits of its own has nothing counted of its own.
 */
import { Failure } from '../../domain/failure.ts'
import { portion, type WorkerSlot } from '../../domain/worker-processes.ts'
import type { CompiledEndpoint } from '../../endpoints/compiled-endpoint.ts'
import { type Bounds, createConcurrencyLimiter, createPermits, type Gate, type Waiter } from './concurrency-limiter.ts'
import { createRetryAfterEstimator, type RetryAfterEstimator } from './retry-after-estimator.ts'
import { createTokenBucket, type Rate } from './token-bucket.ts'

export type AdmissionLimits = Readonly<{
  maxMessagesInFlight: number
  /** How many may wait, over all; a quarter of the former where it is left out. */
  maxMessagesWaiting?: number | undefined
  /** Of each endpoint that does not say it itself; left out, only the bound of the whole service holds. */
  maxMessagesPerEndpoint?: number | undefined
  messageWaitMs: number
  /** Which one this process is of those among which the limits of an endpoint are divided. */
  place?: WorkerSlot | undefined
}>

/** Whoever waits for an answer: what tells when they have gone. */
export type Peer = Readonly<{
  once(event: 'close', listener: () => void): unknown
  off(event: 'close', listener: () => void): unknown
}>

/** `refuse` is told why there will be no place. */
export type Candidate = Readonly<{ begin(): void; refuse(failure: Failure): void }>

export interface Admission {
  /** What the endpoint of a message counts in; undefined where it has no limit of its own. */
  gateOf(compiled: CompiledEndpoint): Gate | undefined
  /** Takes a place; tells whether there was one. Whoever has one gives it back by `free`. */
  take(gate: Gate | undefined): boolean
  free(gate: Gate | undefined): void
  /** OVERLOADED where there is no place, and with `mayWait` none in the queue either; undefined where there is. */
  refusal(compiled: CompiledEndpoint | undefined, mayWait: boolean): Failure | undefined
  /** Waits for a place at most `messageWaitMs`, and as long as the caller does; the candidate is told once. */
  wait(compiled: CompiledEndpoint, gate: Gate | undefined, candidate: Candidate, peer: Peer | undefined): void
  /** Counts one more message of the endpoint; RATE_LIMITED where it is one too many. */
  overRate(compiled: CompiledEndpoint): Failure | undefined
  /** Forgets endpoints that are gone; `get` finds what is in force, by id. */
  keep(get: (id: string) => CompiledEndpoint | undefined): void
  readonly waiting: number
}

/** Of one endpoint with limits; the newest version that a message came by says which. */
type Known = {
  version: number
  gate: Gate | undefined
  outflow: RetryAfterEstimator | undefined
  rate: Rate | undefined
}

/** How many may wait, where nobody says it: they wait a quarter of the time that a message takes, about. */
const queueOf = (places: number): number => Math.floor(places / 4)

export function createAdmission(limits: AdmissionLimits): Admission {
  const { maxMessagesInFlight, maxMessagesPerEndpoint, messageWaitMs, place = { slot: 0, workers: 1 } } = limits
  const whole = createPermits({
    places: maxMessagesInFlight,
    queue: limits.maxMessagesWaiting ?? queueOf(maxMessagesInFlight),
  })
  const wholeOutflow = createRetryAfterEstimator(whole)
  const places = createConcurrencyLimiter(whole)
  const known = new Map<string, Known>()

  const boundsOf = ({ endpoint }: CompiledEndpoint): Bounds | undefined => {
    const concurrency = endpoint.limits?.concurrency ?? maxMessagesPerEndpoint
    if (concurrency === undefined) return undefined
    const own = portion(concurrency, place)
    const queue = endpoint.limits?.queue
    return { places: own, queue: queue === undefined ? queueOf(own) : Math.ceil(queue / place.workers) }
  }
  const isLimited = ({ endpoint }: CompiledEndpoint): boolean =>
    maxMessagesPerEndpoint !== undefined || endpoint.limits !== undefined || endpoint.rateLimit !== undefined

  const knownOf = (compiled: CompiledEndpoint): Known => {
    const id = compiled.document._id
    const one = known.get(id)
    if (one !== undefined && one.version >= compiled.version) return one
    const bounds = boundsOf(compiled)
    const limit = compiled.endpoint.rateLimit
    // What is under way of the version before counts on.
    const gate = bounds && (one?.gate ?? createPermits(bounds))
    const rate = limit && (one?.rate ?? createTokenBucket(limit, place.workers))
    const made = {
      version: compiled.version,
      gate,
      outflow: gate && (one?.outflow ?? createRetryAfterEstimator(gate)),
      rate,
    }
    known.set(id, made)
    if (limit !== undefined) rate?.change(limit)
    if (gate !== undefined && bounds !== undefined) places.change(gate, bounds)
    return made
  }
  const overloaded = (compiled: CompiledEndpoint | undefined, gate: Gate | undefined): Failure => {
    const isOwn = gate !== undefined && whole.used < whole.bounds.places
    const { used } = isOwn ? gate : whole
    const waiting = isOwn ? places.waitingOf(gate) : places.waiting
    const outflow = (isOwn && compiled && known.get(compiled.document._id)?.outflow) || wholeOutflow
    const seconds = outflow(waiting + 1, performance.now())
    const whose = isOwn ? 'of this endpoint ' : ''
    const what = `${used} messages ${whose}are under way already`
    return new Failure('OVERLOADED', `${what}; send this one again in ${inSeconds(seconds)}.`, {
      headers: { 'retry-after': String(seconds) },
    })
  }
  const gateOf = (compiled: CompiledEndpoint): Gate | undefined =>
    isLimited(compiled) ? knownOf(compiled).gate : undefined

  return {
    gateOf,
    take: places.take,
    free: places.free,
    refusal: (compiled, mayWait) => {
      if (compiled === undefined) return places.hasRoom(undefined) ? undefined : overloaded(undefined, undefined)
      const gate = gateOf(compiled)
      if (places.hasRoom(gate)) return undefined
      return mayWait && places.canWait(gate ?? compiled.document._id) ? undefined : overloaded(compiled, gate)
    },
    wait: (compiled, gate, candidate, peer) => {
      const owner = gate ?? compiled.document._id
      const settle = (tell: () => void) => () => {
        clearTimeout(timer)
        peer?.off('close', onGone)
        tell()
      }
      const refuse = () => candidate.refuse(overloaded(compiled, gate))
      const waiter: Waiter = { begin: settle(candidate.begin), pushOut: settle(refuse) }
      const onGone = () => {
        if (places.leave(owner, waiter)) settle(() => candidate.refuse(gone()))()
      }
      const timer = setTimeout(() => {
        if (places.leave(owner, waiter)) waiter.pushOut()
      }, messageWaitMs)
      peer?.once('close', onGone)
      if (!places.wait(owner, waiter)) waiter.pushOut()
    },
    overRate: (compiled) => {
      if (compiled.endpoint.rateLimit === undefined) return undefined
      const waitMs = knownOf(compiled).rate?.take(performance.now()) ?? 0
      if (waitMs === 0) return undefined
      return overRate(compiled.endpoint.rateLimit, place.workers, Math.ceil(waitMs / 1_000))
    },
    keep: (get) => {
      for (const [id, { gate }] of known) {
        const isIdle = gate === undefined || (gate.used === 0 && places.waitingOf(gate) === 0)
        if (isIdle && get(id) === undefined) known.delete(id)
      }
    },
    get waiting() {
      return places.waiting
    },
  }
}

const gone = (): Failure => new Failure('OVERLOADED', 'The caller left while the message waited for a place.')

type Limit = NonNullable<CompiledEndpoint['endpoint']['rateLimit']>

/** Who sends on one connection meets one worker, and would not know why the whole rate is never reached. */
function overRate({ messages, seconds }: Limit, workers: number, wait: number): Failure {
  const among = workers === 1 ? '' : `, divided among ${workers} workers`
  const rate = `${messages} ${messages === 1 ? 'message' : 'messages'} in ${inSeconds(seconds)}${among}`
  return new Failure('RATE_LIMITED', `This endpoint takes ${rate}; send this one again in ${inSeconds(wait)}.`, {
    path: 'rateLimit',
    headers: { 'retry-after': String(wait) },
  })
}

const inSeconds = (count: number): string => `${count} ${count === 1 ? 'second' : 'seconds'}`
