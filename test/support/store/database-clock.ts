/** Stores whose clock the test sets: what is due, leases and times of deliveries follow it. */
import type { TestContext } from 'node:test'
import pg from 'pg'
import { openSqliteStore } from '../../../src/store/sqlite/open-sqlite-store.ts'
import type { Store } from '../../../src/store/store.ts'
import { openPostgres } from '../contracts/stores.ts'
import { freshDatabase } from '../services/postgres.ts'
import { silent } from '../silent.ts'

export type ClockedDatabase = Readonly<{
  /** As an instance opens it; closed with the test. */
  open(): Promise<Store>
  /** Milliseconds since the epoch. Time stands still between two calls. */
  setClock(ms: number): Promise<void>
  /** What works on the stores ends before they close, the last first. */
  uses(end: () => unknown): void
}>

/** In memory: the store of each `open` is a new one. */
export function clockedSqlite(test: TestContext, startMs: number): ClockedDatabase {
  let now = startMs
  const users: (() => unknown)[] = []
  test.after(async () => {
    for (const end of users.toReversed()) await end()
  })
  return {
    open: async () => {
      const store = await openSqliteStore({ path: ':memory:', logger: silent, clock: () => now })
      users.push(() => store.close())
      return store
    },
    setClock: async (ms) => {
      now = ms
    },
    uses: (end) => void users.push(end),
  }
}

/** One database for all that open it. A schema that is searched before that of the system has its own `clock_timestamp`. */
export async function clockedPostgres(test: TestContext, startMs: number): Promise<ClockedDatabase> {
  const database = await freshDatabase(test)
  const name = new URL(database.url).pathname.slice(1)
  await database.query(`create schema clock; create table clock.now (at timestamptz not null);
    insert into clock.now values (to_timestamp(${startMs / 1000}));
    create function clock.clock_timestamp() returns timestamptz language sql stable as 'select at from clock.now';
    alter database ${name} set search_path = public, clock, pg_catalog`)
  const clock = new pg.Client({ connectionString: database.url })
  await clock.connect()
  database.uses(() => clock.end())
  return {
    open: async () => {
      const store = await openPostgres(database.url)
      database.uses(() => store.close())
      return store
    },
    setClock: async (ms) => {
      await clock.query('update clock.now set at = to_timestamp($1)', [ms / 1000])
    },
    uses: database.uses,
  }
}
