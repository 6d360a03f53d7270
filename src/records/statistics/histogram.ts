/** Durations in buckets that grow with the duration: percentiles are within 10 %, and a minute takes a few hundred bytes. */
import type { Buckets } from '../../store/sql/stats-store.ts'

/** With four buckets for each doubling, the middle of a bucket is at most 2^(1/8) - 1 = 9.1 % away from its bounds. */
const BUCKETS_A_DOUBLING = 4
const SHORTEST_MS = 0.01
/** The last bucket starts at about 11 minutes. */
export const BUCKETS = 105

export function bucketOf(ms: number): number {
  if (ms <= SHORTEST_MS) return 0
  return Math.min(Math.floor(Math.log2(ms / SHORTEST_MS) * BUCKETS_A_DOUBLING), BUCKETS - 1)
}

const middleOf = (bucket: number): number => SHORTEST_MS * 2 ** ((bucket + 0.5) / BUCKETS_A_DOUBLING)

/** The duration in milliseconds, to three digits, that this share of the messages did not exceed; null without messages. */
export function percentile(buckets: Buckets, share: number): number | null {
  const inOrder = [...buckets].sort(([one], [other]) => one - other)
  const all = inOrder.reduce((sum, [, count]) => sum + count, 0)
  const rank = Math.max(Math.ceil(all * share), 1)
  let seen = 0
  for (const [bucket, count] of inOrder) {
    seen += count
    if (seen >= rank) return Number(middleOf(bucket).toPrecision(3))
  }
  return null
}

export function addBuckets(many: readonly Buckets[]): Buckets {
  const sum = new Map<number, number>()
  for (const buckets of many) for (const [bucket, count] of buckets) sum.set(bucket, (sum.get(bucket) ?? 0) + count)
  return sum
}
