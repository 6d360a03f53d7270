/** The answer of `GET /endpoints/{id}/drift`, from the counts of all processes. */
import type { JsonObject } from '../../core/json.ts'
import type { CompiledEndpoint } from '../../endpoints/compiled-endpoint.ts'
import { type DriftCounts, hourText, type ReadCount, toHour } from './endpoint-drift.ts'
import { createUnreadFields, keysToPath, TYPES, toSlot } from './field-tree.ts'

/** A document may read thousands of paths. */
const MISSING_SHOWN = 1_000

type DriftReportOptions = Readonly<{
  /** The setting DRIFT_SAMPLE. */
  sample: number
  nowMs: number
  /** The current hour and those before it. */
  hours: number
  endpointId: string
  active: CompiledEndpoint | undefined
}>

/** In: the counts of the processes that have any, of all versions. */
export function driftReport(
  all: readonly DriftCounts[],
  { sample, nowMs, hours: count, endpointId, active }: DriftReportOptions,
): JsonObject {
  const from = toHour(nowMs) - count + 1
  const counts = all.filter(({ version }) => version === active?.version)
  const sampled = sumByHour(counts.flatMap(({ hours }) => hours.map((one) => [one.hour, one.sampled] as const)))
  const cut = sumByHour(counts.flatMap(({ hours }) => hours.map((one) => [one.hour, one.cut] as const)))
  const recent = [...sampled].filter(([hour]) => hour >= from).sort(([one], [other]) => one - other)
  const missing = joinedReads(counts).filter(
    ({ seenMs, lackedMs }) => toHour(lackedMs) >= from && toHour(seenMs) < from,
  )
  return {
    endpointId,
    ...(active === undefined ? {} : { version: active.version }),
    sample,
    ...(counts.length === 0
      ? {}
      : { since: new Date(Math.min(...counts.map(({ sinceMs }) => sinceMs))).toISOString() }),
    sampled: recent.reduce((sum, [, messages]) => sum + messages, 0),
    cut: recent.reduce((sum, [hour]) => sum + (cut.get(hour) ?? 0), 0),
    hours: recent.map(([hour, messages]) => ({ hour: hourText(hour), sampled: messages })),
    ...reportUnread(counts, new Map(recent)),
    missing: missing.slice(0, MISSING_SHOWN).map(({ path, readBy, seenMs }) => ({
      path,
      readBy,
      ...(seenMs === 0 ? {} : { lastSeen: new Date(seenMs).toISOString() }),
    })),
    ...(missing.length > MISSING_SHOWN ? { missingNotShown: missing.length - MISSING_SHOWN } : {}),
  }
}

/** The fields most messages carry first. `sampled`: the messages of each hour that counts. */
function reportUnread(counts: readonly DriftCounts[], sampled: ReadonlyMap<number, number>): JsonObject {
  if (counts.some(({ isWhole }) => isWhole)) {
    return { unread: [], unreadUnknown: 'An expression may read any field, so no field is known to be unread.' }
  }
  const fields = createUnreadFields()
  for (const { keys, types, hours } of counts.flatMap(({ unread }) => unread)) {
    const recent = hours.filter(([hour]) => sampled.has(hour))
    const field = recent.length === 0 ? undefined : fields.leafAt(keys)
    if (field === undefined) continue
    field.types |= types
    for (const [hour, seen] of recent) field.counts[toSlot(hour)] = (field.counts[toSlot(hour)] as number) + seen
  }
  const unread = fields.leaves().map(({ keys, types, counts: slots }) => {
    const hours = [...sampled].flatMap(([hour, messages]) => {
      // Fields that became one were counted one by one.
      const seen = Math.min(slots[toSlot(hour)] as number, messages)
      return seen === 0 ? [] : [{ hour: hourText(hour), seen }]
    })
    return {
      path: keysToPath(keys),
      types: TYPES.filter((_, index) => (types & (1 << index)) !== 0),
      seen: hours.reduce((sum, { seen }) => sum + seen, 0),
      hours,
    }
  })
  const isCut = fields.isFull || counts.some(({ isFull }) => isFull)
  return {
    unread: unread.sort((one, other) => other.seen - one.seen || (one.path < other.path ? -1 : 1)),
    ...(isCut ? { unreadCut: true } : {}),
  }
}

/** Each path with the latest times of all processes, in the order of the document. */
function joinedReads(counts: readonly DriftCounts[]): readonly ReadCount[] {
  const joined = new Map<string, ReadCount>()
  for (const one of counts.flatMap(({ reads }) => reads)) {
    const known = joined.get(one.path) ?? one
    const seenMs = Math.max(known.seenMs, one.seenMs)
    const lackedMs = Math.max(known.lackedMs, one.lackedMs)
    joined.set(one.path, { ...known, seenMs, lackedMs })
  }
  return [...joined.values()]
}

function sumByHour(pairs: readonly (readonly [hour: number, count: number])[]): ReadonlyMap<number, number> {
  const sums = new Map<number, number>()
  for (const [hour, count] of pairs) sums.set(hour, (sums.get(hour) ?? 0) + count)
  return sums
}
