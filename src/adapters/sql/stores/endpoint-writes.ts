/**
 * The transaction of every write of endpoint documents, of one or of many. Names and routes are compared with what is stored
 * afterwards: rows of the transaction that give up a name or route that another row takes give it up first, as the unique
 * indexes are checked at each statement.
 */
import { type RawBuilder, sql } from 'kysely'
import type { EndpointWrite, RefusedWrite, StoreClash } from '../../../domain/ports/endpoint-store-port.ts'
import { type SqlDatabase, type SqlDialect, step, type TransactionWork } from '../database.ts'
import { compileRowsStatement } from '../rows-statement.ts'
import { compileStatement, rawQuery } from '../statement.ts'
import { documentText, indexable, keyText, stateRow, type Tables } from '../tables.ts'
import { compileEntries } from './audit-store.ts'
import { type VersionStatements, type VersionValues, versionValues } from './stored-versions.ts'

type Row = Tables['endpoints']
type EndpointValues = Readonly<{ id: string; name: string; routeKey: string; document: string }>

/** A write as its rows. `values`: undefined for a removal; `expected`: undefined for an insertion. */
type RowWrite = Readonly<{
  id: string
  values: EndpointValues | undefined
  expected: string | undefined
  version: VersionValues
  state: (ReturnType<typeof stateRow> & Readonly<{ endpoint_id: string }>) | undefined
}>

type Ids = Readonly<{ ids: string }>
type Clash = Readonly<{ place: number; name: string }>

const COLUMNS = ['id', 'name', 'routeKey', 'document'] as const
const STATE_COLUMNS = ['endpoint_id', 'lookup_status', 'network_error', 'state'] as const

function compileStatements({ queries, elements, lockRows, nextStateSequence }: SqlDialect) {
  const raw = rawQuery(queries)
  const listed = (ids: RawBuilder<string>) => sql`(select listed.value ->> 0 from ${elements(ids)} as listed)`
  return {
    /** In the order of the ids, in which the writers of states lock endpoints too. */
    find: compileStatement<Ids, Row>((value) =>
      raw(sql`select id, name, route_key, document from endpoints where id in ${listed(value('ids'))}
        order by id ${lockRows}`),
    ),
    /** `records`: place, name and route of each; `ids`: the endpoints that are written, whose stored rows do not count. */
    clashes: compileStatement<Ids & Readonly<{ records: string }>, Clash>((value) =>
      raw(sql`select cast(element.value ->> 0 as integer) as place, endpoints.name as name
        from ${elements(value('records'))} as element
        join endpoints on endpoints.name = element.value ->> 1 or endpoints.route_key = element.value ->> 2
        where endpoints.id not in ${listed(value('ids'))}
        order by place`),
    ),
    /** Deletes the states and idempotency keys of the endpoints too, by their foreign keys. */
    remove: compileStatement<Ids>((value) => raw(sql`delete from endpoints where id in ${listed(value('ids'))}`)),
    /** No `keyText` and no `indexable` gives such a key. */
    vacate: compileStatement<Ids>((value) =>
      raw(sql`update endpoints set name = ${sql.lit('\\…')} || id, route_key = ${sql.lit('\\…')} || id
        where id in ${listed(value('ids'))}`),
    ),
    insert: compileRowsStatement(COLUMNS, (rows) =>
      raw(sql`insert into endpoints (id, name, route_key, document) ${rows}`),
    ),
    replace: compileRowsStatement(COLUMNS, (rows) =>
      raw(sql`with given (id, name, route_key, document) as (${rows})
        update endpoints set name = given.name, route_key = given.route_key, document = given.document
        from given where endpoints.id = given.id`),
    ),
    keepState: compileRowsStatement(STATE_COLUMNS, (rows) =>
      // SQLite needs the condition to distinguish `on conflict` from the constraint of a join.
      raw(sql`with given (endpoint_id, lookup_status, network_error, state) as (${rows})
        insert into states (endpoint_id, lookup_status, network_error, sequence, state)
        select endpoint_id, cast(lookup_status as integer), cast(network_error as integer),
          ${nextStateSequence(sql.ref('given.endpoint_id'))}, state
        from given where true
        on conflict (endpoint_id, lookup_status, network_error) do update
        set sequence = excluded.sequence, state = excluded.state`),
    ),
  }
}

/** Builds the function that gives the body of the transaction of some writes. */
export function compileEndpointWrites(
  database: Pick<SqlDatabase, 'dialect' | 'rowsPerWrite'>,
  versions: VersionStatements,
): (writes: readonly EndpointWrite[]) => () => TransactionWork<'stored' | RefusedWrite> {
  const statements = compileStatements(database.dialect)
  const addEntries = compileEntries(database)

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
    const rows = yield* step(statements.clashes, {
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

  return (writes) => {
    const rowWrites = writes.map(rowWriteOf)
    return function* () {
      const changed = rowWrites.filter(({ expected }) => expected !== undefined)
      const rows = changed.length === 0 ? [] : yield* step(statements.find, { ids: idsText(changed) })
      const stored = new Map(rows.map((row) => [row.id, row]))
      const refused = yield* findRefused(rowWrites, stored)
      if (refused !== undefined) return refused
      const removed = rowWrites.filter(({ values }) => values === undefined)
      if (removed.length > 0) yield* step(statements.remove, { ids: idsText(removed) })
      const vacating = vacatingOf(rowWrites, stored)
      if (vacating.length > 0) yield* step(statements.vacate, { ids: idsText(vacating) })
      const valuesOf = (some: readonly RowWrite[]) => some.flatMap(({ values }) => values ?? [])
      yield* statements.insert(valuesOf(rowWrites.filter(({ expected }) => expected === undefined)))
      yield* statements.replace(valuesOf(changed))
      yield* statements.keepState(rowWrites.flatMap(({ state }) => state ?? []))
      yield* versions.add(rowWrites.map(({ version }) => version))
      yield* step(versions.trim, { ids: idsText(rowWrites) })
      if (removed.length > 0) yield* step(versions.trimDeleted, {})
      yield* addEntries(writes.map(({ entry }) => entry))
      return 'stored'
    }
  }
}

function rowWriteOf(write: EndpointWrite): RowWrite {
  const { op, change } = write
  const expected = op === 'insert' ? undefined : documentText(write.expected)
  if (op === 'remove') {
    const { expected: document } = write
    const version = versionValues('delete', document, '', change)
    return { id: document._id, values: undefined, expected, version, state: undefined }
  }
  const { document, routeKey } = write.record
  const { _id: id, name } = document
  const text = documentText(document)
  return {
    id,
    values: { id, name: keyText(name), routeKey: indexable(routeKey), document: text },
    expected,
    version: versionValues(op === 'insert' ? 'create' : 'replace', document, text, change),
    state: write.state && { endpoint_id: id, ...stateRow(write.state) },
  }
}

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
