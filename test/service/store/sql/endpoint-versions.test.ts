/** What no port shows: that a change and its version stand or fall together. */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import pg from 'pg'
import { openSqliteStore } from '../../../../src/store/sqlite/open-sqlite-store.ts'
import type { Store } from '../../../../src/store/store.ts'
import {
  endpointOf,
  idOf,
  insertEndpoint,
  removeEndpoint,
  replaceEndpoint,
} from '../../../support/contracts/records.ts'
import { openPostgres } from '../../../support/contracts/stores.ts'
import { freshDatabase, postgresMissing } from '../../../support/services/postgres.ts'
import { silent } from '../../../support/silent.ts'
import { freshPath, lookInto } from '../../../support/store/folder.ts'

type Subject = Readonly<{
  /** Runs statements beside the store. */
  run(text: string): Promise<void>
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

for (const { name, missing, make } of KINDS) {
  describe(name, { skip: missing ?? false }, () => {
    test('makes no change whose version cannot be kept', async (test) => {
      const { run, open, refuseVersions } = await make(test)
      const { endpoints, states, close } = await open()
      const { document } = endpointOf(1)
      await insertEndpoint(endpoints, endpointOf(1))
      await run(refuseVersions)
      const writes = [
        insertEndpoint(endpoints, endpointOf(2)),
        replaceEndpoint(endpoints, endpointOf(1, { description: 'changed' }), document),
        removeEndpoint(endpoints, document),
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
  })
}
