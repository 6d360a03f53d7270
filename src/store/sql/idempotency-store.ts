/**
 * The idempotency store of both databases. If one process has the database to itself, it knows which keys are in progress
 * (pipeline/idempotency), so that no claim is written: what a crashed process had started is free at once. Processes that
 * share a database claim in it.
 *
 * One row per endpoint and key: first a claim with a lease, then a cached response with a time to live. Both are deleted with
 * their endpoint. Leases and times to live run on the clock of the store.
 */
import { type CachedResponse, ClaimLost, type KeptAnswer, type KeyedRequest } from '../../core/kept-answer.ts'
import { type Database, step, type TransactionWork } from './database.ts'
import type { Tables } from './schema.ts'
import { BYTES, elements, NOW, type NoValues, named, raw, sql } from './sql.ts'

/**
 * claimed: the caller processes the message and no other process does; in-progress: another message holds the key;
 * completed: the response is cached; endpoint-deleted: there is no such endpoint any more.
 */
export type ClaimResult =
  | Readonly<{ kind: 'claimed' }>
  | Readonly<{ kind: 'endpoint-deleted' }>
  | Readonly<{ kind: 'in-progress'; fingerprint: string }>
  | Readonly<{ kind: 'completed'; fingerprint: string; response: CachedResponse }>

type KeyValues = Readonly<{ endpointId: string; key: string }>
type OwnerValues = KeyValues & Readonly<{ owner: string }>
type ClaimValues = OwnerValues & Readonly<{ fingerprint: string; leaseMs: number }>
type CompleteValues = OwnerValues &
  Readonly<{ fingerprint: string; ttlMs: number; size: number; detail: string; body: Uint8Array | null }>

type Row = Tables['kept_answers']
/** Of an endpoint that exists; all columns are null if it has no such key. */
type FoundRow = { [Name in 'fingerprint' | 'owner' | 'detail' | 'body']: Row[Name] | null }

/** Rows removed at once: a purge must not delay a message. */
const PURGE_BATCH = raw('200')
/** Estimated size of a row with its index entries, besides the response. */
const ROW_BYTES = raw('500')

const IS_KEY = sql`kept_answers.endpoint_id = :endpointId and kept_answers.key = :key`
const LEASE_END = sql`${NOW} + cast(:leaseMs as integer)`

/** Returns a row if the owner now holds the key. */
const CLAIM = sql<ClaimValues>`
  insert into kept_answers (endpoint_id, key, fingerprint, owner, until, size, detail, body)
  select id, :key, :fingerprint, :owner, ${LEASE_END}, 0, '', null from endpoints where id = :endpointId
  on conflict (endpoint_id, key) do update set fingerprint = excluded.fingerprint, owner = excluded.owner,
    until = excluded.until, size = 0, detail = '', body = null
  where kept_answers.until <= ${NOW} returning owner`
/** Returns a row if the endpoint exists. */
const FIND = sql<KeyValues, FoundRow>`
  select fingerprint, owner, detail, body from endpoints
  left join kept_answers on ${IS_KEY} and until > ${NOW} where endpoints.id = :endpointId`
/** Returns a row if the response was cached. */
const COMPLETE = sql<CompleteValues>`
  insert into kept_answers (endpoint_id, key, fingerprint, owner, until, size, detail, body)
  select id, :key, :fingerprint, '', ${NOW} + cast(:ttlMs as bigint), cast(:size as integer), :detail,
    cast(:body as ${BYTES})
  from endpoints where id = :endpointId
  on conflict (endpoint_id, key) do update set fingerprint = excluded.fingerprint, owner = '',
    until = excluded.until, size = excluded.size, detail = excluded.detail, body = excluded.body
  where kept_answers.owner = :owner or kept_answers.until <= ${NOW} returning size`
/** All owners in one statement: there may be one for every message in progress. */
const RENEW = sql<{ owners: string; leaseMs: number }>`
  update kept_answers set until = ${LEASE_END}
  where owner in (select element.value ->> 0 from ${elements(named('owners'))} as element) and owner <> ''`
const RELEASE = sql<OwnerValues>`delete from kept_answers where ${IS_KEY} and owner = :owner and owner <> ''`
const PURGE = sql`
  delete from kept_answers where (endpoint_id, key) in (
    select endpoint_id, key from kept_answers where until <= ${NOW} order by until limit ${PURGE_BATCH}
  ) and until <= ${NOW} returning size`
