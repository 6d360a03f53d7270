/** The plans that this instance runs, one lease for each. */
import { setTimeout as pause } from 'node:timers/promises'
import { asFailure, type Failure, isOverload } from '../../core/failure.ts'
import type { Logger } from '../../core/ports/logger-port.ts'
import type { ReplayLookups } from '../../core/replays/replay-lookups.ts'
import type { PlanProgress, RunLimits, StoredPlan } from '../../core/replays/replay-plan.ts'
import type { CompletedMessage } from '../../inbound/completed-message.ts'
import type { MessageStore } from '../../store/sql/messages.ts'
import type { ReplayPlanStore } from '../../store/sql/replay-plan-store.ts'
import { StoreUnavailable } from '../../store/store-access.ts'
import { callMessageLog } from '../message-log/message-search.ts'
import { createPlanQueue, endedState, type PlanQueue, sumCounts } from './plan-queue.ts'
import type { Replay } from './replay.ts'
import { blocker, type ReplayBlocker } from './replay-blocker.ts'
import { type Claims, rememberSuccess, succeededAmong } from './replay-history.ts'

interface PlanRuns {
  /** Runs a plan whose lease this instance has taken, at `takenAt` on the clock of `performance.now()`. Does not wait. */
  start(plan: StoredPlan, takenAt: number): void
  /** True until the run of the plan has ended here, even if its lease is lost. */
  has(planId: string): boolean
  /** Resolves when a run that is about to end here has ended; at the latest after a second. */
  ending(planId: string): Promise<void>
  /** Starts no further message of a plan, if it runs here. */
  abort(planId: string): void
  /** Starts no further message of any plan; the others continue elsewhere, or after a restart. */
  stop(): void
  /** Resolves when the messages in flight have ended and the progress is stored, if the store answers. */
  close(): Promise<void>
}

type PlanRunsOptions = Readonly<{
  owner: string
  store: ReplayPlanStore
  messages: MessageStore
  replay: Replay
  claims: Claims
  caughtUp: () => Promise<void>
  logger: Logger
}>

const ENDING_MS = 1_000

export function createPlanRuns(options: PlanRunsOptions): PlanRuns {
  const { owner, store, messages, replay, claims, caughtUp, logger } = options
  const runs = new Map<string, Readonly<{ abort: AbortController; ended: Promise<void> }>>()
  let isStopping = false

  async function run(plan: StoredPlan, takenAt: number, abort: AbortController): Promise<void> {
    const queue = createPlanQueue(await store.messageIds(plan.id), plan.progress)
    const { signal } = abort
    const lease = holdLease({
      store,
      planId: plan.id,
      owner,
      takenAt,
      progress: queue.progress,
      onStop: () => abort.abort(),
    })
    try {
      // Replays by hand since the plan was created must count.
      await caughtUp()
      const limits = plan.progress.run?.limits ?? { max: 0, concurrency: 1 }
      const { lookups } = plan.content
      const failure = await runMessages(queue, limits, { replay, lookups, store: messages, claims, lease, signal })
      if (failure?.kind.bug) logger.error({ plan: plan.id, err: failure.cause }, 'A replay failed')
      if (isStopping) lease.close()
      await lease.save()
      await finish(plan, { ...queue.progress(), stoppedBy: failure?.message })
    } finally {
      lease.close()
    }
  }

  async function finish(plan: StoredPlan, progress: StoredPlan['progress']): Promise<void> {
    const after = await store.change(plan.id, (stored) => {
      if (stored.owner !== owner) return undefined
      const goesOn = isStopping && progress.stoppedBy === undefined
      const hasEnded = stored.state === 'running' || stored.state === 'paused'
      const state = hasEnded && !goesOn ? endedState({ content: stored.content, progress }) : stored.state
      // It was paused while its first messages were in flight.
      const isPaused = stored.state === 'paused' && state === 'waiting'
      return { state: isPaused ? 'paused' : state, progress, lease: 'drop' }
    })
    if (after === undefined) return
    const { done, failed, skipped } = after.progress
    logger.info(
      { plan: plan.id, state: after.state, done, failed, skipped: sumCounts(skipped) },
      'A run of a replay plan has ended',
    )
  }

  const report = (planId: string, thrown: unknown): void => {
    if (thrown instanceof LeaseLost || thrown instanceof StoreUnavailable) {
      logger.warn(
        { plan: planId },
        'A replay plan stops here, as its lease could not be renewed; another instance continues it',
      )
    } else logger.error({ plan: planId, err: thrown }, 'A replay plan stops here')
  }

  return {
    start: (plan, takenAt) => {
      const abort = new AbortController()
      if (isStopping) abort.abort()
      const ended = run(plan, takenAt, abort)
        .catch((thrown: unknown) => report(plan.id, thrown))
        .finally(() => runs.delete(plan.id))
      runs.set(plan.id, { abort, ended })
    },
    has: (planId) => runs.has(planId),
    ending: async (planId) => {
      const waiting = new AbortController()
      await Promise.race([runs.get(planId)?.ended, pause(ENDING_MS, undefined, { signal: waiting.signal })])
      waiting.abort()
    },
    abort: (planId) => runs.get(planId)?.abort.abort(),
    stop: () => {
      isStopping = true
      for (const { abort } of runs.values()) abort.abort()
    },
    close: async () => {
      await Promise.all([...runs.values()].map(({ ended }) => ended))
    },
  }
}

type RunServices = Readonly<{
  replay: Replay
  lookups: ReplayLookups | undefined
  store: MessageStore
  claims: Claims
  lease: PlanLease
  signal: AbortSignal
}>

/**
 * Resolves to the failure that stopped the run; undefined if all its messages have run or the signal aborted it. Each result
 * is stored before the next message starts. Rejects with LeaseLost.
 */
