import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { it } from 'node:test'
import { MIGRATIONS } from '../../../../src/store/sql/migrations.ts'
import { openSqliteStore } from '../../../../src/store/sqlite/open-sqlite-store.ts'
import { StoreUnavailable } from '../../../../src/store/store-access.ts'
import { endpointOf, insertEndpoint } from '../../../support/contracts/records.ts'
import { silent } from '../../../support/silent.ts'
import { assertSound, freshPath, lookInto } from '../../../support/store/folder.ts'

type Arranged = string | undefined
/** `arrange` gives the path, where it is another one. */
const refused: readonly (readonly [name: string, arrange: (path: string) => Arranged, message: RegExp])[] = [
  [
    'a file that is no database',
    (path) => void writeFileSync(path, 'These are notes, and no database at all. '.repeat(100)),
    /^The database .*crosswalk\.db cannot be opened: its file is not an SQLite database; .*DATABASE_URL/,
  ],
  ['a folder in place of the file', (path) => void mkdirSync(path), /cannot be opened: EISDIR.*DATABASE_URL/],
  [
    'a folder that cannot be made',
    (path) => {
      writeFileSync(path, '')
      return join(path, 'data', 'crosswalk.db')
    },
    /cannot be opened: ENOTDIR.*DATABASE_URL/,
  ],
  [
    'tables of another service',
    (path) => lookInto(path, (db) => void db.exec('CREATE TABLE endpoints (other TEXT)')),
    /cannot be opened: .*endpoints.*DATABASE_URL/,
  ],
  [
    'a schema newer than known',
    (path) =>
      lookInto(
        path,
        (db) =>
          void db.exec(`CREATE TABLE schema_version (version INTEGER PRIMARY KEY, name TEXT);
          INSERT INTO schema_version VALUES (1, 'tables'), (999, 'of tomorrow')`),
      ),
    /written by a newer version: its schema has version 999, and this service knows up to \d+; /,
  ],
  [
    'a store of version 0.1',
    (path) =>
      lookInto(
        path,
        (db) =>
          void db.exec(`CREATE TABLE schema_version (version INTEGER PRIMARY KEY, name TEXT);
          INSERT INTO schema_version VALUES (1, 'endpoints and states'), (2, 'what instances tell each other')`),
      ),
    /^The database .*crosswalk\.db was written by version 0\.1, which this version cannot open \(.*\); start that version, or name another file in DATABASE_URL\.$/,
  ],
]
for (const [name, arrange, message] of refused) {
  it(`refuses ${name} in one sentence, and leaves it as it is`, async (test) => {
    const fresh = freshPath(test)
    const path = arrange(fresh) ?? fresh
    const before = statSync(fresh).isFile() ? contentOf(fresh) : undefined
    await assert.rejects(openSqliteStore({ path, logger: silent }), (thrown) => {
      assert.ok(thrown instanceof StoreUnavailable)
      assert.match(thrown.message, message)
      return true
    })
    if (before !== undefined) assert.deepEqual(contentOf(fresh), before)
  })
}

/** The tables of a database, as a change to WAL mode touches its bytes; the bytes of any other file. */
function contentOf(file: string): unknown {
  const bytes = readFileSync(file)
  if (!bytes.toString('latin1').startsWith('SQLite format 3')) return bytes
  return lookInto(file, (db) => db.prepare('SELECT * FROM sqlite_schema').all())
}

it('makes the folder and a file in WAL mode that only its owner can read', async (test) => {
  const path = join(dirname(freshPath(test)), 'a', 'b', 'crosswalk.db')
  const store = await openSqliteStore({ path, logger: silent })
  await insertEndpoint(store.endpoints, endpointOf(1))
  for (const suffix of ['', '-wal', '-shm']) assert.equal(statSync(path + suffix).mode & 0o777, 0o600)
  assert.equal(lookInto(path, (db) => db.prepare('PRAGMA journal_mode').get())?.journal_mode, 'wal')
  await store.close()
  assertSound(path)
})

it('runs each migration once and reports it', async (test) => {
  const path = freshPath(test)
  const reported: object[] = []
  const logger = { ...silent, info: (fields: object) => void reported.push(fields) }
  for (const _ of [1, 2]) await (await openSqliteStore({ path, logger })).close()
  const names = MIGRATIONS.map(({ name }) => name)
  assert.deepEqual(reported, [{ path, migrations: names }])
  const rows = lookInto(path, (db) => db.prepare('SELECT version, name FROM schema_version').all())
  assert.deepEqual(
    rows.map((row) => ({ ...row })),
    names.map((name, index) => ({ version: index + 1, name })),
  )
})

it('keeps databases in memory apart', async () => {
  const open = () => openSqliteStore({ path: ':memory:', logger: silent })
  const [one, other] = await Promise.all([open(), open()])
  await insertEndpoint(one.endpoints, endpointOf(1))
  assert.deepEqual(await other.endpoints.list(), [])
  for (const store of [one, other]) await store.close()
})
