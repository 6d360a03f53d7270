/**
 * Plans to replay many messages: each is created, run, observed and cancelled. Plans are stored: any instance shows and
 * changes them; one at a time runs a plan, and another one continues it if that process ends.
 */
import { Failure } from '../../core/failure.ts'
import { isId } from '../../core/id.ts'
import type { Logger } from '../../core/ports/logger-port.ts'
import type { MessageRecord } from '../../core/records/message-record.ts'
import type { ReplayLookups } from '../../core/replays/replay-lookups.ts'
import type { PlanContent, PlanProgress, PlanState, RunLimits, StoredPlan } from '../../core/replays/replay-plan.ts'
import type { Clock } from '../../core/run.ts'
import type { MessageStore } from '../../store/sql/messages.ts'
import type { PlanChange, ReplayPlanStore } from '../../store/sql/replay-plan-store.ts'
import { callStore, StoreUnavailable } from '../../store/store-access.ts'
import { invalid, type MessageQuery, missFrom } from '../message-log/message-filter.ts'
import { callMessageLog, type MessageSearch } from '../message-log/message-search.ts'
import type { UnmappedCodes } from '../statistics/unmapped-codes.ts'
import {
  continueRun,
  countRemaining,
  describeFilter,
  MAX_PLAN_MESSAGES,
  planFilter,
  planMessages,
  startRun,
  sumCounts,
  UNSTARTED,
} from './plan-queue.ts'
import { createPlanRuns, LEASE_MS } from './plan-runs.ts'
import type { Replay } from './replay.ts'
import type { Claims } from './replay-history.ts'

/** Fails with FILTER_INVALID, REPLAY_PLAN_UNKNOWN, REPLAY_PLAN_BUSY, STORE_UNAVAILABLE. */
interface ReplayPlans {
  plan(query: MessageQuery, lookups?: ReplayLookups): Promise<PlanView>
  /** Starts a run and does not wait for it. */
  run(id: string, limits: RunLimits): Promise<PlanView>
  /** Continues a run after its first messages. */
  continue(id: string): Promise<PlanView>
  /** Messages in flight are completed; no further one starts until the plan is run again. */
  pause(id: string): Promise<PlanView>
  /** The same, and the plan cannot be run again. */
  cancel(id: string): Promise<PlanView>
  get(id: string): Promise<PlanView>
  /** Newest first. */
  all(): Promise<readonly PlanView[]>
  /** Takes over, from now on, plans that no instance runs any more. To be called when messages can be processed. */
  follow(): void
  /** Starts no further message of any plan here; plans that run continue elsewhere, or after a restart. */
  stop(): void
  /** Resolves when the progress of all plans is stored. */
  close(): Promise<void>
}

type ReplayPlansOptions = Readonly<{
  plans: ReplayPlanStore
  messages: MessageStore
  /** The size of the message log. */
  messageLogMaxMb: number
  search: MessageSearch
  replay: Replay
  claims: Claims
  unmapped: Pick<UnmappedCodes, 'clearReplayed'>
  clock: Clock
  newId: () => string
  logger: Logger
}>

/** Each may hold 100,000 ids, 2.4 MB. */
export const PLANS_KEPT = 50

/** The part of the message log that the messages of all plans may take: the rest takes what arrives meanwhile. */
const HELD_PART = 3 / 4

/** How long a plan of an instance that has died waits at most after its lease. */
const TAKE_OVER_MS = 2_500

