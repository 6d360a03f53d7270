/** A plan as callers of the management API see it. */
import type { PlanContent, PlanProgress, PlanState, RunLimits, StoredPlan } from '../../../core/replays/replay-plan.ts'
import { totalOf } from './plan-messages.ts'
import { leftOf } from './plan-queue.ts'

export type PlanView = Readonly<{
  id: string
  state: PlanState
  /** ISO 8601. */
  createdAt: string
  filter: object
  /** Messages that can be replayed. */
  count: number
  groups: PlanContent['groups']
  cannot: PlanContent['cannot']
  /** count = done + failed + skipped + left; messages in flight count as left. */
  done: number
  failed: number
  skipped: number
  skippedFor: PlanProgress['skipped']
  left: number
  /** Of the run that is under way, or of the last one. */
  limits: RunLimits | undefined
  /** The first messages of that run, if it asked for them. */
  canaries: NonNullable<PlanProgress['run']>['canaries'] | undefined
  /** The newest replays that did not end done. */
  failures: PlanProgress['failures']
  stoppedBy: string | undefined
}>

export function viewOf(plan: StoredPlan): PlanView {
  const { id, state, content, progress } = plan
  const { createdAt, filter, count, groups, cannot } = content
  const { done, failed, skipped, run, failures, stoppedBy } = progress
  return {
    id,
    state,
    createdAt,
    filter,
    count,
    groups,
    cannot,
    done,
    failed,
    skipped: totalOf(skipped),
    skippedFor: skipped,
    left: leftOf(plan),
    limits: run?.limits,
    canaries: run === undefined || run.canaries.length === 0 ? undefined : run.canaries,
    failures,
    stoppedBy,
  }
}
