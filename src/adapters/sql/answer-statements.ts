/** The queries behind `AnswerStore`, and its answers as rows. */
import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Claim, KeptAnswer, KeyedRequest } from '../../domain/answer-store.ts'
import { compileStatement, type ValueOf } from './statement.ts'
import type { Tables } from './tables.ts'

/** In what the dialects differ. */
export type AnswerDialect = Readonly<{
  /** The clock of the database, in whole milliseconds since the epoch: that of an instance may be wrong. */
  now: RawBuilder<number>
  /** The type of bytes. */
  bytes: RawBuilder<unknown>
}>

type PlaceValues = Readonly<{ endpointId: string; key: string }>
export type ClaimValues = PlaceValues & Readonly<{ fingerprint: string; owner: string; leaseMs: number }>
export type OwnerValues = PlaceValues & Readonly<{ owner: string }>
export type KeepValues = OwnerValues &
  Readonly<{ fingerprint: string; keepMs: number; size: number; detail: string; body: Uint8Array | null }>

type Row = Tables['kept_answers']
/** Of an endpoint that is there; without values where it has no such key. */
export type FoundRow = { [Name in 'fingerprint' | 'owner' | 'detail' | 'body']: Row[Name] | null }

/** Rows at a time: a batch must not hold up a message. */
const BATCH = 200
/** What a row takes beside its answer, with its entries in indexes, about. */
const ROW_BYTES = 500

export function compileAnswerStatements(db: Kysely<Tables>, { now, bytes }: AnswerDialect) {
  const raw = <Row>(query: RawBuilder<Row>) => ({ compile: () => query.compile(db) })
  const isPlace = (value: ValueOf<PlaceValues>) =>
    sql`kept_answers.endpoint_id = ${value('endpointId')} and kept_answers.key = ${value('key')}`
  return {
    /** Gives a row where the key is the owner's now. */
    claim: compileStatement<ClaimValues, Pick<Row, 'owner'>>((value) =>
      raw(sql`insert into kept_answers (endpoint_id, key, fingerprint, owner, until, size, detail, body)
        select id, ${value('key')}, ${value('fingerprint')}, ${value('owner')}, ${now} + cast(${value('leaseMs')} as integer), 0, '', null
        from endpoints where id = ${value('endpointId')}
        on conflict (endpoint_id, key) do update set fingerprint = excluded.fingerprint, owner = excluded.owner,
          until = excluded.until, size = 0, detail = '', body = null
        where kept_answers.until <= ${now} returning owner`),
    ),
    /** Gives a row where the endpoint is there. */
    find: compileStatement<PlaceValues, FoundRow>((value) =>
      raw(sql`select fingerprint, owner, detail, body from endpoints
        left join kept_answers on ${isPlace(value)} and until > ${now} where endpoints.id = ${value('endpointId')}`),
    ),
    /** Gives a row where the answer was kept. */
    keep: compileStatement<KeepValues, Pick<Row, 'size'>>((value) =>
      raw(sql`insert into kept_answers (endpoint_id, key, fingerprint, owner, until, size, detail, body)
        select id, ${value('key')}, ${value('fingerprint')}, '', ${now} + cast(${value('keepMs')} as ${sql.raw('bigint')}),
          cast(${value('size')} as integer), ${value('detail')}, cast(${value('body')} as ${bytes})
        from endpoints where id = ${value('endpointId')}
        on conflict (endpoint_id, key) do update set fingerprint = excluded.fingerprint, owner = '',
          until = excluded.until, size = excluded.size, detail = excluded.detail, body = excluded.body
        where kept_answers.owner = ${value('owner')} or kept_answers.until <= ${now} returning size`),
    ),
    renew: compileStatement<Readonly<{ owner: string; leaseMs: number }>>((value) =>
      raw(sql`update kept_answers set until = ${now} + cast(${value('leaseMs')} as integer)
        where owner = ${value('owner')} and owner <> ''`),
    ),
    release: compileStatement<OwnerValues>((value) =>
      raw(sql`delete from kept_answers where ${isPlace(value)} and owner = ${value('owner')} and owner <> ''`),
    ),
    purge: compileStatement<Record<never, never>, Pick<Row, 'size'>>(() =>
      raw(sql`delete from kept_answers where (endpoint_id, key) in (
          select endpoint_id, key from kept_answers where until <= ${now} order by until limit ${sql.lit(BATCH)}
        ) and until <= ${now} returning size`),
    ),
    bytes: compileStatement<Record<never, never>, Readonly<{ bytes: number | string }>>(() =>
      raw(sql`select coalesce(sum(size), 0) + count(*) * ${sql.lit(ROW_BYTES)} as bytes from kept_answers`),
    ),
  }
}

/** What `find` says; undefined where the key is free. */
export function claimOf(row: FoundRow | undefined): Claim | undefined {
  if (row === undefined) return { kind: 'gone' }
  const { fingerprint, owner, detail, body } = row
  if (fingerprint === null) return undefined
  if (owner !== '') return { kind: 'under way', fingerprint }
  return { kind: 'kept', fingerprint, answer: { ...JSON.parse(detail ?? ''), body: body ?? undefined } }
}

export function keepValues(
  { endpointId, key, fingerprint }: KeyedRequest,
  owner: string,
  { body, ...rest }: KeptAnswer,
  keepMs: number,
): KeepValues {
  const detail = JSON.stringify(rest)
  const size = detail.length + (body?.byteLength ?? 0)
  return { endpointId, key, fingerprint, owner, keepMs, size, detail, body: body ?? null }
}
