/**
 * The stores of endpoint documents with their versions, and of their tests, of both databases. A promise that resolves is durable: the change
 * survives `kill -9`. Each write adds a version, and `entry` to the audit log, in one transaction with the change itself.
 * `change` describes it beyond the operation: by default, `at` is the `updatedAt` of the document and the origin is unknown.
 */

import {
  type Change,
  type ChangeMethod,
  DELETED_ENDPOINTS,
  type StoredDocument,
  VERSIONS_OF_AN_ENDPOINT,
  type Version,
  type VersionSummary,
} from '../../core/stored-document.ts'
import { type AuditEntry, addEntries } from './audit-store.ts'
import { type Database, insertStatement, rowsStatement, step, type TransactionWork } from './database.ts'
import { documentText, indexable, keyText, readDocument, type Tables } from './schema.ts'
import { elements, LOCK_ROWS, type NoValues, named, nextStateSequence, raw, sql, textBytes } from './sql.ts'
import { type StateRecord, stateRow } from './states.ts'
import { haveChanged, type Premises, type TableWrite, writeTables } from './table-store.ts'

/** The reason why a write is refused. */
export type StoreClash =
  | Readonly<{ reason: 'name' }>
  /** `claim`: which of the record's. */
  | Readonly<{ reason: 'claim'; claim: number }>

/** A document with the keys that the store holds unique beside its name. */
export type EndpointRecord = Readonly<{
  document: StoredDocument
  claims: readonly Readonly<{ key: string }>[]
}>

/**
 * One of the writes that `writeAll` makes together. `entry`: its entry in the audit log; `state` becomes the newest state of
 * the endpoint.
 */
export type EndpointWrite = Readonly<{ change?: Partial<Change>; entry?: AuditEntry | undefined }> &
  (
    | Readonly<{ op: 'insert'; record: EndpointRecord; state?: StateRecord }>
    | Readonly<{ op: 'replace'; record: EndpointRecord; expected: StoredDocument; state?: StateRecord }>
    | Readonly<{ op: 'remove'; expected: StoredDocument }>
  )

/**
 * The first write that is refused, by its place among the writes. 'gone': no document has the id; 'stale': the stored document
 * is another one than expected, or there is one that was to be inserted; 'table stale': the write of a table at this place is
 * not of its newest version; 'outdated': the premises hold no more.
 */
export type RefusedWrite = Readonly<{ index: number }> &
  (Readonly<{ reason: 'gone' | 'stale' | 'table stale' | 'outdated' }> | StoreClash)

/** A document at one of its versions. */
export type DocumentVersion = Readonly<{ id: string; version: number }>

/** A stored document as JSON text in UTF-8: texts of V8 would stay in its heap until the next full collection. */
export type ListedDocument = DocumentVersion & Readonly<{ bytes: Uint8Array }>

type Row = Tables['endpoints']
type VersionRow = Omit<Tables['endpoint_versions'], 'endpoint_id'>
type SummaryRow = Omit<VersionRow, 'document'>
type ListedRow = Readonly<{ id: string; version: number; document: Uint8Array | string }>
type ById = Readonly<{ id: string }>

/** The indexes name neither the row nor, therefore, its claim. */
const UNIQUE_INDEXES: Readonly<Record<string, StoreClash>> = {
  endpoints_name: { reason: 'name' },
  endpoint_claims_key: { reason: 'claim', claim: 0 },
}

const LIST = sql<NoValues, Pick<Row, 'document'>>`select document from endpoints order by id`
const GET = sql<ById, Pick<Row, 'document'>>`select document from endpoints where id = :id`
/** At most 100 documents and about 256 KiB, which takes a few milliseconds. The lengths are read without the texts. */
const PAGE = sql<{ after: string }, ListedRow>`
  with lengths as (
    select id, octet_length(document) as bytes from endpoints where id > :after order by id limit 100
  ), sized as (
    select id, sum(bytes) over (order by id) - bytes as before_it from lengths
  )
  select id, (select coalesce(max(version), 0) from endpoint_versions where endpoint_id = endpoints.id) as version,
    ${textBytes(sql`endpoints.document`)} as document
  from endpoints where id in (select sized.id from sized where before_it < 262144) order by id`
