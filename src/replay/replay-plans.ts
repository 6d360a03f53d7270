/**
 * Plans to replay many messages: each is created, run, observed and cancelled. Plans are kept in the memory of this
 * process: a restart forgets them, and their remaining messages do not run.
 */
import { Failure } from '../domain/failure.ts'
import { isId } from '../domain/id.ts'
import type { Logger } from '../domain/ports/logger-port.ts'
import type { MessageStore } from '../domain/ports/message-store-port.ts'
import type { Clock } from '../domain/run.ts'
import type { FilterTexts } from '../message-log/message-filter.ts'
import { callMessageLog, type MessageSearch } from '../message-log/message-search.ts'
import type { Replay } from './replay.ts'
import type { Claims } from './replay-history.ts'
import type { RunOptions } from './replay-options.ts'
import {
  type BlockerCounts,
  countBlockers,
  describeFilter,
  type PlanBlocker,
  type PlannedMessages,
  planFilter,
  planMessages,
} from './replay-plan.ts'
import { type RunTarget, runMessages } from './replay-run.ts'

/** paused: a run has ended with messages left; the plan can be run again. */
export type PlanState = 'planned' | 'running' | 'paused' | 'finished' | 'cancelled'

export type PlanView = Readonly<{
  id: string
  state: PlanState
  /** ISO 8601. */
  createdAt: string
  filter: object
  /** Messages that can be replayed. */
  count: number
  groups: PlannedMessages['groups']
  /** Messages that match the filter and cannot be replayed; not in `count`. */
  cannot: PlannedMessages['cannot']
  /** count = done + failed + skipped + left; messages in flight count as left. */
  done: number
  failed: number
  /** Messages of `count` that could not be replayed when their turn came. */
  skipped: number
  skippedFor: readonly PlanBlocker[]
  left: number
  /** The failure that stopped the last run. */
  stoppedBy: string | undefined
}>

/** Fails with FILTER_INVALID, REPLAY_PLAN_UNKNOWN, REPLAY_PLAN_BUSY, STORE_UNAVAILABLE. */
export interface ReplayPlans {
  plan(texts: FilterTexts): Promise<PlanView>
  /** Starts a run and does not wait for it. */
  run(id: string, options: RunOptions): PlanView
  /** Messages in flight are completed; no further one starts. */
  cancel(id: string): PlanView
  get(id: string): PlanView
  /** Newest first. */
  all(): readonly PlanView[]
  /** Starts no further message of any plan. */
  stop(): void
}

export type ReplayPlansOptions = Readonly<{
  store: MessageStore
  search: MessageSearch
  replay: Replay
  claims: Claims
  clock: Clock
  newId: () => string
  logger: Logger
}>

/** Each may hold 100,000 ids. */
const PLANS_KEPT = 10

type Plan = {
  readonly id: string
  readonly createdAt: string
  readonly filter: object
  readonly planned: PlannedMessages
  readonly skipped: BlockerCounts
  readonly abort: AbortController
  /** Ids whose turn came and that did not start. */
  readonly returned: string[]
  next: number
  done: number
  failed: number
  state: PlanState
  stoppedBy: Failure | undefined
}

export function createReplayPlans(options: ReplayPlansOptions): ReplayPlans {
  const { store, search, replay, claims, clock, newId, logger } = options
  const plans = new Map<string, Plan>()

  const find = (id: string): Plan => {
    const plan = plans.get(id)
    if (plan !== undefined) return plan
    const why = isId(id) ? 'a restart forgets plans, and only the newest are kept' : 'that is not an id'
    throw new Failure('REPLAY_PLAN_UNKNOWN', `There is no plan '${id}': ${why}. Plan the replay again.`)
  }
  const makeRoom = (): void => {
    if (plans.size < PLANS_KEPT) return
    const idle = [...plans.values()].find(({ state }) => state !== 'running')
    if (idle === undefined) throw busy(`${PLANS_KEPT} plans are running already; wait for one to end, or cancel one.`)
    plans.delete(idle.id)
  }
  const start = async (plan: Plan, runOptions: RunOptions): Promise<void> => {
    const { signal } = plan.abort
    // Replays by hand since the plan was created must count.
    await search.caughtUp()
    plan.stoppedBy = await runMessages(targetOf(plan), runOptions, { replay, store, claims, signal })
    if (plan.stoppedBy?.kind.bug) {
      logger.error({ plan: plan.id, err: plan.stoppedBy.cause }, 'A replay failed')
    }
    if (plan.state === 'running') plan.state = leftOf(plan) === 0 ? 'finished' : 'paused'
    const { done, failed, state } = plan
    logger.info(
      { plan: plan.id, state, done, failed, skipped: plan.skipped.total() },
      'A run of a replay plan has ended',
    )
  }

  return {
    plan: async (texts) => {
      const filter = planFilter(search.filter(texts))
      await search.caughtUp()
      const planned = await callMessageLog(() => planMessages(store, filter, replay.blockerOf))
      makeRoom()
      const plan: Plan = {
        id: newId(),
        createdAt: new Date(clock()).toISOString(),
        filter: describeFilter(texts, filter),
        planned,
        skipped: countBlockers(),
        abort: new AbortController(),
        returned: [],
        next: 0,
        done: 0,
        failed: 0,
        state: 'planned',
        stoppedBy: undefined,
      }
      plans.set(plan.id, plan)
      return viewOf(plan)
    },
    run: (id, runOptions) => {
      const plan = find(id)
      if (plan.state !== 'planned' && plan.state !== 'paused') throw busy(BUSY[plan.state])
      plan.state = 'running'
      void start(plan, runOptions)
      return viewOf(plan)
    },
    cancel: (id) => {
      const plan = find(id)
      if (plan.state === 'finished') throw busy(BUSY.finished)
      plan.state = 'cancelled'
      plan.abort.abort()
      return viewOf(plan)
    },
    get: (id) => viewOf(find(id)),
    stop: () => {
      for (const { abort } of plans.values()) abort.abort()
    },
    all: () => [...plans.values()].reverse().map(viewOf),
  }
}

const BUSY = {
  running: 'The plan is running already.',
  finished: 'The plan is finished; make a new plan to replay what failed.',
  cancelled: 'The plan was cancelled; make a new plan to replay the rest.',
} as const

const busy = (sentence: string): Failure => new Failure('REPLAY_PLAN_BUSY', sentence)

function targetOf(plan: Plan): RunTarget {
  return {
    take: () => {
      const returned = plan.returned.shift()
      if (returned !== undefined) return returned
      const id = plan.planned.ids[plan.next]
      if (id !== undefined) plan.next += 1
      return id
    },
    giveBack: (id) => void plan.returned.push(id),
    finish: (id, result) => {
      if (result === 'done') plan.done += 1
      else if (result === 'failed') plan.failed += 1
      else plan.skipped.add(result, id)
    },
  }
}

const leftOf = ({ planned, done, failed, skipped }: Plan): number =>
  planned.ids.length - done - failed - skipped.total()

function viewOf(plan: Plan): PlanView {
  const { id, state, createdAt, filter, planned, done, failed, skipped, stoppedBy } = plan
  return {
    id,
    state,
    createdAt,
    filter,
    count: planned.ids.length,
    groups: planned.groups,
    cannot: planned.cannot,
    done,
    failed,
    skipped: skipped.total(),
    skippedFor: skipped.all(),
    left: leftOf(plan),
    stoppedBy: stoppedBy?.message,
  }
}
