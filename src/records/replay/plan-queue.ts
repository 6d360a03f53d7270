/** The messages of a plan in their order, and their results. */

import { FIRST_SOURCES, REPLAY } from '../../core/origin.ts'
import type { MessageRecord } from '../../core/records/message-record.ts'
import type {
  PlanBlocker,
  PlanGroup,
  PlannedReplay,
  PlanProgress,
  PlanState,
  RunLimits,
  StoredPlan,
} from '../../core/replays/replay-plan.ts'
import type { CompletedMessage } from '../../inbound/completed-message.ts'
import type { MessageFilter, MessageStore } from '../../store/sql/messages.ts'
import { invalid, type MessageQuery } from '../message-log/message-filter.ts'
import { blocker, type ReplayBlocker } from './replay-blocker.ts'
import { everyMatch, succeededAmong } from './replay-history.ts'

export interface PlanQueue {
  /** The next message of the run; undefined if the run has none left, or its first messages are to be judged. */
  take(): string | undefined
  /** The message has not started: take() returns it again. */
  giveBack(id: string): void
  finish(id: string, result: CompletedMessage | ReplayBlocker): void
  progress(): PlanProgress
}

/** Replays that a plan shows; the message log has all of them. */
const MAX_FAILURES = 20

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
export const countRemaining = ({ content, progress }: Pick<StoredPlan, 'content' | 'progress'>): number =>
  content.count - progress.done - progress.failed - sumCounts(progress.skipped)

/** The state of a plan whose run has ended by itself. */
export function endedState(plan: Pick<StoredPlan, 'content' | 'progress'>): PlanState {
  if (countRemaining(plan) === 0) return 'finished'
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
      failures = [replay, ...failures].slice(0, MAX_FAILURES)
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

// Selects the messages of a plan: exactly those that match at this moment, so that a plan contains neither later messages
// nor its own replays.

type PlannedMessages = Readonly<{
  /** Oldest first. */
  ids: readonly string[]
  groups: readonly PlanGroup[]
  cannot: readonly PlanBlocker[]
}>

/** Messages in one plan. */
export const MAX_PLAN_MESSAGES = 100_000

/**
 * Adds the defaults of a plan to a filter: no messages whose outcome is done or partial, and never replays, since the log
 * has their original message too. Fails with FILTER_INVALID.
 */
export function planFilter(filter: MessageFilter): MessageFilter {
  const { outcome = ['refused', 'failed'], source = FIRST_SOURCES } = filter
  if (source.includes(REPLAY)) {
    throw invalid('source cannot be "replay" here: to repeat a replay, replay its original message.')
  }
  return { ...filter, outcome, source }
}

/** Fails with FILTER_INVALID if too many messages match; rejects with StoreUnavailable. */
export async function planMessages(
  store: MessageStore,
  filter: MessageFilter,
  findBlocker: (record: MessageRecord) => ReplayBlocker | undefined,
): Promise<PlannedMessages> {
  const count = await store.count(filter)
  if (count > MAX_PLAN_MESSAGES) {
    throw invalid(`${count} messages match, and one plan takes ${MAX_PLAN_MESSAGES} at most; narrow the filter.`)
  }
  const ids: string[] = []
  const groups = new Map<string, PlanGroup>()
  const blockers = countBlockers()
  let batch: MessageRecord[] = []
  const addBatch = async (): Promise<void> => {
    const succeeded = await succeededAmong(
      store,
      batch.map(({ id }) => id),
    )
    for (const record of batch) {
      const found = repetitionBlocker(record, succeeded) ?? findBlocker(record)
      if (found !== undefined) blockers.add(found, record.id)
      else {
        ids.push(record.id)
        addTo(groups, record)
      }
    }
    batch = []
  }
  for await (const record of everyMatch(store, filter)) {
    batch.push(record)
    if (batch.length === BATCH) await addBatch()
    if (ids.length >= MAX_PLAN_MESSAGES) break
  }
  await addBatch()
  return {
    ids: ids.slice(0, MAX_PLAN_MESSAGES).reverse(),
    groups: [...groups.values()].sort((a, b) => b.count - a.count).slice(0, MAX_GROUPS),
    cannot: blockers.all(),
  }
}

const BATCH = 500

/** Groups that a plan shows. A path may name an item of an array, so there may be as many as messages. */
const MAX_GROUPS = 1_000

/** The blocker of a message that was replayed already, or that a later attempt replaces. */
function repetitionBlocker(
  { id, triedAgain }: MessageRecord,
  succeeded: ReadonlyMap<string, string>,
): ReplayBlocker | undefined {
  if (triedAgain) return blocker('tried-again')
  return succeeded.has(id) ? blocker('replayed') : undefined
}

function addTo(groups: Map<string, PlanGroup>, record: MessageRecord): void {
  const { endpointId, endpoint, outcome, code, path } = record
  const key = JSON.stringify([endpointId, outcome, code, path])
  // Records come newest first, so the first one has the newest name.
  const group = groups.get(key) ?? { endpointId, endpoint, outcome, code, path, count: 0 }
  groups.set(key, { ...group, count: group.count + 1 })
}

/** Messages that a plan names of those that it cannot replay for one reason. */
const MAX_NAMED = 20

type BlockerCounts = Readonly<{
  add(found: ReplayBlocker, id: string): void
  all(): readonly PlanBlocker[]
}>

/** `known`: counts to start with. */
function countBlockers(known: readonly PlanBlocker[] = []): BlockerCounts {
  const counts = new Map(known.map((one) => [one.reason, one]))
  return {
    add: (found, id) => {
      const before = counts.get(found.reason)
      const { count, sampleId, ids } = before ?? { count: 0, sampleId: id, ids: [] }
      counts.set(found.reason, { ...found, count: count + 1, sampleId, ids: [...ids, id].slice(0, MAX_NAMED) })
    },
    all: () => [...counts.values()],
  }
}

export const sumCounts = (blockers: readonly PlanBlocker[]): number =>
  blockers.reduce((sum, { count }) => sum + count, 0)

/** The filter as texts, with absolute times. */
export const describeFilter = (query: MessageQuery, { outcome, source, from, to }: MessageFilter) => ({
  ...Object.fromEntries(Object.entries(query).map(([name, value]) => [name, [value].flat().map(String)])),
  outcome,
  source,
  from: timeText(from),
  to: timeText(to),
})

const timeText = (ms: number | undefined): string | undefined =>
  ms === undefined ? undefined : new Date(ms).toISOString()