export function createReplayPlans(options: ReplayPlansOptions): ReplayPlans {
  const { plans, messages, messageLogMaxMb, search, replay, unmapped, clock, newId, logger } = options
  const heldBytes = HELD_PART * messageLogMaxMb * 1024 * 1024
  const owner = newId()
  const runs = createPlanRuns({ ...options, owner, store: plans, caughtUp: search.caughtUp })
  let timer: NodeJS.Timeout | undefined

  const find = async (id: string): Promise<StoredPlan> => {
    const plan = isId(id) ? await callPlans(() => plans.get(id)) : undefined
    return plan ?? unknown(id)
  }

  /** `decide` gives the change, or the sentence of the reason why there is none. */
  const change = async (id: string, decide: (plan: StoredPlan) => PlanChange | string): Promise<StoredPlan> => {
    let refusal: string | undefined
    const after = isId(id)
      ? await callPlans(() =>
          plans.change(id, (plan) => {
            const decided = decide(plan)
            refusal = typeof decided === 'string' ? decided : undefined
            return typeof decided === 'string' ? undefined : decided
          }),
        )
      : undefined
    if (after === undefined) return unknown(id)
    if (refusal !== undefined) throw busy(refusal)
    return after
  }

  /** Takes the lease with the change, and runs the plan. */
  const start = async (id: string, decide: (plan: StoredPlan) => Omit<PlanChange, 'lease'> | string) => {
    // What the store shows as ended may have a moment to go here, while the change is flushed.
    if (runs.has(id) && (await find(id)).owner === undefined) await runs.ending(id)
    const takenAt = performance.now()
    const plan = await change(id, (stored) => {
      const decided = decide(stored)
      if (typeof decided === 'string') return decided
      return stored.owner === undefined && !runs.has(id)
        ? { ...decided, lease: { owner, ms: LEASE_MS } }
        : BUSY.inFlight
    })
    runs.start(plan, takenAt)
    return toPlanView(plan)
  }

  async function takeOver(): Promise<void> {
    for (const id of await plans.abandoned()) {
      if (runs.has(id)) continue
      const takenAt = performance.now()
      let isTaken = false
      const plan = await plans.change(id, ({ state, progress, owner: other }) => {
        isTaken = state === 'running' && other === undefined
        return isTaken ? { state, progress, lease: { owner, ms: LEASE_MS } } : undefined
      })
      if (!isTaken || plan === undefined) continue
      logger.info({ plan: id }, 'A replay plan continues here: no other instance runs it')
      runs.start(plan, takenAt)
    }
  }

  let hasFailed = false
  const follow = (): void => {
    takeOver()
      .then(() => {
        hasFailed = false
      })
      .catch((thrown: unknown) => {
        // A store that does not answer is reported elsewhere, and another error would be reported at every attempt.
        if (!(thrown instanceof StoreUnavailable) && !hasFailed) {
          logger.error({ err: thrown }, 'Replay plans could not be taken over')
        }
        hasFailed = true
      })
      .finally(() => {
        if (timer !== undefined) timer = setTimeout(follow, TAKE_OVER_MS).unref()
      })
  }

  return {
    plan: async (query, lookups) => {
      const filter = planFilter(await search.filter(query))
      await search.caughtUp()
      const findBlocker = (record: MessageRecord) => replay.findBlocker(record, lookups)
      const { ids, groups, cannot } = await callMessageLog(() => planMessages(messages, filter, findBlocker))
      const content = {
        createdAt: new Date(clock()).toISOString(),
        filter: describeFilter(query, filter),
        lookups,
        count: ids.length,
        groups,
        cannot,
      }
      const plan = { id: newId(), content, progress: UNSTARTED }
      if (!(await callMessageLog(() => messages.hold(plan.id, ids, heldBytes)))) throw invalid(TOO_LARGE)
      if (!(await callPlans(() => plans.insert(plan, ids, PLANS_KEPT)))) throw busy(BUSY.tooMany)
      return toPlanView({ ...plan, state: 'planned', owner: undefined })
    },
    run: async (id, limits) => {
      const { state: before, content } = await find(id)
      // Before the first message is replayed: what it misses again is counted anew.
      if (before === 'planned' && content.count > 0 && limits.max >= content.count)
        await unmapped.clearReplayed(missedWhole(content.filter), Date.parse(content.createdAt))
      return start(id, ({ state, progress }) => {
        if (state !== 'planned' && state !== 'paused') return BUSY[state]
        return { state: 'running', progress: startRun(progress, limits) }
      })
    },
    continue: (id) =>
      start(id, ({ state, progress }) => {
        if (state !== 'waiting') return state === 'planned' || state === 'paused' ? BUSY.notWaiting : BUSY[state]
        return { state: 'running', progress: continueRun(progress) }
      }),
    pause: async (id) => {
      const plan = await change(id, ({ state, progress }) => {
        if (state === 'planned') return BUSY.notRunning
        return state === 'finished' || state === 'cancelled' ? BUSY[state] : { state: 'paused', progress }
      })
      runs.abort(id)
      return toPlanView(plan)
    },
    cancel: async (id) => {
      const plan = await change(id, ({ state, progress }) =>
        state === 'finished' ? BUSY.finished : { state: 'cancelled', progress },
      )
      runs.abort(id)
      return toPlanView(plan)
    },
    get: async (id) => toPlanView(await find(id)),
    all: async () => (await callPlans(plans.list)).map(toPlanView),
    follow: () => {
      timer = setTimeout(follow, 0).unref()
    },
    stop: () => {
      clearTimeout(timer)
      timer = undefined
      runs.stop()
    },
    close: runs.close,
  }
}