/** `listed`: a JSON array of the id and version of each. A document without a stored version has version 0. */
const AT_VERSIONS = sql<{ listed: string }, Readonly<{ id: string; document: Uint8Array | string | null }>>`
  with listed as (
    select element.value ->> 0 as id, cast(element.value ->> 1 as integer) as version
    from ${elements(named('listed'))} as element)
  select listed.id as id, ${textBytes(sql`coalesce(endpoints.document, endpoint_versions.document)`)} as document
  from listed
  left join endpoints on endpoints.id = listed.id and listed.version =
    (select coalesce(max(version), 0) from endpoint_versions where endpoint_id = listed.id)
  left join endpoint_versions on endpoint_versions.endpoint_id = listed.id
    and endpoint_versions.version = listed.version`
const VERSIONS = sql<ById, SummaryRow>`
  select version, at, about from endpoint_versions where endpoint_id = :id order by version desc`
const VERSION = sql<ById & Readonly<{ version: number }>, VersionRow>`
  select version, at, about, document from endpoint_versions where endpoint_id = :id and version = :version`
const NEWEST_VERSIONS = sql<NoValues, Pick<Tables['endpoint_versions'], 'endpoint_id' | 'version'>>`
  select endpoint_id, max(version) as version from endpoint_versions
  where endpoint_id in (select id from endpoints) group by endpoint_id`

type EndpointValues = Readonly<{ id: string; name: string; document: string }>
type VersionValues = Readonly<{ id: string; at: string; about: string; document: string }>

/** A write as its rows. `values`: undefined for a removal; `expected`: undefined for an insertion. */
type RowWrite = Readonly<{
  id: string
  values: EndpointValues | undefined
  claims: readonly string[]
  expected: string | undefined
  version: VersionValues
  state: (ReturnType<typeof stateRow> & Readonly<{ endpoint_id: string }>) | undefined
}>

/** A JSON array with an array of one id for each endpoint. */
type Ids = Readonly<{ ids: string }>
/** `key`: of the claim; null if the name is taken. */
type Clash = Readonly<{ place: number; key: string | null }>

const IDS = sql`(select listed.value ->> 0 from ${elements(named('ids'))} as listed)`

/** In the order of the ids, in which the writers of states lock endpoints too. */
const FIND = sql<Ids, Row>`
  select id, name, document from endpoints where id in ${IDS} order by id ${LOCK_ROWS}`
/**
 * `names`: place and name of each record; `claims`: place and key of each claim; `ids`: the endpoints that are written, whose
 * stored rows do not count.
 */
const CLASHES = sql<Ids & Readonly<{ names: string; claims: string }>, Clash>`
  select cast(element.value ->> 0 as integer) as place, null as key
  from ${elements(named('names'))} as element
  join endpoints on endpoints.name = element.value ->> 1
  where endpoints.id not in ${IDS}
  union all
  select cast(element.value ->> 0 as integer) as place, endpoint_claims.key as key
  from ${elements(named('claims'))} as element
  join endpoint_claims on endpoint_claims.key = element.value ->> 1
  where endpoint_claims.endpoint_id not in ${IDS}
  order by place`
/** Deletes the claims, states and idempotency keys of the endpoints too, by their foreign keys. */
const REMOVE = sql<Ids>`delete from endpoints where id in ${IDS}`
const REMOVE_CLAIMS = sql<Ids>`delete from endpoint_claims where endpoint_id in ${IDS}`
/** No `keyText` gives such a name. */
const VACATE = sql<Ids>`update endpoints set name = '\\…' || id where id in ${IDS}`

const COLUMNS = ['id', 'name', 'document'] as const
const insert = insertStatement('endpoints', COLUMNS)
const replace = rowsStatement(
  COLUMNS,
  (rows) => sql`
    with given (id, name, document) as (${rows})
    update endpoints set name = given.name, document = given.document
    from given where endpoints.id = given.id`,
)
const addClaims = insertStatement('endpoint_claims', ['key', 'endpoint_id'])
// SQLite needs the condition to distinguish `on conflict` from the constraint of a join.
const keepState = rowsStatement(
  ['endpoint_id', 'lookup_status', 'network_error', 'state'],
  (rows) => sql`
    with given (endpoint_id, lookup_status, network_error, state) as (${rows})
    insert into states (endpoint_id, lookup_status, network_error, sequence, state)
    select endpoint_id, cast(lookup_status as integer), cast(network_error as integer),
      ${nextStateSequence(sql`given.endpoint_id`)}, state
    from given where true
    on conflict (endpoint_id, lookup_status, network_error) do update
    set sequence = excluded.sequence, state = excluded.state`,
)