async function runMessages(
  queue: PlanQueue,
  { concurrency, perSecond }: RunLimits,
  services: RunServices,
): Promise<Failure | undefined> {
  const { lease, signal } = services
  const pace = createPace(perSecond, signal)
  let stoppedBy: Failure | undefined
  const work = async (): Promise<void> => {
    while (stoppedBy === undefined && !signal.aborted) {
      const id = queue.take()
      if (id === undefined) return
      try {
        queue.finish(id, await runOne(id, pace, services))
      } catch (thrown) {
        queue.giveBack(id)
        if (signal.aborted) return
        stoppedBy = asFailure(thrown)
        return
      }
      await lease.save()
    }
  }
  // Every message in flight ends before the run does, whatever happens to another one.
  const workers = await Promise.allSettled(Array.from({ length: concurrency }, work))
  for (const worker of workers) if (worker.status === 'rejected') throw worker.reason
  return stoppedBy
}

/** Rejects if the message has not run. */
async function runOne(
  id: string,
  pace: Pace,
  { replay, lookups, store, claims, lease, signal }: RunServices,
): Promise<CompletedMessage | ReplayBlocker> {
  await pace.next()
  if (claims.underWay.has(id)) return blocker('under-way')
  claims.underWay.add(id)
  try {
    if (claims.succeeded.has(id) || (await callMessageLog(() => succeededAmong(store, [id]))).has(id)) {
      return blocker('replayed')
    }
    const record = await callMessageLog(() => store.get(id))
    if (record === undefined) return blocker('removed')
    for (;;) {
      await lease.hold()
      signal.throwIfAborted()
      try {
        const replayed = await replay.run(record, { lookups })
        if ('blocker' in replayed) return replayed.blocker
        const { completed } = replayed
        if (completed.outcome === 'done') rememberSuccess(claims, id, completed.messageId)
        return completed
      } catch (thrown) {
        if (!isOverload(thrown)) throw thrown
        await pace.busy()
      }
    }
  } finally {
    claims.underWay.delete(id)
  }
}

// The lease of an instance on a plan that it runs. The progress of the plan is stored with each renewal, so that another
// instance that takes the plan over repeats no more than the messages that were in flight.

/** Another instance runs the plan, or may do so by now. */
class LeaseLost extends Error {
  override readonly name = 'LeaseLost'
}

interface PlanLease {
  /** Resolves when the progress of this moment is stored. Rejects with LeaseLost. */
  save(): Promise<void>
  /** Resolves if the lease is held for some time yet; renews it if not. Rejects with LeaseLost. */
  hold(): Promise<void>
  /** Renews no more, and does not wait for a store that does not answer. */
  close(): void
}

type PlanLeaseOptions = Readonly<{
  store: ReplayPlanStore
  planId: string
  owner: string
  /** When the lease was taken, on the clock of `performance.now()`. */
  takenAt: number
  progress: () => PlanProgress
  /** Called when no further message may start: the lease is lost, or the plan is paused or cancelled. */
  onStop: () => void
}>

export const LEASE_MS = 10_000
const RENEW_MS = 2_500
const RETRY_MS = 250

function holdLease({ store, planId, owner, takenAt, progress, onStop }: PlanLeaseOptions): PlanLease {
  let validUntil = takenAt + LEASE_MS
  let isLost = false
  let isClosed = false
  let saving: Promise<void> = Promise.resolve()
  let queued: Promise<void> | undefined

  const lose = (cause?: unknown): never => {
    isLost = true
    onStop()
    throw new LeaseLost(`The lease on the plan ${planId} is lost.`, { cause })
  }

  async function write(): Promise<void> {
    for (;;) {
      if (isLost) lose()
      const startedAt = performance.now()
      try {
        const state = await store.save(planId, owner, progress(), LEASE_MS)
        if (state === undefined) return lose()
        validUntil = startedAt + LEASE_MS
        if (state !== 'running') onStop()
        return
      } catch (thrown) {
        if (!(thrown instanceof StoreUnavailable)) throw thrown
        if (isClosed || performance.now() > validUntil) lose(thrown)
        await pause(RETRY_MS)
      }
    }
  }

  /** Calls while a save is in progress share the next one. */
  const save = (): Promise<void> => {
    queued ??= saving
      .catch(() => undefined)
      .then(() => {
        queued = undefined
        saving = write()
        return saving
      })
    return queued
  }
  const timer = setInterval(() => void save().catch(() => undefined), RENEW_MS)
  timer.unref()

  return {
    save,
    hold: async () => {
      if (performance.now() > validUntil - RENEW_MS) await save()
    },
    close: () => {
      isClosed = true
      clearInterval(timer)
    },
  }
}

/** The pause of a run when the service is full. */
const BUSY_MS = 50

/** Both reject when the signal aborts. */
interface Pace {
  /** Resolves when the next message may start, one interval after the one before. */
  next(): Promise<void>
  /** Resolves after a short pause. */
  busy(): Promise<void>
}

/** `perSecond`: messages started in a second; undefined for no limit. */
function createPace(perSecond: number | undefined, signal: AbortSignal): Pace {
  const intervalMs = perSecond === undefined ? 0 : 1_000 / perSecond
  let nextMs = performance.now()
  const wait = (ms: number): Promise<void> => pause(ms, undefined, { signal, ref: false })
  return {
    next: async () => {
      if (intervalMs === 0) return
      const now = performance.now()
      const startMs = Math.max(now, nextMs)
      nextMs = startMs + intervalMs
      if (startMs > now) await wait(startMs - now)
    },
    busy: () => wait(BUSY_MS),
  }
}
