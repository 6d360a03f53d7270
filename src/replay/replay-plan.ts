/**
 * What a replay of many messages would do: the exact messages of this moment, so that those which come later, and the
 * replays themselves, are never among them.
 */

import type { MessageRecord, RecordedOutcome } from '../domain/message-record.ts'
import type { MessageFilter, MessageStore } from '../domain/ports/message-store-port.ts'
import { type FilterTexts, invalid } from '../message-log/message-filter.ts'
import { obstacle, type ReplayBlocker } from './replay-blocker.ts'
import { everyMatch, succeededAmong } from './replay-history.ts'

/** Of one endpoint, outcome and failure code. */
export type PlanGroup = Readonly<{
  endpointId?: string
  endpoint?: string
  outcome: RecordedOutcome
  code?: string
  count: number
}>

/** Messages that cannot be replayed for one reason. */
export type PlanObstacle = ReplayBlocker & Readonly<{ count: number; sampleId: string }>

export type PlannedMessages = Readonly<{
  /** Oldest first: the order in which they came. */
  ids: readonly string[]
  groups: readonly PlanGroup[]
  cannot: readonly PlanObstacle[]
}>

/** What one plan can hold. */
export const LARGEST_PLAN = 100_000

/**
 * The filter with what a replay leaves out unless it is asked for: messages that ended done, and always the replays:
 * they stand for a message that is itself in the log. Fails with FILTER_INVALID.
 */
export function planFilter(filter: MessageFilter): MessageFilter {
  const { outcome = ['refused', 'failed'], source = ['http', 'broker'] } = filter
  if (source.includes('replay')) {
    throw invalid('source cannot be "replay" here: a replay is repeated by replaying the message that it repeated.')
  }
  return { ...filter, outcome, source }
}

/** Takes what is there now. Fails with FILTER_INVALID where it is too much; rejects with StoreUnavailable. */
export async function planMessages(
  store: MessageStore,
  filter: MessageFilter,
  obstacleOf: (record: MessageRecord) => ReplayBlocker | undefined,
): Promise<PlannedMessages> {
  const count = await store.count(filter)
  if (count > LARGEST_PLAN) {
    throw invalid(`${count} messages match, and one plan takes ${LARGEST_PLAN} at most; narrow the filter.`)
  }
  const ids: string[] = []
  const groups = new Map<string, PlanGroup>()
  const obstacles = countObstacles()
  let batch: MessageRecord[] = []
  const settle = async (): Promise<void> => {
    const succeeded = await succeededAmong(
      store,
      batch.map(({ id }) => id),
    )
    for (const record of batch) {
      const found = againstTwice(record, succeeded) ?? obstacleOf(record)
      if (found !== undefined) obstacles.add(found, record.id)
      else {
        ids.push(record.id)
        addTo(groups, record)
      }
    }
    batch = []
  }
  for await (const record of everyMatch(store, filter)) {
    batch.push(record)
    if (batch.length === BATCH) await settle()
    if (ids.length >= LARGEST_PLAN) break
  }
  await settle()
  return {
    ids: ids.slice(0, LARGEST_PLAN).reverse(),
    groups: [...groups.values()].sort((a, b) => b.count - a.count),
    cannot: obstacles.all(),
  }
}

const BATCH = 500

/** What was done already, or is another message's to do. */
function againstTwice(
  { id, triedAgain }: MessageRecord,
  succeeded: ReadonlyMap<string, string>,
): ReplayBlocker | undefined {
  if (triedAgain) return obstacle('tried-again')
  return succeeded.has(id) ? obstacle('replayed') : undefined
}

function addTo(groups: Map<string, PlanGroup>, { endpointId, endpoint, outcome, code }: MessageRecord): void {
  const key = JSON.stringify([endpointId, outcome, code])
  const group = groups.get(key)
  groups.set(key, {
    ...(group ?? {
      ...(endpointId === undefined ? {} : { endpointId }),
      // The newest name comes first.
      ...(endpoint === undefined ? {} : { endpoint }),
      outcome,
      ...(code === undefined ? {} : { code }),
    }),
    count: (group?.count ?? 0) + 1,
  })
}

export type ObstacleCounts = Readonly<{
  add(found: ReplayBlocker, id: string): void
  all(): readonly PlanObstacle[]
  total(): number
}>

export function countObstacles(): ObstacleCounts {
  const counts = new Map<ReplayBlocker['reason'], PlanObstacle>()
  return {
    add: (found, id) => {
      const before = counts.get(found.reason)
      counts.set(found.reason, { ...found, count: (before?.count ?? 0) + 1, sampleId: before?.sampleId ?? id })
    },
    all: () => [...counts.values()],
    total: () => [...counts.values()].reduce((sum, { count }) => sum + count, 0),
  }
}

/** The filter as texts again, with the times that were meant. */
export function describeFilter(texts: FilterTexts, { outcome, source, from, to }: MessageFilter) {
  return {
    ...Object.fromEntries(texts),
    outcome,
    source,
    ...(from === undefined ? {} : { from: new Date(from).toISOString() }),
    ...(to === undefined ? {} : { to: new Date(to).toISOString() }),
  }
}