/** Writers of one endpoint must run one after the other: the next number is read from the table. */
const addVersions = rowsStatement(
  ['id', 'at', 'about', 'document'],
  (rows) => sql`
    with given (id, at, about, document) as (${rows})
    insert into endpoint_versions (endpoint_id, version, at, about, document)
    select given.id,
      (select coalesce(max(version), 0) + 1 from endpoint_versions where endpoint_id = given.id),
      given.at, given.about, given.document
    from given`,
)
const TRIM_VERSIONS = sql<Ids>`
  delete from endpoint_versions
  where endpoint_id in ${IDS}
  and version <= (select max(newest.version) - ${raw(`${VERSIONS_OF_AN_ENDPOINT}`)} from endpoint_versions as newest
    where newest.endpoint_id = endpoint_versions.endpoint_id)`
/**
 * Removes the versions of all but the last deleted endpoints. Reads deletions only, by their index. SQLite accepts no
 * offset without a limit.
 */
const TRIM_DELETED = sql`
  delete from endpoint_versions where endpoint_id in (
    select deleted.endpoint_id from endpoint_versions as deleted
    where deleted.document = '' and not exists (select 1 from endpoints where endpoints.id = deleted.endpoint_id)
    group by deleted.endpoint_id order by max(deleted.at) desc, deleted.endpoint_id desc
    limit 1000000 offset ${raw(`${DELETED_ENDPOINTS}`)}
  )`

export type EndpointStore = ReturnType<typeof compileEndpointStore>

/**
 * Builds the store over a database whose tables are up to date. Each call rejects with
 * StoreUnavailable if the database does not answer.
 */
export function compileEndpointStore(database: Database) {
  /**
   * Makes all writes, of tables too, in one transaction, or none. No two of them are of one endpoint or table. Names and claims must be unique among
   * the documents that are stored afterwards, so two endpoints may exchange theirs. The unique indexes decide even if a writer
   * outside the service has changed the table since the check.
   */
  async function writeAll(
    writes: readonly EndpointWrite[],
    tables: readonly TableWrite[] = [],
    premises: Premises = { tables: new Map() },
  ): Promise<'stored' | RefusedWrite> {
    const work = compileWrites(writes, tables)
    try {
      return await database.transaction(function* () {
        if (yield* haveChanged(premises, database)) return { index: 0, reason: 'outdated' } as const
        return yield* work()
      })
    } catch (thrown) {
      const clash = UNIQUE_INDEXES[database.violatedIndex(thrown) ?? '']
      if (clash === undefined) throw thrown
      return { index: writes.findIndex(({ op }) => op !== 'remove'), ...clash }
    }
  }

  return {
    /** All documents, oldest first. */
    list: async (): Promise<readonly StoredDocument[]> => (await database.read(LIST, {})).map(readDocument),
    /** The first documents whose ids are greater than `after`, oldest first: some hundred KiB of them. */
    page: async (after: string): Promise<readonly ListedDocument[]> =>
      (await database.read(PAGE, { after })).map(({ id, version, document }) => ({
        id,
        version,
        bytes: toBytes(document),
      })),
    /**
     * The documents as they were at these versions, in this order. Undefined if the version is no longer stored, which is so
     * after many further changes only.
     */
    readVersions: async (listed: readonly DocumentVersion[]): Promise<readonly (Uint8Array | undefined)[]> => {
      const pairs = JSON.stringify(listed.map(({ id, version }) => [id, version]))
      const rows = await database.read(AT_VERSIONS, { listed: pairs })
      const documents = new Map(rows.map(({ id, document }) => [id, document]))
      return listed.map(({ id }) => {
        const document = documents.get(id) ?? undefined
        return document === undefined ? undefined : toBytes(document)
      })
    },
    get: async (id: string): Promise<StoredDocument | undefined> =>
      (await database.read(GET, { id })).map(readDocument)[0],
    writeAll,
    /** The versions of an endpoint, newest first; also of a deleted one. */
    versions: async (id: string): Promise<readonly VersionSummary[]> =>
      (await database.read(VERSIONS, { id })).map(summaryFromRow),
    version: async (id: string, version: number): Promise<Version | undefined> =>
      (await database.read(VERSION, { id, version })).map(versionFromRow)[0],
    /** The newest version of each endpoint that exists, by id. */
    newestVersions: async (): Promise<ReadonlyMap<string, number>> =>
      new Map((await database.read(NEWEST_VERSIONS, {})).map(({ endpoint_id, version }) => [endpoint_id, version])),
    /** Resolves when the store answers; rejects with StoreUnavailable. */
    ping: (): Promise<void> => database.ping(),
  }
}