/** Filters that every plan has; any other leaves out messages that missed the same codes. */
const OF_EVERY_PLAN = new Set(['missed', 'outcome', 'source', 'from', 'to'])

/** What all messages of the plan's table or code missed; nothing if the plan has only some of them. */
function missedWhole({ missed = [], ...filter }: Readonly<{ missed?: readonly string[]; from?: string }>) {
  const isWhole = Object.entries(filter).every(([name, value]) => value === undefined || OF_EVERY_PLAN.has(name))
  return isWhole && filter.from === undefined ? missed.map(missFrom) : []
}

const BUSY = {
  running: 'The plan is running already.',
  waiting: 'The first messages of the plan have been replayed: continue it, pause it, or cancel it.',
  finished: 'The plan is finished; make a new plan to replay what failed.',
  cancelled: 'The plan was cancelled; make a new plan to replay the rest.',
  notRunning: 'The plan does not run.',
  notWaiting: 'The plan does not wait to be continued; run it.',
  inFlight: 'Messages of the last run of the plan are still in flight; try again in a moment.',
  tooMany: `${PLANS_KEPT} plans are running already; wait for one to end, or cancel one.`,
} as const

const TOO_LARGE =
  'The messages of this plan and of others that have not ended take more than three quarters of the message log (MESSAGE_LOG_MAX_MB); narrow the filter, or finish or cancel another plan.'

const busy = (sentence: string): Failure => new Failure('REPLAY_PLAN_BUSY', sentence)

function unknown(id: string): never {
  const why = isId(id) ? `only the newest ${PLANS_KEPT} are kept` : 'that is not an id'
  throw new Failure('REPLAY_PLAN_UNKNOWN', `There is no plan '${id}': ${why}. Plan the replay again.`)
}

const callPlans = <T>(work: () => Promise<T>): Promise<T> => callStore('The store of replay plans', work)

export type PlanView = Readonly<{
  id: string
  state: PlanState
  /** ISO 8601. */
  createdAt: string
  filter: object
  lookups: PlanContent['lookups']
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
  /** Of the run that is in progress, or of the last one. */
  limits: RunLimits | undefined
  /** The first messages of that run, if it asked for them. */
  canaries: NonNullable<PlanProgress['run']>['canaries'] | undefined
  /** The newest replays that did not end done. */
  failures: PlanProgress['failures']
  stoppedBy: string | undefined
}>

function toPlanView(plan: StoredPlan): PlanView {
  const { id, state, content, progress } = plan
  const { createdAt, filter, lookups, count, groups, cannot } = content
  const { done, failed, skipped, run, failures, stoppedBy } = progress
  return {
    id,
    state,
    createdAt,
    filter,
    lookups,
    count,
    groups,
    cannot,
    done,
    failed,
    skipped: sumCounts(skipped),
    skippedFor: skipped,
    left: countRemaining(plan),
    limits: run?.limits,
    canaries: run === undefined || run.canaries.length === 0 ? undefined : run.canaries,
    failures,
    stoppedBy,
  }
}

const DEFAULTS: RunLimits = { max: MAX_PLAN_MESSAGES, concurrency: 1 }

type LimitSchema = Readonly<{
  type: 'integer' | 'number'
  minimum: number
  maximum: number
  default?: number
  description: string
}>

/** As JSON Schema, of which OpenAPI is made too. */
export const LIMITS: Readonly<Record<keyof RunLimits, LimitSchema>> = {
  max: { type: 'integer', minimum: 1, maximum: MAX_PLAN_MESSAGES, description: 'Messages of this run.' },
  concurrency: {
    type: 'integer',
    minimum: 1,
    maximum: 100,
    default: DEFAULTS.concurrency,
    description: 'Messages at once. 1 keeps their order.',
  },
  perSecond: { type: 'number', minimum: 0.01, maximum: 10_000, description: 'Messages started in a second.' },
  canary: {
    type: 'integer',
    minimum: 1,
    maximum: 10,
    description: 'Messages that are replayed first, one by one; the plan then waits to be continued.',
  },
}

export const withDefaults = (limits: Partial<RunLimits>): RunLimits => ({ ...DEFAULTS, ...limits })
