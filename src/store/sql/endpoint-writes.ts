/**
 * The transaction of every write of endpoint documents, of one or of many. Names and routes are compared with what is stored
 * afterwards: rows of the transaction that give up a name or route that another row takes give it up first, as the unique
 * indexes are checked at each statement.
 */
import type { StateRecord } from '../../core/ports/state-store-port.ts'
import {
  type Change,
  type ChangeMethod,
  DELETED_ENDPOINTS,
  type StoredDocument,
  VERSIONS_OF_AN_ENDPOINT,
} from '../../core/stored-document.ts'
import { type AuditEntry, addEntries } from './audit-store.ts'
import { rowsStatement, step, type TransactionWork } from './database.ts'
import { elements, LOCK_ROWS, nextStateSequence } from './dialect.ts'
import { named, raw, sql } from './sql.ts'
import { stateRow } from './states.ts'
import { documentText, indexable, keyText, type Tables } from './tables.ts'

/** The reason why a write is refused. */
export type StoreClash = 'name' | 'route'

/** A document with the keys that the store holds unique. */
export type EndpointRecord = Readonly<{
  document: StoredDocument
  /** Normalised method and pattern, without parameter names and a last `/`: `POST /patients/:`. */
  routeKey: string
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

/** The first write that is refused, by its place among the writes, and the reason as for a single write. */
export type RefusedWrite = Readonly<{ index: number; reason: 'gone' | 'stale' | StoreClash }>

type Row = Tables['endpoints']
type EndpointValues = Readonly<{ id: string; name: string; routeKey: string; document: string }>
type VersionValues = Readonly<{ id: string; at: string; about: string; document: string }>

/** A write as its rows. `values`: undefined for a removal; `expected`: undefined for an insertion. */
type RowWrite = Readonly<{
  id: string
  values: EndpointValues | undefined
  expected: string | undefined
  version: VersionValues
  state: (ReturnType<typeof stateRow> & Readonly<{ endpoint_id: string }>) | undefined
}>

/** A JSON array with an array of one id for each endpoint. */
type Ids = Readonly<{ ids: string }>
type Clash = Readonly<{ place: number; name: string }>

const IDS = sql`(select listed.value ->> 0 from ${elements(named('ids'))} as listed)`

/** In the order of the ids, in which the writers of states lock endpoints too. */
const FIND = sql<Ids, Row>`
  select id, name, route_key, document from endpoints where id in ${IDS} order by id ${LOCK_ROWS}`
/** `records`: place, name and route of each; `ids`: the endpoints that are written, whose stored rows do not count. */
const CLASHES = sql<Ids & Readonly<{ records: string }>, Clash>`
  select cast(element.value ->> 0 as integer) as place, endpoints.name as name
  from ${elements(named('records'))} as element
  join endpoints on endpoints.name = element.value ->> 1 or endpoints.route_key = element.value ->> 2
  where endpoints.id not in ${IDS}
  order by place`
/** Deletes the states and idempotency keys of the endpoints too, by their foreign keys. */
const REMOVE = sql<Ids>`delete from endpoints where id in ${IDS}`
/** No `keyText` and no `indexable` gives such a key. */
const VACATE = sql<Ids>`update endpoints set name = '\\…' || id, route_key = '\\…' || id where id in ${IDS}`

const COLUMNS = ['id', 'name', 'routeKey', 'document'] as const
const insert = rowsStatement(COLUMNS, (rows) => sql`insert into endpoints (id, name, route_key, document) ${rows}`)
const replace = rowsStatement(
  COLUMNS,
  (rows) => sql`
    with given (id, name, route_key, document) as (${rows})
    update endpoints set name = given.name, route_key = given.route_key, document = given.document
    from given where endpoints.id = given.id`,
)
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

/** Builds the body of the transaction of some writes. */
export function compileWrites(writes: readonly EndpointWrite[]): () => TransactionWork<'stored' | RefusedWrite> {
  const rowWrites = writes.map(rowWriteOf)
  return function* () {
    const changed = rowWrites.filter(({ expected }) => expected !== undefined)
    const rows = changed.length === 0 ? [] : yield* step(FIND, { ids: idsText(changed) })
    const stored = new Map(rows.map((row) => [row.id, row]))
    const refused = yield* findRefused(rowWrites, stored)
    if (refused !== undefined) return refused
    const removed = rowWrites.filter(({ values }) => values === undefined)
    if (removed.length > 0) yield* step(REMOVE, { ids: idsText(removed) })
    const vacating = vacatingOf(rowWrites, stored)
    if (vacating.length > 0) yield* step(VACATE, { ids: idsText(vacating) })
    const valuesOf = (some: readonly RowWrite[]) => some.flatMap(({ values }) => values ?? [])
    yield* insert(valuesOf(rowWrites.filter(({ expected }) => expected === undefined)))
    yield* replace(valuesOf(changed))
    yield* keepState(rowWrites.flatMap(({ state }) => state ?? []))
    yield* addVersions(rowWrites.map(({ version }) => version))
    yield* step(TRIM_VERSIONS, { ids: idsText(rowWrites) })
    if (removed.length > 0) yield* step(TRIM_DELETED, {})
    yield* addEntries(writes.map(({ entry }) => entry))
    return 'stored'
  }
}

function* findRefused(
  writes: readonly RowWrite[],
  stored: ReadonlyMap<string, Row>,
): TransactionWork<RefusedWrite | undefined> {
  for (const [index, { id, expected }] of writes.entries()) {
    if (expected === undefined) continue
    const row = stored.get(id)
    if (row?.document !== expected) return { index, reason: row === undefined ? 'gone' : 'stale' }
  }
  const records = writes.flatMap(({ values }, index) => (values === undefined ? [] : [{ index, values }]))
  if (records.length === 0) return undefined
  const repeated = findRepeated(records)
  const rows = yield* step(CLASHES, {
    records: JSON.stringify(records.map(({ index, values }) => [index, values.name, values.routeKey])),
    ids: idsText(writes),
  })
  const [first] = rows
  if (first === undefined || (repeated !== undefined && repeated.index < first.place)) return repeated
  const index = first.place
  const clash = clashOf(
    rows.filter(({ place }) => place === index),
    writes[index]?.values ?? { name: '' },
  )
  return clash && { index, reason: clash }
}

function rowWriteOf(write: EndpointWrite): RowWrite {
  const { op, change } = write
  const expected = op === 'insert' ? undefined : documentText(write.expected)
  if (op === 'remove') {
    const { expected: document } = write
    const version = versionOf('delete', document, '', change)
    return { id: document._id, values: undefined, expected, version, state: undefined }
  }
  const { document, routeKey } = write.record
  const { _id: id, name } = document
  const text = documentText(document)
  return {
    id,
    values: { id, name: keyText(name), routeKey: indexable(routeKey), document: text },
    expected,
    version: versionOf(op === 'insert' ? 'create' : 'replace', document, text, change),
    state: write.state && { endpoint_id: id, ...stateRow(write.state) },
  }
}

/** The version that a write adds. `text`: the document as it is stored, empty for a deletion. */
const versionOf = (
  method: ChangeMethod,
  { _id: id, updatedAt }: StoredDocument,
  text: string,
  { at = updatedAt, ...change }: Partial<Change> = {},
): VersionValues => ({ id, at, about: aboutText({ method, origin: {}, ...change }), document: text })

const aboutText = ({ method, origin, restored }: Omit<Change, 'at'>): string =>
  JSON.stringify({ method, origin, restored })

const idsText = (writes: readonly Pick<RowWrite, 'id'>[]): string => JSON.stringify(writes.map(({ id }) => [id]))

type PlacedRecord = Readonly<{ index: number; values: EndpointValues }>

/** The first record with the name or the route of an earlier one. */
function findRepeated(records: readonly PlacedRecord[]): RefusedWrite | undefined {
  const names = new Set<string>()
  const routes = new Set<string>()
  for (const { index, values } of records) {
    if (names.has(values.name)) return { index, reason: 'name' }
    if (routes.has(values.routeKey)) return { index, reason: 'route' }
    names.add(values.name)
    routes.add(values.routeKey)
  }
  return undefined
}

/** The replaced rows whose name or route another row takes. */
function vacatingOf(writes: readonly RowWrite[], stored: ReadonlyMap<string, Row>): readonly RowWrite[] {
  const taken = writes.flatMap(({ values }) => values ?? [])
  const names = new Set(taken.map(({ name }) => name))
  const routes = new Set(taken.map(({ routeKey }) => routeKey))
  return writes.filter(({ id, values }) => {
    const row = stored.get(id)
    if (row === undefined || values === undefined) return false
    const givesName = row.name !== values.name && names.has(row.name)
    return givesName || (row.route_key !== values.routeKey && routes.has(row.route_key))
  })
}

/** The reason to refuse a record, from the rows of `clashes`; the name is reported first if both are taken. */
export function clashOf(
  rows: readonly Pick<Row, 'name'>[],
  { name }: Pick<EndpointValues, 'name'>,
): StoreClash | undefined {
  if (rows.length === 0) return undefined
  return rows.some((row) => row.name === name) ? 'name' : 'route'
}