const toBytes = (text: Uint8Array | string): Uint8Array => (typeof text === 'string' ? Buffer.from(text) : text)

const summaryFromRow = ({ version, at, about }: SummaryRow): VersionSummary => {
  const { method, origin, restored }: Omit<Change, 'at'> = JSON.parse(about)
  return { version, at, method, ...(restored === undefined ? {} : { restored }), origin }
}

const versionFromRow = (row: VersionRow): Version => ({
  ...summaryFromRow(row),
  document: row.document === '' ? null : JSON.parse(row.document),
})

/**
 * Builds the body of the transaction of some writes. Names and claims are compared with what is stored afterwards: rows of the
 * transaction give up all claims, and a name that another row takes, first, as the unique indexes are checked at each
 * statement.
 */
function compileWrites(
  writes: readonly EndpointWrite[],
  tables: readonly TableWrite[],
): () => TransactionWork<'stored' | RefusedWrite> {
  const rowWrites = writes.map(toRowWrite)
  return function* () {
    const rows = yield* step(FIND, { ids: idsText(rowWrites) })
    const stored = new Map(rows.map((row) => [row.id, row]))
    const refused = yield* findRefused(rowWrites, stored)
    if (refused !== undefined) return refused
    const stale = yield* writeTables(tables)
    if (stale !== undefined) return { index: stale, reason: 'table stale' }
    const removed = rowWrites.filter(({ values }) => values === undefined)
    if (removed.length > 0) yield* step(REMOVE, { ids: idsText(removed) })
    const vacating = findVacating(rowWrites, stored)
    if (vacating.length > 0) yield* step(VACATE, { ids: idsText(vacating) })
    const replaced = rowWrites.filter(({ values, expected }) => values !== undefined && expected !== undefined)
    if (replaced.length > 0) yield* step(REMOVE_CLAIMS, { ids: idsText(replaced) })
    const listValues = (some: readonly RowWrite[]) => some.flatMap(({ values }) => values ?? [])
    yield* insert(listValues(rowWrites.filter(({ expected }) => expected === undefined)))
    yield* replace(listValues(replaced))
    yield* addClaims(rowWrites.flatMap(({ id, claims }) => claims.map((key) => ({ key, endpoint_id: id }))))
    yield* keepState(rowWrites.flatMap(({ state }) => state ?? []))
    yield* addVersions(rowWrites.map(({ version }) => version))
    yield* step(TRIM_VERSIONS, { ids: idsText(rowWrites) })
    if (removed.length > 0) yield* step(TRIM_DELETED, {})
    yield* addEntries([...writes, ...tables].map(({ entry }) => entry))
    return 'stored'
  }
}

function* findRefused(
  writes: readonly RowWrite[],
  stored: ReadonlyMap<string, Row>,
): TransactionWork<RefusedWrite | undefined> {
  for (const [index, { id, expected }] of writes.entries()) {
    const row = stored.get(id)
    if (row?.document !== expected) return { index, reason: row === undefined ? 'gone' : 'stale' }
  }
  const records = writes.flatMap(({ values, claims }, index) =>
    values === undefined ? [] : [{ index, values, claims }],
  )
  if (records.length === 0) return undefined
  const repeated = findRepeated(records)
  const rows = yield* step(CLASHES, {
    names: JSON.stringify(records.map(({ index, values }) => [index, values.name])),
    claims: JSON.stringify(records.flatMap(({ index, claims }) => claims.map((key) => [index, key]))),
    ids: idsText(writes),
  })
  const [first] = rows
  if (first === undefined || (repeated !== undefined && repeated.index < first.place)) return repeated
  const { place: index } = first
  const taken = new Set(rows.flatMap(({ place, key }) => (place === index ? [key] : [])))
  // The name is reported first if both are taken.
  if (taken.has(null)) return { index, reason: 'name' }
  return { index, reason: 'claim', claim: writes[index]?.claims.findIndex((key) => taken.has(key)) ?? 0 }
}

function toRowWrite(write: EndpointWrite): RowWrite {
  const { op, change } = write
  const expected = op === 'insert' ? undefined : documentText(write.expected)
  if (op === 'remove') {
    const { expected: document } = write
    const version = addedVersion('delete', document, '', change)
    return { id: document._id, values: undefined, claims: [], expected, version, state: undefined }
  }
  const { document, claims } = write.record
  const { _id: id, name } = document
  const text = documentText(document)
  return {
    id,
    values: { id, name: keyText(name), document: text },
    claims: claims.map(({ key }) => indexable(key)),
    expected,
    version: addedVersion(op === 'insert' ? 'create' : 'replace', document, text, change),
    state: write.state && { endpoint_id: id, ...stateRow(write.state) },
  }
}

