/** The store of the tests of endpoints, of both databases. */
import type { Kysely } from 'kysely'
import type { EndpointTestStore } from '../../../domain/ports/endpoint-store-port.ts'
import { type SqlDatabase, step } from '../database.ts'
import { compileStatement } from '../statement.ts'
import type { Tables } from '../tables.ts'
import { compileEntries } from './audit-store.ts'

type Row = Tables['endpoint_tests']
type ById = Readonly<{ id: string }>

function compileStatements(queries: Kysely<Tables>) {
  return {
    get: compileStatement<ById, Pick<Row, 'tests'>>((value) =>
      queries.selectFrom('endpoint_tests').select('tests').where('endpoint_id', '=', value('id')),
    ),
    ids: compileStatement<Record<never, never>, Pick<Row, 'endpoint_id'>>(() =>
      queries.selectFrom('endpoint_tests').select('endpoint_id'),
    ),
    /** A row for every endpoint that exists. */
    find: compileStatement<ById, Readonly<{ tests: string | null }>>((value) =>
      queries
        .selectFrom('endpoints')
        .leftJoin('endpoint_tests', 'endpoint_tests.endpoint_id', 'endpoints.id')
        .select('endpoint_tests.tests')
        .where('endpoints.id', '=', value('id')),
    ),
    put: compileStatement<ById & Readonly<{ tests: string }>>((value) =>
      queries
        .insertInto('endpoint_tests')
        .values({ endpoint_id: value('id'), tests: value('tests') })
        .onConflict((conflict) =>
          conflict.column('endpoint_id').doUpdateSet((row) => ({ tests: row.ref('excluded.tests') })),
        ),
    ),
    remove: compileStatement<ById>((value) =>
      queries.deleteFrom('endpoint_tests').where('endpoint_id', '=', value('id')),
    ),
  }
}

/** Builds the store over a database whose tables are up to date. */
export function compileEndpointTestStore(database: SqlDatabase): EndpointTestStore {
  const statements = compileStatements(database.dialect.queries)
  const addEntries = compileEntries(database)
  return {
    get: async (id) => (await database.read(statements.get, { id }))[0]?.tests,
    endpoints: async () =>
      new Set((await database.read(statements.ids, {})).map(({ endpoint_id: endpointId }) => endpointId)),
    write: (id, tests, expected, entry) =>
      database.transaction(function* () {
        const [stored] = yield* step(statements.find, { id })
        if (stored === undefined) return 'gone'
        if ((stored.tests ?? undefined) !== expected) return 'stale'
        if (tests === undefined) yield* step(statements.remove, { id })
        else yield* step(statements.put, { id, tests })
        yield* addEntries([entry])
        return 'stored'
      }),
  }
}
