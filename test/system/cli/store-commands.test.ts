/** The commands of operators, as they are typed. */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { copyInto } from '../../../src/store/postgres/copy-into.ts'
import type { AuditEntry } from '../../../src/store/sql/audit-store.ts'
import { COPIED } from '../../../src/store/sql/copied-tables.ts'
import type { StoredKey } from '../../../src/store/sql/key-store.ts'
import { MIGRATIONS } from '../../../src/store/sql/migrations.ts'
import { openSqliteStore } from '../../../src/store/sqlite/open-sqlite-store.ts'
import { openSnapshot } from '../../../src/store/sqlite/sqlite-file.ts'
import type { Store } from '../../../src/store/store.ts'
import { StoreUnavailable } from '../../../src/store/store-access.ts'
import {
  EVERYTHING,
  endpointOf,
  filterOf,
  idOf,
  insertEndpoint,
  removeEndpoint,
  stateOf,
} from '../../support/contracts/records.ts'
import { openPostgres } from '../../support/contracts/stores.ts'
import { freshDatabase, postgresMissing } from '../../support/services/postgres.ts'
import { startTcpProxy } from '../../support/services/tcp-proxy.ts'
import { silent } from '../../support/silent.ts'
import { freshFolder, startProgram } from '../../support/spawned-service.ts'
import { lookInto } from '../../support/store/folder.ts'

const needsPostgres = { skip: postgresMissing() ?? false }

async function run(folder: string, args: readonly string[], env: Record<string, string> = {}) {
  const { output, ended } = startProgram(folder, { args, env: { LOG_LEVEL: 'warn', ...env } })
  const { code } = await ended
  return { code, ...output }
}

describe('migrate', () => {
  test('makes the tables, and finds them made', needsPostgres, async (test) => {
    const { url, query } = await freshDatabase(test)
    const { host, pathname } = new URL(url)
    const store = `postgres://${host}${pathname}`
    for (const said of [
      `Created a new store: ${store}. A service uses it if its DATABASE_URL names it.\n`,
      `Store: ${store}\n`,
    ]) {
      const { code, stdout, stderr } = await run(freshFolder(test), ['migrate'], { DATABASE_URL: url })
      assert.deepEqual([code, stdout, stderr], [0, 'The tables of the store are up to date.\n', said])
    }
    const rows = await query('select version, name from schema_version order by version')
    assert.deepEqual(
      rows,
      MIGRATIONS.map(({ name }, index) => ({ version: index + 1, name })),
    )
  })

  test('makes the tables of a file too', async (test) => {
    const folder = freshFolder(test)
    const { code, stderr } = await run(folder, ['migrate'], { DATABASE_URL: 'sqlite:./made.db' })
    assert.equal(code, 0)
    assert.ok(stderr.startsWith(`Created a new store: sqlite:${join(folder, 'made.db')}. `), stderr)
    const store = await openSqliteStore({ path: join(folder, 'made.db'), logger: silent })
    assert.deepEqual(await store.endpoints.list(), [])
    await store.close()
  })

  test('refuses a database that cannot be reached, without its password', async (test) => {
    const { code, stdout, stderr } = await run(freshFolder(test), ['migrate'], {
      DATABASE_URL: 'postgres://u:s3cr3t@127.0.0.1:1/x',
      DATABASE_START_TIMEOUT_MS: '0',
    })
    assert.equal(code, 3)
    assert.match(stderr, /^crosswalk: The database of DATABASE_URL cannot be used: .*\n$/)
    assert.ok(!(stdout + stderr).includes('s3cr3t'))
  })
})

const requestOf = (n: number) => ({ endpointId: idOf(n), key: `key ${n}`, fingerprint: `asked ${n}` })

const responseOf = (n: number) => ({
  messageId: `${n}`,
  status: 200,
  headers: { 'set-cookie': ['a', '\u0000 ü \ud800'] },
  body: n === 7 ? undefined : Buffer.from([0, 255, 92, n % 256]),
})

const keyOf = (n: number): StoredKey => ({
  id: n.toString(16).padStart(16, '0'),
  name: n === 2 ? '\u0000 ü \ud800' : `key ${n}`,
  roles: n === 1 ? ['admin'] : ['viewer', 'author'],
  hash: n.toString(16).padStart(64, '0'),
  createdAt: '2024-01-01T00:00:00.000Z',
})

