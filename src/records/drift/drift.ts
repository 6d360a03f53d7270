/** Chooses the messages that are examined for drift: one of so many, and at most one a second for each endpoint. */
import type { Logger } from '../../core/ports/logger-port.ts'
import type { Clock } from '../../core/run.ts'
import type { CompiledEndpoint, Sampling } from '../../endpoints/compiled-endpoint.ts'
import { type CompletedMessage, isTriedAgain } from '../../inbound/completed-message.ts'
import { createEndpointDrift, type DriftCounts, type EndpointDrift } from './endpoint-drift.ts'

export type SampledCompletion = Pick<
  CompletedMessage,
  'compiled' | 'incoming' | 'failure' | 'source' | 'startedAt' | 'ms' | 'trace'
>

export type Drift = Readonly<{
  /** On the path of every message: counts down to the next one that is examined, after its answer. Never throws. */
  count(completed: SampledCompletion): void
  /** What this process has found, the messages completed before included; undefined before the first one. */
  counts(endpointId: string): DriftCounts | undefined
  /** Forgets removed endpoints; `get` finds the active ones, by id. */
  keep(get: (id: string) => CompiledEndpoint | undefined): void
}>

type DriftOptions = Readonly<{
  /** One message of so many, 1 or more. */
  sample: number
  clock: Clock
  /** A monotonic clock, in milliseconds. */
  elapsedMs: () => number
  /** From 0 to below 1. */
  random: () => number
  logger: Pick<Logger, 'error'>
}>

const INTERVAL_MS = 1_000
/** An endpoint rests for so many times as long as a message took: an object with many names is slow to look at. */
const REST = 100
/** Messages that wait until they are examined; each may hold a large body. */
const PENDING_MAX = 8
/** The endpoints that were sampled last; another takes some tens of kilobytes. */
const ENDPOINTS_MAX = 1_000

type Sample = Readonly<{
  compiled: CompiledEndpoint
  completed: SampledCompletion
  reached: object
  atMs: number
  sampling: Sampling
}>

export function createDrift({ sample, clock, elapsedMs, random, logger }: DriftOptions): Drift {
  const byId = new Map<string, EndpointDrift>()
  let pending: Sample[] = []

  const driftFor = (compiled: CompiledEndpoint, atMs: number): EndpointDrift => {
    const id = compiled.document._id
    const known = byId.get(id)
    const drift = known === undefined || known.version < compiled.version ? createEndpointDrift(compiled, atMs) : known
    byId.delete(id)
    byId.set(id, drift)
    for (const oldest of byId.keys()) {
      if (byId.size <= ENDPOINTS_MAX) break
      byId.delete(oldest)
    }
    return drift
  }
  const examine = ({ compiled, completed, reached, atMs, sampling }: Sample): void => {
    const startedMs = elapsedMs()
    try {
      const drift = driftFor(compiled, atMs)
      // A message of an earlier version may end after the change.
      if (drift.version === compiled.version) drift.add(reached, completed.trace?.secrets, atMs)
    } catch (err) {
      logger.error({ err }, 'A sampled message could not be examined for drift')
    }
    sampling.intervalMs = Math.max(INTERVAL_MS, (elapsedMs() - startedMs) * REST)
  }
  /** One message an iteration of the event loop, so that the answers of others are not held up. */
  const examineNext = (): void => {
    const [next, ...others] = pending
    if (next === undefined) return
    pending = others
    examine(next)
    if (pending.length > 0) setImmediate(examineNext)
  }
  const consider = (completed: SampledCompletion, compiled: CompiledEndpoint, sampling: Sampling): void => {
    const { source, startedAt, ms, trace } = completed
    const reached = trace?.reached
    // The next message takes the place of one that never counts: a replay is not recent, and a retry counts once.
    sampling.left = 0
    if (source === 'replay' || reached === undefined || !('requestBody' in reached) || isTriedAgain(completed)) return
    // By chance, so that kinds of messages that alternate are all sampled. Its mean is `sample`.
    sampling.left = 1 + Math.floor(random() * (2 * sample - 1))
    const atMs = startedAt + ms
    const sinceLast = atMs - sampling.sampledAtMs
    if ((sinceLast >= 0 && sinceLast < sampling.intervalMs) || pending.length >= PENDING_MAX) return
    sampling.sampledAtMs = atMs
    sampling.intervalMs = INTERVAL_MS
    pending.push({ compiled, completed, reached, atMs, sampling })
    if (pending.length === 1) setImmediate(examineNext)
  }

  return {
    count: (completed) => {
      const { compiled } = completed
      const sampling = compiled?.sampling
      if (compiled === undefined || sampling === undefined) return
      sampling.left -= 1
      if (sampling.left <= 0) consider(completed, compiled, sampling)
    },
    counts: (endpointId) => {
      const due = pending
      pending = []
      for (const one of due) examine(one)
      return byId.get(endpointId)?.counts(clock())
    },
    keep: (get) => {
      for (const id of byId.keys()) if (get(id) === undefined) byId.delete(id)
    },
  }
}
