/** The plans that this instance runs, one lease for each. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from '../../../core/ports/logger-port.ts'
import type { StoredPlan } from '../../../core/replays/replay-plan.ts'
import type { MessageStore } from '../../../store/sql/messages.ts'
import type { ReplayPlanStore } from '../../../store/sql/replay-plan-store.ts'
import { StoreUnavailable } from '../../../store/store-access.ts'
import type { Replay } from '../replay.ts'
import type { Claims } from '../replay-history.ts'
import { holdLease, LeaseLost } from './plan-lease.ts'
import { totalOf } from './plan-messages.ts'
import { createPlanQueue, endedState } from './plan-queue.ts'
import { runMessages } from './replay-run.ts'

export interface PlanRuns {
  /** Runs a plan whose lease this instance has taken, at `takenAt` on the clock of `performance.now()`. Does not wait. */
  start(plan: StoredPlan, takenAt: number): void
  /** Whether a run of the plan has not ended here, even if its lease is lost. */
  has(planId: string): boolean
  /** Resolves when a run that is about to end here has ended; at the latest after a second. */
  ending(planId: string): Promise<void>
  /** Starts no further message of a plan, if it runs here. */
  abort(planId: string): void
  /** Starts no further message of any plan; the others go on elsewhere, or after a restart. */
  stop(): void
  /** Resolves when the messages in flight have ended and the progress is stored, if the store answers. */
  close(): Promise<void>
}

export type PlanRunsOptions = Readonly<{
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
      const failure = await runMessages(queue, limits, { replay, store: messages, claims, lease, signal })
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
      { plan: plan.id, state: after.state, done, failed, skipped: totalOf(skipped) },
      'A run of a replay plan has ended',
    )
  }

  const report = (planId: string, thrown: unknown): void => {
    if (thrown instanceof LeaseLost || thrown instanceof StoreUnavailable) {
      logger.warn(
        { plan: planId },
        'A replay plan stops here, as its lease could not be renewed; an instance goes on with it',
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
