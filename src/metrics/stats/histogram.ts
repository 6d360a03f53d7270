/**
 * Times in buckets that grow with the time: a percentile is off by at most 10 %, whatever the times are, and a minute of
 * an endpoint is a few hundred bytes.
 */
import type { Buckets } from '../../domain/ports/stats-store-port.ts'

/** Four buckets for each doubling: their middle is at most 2^(1/8) - 1 = 9.1 % away from their ends. */
const BUCKETS_A_DOUBLING = 4
/** Shorter times are as good as nothing. */
const SHORTEST_MS = 0.01
/** The last bucket begins at about 11 minutes. */
export const BUCKETS = 105

export function bucketOf(ms: number): number {
  if (ms <= SHORTEST_MS) return 0
  return Math.min(Math.floor(Math.log2(ms / SHORTEST_MS) * BUCKETS_A_DOUBLING), BUCKETS - 1)
}

const middleOf = (bucket: number): number => SHORTEST_MS * 2 ** ((bucket + 0.5) / BUCKETS_A_DOUBLING)

/** The time, in milliseconds and three digits, that this share of the messages did not exceed; null where there are none. */
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
