/** The store of the tests of endpoints, of both databases. */
import type { EndpointTestStore } from '../../../domain/ports/endpoint-store-port.ts'
import { type Database, step } from '../database.ts'
import { type NoValues, sql } from '../sql.ts'
import type { Tables } from '../tables.ts'
import { addEntries } from './audit-store.ts'

type Row = Tables['endpoint_tests']
type ById = Readonly<{ id: string }>

const GET = sql<ById, Pick<Row, 'tests'>>`select tests from endpoint_tests where endpoint_id = :id`
const IDS = sql<NoValues, Pick<Row, 'endpoint_id'>>`select endpoint_id from endpoint_tests`
/** A row for every endpoint that exists. */
const FIND = sql<ById, Readonly<{ tests: string | null }>>`
  select endpoint_tests.tests from endpoints
  left join endpoint_tests on endpoint_tests.endpoint_id = endpoints.id where endpoints.id = :id`
const PUT = sql<ById & Readonly<{ tests: string }>>`
  insert into endpoint_tests (endpoint_id, tests) values (:id, :tests)
  on conflict (endpoint_id) do update set tests = excluded.tests`
const REMOVE = sql<ById>`delete from endpoint_tests where endpoint_id = :id`

/** Builds the store over a database whose tables are up to date. */
export function compileEndpointTestStore(database: Database): EndpointTestStore {
  return {
    get: async (id) => (await database.read(GET, { id }))[0]?.tests,
    endpoints: async () => new Set((await database.read(IDS, {})).map(({ endpoint_id: endpointId }) => endpointId)),
    write: (id, tests, expected, entry) =>
      database.transaction(function* () {
        const [stored] = yield* step(FIND, { id })
        if (stored === undefined) return 'gone'
        if ((stored.tests ?? undefined) !== expected) return 'stale'
        if (tests === undefined) yield* step(REMOVE, { id })
        else yield* step(PUT, { id, tests })
        yield* addEntries([entry])
        return 'stored'
      }),
  }
}
