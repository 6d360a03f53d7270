/**
 * The idempotency store of both databases. If one process has the database to itself, it knows which keys are in progress
 * (pipeline/idempotency), so that no claim is written: what a crashed process had started is free at once. Processes that
 * share a database claim in it.
 */
import { sql } from 'kysely'
import type {
  CachedResponse,
  ClaimResult,
  IdempotencyStore,
  KeyedRequest,
} from '../../../domain/ports/idempotency-store-port.ts'
import type { SqlDatabase, SqlDialect } from '../database.ts'
import { compileStatement, rawQuery, type ValueOf } from '../statement.ts'
import type { Tables } from '../tables.ts'

type KeyValues = Readonly<{ endpointId: string; key: string }>
type OwnerValues = KeyValues & Readonly<{ owner: string }>
type ClaimValues = OwnerValues & Readonly<{ fingerprint: string; leaseMs: number }>
type CompleteValues = OwnerValues &
  Readonly<{ fingerprint: string; ttlMs: number; size: number; detail: string; body: Uint8Array | null }>

type Row = Tables['kept_answers']
/** Of an endpoint that exists; all columns are null if it has no such key. */
type FoundRow = { [Name in 'fingerprint' | 'owner' | 'detail' | 'body']: Row[Name] | null }

/** Rows removed at once: a purge must not delay a message. */
const PURGE_BATCH = 200
/** Estimated size of a row with its index entries, besides the response. */
const ROW_BYTES = 500

function compileStatements({ queries, now, bytes, elements }: SqlDialect) {
  const raw = rawQuery(queries)
  const isKey = (value: ValueOf<KeyValues>) =>
    sql`kept_answers.endpoint_id = ${value('endpointId')} and kept_answers.key = ${value('key')}`
  return {
    /** Returns a row if the owner now holds the key. */
    claim: compileStatement<ClaimValues, Pick<Row, 'owner'>>((value) =>
      raw(sql`insert into kept_answers (endpoint_id, key, fingerprint, owner, until, size, detail, body)
        select id, ${value('key')}, ${value('fingerprint')}, ${value('owner')}, ${now} + cast(${value('leaseMs')} as integer), 0, '', null
        from endpoints where id = ${value('endpointId')}
        on conflict (endpoint_id, key) do update set fingerprint = excluded.fingerprint, owner = excluded.owner,
          until = excluded.until, size = 0, detail = '', body = null
        where kept_answers.until <= ${now} returning owner`),
    ),
    /** Returns a row if the endpoint exists. */
    find: compileStatement<KeyValues, FoundRow>((value) =>
      raw(sql`select fingerprint, owner, detail, body from endpoints
        left join kept_answers on ${isKey(value)} and until > ${now} where endpoints.id = ${value('endpointId')}`),
    ),
    /** Returns a row if the response was cached. */
    complete: compileStatement<CompleteValues, Pick<Row, 'size'>>((value) =>
      raw(sql`insert into kept_answers (endpoint_id, key, fingerprint, owner, until, size, detail, body)
        select id, ${value('key')}, ${value('fingerprint')}, '', ${now} + cast(${value('ttlMs')} as ${sql.raw('bigint')}),
          cast(${value('size')} as integer), ${value('detail')}, cast(${value('body')} as ${bytes})
        from endpoints where id = ${value('endpointId')}
        on conflict (endpoint_id, key) do update set fingerprint = excluded.fingerprint, owner = '',
          until = excluded.until, size = excluded.size, detail = excluded.detail, body = excluded.body
        where kept_answers.owner = ${value('owner')} or kept_answers.until <= ${now} returning size`),
    ),
    /** All owners in one statement: there may be one for every message in progress. */
    renew: compileStatement<Readonly<{ owners: string; leaseMs: number }>>((value) =>
      raw(sql`update kept_answers set until = ${now} + cast(${value('leaseMs')} as integer)
        where owner in (select element.value ->> 0 from ${elements(value('owners'))} as element) and owner <> ''`),
    ),
    release: compileStatement<OwnerValues>((value) =>
      raw(sql`delete from kept_answers where ${isKey(value)} and owner = ${value('owner')} and owner <> ''`),
    ),
    purge: compileStatement<Record<never, never>, Pick<Row, 'size'>>(() =>
      raw(sql`delete from kept_answers where (endpoint_id, key) in (
          select endpoint_id, key from kept_answers where until <= ${now} order by until limit ${sql.lit(PURGE_BATCH)}
        ) and until <= ${now} returning size`),
    ),
    bytes: compileStatement<Record<never, never>, Readonly<{ endpoint_id: string; bytes: number | string }>>(() =>
      raw(sql`select endpoint_id, coalesce(sum(size), 0) + count(*) * ${sql.lit(ROW_BYTES)} as bytes
        from kept_answers group by endpoint_id`),
    ),
  }
}

/** Builds the store over a database whose tables are up to date. */
export function compileIdempotencyStore(database: SqlDatabase): IdempotencyStore {
  const statements = compileStatements(database.dialect)
  const { isShared, isEmbedded } = database

  const find = async ({ endpointId, key }: KeyedRequest): Promise<ClaimResult | undefined> =>
    claimResultOf((await database.read(statements.find, { endpointId, key }))[0])

  return {
    claim: async (request, owner, leaseMs) => {
      const known = isEmbedded ? await find(request) : undefined
      if (known !== undefined) return known
      if (!isShared) return { kind: 'claimed' }
      for (;;) {
        const [claimed] = await database.write(statements.claim, { ...request, owner, leaseMs })
        if (claimed !== undefined) return { kind: 'claimed' }
        const found = await find(request)
        // The conflicting row may have expired between the two statements.
        if (found !== undefined) return found
      }
    },
    renew: async (owners, leaseMs) => {
      if (!isShared) return
      await database.write(statements.renew, { owners: JSON.stringify(owners.map((owner) => [owner])), leaseMs })
    },
    complete: async (request, owner, response, ttlMs) => {
      const [cached] = await database.write(statements.complete, completeValues(request, owner, response, ttlMs))
      if (cached !== undefined) return 'cached'
      const found = await find(request)
      return found?.kind === 'endpoint-deleted' ? 'endpoint-deleted' : 'claim-lost'
    },
    release: async ({ endpointId, key }, owner) => {
      if (isShared) await database.write(statements.release, { endpointId, key, owner })
    },
    purge: async () => (await database.write(statements.purge, {})).length,
    bytes: async () =>
      new Map(
        (await database.read(statements.bytes, {})).map(({ endpoint_id, bytes }) => [endpoint_id, Number(bytes)]),
      ),
  }
}

/** Of the row that `find` returns; undefined if the key is free. */
function claimResultOf(row: FoundRow | undefined): ClaimResult | undefined {
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
