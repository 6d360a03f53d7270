/** Every store that exists, so that one suite of cases runs over each: a new adapter is one more entry. The short form has SQLite alone. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, beforeEach, describe } from 'node:test'
import { openPostgresStore } from '../../../src/store/postgres/open-postgres-store.ts'
import { openSqliteStore } from '../../../src/store/sqlite/open-sqlite-store.ts'
import type { Store } from '../../../src/store/store.ts'
import { LONG } from '../form.ts'
import { createDatabase, postgresMissing } from '../services/postgres.ts'
import { silent } from '../silent.ts'

export type StoreKind = Readonly<{
  name: string
  /** Whether what was written is there again after closing and opening. */
  durable: boolean
  /** Whether it answers a read at once, before any write that comes after it. */
  readsAtOnce: boolean
  /** Why its cases cannot run here. */
  missing?: string | undefined
  /** A new, empty database. */
  create(): Database | Promise<Database>
}>

export type Database = Readonly<{
  open(): Promise<Store>
  /** Where that is cheaper than a new one: leaves it as new. It is not open meanwhile. */
  empty?(): Promise<void>
  drop(): void | Promise<void>
}>

export const STORES: readonly StoreKind[] = [
  { name: 'SQLite in a file', durable: true, readsAtOnce: true, create: () => createSqliteFile() },
  {
    name: 'SQLite in memory',
    durable: false,
    readsAtOnce: true,
    create: () => ({ open: () => openSqliteStore({ path: ':memory:', logger: silent }), drop() {} }),
  },
  ...(LONG
    ? [
        {
          name: 'PostgreSQL',
          durable: true,
          readsAtOnce: false,
          missing: postgresMissing(),
          create: createPostgresDatabase,
        },
      ]
    : []),
]

/** As the workers of a service have it. */
export const SHARED_SQLITE: StoreKind = {
  name: 'SQLite that processes share',
  durable: true,
  readsAtOnce: true,
  create: () => createSqliteFile(true),
}

function createSqliteFile(shared = false): Database {
  const folder = mkdtempSync(join(tmpdir(), 'crosswalk-store-'))
  return {
    open: () => openSqliteStore({ path: join(folder, 'data', 'crosswalk.db'), logger: silent, shared }),
    drop: () => rmSync(folder, { recursive: true }),
  }
}

/** As an instance opens it, but for the patience at start. */
export const openPostgres = (url: string, logger = silent) =>
  openPostgresStore({ url, poolSize: 10, timeoutMs: 5_000, startTimeoutMs: 0, logger })

async function createPostgresDatabase(): Promise<Database> {
  const database = await createDatabase()
  return { open: () => openPostgres(database.url), empty: database.empty, drop: database.drop }
}

/** What the cases of a suite work with: an empty store for each case. */
export type Stage = { kind: StoreKind; store: Store; reopen(): Promise<void> }

/** Declares a suite for every store, or those; `store` is open and empty at the start of each case. */
export function describeStores(subject: string, declareCases: (stage: Stage) => void, kinds = STORES): void {
  for (const kind of kinds) {
    describe(`${subject} over ${kind.name}`, { skip: kind.missing ?? false }, () => {
      let database: Database | undefined
      const stage: Stage = {
        kind,
        store: undefined as never,
        async reopen() {
          await stage.store.close()
          if (database !== undefined) stage.store = await database.open()
        },
      }
      const drop = async () => {
        if (database === undefined) return
        await stage.store.close()
        await database.drop()
      }
      beforeEach(async () => {
        if (database?.empty === undefined) {
          await drop()
          database = await kind.create()
        } else {
          await stage.store.close()
          await database.empty()
        }
        stage.store = await database.open()
      })
      after(drop)
      declareCases(stage)
    })
  }
}
