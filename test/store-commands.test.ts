/** The commands of operators, as they are typed. */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { writeRows } from '../src/adapters/postgres/write-rows.ts'
import { MIGRATIONS } from '../src/adapters/sql/migrations.ts'
import { summaryOf } from '../src/adapters/sql/rows.ts'
import { openSqliteStore } from '../src/adapters/sqlite/open-sqlite-store.ts'
import { readRows } from '../src/adapters/sqlite/read-rows.ts'
import { StoreUnavailable } from '../src/domain/ports.ts'
import { lookInto } from './adapters/sqlite/folder.ts'
import { EVERYTHING, endpointOf, filterOf, idOf, stateOf } from './contracts/records.ts'
import { openPostgres, silent } from './contracts/stores.ts'
import { freshDatabase, postgresMissing } from './services/postgres.ts'
import { startTcpProxy } from './services/tcp-proxy.ts'
import { freshFolder, startProgram } from './spawned-service.ts'

const needsPostgres = { skip: postgresMissing() ?? false }

async function run(folder: string, args: readonly string[], env: Record<string, string> = {}) {
  const { output, ended } = startProgram(folder, { args, env: { LOG_LEVEL: 'warn', ...env } })
  const { code } = await ended
  return { code, ...output }
}

describe('migrate', () => {
  test('makes the tables, and finds them made', needsPostgres, async (test) => {
    const { url, query } = await freshDatabase(test)
    for (const _ of [1, 2]) {
      const { code, stdout } = await run(freshFolder(test), ['migrate'], { DATABASE_URL: url })
      assert.deepEqual([code, stdout], [0, 'The tables of the store are up to date.\n'])
    }
    const rows = await query('select version, name from schema_version order by version')
    assert.deepEqual(
      rows,
      MIGRATIONS.map(({ name }, index) => ({ version: index + 1, name })),
    )
  })

  test('makes the tables of a file too', async (test) => {
    const folder = freshFolder(test)
    assert.equal((await run(folder, ['migrate'], { DATABASE_URL: 'sqlite:./made.db' })).code, 0)
    const store = await openSqliteStore({ path: join(folder, 'made.db'), logger: silent })
    assert.deepEqual(await store.endpoints.list(), [])
    await store.close()
  })

  test('refuses a database that cannot be reached, without its password', async (test) => {
    const { code, stdout, stderr } = await run(freshFolder(test), ['migrate'], {
      DATABASE_URL: 'postgres://u:s3cr3t@127.0.0.1:1/x',
      DATABASE_START_TIMEOUT_MS: '0',
    })
    assert.equal(code, 1)
    assert.match(stderr, /^crosswalk: The database of DATABASE_URL cannot be used: .*\n$/)
    assert.ok(!(stdout + stderr).includes('s3cr3t'))
  })
})

const requestOf = (n: number) => ({ endpointId: idOf(n), key: `key ${n}`, fingerprint: `asked ${n}` })

const answerOf = (n: number) => ({
  messageId: `${n}`,
  status: 200,
  headers: { 'set-cookie': ['a', '\u0000 ü \ud800'] },
  body: n === 7 ? undefined : Buffer.from([0, 255, 92, n % 256]),
})

/** A file with endpoints, states and answers as wild as they come. */
async function fillFile(folder: string): Promise<void> {
  const store = await openSqliteStore({ path: join(folder, 'from.db'), logger: silent })
  for (let n = 0; n < 1_203; n += 1) {
    const name = n === 3 ? '\u0000 ü \ud800 😀' : `endpoint ${n}`
    assert.equal(await store.endpoints.insert(endpointOf(n, { name, constants: { '7': n, a: 'b' } })), 'stored')
  }
  await Promise.all(
    Array.from({ length: 700 }, (_, n) =>
      store.states.append(idOf(n % 10), stateOf(`${n}`, 200 + (n % 30), n % 2 === 0)),
    ),
  )
  await store.states.append(idOf(1), stateOf('newest', undefined))
  for (let n = 0; n < 300; n += 1) await store.answers.keep(requestOf(n), 'x', answerOf(n), 3_600_000)
  await store.close()
}

