/**
 * Which records leave a message log that is full: those of the endpoints that take more than a share of it, the oldest of
 * each first. The share is the largest with which all fits, so that an endpoint below it loses nothing to the others.
 */
import { type NoValues, type Sql, sql } from './sql.ts'

/** Bytes of an endpoint in the log; of `held` messages none leaves. */
export type Used = Readonly<{ endpoint_id: string; bytes: number | string; held: number | string }>

export type OldRecord = Readonly<{ id: string; bytes: number | string }>

export type PurgedLog<Old> = Readonly<{
  used(): Promise<readonly Used[]>
  /** The oldest that may leave, until they have so many bytes; a small batch. */
  findOldest(endpointId: string, bytes: number): Promise<readonly Old[]>
}>

export interface LogShares<Old> {
  /** A small batch of the records that must leave for the part `kept` of all bytes to remain; none if all may stay. */
  exceeding(log: PurgedLog<Old>, kept: number): Promise<readonly Old[]>
}

/** Rows of one purge, whose removal takes milliseconds. */
export const PURGE_BATCH = 500

export function createLogShares<Old extends Pick<OldRecord, 'bytes'>>(): LogShares<Old> {
  /** By endpoint, what it takes above its share. Read again when it is used up: to add up all records takes long. */
  let excess = new Map<string, number>()

  async function takeOldest({ findOldest }: PurgedLog<Old>): Promise<readonly Old[]> {
    const taken: Old[] = []
    for (const [endpointId, bytes] of excess) {
      if (taken.length >= PURGE_BATCH) break
      const oldest = await findOldest(endpointId, bytes)
      const left = bytes - oldest.reduce((sum, record) => sum + Number(record.bytes), 0)
      if (oldest.length === 0 || left <= 0) excess.delete(endpointId)
      else excess.set(endpointId, left)
      taken.push(...oldest)
    }
    return taken
  }

  return {
    exceeding: async (log, kept) => {
      if (kept >= 1) {
        excess.clear()
        return []
      }
      const known = await takeOldest(log)
      if (known.length > 0) return known
      excess = computeExcess(await log.used(), kept)
      return takeOldest(log)
    },
  }
}

/** Halvings until the share is exact to less than a record. */
const STEPS = 50

/** In: an endpoint may occur twice. Out: by endpoint, the bytes above the share with which no more than the part `kept` of all stays; the most first. */
export function computeExcess(used: readonly Used[], kept: number): Map<string, number> {
  const endpoints = new Map<string, Readonly<{ bytes: number; free: number }>>()
  for (const { endpoint_id, bytes, held } of used) {
    const before = endpoints.get(endpoint_id) ?? { bytes: 0, free: 0 }
    const free = Number(bytes) - Number(held)
    endpoints.set(endpoint_id, { bytes: before.bytes + Number(bytes), free: before.free + free })
  }
  const all = [...endpoints]
  const total = all.reduce((sum, [, { bytes }]) => sum + bytes, 0)
  const above = (share: number) =>
    all.map(([id, { bytes, free }]) => [id, Math.ceil(Math.min(free, bytes - share))] as const)
  const freed = (share: number) => above(share).reduce((sum, [, bytes]) => sum + Math.max(0, bytes), 0)
  let enough = 0
  let tooMuch = total
  for (let step = 0; step < STEPS; step += 1) {
    const share = (enough + tooMuch) / 2
    if (freed(share) >= total * (1 - kept)) enough = share
    else tooMuch = share
  }
  return new Map(
    above(enough)
      .filter(([, bytes]) => bytes > 0)
      .sort(([, one], [, other]) => other - one),
  )
}

const HELD = sql`exists (select 1 from held_messages where held_messages.message_id = messages.id)`

export const USED = sql<NoValues, Used>`
  select endpoint_id, sum(bytes) as bytes, sum(case when ${HELD} then bytes else 0 end) as held
  from messages group by endpoint_id`

export const oldestQuery = (endpointId: string, bytes: number): Sql<never, OldRecord> => sql`
  with oldest as (
    select id, bytes from messages where endpoint_id = ${endpointId} and not ${HELD} order by id limit ${PURGE_BATCH}
  ), counted as (
    select id, bytes, sum(bytes) over (order by id) - bytes as before_it from oldest
  )
  select id, bytes from counted where before_it < ${bytes}`

/** A small batch of those whose ids are less than `beforeId`. */
export const olderQuery = (beforeId: string): Sql<never, OldRecord> => sql`
  select id, bytes from messages where id < ${beforeId} and not ${HELD} order by id limit ${PURGE_BATCH}`