const USED = sql<NoValues, { endpoint_id: string; bytes: number | string }>`
  select endpoint_id, coalesce(sum(size), 0) + count(*) * ${ROW_BYTES} as bytes from kept_answers group by endpoint_id`

export type IdempotencyStore = ReturnType<typeof compileIdempotencyStore>

/**
 * Builds the store over a database whose tables are up to date. Rejects with StoreUnavailable if it does not answer.
 *
 * `owner` is the id of one message; no two messages may share it.
 */
export function compileIdempotencyStore(database: Database) {
  const { isShared, isEmbedded } = database

  const find = async ({ endpointId, key }: KeyedRequest): Promise<ClaimResult | undefined> =>
    toClaimResult((await database.read(FIND, { endpointId, key }))[0])

  return {
    claim: async (request: KeyedRequest, owner: string, leaseMs: number): Promise<ClaimResult> => {
      const known = isEmbedded ? await find(request) : undefined
      if (known !== undefined) return known
      if (!isShared) return { kind: 'claimed' }
      for (;;) {
        const [claimed] = await database.write(CLAIM, { ...request, owner, leaseMs })
        if (claimed !== undefined) return { kind: 'claimed' }
        const found = await find(request)
        // The conflicting row may have expired between the two statements.
        if (found !== undefined) return found
      }
    },
    /** Extends the claims that these owners still hold. */
    renew: async (owners: readonly string[], leaseMs: number): Promise<void> => {
      if (!isShared) return
      await database.write(RENEW, { owners: JSON.stringify(owners.map((owner) => [owner])), leaseMs })
    },
    /**
     * Replaces the owner's claim by the response, which is durable when the promise resolves. Nothing is cached if the
     * result is 'claim-lost' (the claim has expired and another message holds the key) or 'endpoint-deleted'.
     */
    complete: async (
      request: KeyedRequest,
      owner: string,
      response: CachedResponse,
      ttlMs: number,
    ): Promise<'cached' | 'claim-lost' | 'endpoint-deleted'> => {
      const [cached] = await database.write(COMPLETE, completeValues(request, owner, response, ttlMs))
      if (cached !== undefined) return 'cached'
      const found = await find(request)
      return found?.kind === 'endpoint-deleted' ? 'endpoint-deleted' : 'claim-lost'
    },
    /** Removes the owner's claim, so that the next message with the key is processed. */
    release: async ({ endpointId, key }: KeyedRequest, owner: string): Promise<void> => {
      if (isShared) await database.write(RELEASE, { endpointId, key, owner })
    },
    /** Removes a small batch of expired rows. Resolves to their number; 0 if none is left. */
    purge: async (): Promise<number> => (await database.write(PURGE, {})).length,
    /** The estimated size of the rows of each endpoint that has some. */
    bytes: async (): Promise<ReadonlyMap<string, number>> =>
      new Map((await database.read(USED, {})).map(({ endpoint_id, bytes }) => [endpoint_id, Number(bytes)])),
  }
}

/** Caches the response in the transaction of what its message stores besides. Throws ClaimLost as `complete` resolves to it. */
export function* keepAnswer({ request, owner, response, ttlMs }: KeptAnswer): TransactionWork<void> {
  const [cached] = yield* step(COMPLETE, completeValues(request, owner, response, ttlMs))
  if (cached === undefined && (yield* step(FIND, request)).length > 0) throw new ClaimLost()
}

/** Of the row that `find` returns; undefined if the key is free. */
function toClaimResult(row: FoundRow | undefined): ClaimResult | undefined {
  if (row === undefined) return { kind: 'endpoint-deleted' }
  const { fingerprint, owner, detail, body } = row
  if (fingerprint === null) return undefined
  if (owner !== '') return { kind: 'in-progress', fingerprint }
  return { kind: 'completed', fingerprint, response: { ...JSON.parse(detail ?? ''), body: body ?? undefined } }
}

function completeValues(
  { endpointId, key, fingerprint }: KeyedRequest,
  owner: string,
  { body, ...rest }: CachedResponse,
  ttlMs: number,
): CompleteValues {
  const detail = JSON.stringify(rest)
  const size = detail.length + (body?.byteLength ?? 0)
  return { endpointId, key, fingerprint, owner, ttlMs, size, detail, body: body ?? null }
}
