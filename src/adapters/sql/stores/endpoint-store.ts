/** The store of endpoint documents with their versions, of both databases. */
import type { Kysely } from 'kysely'
import type { EndpointRecord, EndpointStore, StoreClash } from '../../../domain/ports/endpoint-store-port.ts'
import { type SqlDatabase, step, type TransactionWork } from '../database.ts'
import { compileStatement } from '../statement.ts'
import { documentOf, documentText, indexable, keyText, type Tables } from '../tables.ts'
import {
  compileVersionStatements,
  deletionValues,
  newestOf,
  summaryOf,
  type VersionValues,
  versionOf,
  versionValues,
} from './stored-versions.ts'

type Row = Tables['endpoints']
type EndpointValues = Readonly<{ id: string; name: string; routeKey: string; document: string }>
type ById = Pick<EndpointValues, 'id'>

const UNIQUE_INDEXES: Readonly<Record<string, StoreClash>> = { endpoints_name: 'name', endpoints_route_key: 'route' }

function compileStatements(queries: Kysely<Tables>) {
  return {
    list: compileStatement<Record<never, never>, Pick<Row, 'document'>>(() =>
      queries.selectFrom('endpoints').select('document').orderBy('id'),
    ),
    get: compileStatement<ById, Pick<Row, 'document'>>((value) =>
      queries.selectFrom('endpoints').select('document').where('id', '=', value('id')),
    ),
    /** Other endpoints with the same name or route; at most two rows, as both are unique. */
    clashes: compileStatement<Omit<EndpointValues, 'document'>, Pick<Row, 'name'>>((value) =>
      queries
        .selectFrom('endpoints')
        .select('name')
        .where('id', '<>', value('id'))
        .where((where) => where.or([where('name', '=', value('name')), where('route_key', '=', value('routeKey'))])),
    ),
    insert: compileStatement<EndpointValues>((value) =>
      queries.insertInto('endpoints').values({
        id: value('id'),
        name: value('name'),
        route_key: value('routeKey'),
        document: value('document'),
      }),
    ),
    replace: compileStatement<EndpointValues>((value) =>
      queries
        .updateTable('endpoints')
        .set({ name: value('name'), route_key: value('routeKey'), document: value('document') })
        .where('id', '=', value('id')),
    ),
    /** Deletes the states and idempotency keys of the endpoint too, by their foreign keys. */
    remove: compileStatement<ById>((value) => queries.deleteFrom('endpoints').where('id', '=', value('id'))),
  }
}

/** Builds the store over a database whose tables are up to date. `close` closes the database. */
export function compileEndpointStore(database: SqlDatabase, close: () => Promise<void>): EndpointStore {
  const { queries } = database.dialect
  const statements = compileStatements(queries)
  const versions = compileVersionStatements(queries)

  /** In the transaction of the change. */
  function* addVersion(version: VersionValues): TransactionWork<void> {
    yield* step(versions.add, version)
    yield* step(versions.trim, version)
    if (version.document === '') yield* step(versions.trimDeleted, {})
  }

  function* findConflict(id: string, expected: string): TransactionWork<'gone' | 'stale' | undefined> {
    const [row] = yield* step(statements.get, { id })
    if (row === undefined) return 'gone'
    return row.document === expected ? undefined : 'stale'
  }

  function* findClash(values: EndpointValues): TransactionWork<StoreClash | undefined> {
    return clashOf(yield* step(statements.clashes, values), values)
  }

  /** The unique indexes decide even if a writer outside the service has changed the table since the check. */
  async function writeUnique<T>(work: () => TransactionWork<T>): Promise<T | StoreClash> {
    try {
      return await database.transaction(work)
    } catch (thrown) {
      const clash = UNIQUE_INDEXES[database.violatedIndex(thrown) ?? '']
      if (clash === undefined) throw thrown
      return clash
    }
  }

  return {
    list: async () => (await database.read(statements.list, {})).map(documentOf),
    get: async (id) => (await database.read(statements.get, { id })).map(documentOf)[0],
    insert: async (record, change) => {
      const values = endpointValues(record)
      const version = versionValues('create', record, change)
      return writeUnique(function* () {
        const clash = yield* findClash(values)
        if (clash !== undefined) return clash
        yield* step(statements.insert, values)
        yield* addVersion(version)
        return 'stored'
      })
    },
    replace: async (record, expected, change) => {
      const values = endpointValues(record)
      const version = versionValues('replace', record, change)
      const expectedText = documentText(expected)
      return writeUnique(function* () {
        const refused = (yield* findConflict(values.id, expectedText)) ?? (yield* findClash(values))
        if (refused !== undefined) return refused
        yield* step(statements.replace, values)
        yield* addVersion(version)
        return 'stored'
      })
    },
    remove: async (expected, change) => {
      const id = expected._id
      const version = deletionValues(expected, change)
      const expectedText = documentText(expected)
      return database.transaction(function* () {
        const conflict = yield* findConflict(id, expectedText)
        if (conflict !== undefined) return conflict
        yield* step(statements.remove, { id })
        yield* addVersion(version)
        return 'removed'
      })
    },
    versions: async (id) => (await database.read(versions.list, { id })).map(summaryOf),
    version: async (id, version) => (await database.read(versions.get, { id, version })).map(versionOf)[0],
    newestVersions: async () => newestOf(await database.read(versions.newest, {})),
    ping: () => database.ping(),
    close,
  }
}

const endpointValues = ({ document, routeKey }: EndpointRecord): EndpointValues => ({
  id: document._id,
  name: keyText(document.name),
  routeKey: indexable(routeKey),
  document: documentText(document),
})

/** The reason to refuse a write, from the rows of `clashes`; the name is reported first if both are taken. */
export function clashOf(
  rows: readonly Pick<Row, 'name'>[],
  { name }: Pick<EndpointValues, 'name'>,
): StoreClash | undefined {
  if (rows.length === 0) return undefined
  return rows.some((row) => row.name === name) ? 'name' : 'route'
}
