/** What no port shows: that a change and its version stand or fall together, and what becomes of older databases. */

import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import pg from 'pg'
import { compileQueryBuilder as postgresQueries } from '../../../../src/adapters/postgres/dialect.ts'
import { migrate as migratePostgres } from '../../../../src/adapters/postgres/migrate.ts'
import { MIGRATIONS } from '../../../../src/adapters/sql/migrations/migrations.ts'
import { compileMigrations } from '../../../../src/adapters/sqlite/dialect.ts'
import { migrate as migrateSqlite } from '../../../../src/adapters/sqlite/migrate.ts'
import { openSqliteStore } from '../../../../src/adapters/sqlite/open-sqlite-store.ts'
import type { Store } from '../../../../src/domain/ports/store-port.ts'
import { freshPath, lookInto } from '../../../support/adapters/sqlite/folder.ts'
import { endpointOf, idOf } from '../../../support/contracts/records.ts'
import { openPostgres } from '../../../support/contracts/stores.ts'
import { freshDatabase, postgresMissing } from '../../../support/services/postgres.ts'
import { silent } from '../../../support/silent.ts'

type Subject = Readonly<{
  /** Runs statements beside the store. */
  run(text: string): Promise<void>
  /** Brings the tables to where they were after so many migrations. */
  migrate(count: number): Promise<void>
  open(): Promise<Store>
  /** What makes every write to the versions fail. */
  refuseVersions: string
}>

const KINDS: readonly Readonly<{
  name: string
  missing?: string | undefined
  make(test: TestContext): Promise<Subject>
}>[] = [
  {
    name: 'SQLite',
    make: async (test) => {
      const path = freshPath(test)
      return {
        run: async (text) => lookInto(path, (db) => db.exec(text)),
        migrate: async (count) => {
          lookInto(path, (db) => migrateSqlite(db, compileMigrations(MIGRATIONS.slice(0, count))))
        },
        open: () => openSqliteStore({ path, logger: silent }),
        refuseVersions: `create trigger refuse before insert on endpoint_versions begin select raise(abort, 'no'); end`,
      }
    },
  },
  {
    name: 'PostgreSQL',
    missing: postgresMissing(),
    make: async (test) => {
      const { url, uses } = await freshDatabase(test)
      return {
        run: async (text) => {
          const client = new pg.Client({ connectionString: url })
          await client.connect()
          await client.query(text).finally(() => client.end())
        },
        migrate: async (count) => {
          await migratePostgres({
            url,
            queries: postgresQueries(),
            migrations: MIGRATIONS.slice(0, count),
            lockTimeoutMs: 5_000,
          })
        },
        open: async () => {
          const store = await openPostgres(url)
          uses(store.close)
          return store
        },
        refuseVersions: `create function refuse() returns trigger language plpgsql as $$ begin raise 'no'; end $$;
            create trigger refuse before insert on endpoint_versions for each row execute function refuse()`,
      }
    },
  },
]

/** Of all migrations, those before the versions of endpoints. */
const BEFORE = MIGRATIONS.findIndex(({ name }) => name === 'versions of endpoints')

for (const { name, missing, make } of KINDS) {
  describe(name, { skip: missing ?? false }, () => {
    test('makes no change whose version cannot be kept', async (test) => {
      const { run, open, refuseVersions } = await make(test)
      const { endpoints, states, close } = await open()
      const { document } = endpointOf(1)
      await endpoints.insert(endpointOf(1))
      await run(refuseVersions)
      const writes = [
        endpoints.insert(endpointOf(2)),
        endpoints.replace(endpointOf(1, { description: 'changed' }), document),
        endpoints.remove(document),
        // Beside them in one transaction where there is one: it must be none of their business.
        states.append(idOf(1), { values: { kept: true }, lookupStatus: 200, networkError: false }),
      ]
      const settled = await Promise.allSettled(writes)
      assert.deepEqual(
        settled.map(({ status }) => status),
        ['rejected', 'rejected', 'rejected', 'fulfilled'],
      )
      assert.deepEqual(await endpoints.list(), [document])
      assert.equal((await endpoints.versions(idOf(1))).length, 1)
      await close()
    })

    test('has what was there before as version 1', async (test) => {
      const { run, migrate, open } = await make(test)
      await migrate(BEFORE)
      const wild = endpointOf(1, { text: "\\ ' \u0000 \ud800 ü 漢 😀 %_" }).document
      const { createdAt, updatedAt: _updatedAt, __v, ...rest } = wild
      const documents = [
        // As the service writes them, and as another program may have.
        { ...rest, createdAt, updatedAt: '2025-02-03T04:05:06.789Z', __v },
        { ...rest, _id: idOf(2), createdAt, __v, updatedAt: '2025-02-03T04:05:06.789Z' },
      ]
      for (const [n, document] of documents.entries()) {
        const text = JSON.stringify(document).replaceAll("'", "''")
        await run(
          `insert into endpoints (id, name, route_key, document) values ('${document._id}', '${n}', '${n}', '${text}')`,
        )
      }
      const { endpoints, close } = await open()
      const versions = await Promise.all(documents.map(({ _id }) => endpoints.version(_id, 1)))
      assert.deepEqual(
        versions,
        documents.map((document, n) => ({
          version: 1,
          at: n === 0 ? '2025-02-03T04:05:06.789Z' : '1970-01-01T00:00:00.000Z',
          method: 'create',
          origin: {},
          document,
        })),
      )
      await close()
    })
  })
}
