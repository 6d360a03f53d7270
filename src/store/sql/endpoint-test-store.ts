/**
 * The store of the tests of endpoints, of both databases: one file of tests as JSON text for each. They are deleted with their
 * endpoint and stay when it is replaced.
 */

import { type AuditEntry, addEntries } from './audit-store.ts'
import { type Database, step } from './database.ts'
import { type NoValues, sql } from './sql.ts'
import type { Tables } from './tables.ts'

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

export type EndpointTestStore = ReturnType<typeof compileEndpointTestStore>

/**
 * Builds the store over a database whose tables are up to date. Writes are as durable as those of endpoints; each call rejects
 * with StoreUnavailable if the database does not answer.
 */
export function compileEndpointTestStore(database: Database) {
  return {
    /** Undefined if the endpoint has no tests, or does not exist. */
    get: async (id: string): Promise<string | undefined> => (await database.read(GET, { id }))[0]?.tests,
    /** The ids of the endpoints that have tests. */
    endpoints: async (): Promise<ReadonlySet<string>> =>
      new Set((await database.read(IDS, {})).map(({ endpoint_id: endpointId }) => endpointId)),
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