const auditOf = (n: number): AuditEntry => ({
  id: idOf(n),
  at: '1970-01-01T00:00:00.000Z',
  who: n % 2 === 0 ? 'unknown' : `key:${n}`,
  name: n === 3 ? '\u0000 ü \ud800' : `name ${n}`,
  what: 'PUT /endpoints/{id}',
  target: idOf(n),
  status: n % 2 === 0 ? 401 : 200,
})

const testsOf = (n: number): string => JSON.stringify({ tests: [{ name: `ü \u0000 \ud800 ${n}` }] })

/** A file with endpoints, tests, states, cached responses, keys and audit entries whose texts databases may reject. */
async function fillFile(folder: string): Promise<void> {
  const store = await openSqliteStore({ path: join(folder, 'from.db'), logger: silent })
  for (let n = 0; n < 1_203; n += 1) {
    const name = n === 3 ? '\u0000 ü \ud800 😀' : `endpoint ${n}`
    assert.equal(
      await insertEndpoint(store.endpoints, endpointOf(n, { name, constants: { '7': n, a: 'b' } })),
      'stored',
    )
  }
  await Promise.all(
    Array.from({ length: 700 }, (_, n) =>
      store.states.append(idOf(n % 10), stateOf(`${n}`, 200 + (n % 30), n % 2 === 0)),
    ),
  )
  await store.states.append(idOf(1), stateOf('newest', undefined))
  for (let n = 0; n < 300; n += 1) await store.idempotency.complete(requestOf(n), 'x', responseOf(n), 3_600_000)
  for (const n of [1, 2]) assert.equal(await store.tests.write(idOf(n), testsOf(n), undefined), 'stored')
  for (const n of [1, 2, 3]) await store.keys.insert(keyOf(n))
  assert.ok(await store.keys.revoke(keyOf(3).id, '2024-02-01T00:00:00.000Z'))
  await Promise.all(Array.from({ length: 2_500 }, (_, n) => store.audit.append(auditOf(n))))
  for (const path of ['\u0000 ü \ud800', undefined]) {
    const group = { endpointId: idOf(1), stage: 'map', code: undefined, path }
    await store.failureGroups.put(group, { state: 'ignored', note: '\ud800', by: 'key:1', at: '2024-01-01' }, 10)
  }
  const rows = Buffer.alloc(600_000, 'ü')
  await store.tables.keep(idOf(9), rows)
  const head = { columns: ['code', 'ü'], rows: 1, bytes: rows.byteLength }
  const change = { at: '2024-01-01T00:00:00.000Z', origin: { note: '\ud800' } } as const
  const made = {
    name: 'sex',
    before: 0,
    table: { head, content: idOf(9) },
    change: { ...change, method: 'create' },
  } as const
  await store.endpoints.writeAll([], [made])
  await store.endpoints.writeAll(
    [],
    [{ name: 'sex', before: 1, table: undefined, change: { ...change, method: 'delete' } }],
  )
  await store.close()
}

