/**
 * Selects the messages of a plan: exactly those that match at this moment, so that a plan contains neither later messages
 * nor its own replays.
 */

import type { MessageRecord } from '../../../core/records/message-record.ts'
import type { PlanBlocker, PlanGroup } from '../../../core/replays/replay-plan.ts'
import type { MessageFilter, MessageStore } from '../../../store/sql/messages.ts'
import { type FilterTexts, invalid } from '../../message-log/message-filter.ts'
import { blocker, type ReplayBlocker } from '../replay-blocker.ts'
import { everyMatch, succeededAmong } from '../replay-history.ts'

export type PlannedMessages = Readonly<{
  /** Oldest first. */
  ids: readonly string[]
  groups: readonly PlanGroup[]
  cannot: readonly PlanBlocker[]
}>

/** Messages in one plan. */
export const LARGEST_PLAN = 100_000

/**
 * Adds the defaults of a plan to a filter: no messages whose outcome is done or partial, and never replays, since the log
 * has their original message too. Fails with FILTER_INVALID.
 */
export function planFilter(filter: MessageFilter): MessageFilter {
  const { outcome = ['refused', 'failed'], source = ['http', 'broker'] } = filter
  if (source.includes('replay')) {
    throw invalid('source cannot be "replay" here: to repeat a replay, replay its original message.')
  }
  return { ...filter, outcome, source }
}

/** Fails with FILTER_INVALID if too many messages match; rejects with StoreUnavailable. */
export async function planMessages(
  store: MessageStore,
  filter: MessageFilter,
  blockerOf: (record: MessageRecord) => ReplayBlocker | undefined,
): Promise<PlannedMessages> {
  const count = await store.count(filter)
  if (count > LARGEST_PLAN) {
    throw invalid(`${count} messages match, and one plan takes ${LARGEST_PLAN} at most; narrow the filter.`)
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
      const found = repetitionBlocker(record, succeeded) ?? blockerOf(record)
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
    if (ids.length >= LARGEST_PLAN) break
  }
  await addBatch()
  return {
    ids: ids.slice(0, LARGEST_PLAN).reverse(),
    groups: [...groups.values()].sort((a, b) => b.count - a.count).slice(0, MOST_GROUPS),
    cannot: blockers.all(),
  }
}

const BATCH = 500

/** Groups that a plan shows. A path may name an item of an array, so there may be as many as messages. */
const MOST_GROUPS = 1_000

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
const MOST_NAMED = 20

export type BlockerCounts = Readonly<{
  add(found: ReplayBlocker, id: string): void
  all(): readonly PlanBlocker[]
}>

/** `known`: counts to go on from. */
export function countBlockers(known: readonly PlanBlocker[] = []): BlockerCounts {
  const counts = new Map(known.map((one) => [one.reason, one]))
  return {
    add: (found, id) => {
      const before = counts.get(found.reason)
      const { count, sampleId, ids } = before ?? { count: 0, sampleId: id, ids: [] }
      counts.set(found.reason, { ...found, count: count + 1, sampleId, ids: [...ids, id].slice(0, MOST_NAMED) })
    },
    all: () => [...counts.values()],
  }
}

export const totalOf = (blockers: readonly PlanBlocker[]): number => blockers.reduce((sum, { count }) => sum + count, 0)

/** The filter as texts, with absolute times. */
export const describeFilter = (texts: FilterTexts, { outcome, source, from, to }: MessageFilter) => ({
  ...Object.fromEntries(texts),
  outcome,
  source,
  from: timeText(from),
  to: timeText(to),
})

const timeText = (ms: number | undefined): string | undefined =>
  ms === undefined ? undefined : new Date(ms).toISOString()