/** The version that a write adds. `text`: the document as stored, empty for a deletion. */
const addedVersion = (
  method: ChangeMethod,
  { _id: id, updatedAt }: StoredDocument,
  text: string,
  { at = updatedAt, ...change }: Partial<Change> = {},
): VersionValues => ({ id, at, about: aboutText({ method, origin: {}, ...change }), document: text })

const aboutText = ({ method, origin, restored }: Omit<Change, 'at'>): string =>
  JSON.stringify({ method, origin, restored })

const idsText = (writes: readonly Pick<RowWrite, 'id'>[]): string => JSON.stringify(writes.map(({ id }) => [id]))

type IndexedRecord = Readonly<{ index: number; values: EndpointValues; claims: readonly string[] }>

/** The first record with the name or a claim of an earlier one. */
function findRepeated(records: readonly IndexedRecord[]): RefusedWrite | undefined {
  const names = new Set<string>()
  const claimed = new Set<string>()
  for (const { index, values, claims } of records) {
    if (names.has(values.name)) return { index, reason: 'name' }
    const claim = claims.findIndex((key) => claimed.has(key))
    if (claim !== -1) return { index, reason: 'claim', claim }
    names.add(values.name)
    for (const key of claims) claimed.add(key)
  }
  return undefined
}

/** The replaced rows whose name another row takes. */
function findVacating(writes: readonly RowWrite[], stored: ReadonlyMap<string, Row>): readonly RowWrite[] {
  const taken = writes.flatMap(({ values }) => values ?? [])
  const names = new Set(taken.map(({ name }) => name))
  return writes.filter(({ id, values }) => {
    const row = stored.get(id)
    return row !== undefined && values !== undefined && row.name !== values.name && names.has(row.name)
  })
}

type TestsRow = Tables['endpoint_tests']

const GET_TESTS = sql<ById, Pick<TestsRow, 'tests'>>`select tests from endpoint_tests where endpoint_id = :id`
const TESTED = sql<NoValues, Pick<TestsRow, 'endpoint_id'>>`select endpoint_id from endpoint_tests`
/** A row for every endpoint that exists. */
const FIND_TESTS = sql<ById, Readonly<{ tests: string | null }>>`
  select endpoint_tests.tests from endpoints
  left join endpoint_tests on endpoint_tests.endpoint_id = endpoints.id where endpoints.id = :id`
const PUT_TESTS = sql<ById & Readonly<{ tests: string }>>`
  insert into endpoint_tests (endpoint_id, tests) values (:id, :tests)
  on conflict (endpoint_id) do update set tests = excluded.tests`
const REMOVE_TESTS = sql<ById>`delete from endpoint_tests where endpoint_id = :id`

export type EndpointTestStore = ReturnType<typeof compileEndpointTestStore>

/**
 * Builds the store of tests: one file of tests as JSON text for each endpoint. They are deleted with it and stay when it is
 * replaced. Writes are as durable as those of endpoints; each call rejects with StoreUnavailable if the database does not
 * answer.
 */
export function compileEndpointTestStore(database: Database) {
  return {
    get: async (id: string): Promise<string | undefined> => (await database.read(GET_TESTS, { id }))[0]?.tests,
    /** The ids of the endpoints that have tests. */
    endpoints: async (): Promise<ReadonlySet<string>> =>
      new Set((await database.read(TESTED, {})).map(({ endpoint_id: endpointId }) => endpointId)),
    /**
     * Stores `tests`, or removes them if undefined, if the stored ones still equal `expected`, with `entry` in the audit log.
     * 'gone': no such endpoint; 'stale': its tests have changed since they were read.
     */
    write: (
      id: string,
      tests: string | undefined,
      expected: string | undefined,
      entry?: AuditEntry,
    ): Promise<'stored' | 'gone' | 'stale'> =>
      database.transaction(function* () {
        const [stored] = yield* step(FIND_TESTS, { id })
        if (stored === undefined) return 'gone'
        if ((stored.tests ?? undefined) !== expected) return 'stale'
        if (tests === undefined) yield* step(REMOVE_TESTS, { id })
        else yield* step(PUT_TESTS, { id, tests })
        yield* addEntries([entry])
        return 'stored'
      }),
  }
}