describe('copy-store', () => {
  test('copies everything, says what, and refuses a target that holds something', needsPostgres, async (test) => {
    const { url } = await freshDatabase(test)
    const folder = freshFolder(test)
    await fillFile(folder)
    const first = await run(folder, ['copy-store', '--from', 'sqlite:./from.db', '--to', url])
    assert.deepEqual([first.code, first.stderr], [0, ''])
    const { host, pathname } = new URL(url)
    const said = `Copied from sqlite:${join(folder, 'from.db')} to postgres://${host}${pathname}, read back and found the same:\n`
    assert.ok(first.stdout.startsWith(said), first.stdout)
    const counts = {
      endpoints: 1_203,
      versions: 1_203,
      tests: 2,
      answers: 300,
      keys: 3,
      audit: 2_500,
      groups: 2,
      tables: 2,
      tableParts: 3,
    }
    for (const [what, rows] of Object.entries({ ...counts, states: '\\d+' }))
      assert.match(first.stdout, new RegExp(`^${what} ${rows} rows, sha256 [0-9a-f]{64}$`, 'm'))
    assert.match(
      first.stdout,
      /^Not copied: the message log, captures, plans of replays, unmapped codes and the counts of messages; the files keep them\.$/m,
    )

    const from = await openSqliteStore({ path: join(folder, 'from.db'), logger: silent })
    const to = await openPostgres(url)
    assert.deepEqual(await to.tables.versions('sex'), await from.tables.versions('sex'))
    assert.deepEqual(await to.tables.read(idOf(9), 600_000), await from.tables.read(idOf(9), 600_000))
    const documents = await from.endpoints.list()
    assert.equal(JSON.stringify(await to.endpoints.list()), JSON.stringify(documents))
    for (let n = 0; n < 10; n += 1) {
      for (const filter of [EVERYTHING, filterOf('any', 'include'), filterOf([[200, 204]]), filterOf([[205, 205]])])
        assert.deepEqual(await to.states.newest(idOf(n), filter), await from.states.newest(idOf(n), filter))
    }
    assert.deepEqual(await to.endpoints.version(idOf(3), 1), await from.endpoints.version(idOf(3), 1))
    assert.equal((await to.endpoints.newestVersions()).size, 1_203)
    for (const n of [0, 7, 200, 299]) {
      const found = await to.idempotency.claim(requestOf(n), 'y', 1_000)
      const same = await from.idempotency.claim(requestOf(n), 'y', 1_000)
      assert.ok(found.kind === 'completed' && same.kind === 'completed')
      assert.deepEqual({ ...found.response, body: undefined }, { ...same.response, body: undefined })
      assert.deepEqual(
        found.response.body && [...found.response.body],
        responseOf(n).body && [...(responseOf(n).body ?? [])],
      )
    }
    for (const n of [1, 2, 3]) assert.equal(await to.tests.get(idOf(n)), await from.tests.get(idOf(n)))
    assert.deepEqual(await to.keys.list(), await from.keys.list())
    assert.equal((await to.keys.get(keyOf(3).id))?.revokedAt, '2024-02-01T00:00:00.000Z')
    assert.deepEqual(await to.audit.find({}, 3_000), await from.audit.find({}, 3_000))
    assert.deepEqual(await to.failureGroups.list(), await from.failureGroups.list())
    // What comes after the copy is newer than all of it, and routes are still taken.
    await to.states.append(idOf(1), stateOf('after the copy', 599))
    assert.deepEqual(await to.states.newest(idOf(1), EVERYTHING), stateOf('after the copy', 599))
    assert.equal(await insertEndpoint(to.endpoints, endpointOf(5_000, {}, 'POST /route-7')), 'claim')
    assert.equal((await to.changes.since(0)).documents.length, 1_203)
    await from.close()
    await to.close()

    const second = await run(folder, ['copy-store', '--from', 'sqlite:./from.db'], { DATABASE_URL: url })
    assert.equal(second.code, 3)
    assert.match(second.stderr, /The target holds endpoints already/)
  })

  const held: readonly Readonly<{ what: string; fill(store: Store): Promise<unknown> }>[] = [
    { what: 'an audit log', fill: ({ audit }) => audit.append(auditOf(1)) },
    {
      what: 'versions of endpoints',
      fill: async ({ endpoints }) => {
        await insertEndpoint(endpoints, endpointOf(1))
        await removeEndpoint(endpoints, endpointOf(1).document)
      },
    },
  ]
  for (const { what, fill } of held) {
    test(`refuses a target that holds ${what}, and leaves it as it is`, needsPostgres, async (test) => {
      const { url, query } = await freshDatabase(test)
      const target = await openPostgres(url)
      await fill(target)
      await target.close()
      const path = join(freshFolder(test), 'from.db')
      const source = await openSqliteStore({ path, logger: silent })
      await insertEndpoint(source.endpoints, endpointOf(2))
      await source.close()
      const refusal = new RegExp(`The target holds ${what} already; copy into an empty database`)
      await assert.rejects(
        copyInto(url, () => openSnapshot(path)),
        refusal,
      )
      assert.deepEqual(await query('select 1 from endpoints'), [])
      const left = await query(
        'select 1 from api_keys union all select 1 from audit union all select 1 from endpoint_versions',
      )
      assert.ok(left.length > 0)
    })
  }

  test('needs no more memory for a large store than for a small one', needsPostgres, async (test) => {
    const { url } = await freshDatabase(test)
    const folder = freshFolder(test)
    const store = await openSqliteStore({ path: join(folder, 'from.db'), logger: silent })
    await insertEndpoint(store.endpoints, endpointOf(1))
    const values = { requestBody: { text: 'x'.repeat(1_000_000) } }
    for (let status = 200; status < 290; status += 1) {
      await store.states.append(idOf(1), { values, lookupStatus: status, networkError: false })
    }
    for (let n = 0; n < 10; n += 1) {
      await store.idempotency.complete(
        { ...requestOf(1), key: `${n}` },
        'x',
        { ...responseOf(1), body: Buffer.alloc(1_000_000, n) },
        3_600_000,
      )
    }
    await store.close()
    const args = ['copy-store', '--from', 'sqlite:./from.db', '--to', url]
    const { code, stdout, stderr } = await run(folder, args, { NODE_OPTIONS: '--max-old-space-size=64' })
    assert.deepEqual([code, stderr], [0, ''])
    assert.match(stdout, /^states 90 rows/m)
    assert.match(stdout, /^answers 10 rows/m)
  })

  const changes = [
    { name: 'an endpoint changes', sql: `update endpoints set document = replace(document, '2024', '2025')` },
    { name: 'a state comes', sql: `insert into states values ('${idOf(1)}', 201, 0, 9, '{}')` },
    { name: 'an audit entry comes', sql: `insert into audit values ('x', 'x', '', 'x', '', 0, '{}')` },
  ]
  for (const { name, sql } of changes) {
    test(`copies nothing where ${name} during the copy, and everything the next time`, needsPostgres, async (test) => {
      const { url, query } = await freshDatabase(test)
      const path = join(freshFolder(test), 'from.db')
      const source = await openSqliteStore({ path, logger: silent })
      for (let n = 0; n < 10; n += 1) await insertEndpoint(source.endpoints, endpointOf(n))
      await source.states.append(idOf(1), stateOf('kept', 200))
      await source.idempotency.complete(requestOf(1), 'x', responseOf(1), 3_600_000)
      await source.keys.insert(keyOf(1))
      await source.close()
      await (await openPostgres(url)).close()
      let changed = false
      const open = () => {
        const snapshot = openSnapshot(path)
        // Another process writes to the file after the command has started to read.
        if (!changed) lookInto(path, (db) => db.exec(sql))
        changed = true
        return snapshot
      }
      await assert.rejects(copyInto(url, open), /has changed during the copy, so nothing was copied/)
      for (const { table } of Object.values(COPIED)) assert.deepEqual(await query(`select 1 from ${table}`), [])
      const { endpoints, keys } = await copyInto(url, open)
      assert.equal((await query('select 1 from endpoints')).length, endpoints.rows)
      assert.deepEqual([(await query('select 1 from api_keys')).length, keys.rows], [1, 1])
    })
  }

  test('refuses a file that holds no store, as where its path is wrong', needsPostgres, async (test) => {
    const { url, query } = await freshDatabase(test)
    const folder = freshFolder(test)
    writeFileSync(join(folder, 'empty.db'), '')
    lookInto(join(folder, 'other.db'), (db) => db.exec('create table notes (text)'))
    for (const name of ['empty', 'other']) {
      const { code, stdout, stderr } = await run(folder, ['copy-store', '--from', `sqlite:./${name}.db`, '--to', url])
      assert.deepEqual([code, stdout], [3, ''])
      assert.match(stderr, /holds no store of this service: is its path right\?/)
    }
    assert.equal(readFileSync(join(folder, 'empty.db')).length, 0)
    assert.deepEqual(await query(`select 1 from pg_class where relname = 'schema_version'`), [])
  })

  test('gives up where the target stalls', needsPostgres, async (test) => {
    const database = await freshDatabase(test)
    await (await openPostgres(database.url)).close()
    const proxy = await startTcpProxy(database.url)
    database.uses(proxy.stop)
    proxy.stallAt('select version from configuration for update')
    const path = join(freshFolder(test), 'from.db')
    await (await openSqliteStore({ path, logger: silent })).close()
    await assert.rejects(
      copyInto(proxy.url, () => openSnapshot(path)),
      StoreUnavailable,
    )
  })

  const wrong = [
    {
      from: 'sqlite:./none.db',
      to: 'postgres://u:s3cr3t@127.0.0.1/x',
      expect: /--from is wrong\. There is no file \S+\.\n/,
    },
    { from: 'postgres://u:s3cr3t@127.0.0.1/x', to: 'sqlite:./x.db', expect: /--from is wrong\. .*from SQLite/ },
    { from: 'nothing', to: 'postgres://u:s3cr3t@127.0.0.1/x', expect: /--from is wrong\. Give/ },
    { from: 'sqlite:./from.db', to: 'postgres://u:s3cr3t@', expect: /--to is wrong\. Give/ },
  ]
  for (const { from, to, expect } of wrong) {
    test(`refuses ${from} to ${to}`, async (test) => {
      const { code, stdout, stderr } = await run(freshFolder(test), ['copy-store', '--from', from, '--to', to])
      assert.equal(code, 3)
      assert.match(stderr, expect)
      assert.ok(!(stdout + stderr).includes('s3cr3t'))
    })
  }
})
