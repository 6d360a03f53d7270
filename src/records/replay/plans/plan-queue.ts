/** The messages of a plan in their order, and their results. */
import type {
  PlannedReplay,
  PlanProgress,
  PlanState,
  RunLimits,
  StoredPlan,
} from '../../../core/replays/replay-plan.ts'
import type { CompletedMessage } from '../../../inbound/completed-message.ts'
import type { ReplayBlocker } from '../replay-blocker.ts'
import { countBlockers, totalOf } from './plan-messages.ts'

export interface PlanQueue {
  /** The next message of the run; undefined if the run has none left, or its first messages are to be judged. */
  take(): string | undefined
  /** The message has not started: take() returns it again. */
  giveBack(id: string): void
  finish(id: string, result: CompletedMessage | ReplayBlocker): void
  progress(): PlanProgress
}

/** Replays that a plan shows; the message log has all of them. */
const MOST_FAILURES = 20

/** The progress of a plan that has not run. */
export const UNSTARTED: PlanProgress = { next: 0, open: [], done: 0, failed: 0, skipped: [], failures: [] }

export const startRun = ({ stoppedBy, ...progress }: PlanProgress, limits: RunLimits): PlanProgress => ({
  ...progress,
  run: { limits, ended: 0, canaries: [] },
})

/** The same run, of which the first messages have been judged. */
export function continueRun(progress: PlanProgress): PlanProgress {
  const { run } = progress
  if (run === undefined) return progress
  const { canary, ...limits } = run.limits
  return { ...progress, run: { ...run, limits } }
}

/** The messages of a plan without a result; those in flight too. */
export const leftOf = ({ content, progress }: Pick<StoredPlan, 'content' | 'progress'>): number =>
  content.count - progress.done - progress.failed - totalOf(progress.skipped)

/** The state of a plan whose run has ended by itself. */
export function endedState(plan: Pick<StoredPlan, 'content' | 'progress'>): PlanState {
  if (leftOf(plan) === 0) return 'finished'
  const { run, stoppedBy } = plan.progress
  const isJudged = stoppedBy === undefined && run?.limits.canary !== undefined && run.ended < run.limits.max
  return isJudged ? 'waiting' : 'paused'
}

/** In: the messages of a plan, oldest first, and its progress, in which a run has been started. */
export function createPlanQueue(ids: readonly string[], progress: PlanProgress): PlanQueue {
  const { limits, ...run } = progress.run ?? { limits: { max: 0, concurrency: 1 }, ended: 0, canaries: [] }
  const skipped = countBlockers(progress.skipped)
  const canaries = [...run.canaries]
  const inFlight = new Set<string>()
  let open = [...progress.open]
  let failures = progress.failures
  let { next, done, failed } = progress
  let { ended } = run

  const mayStart = (): boolean => {
    if (ended + inFlight.size >= limits.max) return false
    return limits.canary === undefined || (inFlight.size === 0 && canaries.length < limits.canary)
  }

  return {
    take: () => {
      if (!mayStart()) return undefined
      const id = open.shift() ?? ids[next++]
      if (id !== undefined) inFlight.add(id)
      return id
    },
    giveBack: (id) => {
      inFlight.delete(id)
      // Ids sort by age.
      open = [...open, id].sort()
    },
    finish: (id, result) => {
      inFlight.delete(id)
      ended += 1
      if ('reason' in result) {
        skipped.add(result, id)
        return
      }
      const { messageId, outcome, code } = result
      const replay: PlannedReplay = { id, replayId: messageId, outcome, ...(code === '' ? {} : { code }) }
      if (limits.canary !== undefined) canaries.push(replay)
      if (outcome === 'done') {
        done += 1
        return
      }
      failed += 1
      failures = [replay, ...failures].slice(0, MOST_FAILURES)
    },
    progress: () => ({
      ...progress,
      next: Math.min(next, ids.length),
      open: [...open, ...inFlight].sort(),
      done,
      failed,
      skipped: skipped.all(),
      run: { limits, ended, canaries: [...canaries] },
      failures,
    }),
  }
}