describe('copy-store', () => {
  test('copies everything, says what, and refuses a target that holds something', needsPostgres, async (test) => {
    const { url } = await freshDatabase(test)
    const folder = freshFolder(test)
    await fillFile(folder)
    const first = await run(folder, ['copy-store', '--from', 'sqlite:./from.db', '--to', url])
    assert.deepEqual([first.code, first.stderr], [0, ''])
    assert.match(first.stdout, /^endpoints 1203 rows, sha256 [0-9a-f]{64}$/m)
    assert.match(first.stdout, /^states \d+ rows, sha256 [0-9a-f]{64}$/m)
    assert.match(first.stdout, /^versions 1203 rows, sha256 [0-9a-f]{64}$/m)
    assert.match(first.stdout, /^answers 300 rows, sha256 [0-9a-f]{64}$/m)

    const from = await openSqliteStore({ path: join(folder, 'from.db'), logger: silent })
    const to = await openPostgres(url)
    const documents = await from.endpoints.list()
    assert.equal(JSON.stringify(await to.endpoints.list()), JSON.stringify(documents))
    for (let n = 0; n < 10; n += 1) {
      for (const filter of [EVERYTHING, filterOf('any', 'include'), filterOf([[200, 204]]), filterOf([[205, 205]])])
        assert.deepEqual(await to.states.newest(idOf(n), filter), await from.states.newest(idOf(n), filter))
    }
    assert.deepEqual(await to.endpoints.version(idOf(3), 1), await from.endpoints.version(idOf(3), 1))
    assert.equal((await to.endpoints.newestVersions()).size, 1_203)
    for (const n of [0, 7, 200, 299]) {
      const found = await to.answers.claim(requestOf(n), 'y', 1_000)
      const same = await from.answers.claim(requestOf(n), 'y', 1_000)
      assert.ok(found.kind === 'kept' && same.kind === 'kept')
      assert.deepEqual({ ...found.answer, body: undefined }, { ...same.answer, body: undefined })
      assert.deepEqual(found.answer.body && [...found.answer.body], answerOf(n).body && [...(answerOf(n).body ?? [])])
    }
    // What comes after the copy is newer than all of it, and routes are still taken.
    await to.states.append(idOf(1), stateOf('after the copy', 599))
    assert.deepEqual(await to.states.newest(idOf(1), EVERYTHING), stateOf('after the copy', 599))
    assert.equal(await to.endpoints.insert(endpointOf(5_000, {}, 'POST /route-7')), 'route')
    assert.equal((await to.changes.since(0)).documents.length, 1_203)
    await from.close()
    await to.close()

    const second = await run(folder, ['copy-store', '--from', 'sqlite:./from.db'], { DATABASE_URL: url })
    assert.equal(second.code, 1)
    assert.match(second.stderr, /The target holds endpoints already/)
  })

  const changes = [
    { name: 'an endpoint comes', sql: `insert into endpoints values ('x', 'x', 'x', '{}')` },
    { name: 'an endpoint changes', sql: `update endpoints set document = replace(document, '2024', '2025')` },
    { name: 'an endpoint goes', sql: `delete from endpoints where id = '${idOf(5)}'` },
    { name: 'a state comes', sql: `insert into states values ('${idOf(1)}', 201, 0, 9, '{}')` },
    { name: 'a state changes', sql: 'update states set sequence = sequence + 1' },
    { name: 'an answer changes', sql: 'update kept_answers set until = until + 1' },
  ]
  for (const { name, sql } of changes) {
    test(`copies nothing where ${name} during the copy, and everything the next time`, needsPostgres, async (test) => {
      const { url, query } = await freshDatabase(test)
      const path = join(freshFolder(test), 'from.db')
      const source = await openSqliteStore({ path, logger: silent })
      for (let n = 0; n < 10; n += 1) await source.endpoints.insert(endpointOf(n))
      await source.states.append(idOf(1), stateOf('kept', 200))
      await source.answers.keep(requestOf(1), 'x', answerOf(1), 3_600_000)
      await source.close()
      await (await openPostgres(url)).close()
      let changed = false
      const read = () => {
        const rows = readRows(path)
        // Somebody writes to the file behind the back of the command, once it has been read.
        if (!changed) lookInto(path, (db) => db.exec(sql))
        changed = true
        return rows
      }
      await assert.rejects(writeRows(url, read), /has changed during the copy, so nothing was copied/)
      for (const table of ['endpoints', 'states']) assert.deepEqual(await query(`select 1 from ${table}`), [])
      const rows = readRows(path)
      assert.deepEqual(await writeRows(url, read), summaryOf(rows))
      assert.equal((await query('select 1 from endpoints')).length, rows.endpoints.length)
    })
  }

  test('refuses a file that holds no store, as where its path is wrong', needsPostgres, async (test) => {
    const { url, query } = await freshDatabase(test)
    const folder = freshFolder(test)
    writeFileSync(join(folder, 'empty.db'), '')
    lookInto(join(folder, 'other.db'), (db) => db.exec('create table notes (text)'))
    for (const name of ['empty', 'other']) {
      const { code, stdout, stderr } = await run(folder, ['copy-store', '--from', `sqlite:./${name}.db`, '--to', url])
      assert.deepEqual([code, stdout], [1, ''])
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
      writeRows(proxy.url, () => readRows(path)),
      StoreUnavailable,
    )
  })

  const wrong = [
    {
      from: 'sqlite:./none.db',
      to: 'postgres://u:s3cr3t@127.0.0.1/x',
      expect: /--from is wrong\. There is no such file/,
    },
    { from: 'postgres://u:s3cr3t@127.0.0.1/x', to: 'sqlite:./x.db', expect: /--from is wrong\. .*from SQLite/ },
    { from: 'sqlite:./from.db', to: 'sqlite:./to.db', expect: /--to is wrong\. .*to PostgreSQL/ },
    { from: 'nothing', to: 'postgres://u:s3cr3t@127.0.0.1/x', expect: /--from is wrong\. Give/ },
    { from: 'sqlite:./from.db', to: 'postgres://u:s3cr3t@', expect: /--to is wrong\. Give/ },
  ]
  for (const { from, to, expect } of wrong) {
    test(`refuses ${from} to ${to}`, async (test) => {
      const { code, stdout, stderr } = await run(freshFolder(test), ['copy-store', '--from', from, '--to', to])
      assert.equal(code, 1)
      assert.match(stderr, expect)
      assert.ok(!(stdout + stderr).includes('s3cr3t'))
    })
  }
})
