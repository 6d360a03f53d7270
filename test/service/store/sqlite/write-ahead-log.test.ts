import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, statSync, symlinkSync, utimesSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import type { EndpointRecord } from '../../../../src/store/sql/endpoint-store.ts'
import { checkpoint, compileLogFile, GroupCommit } from '../../../../src/store/sqlite/group-commit.ts'
import { openSqliteStore } from '../../../../src/store/sqlite/open-sqlite-store.ts'
import { StoreUnavailable } from '../../../../src/store/store-access.ts'
import { insertEndpoint } from '../../../support/contracts/records.ts'
import { silent } from '../../../support/silent.ts'
import { assertSound, freshPath, lookInto } from '../../../support/store/folder.ts'

/** How often the log of a database has begun anew, and its size (https://www.sqlite.org/fileformat2.html#walformat). */
function logOf(path: string): Readonly<{ begun: number; pages: number }> {
  const log = readFileSync(`${path}-wal`)
  return { begun: log.readUInt32BE(12), pages: log.length / (4_096 + 24) }
}

/** Where SQLite brings the log into the database on the thread that wrote it. */
const AUTOMATIC_PAGES = 1_000

function recordOf(n: number): EndpointRecord {
  const at = '2026-11-22T00:00:00.000Z'
  const document = { _id: n.toString(16).padStart(24, '0'), name: `n${n}`, createdAt: at, updatedAt: at } as const
  return { document: { ...document, __v: 0 }, claims: [{ key: `POST /${n}` }] }
}

test('a flush fails where the log is not there, and not once it is', async (t) => {
  const path = freshPath(t)
  const { flush, close } = compileLogFile(path)
  assert.deepEqual(
    (await Promise.allSettled([flush(), flush(), flush()])).map((one) => one.status === 'rejected' && one.reason.name),
    Array(3).fill(StoreUnavailable.name),
  )
  using db = new DatabaseSync(path)
  db.exec('PRAGMA journal_mode = WAL; CREATE TABLE kept (n)')
  await Promise.all([flush(), flush(), flush()])
  await flush()
  close()
})

test('a log that is written over holds what it held, and all of it was written', async (t) => {
  const path = freshPath(t)
  const { flush, rewrite, close } = compileLogFile(path)
  assert.throws(rewrite, StoreUnavailable)
  {
    using db = new DatabaseSync(path)
    db.exec('PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE kept (n)')
    const insert = db.prepare('INSERT INTO kept VALUES (?)')
    // More than is written over at once.
    for (let n = 0; n < 400; n += 1) insert.run(n)
    const before = readFileSync(`${path}-wal`)
    assert.ok(before.length > 1_500_000)
    utimesSync(`${path}-wal`, 0, 0)
    db.exec('BEGIN IMMEDIATE')
    rewrite()
    insert.run(400)
    db.exec('COMMIT')
    await flush()
    assert.ok(readFileSync(`${path}-wal`).subarray(0, before.length).equals(before))
    assert.ok(statSync(`${path}-wal`).mtimeMs > 0)
    close()
  }
  assertSound(path)
  assert.equal(
    lookInto(path, (db) => db.prepare('SELECT count(*) AS n FROM kept').get()?.n),
    401,
  )
})

test('a checkpoint lets the log start anew, and waits for those who write', (t) => {
  const path = freshPath(t)
  using db = new DatabaseSync(path)
  db.exec('PRAGMA journal_mode = WAL; CREATE TABLE kept (n)')
  const before = logOf(path).begun
  checkpoint(path)
  db.exec('INSERT INTO kept VALUES (1)')
  assert.equal(logOf(path).begun, before + 1)
})

test('a checkpoint holds the lock of writers for a moment only while others read', (t) => {
  const path = freshPath(t)
  using db = new DatabaseSync(path)
  db.exec('PRAGMA journal_mode = WAL; CREATE TABLE kept (n)')
  using reader = new DatabaseSync(path)
  reader.exec('BEGIN; SELECT n FROM kept')
  db.exec('INSERT INTO kept VALUES (1)')
  const startedAt = performance.now()
  checkpoint(path)
  // A connection of the service waits for 5 s.
  assert.ok(performance.now() - startedAt < 2_500)
})

test('changes of endpoints are kept where the path of the database is a link to a file elsewhere', async (t) => {
  const path = freshPath(t)
  const real = join(dirname(path), 'volume', 'real.db')
  mkdirSync(dirname(real))
  symlinkSync(real, path)
  await using store = Object.assign(await openSqliteStore({ path, logger: silent }), {
    [Symbol.asyncDispose]: (): Promise<void> => store.close(),
  })
  assert.equal(await insertEndpoint(store.endpoints, recordOf(1)), 'stored')
})

test('large writes are brought into the database off the thread', async (t) => {
  const path = freshPath(t)
  const db = new DatabaseSync(path)
  db.exec('PRAGMA journal_mode = WAL; CREATE TABLE kept (bytes BLOB)')
  const before = statSync(path).size
  const insert = db.prepare('INSERT INTO kept VALUES (?)')
  let requests = 0
  const requestCheckpoint = (): void => {
    requests += 1
  }
  const writer = new GroupCommit({
    db,
    busyTimeoutMs: 5_000,
    logger: silent,
    log: compileLogFile(path),
    requestCheckpoint,
  })
  const part = Buffer.alloc(1_000_000, 'part')
  for (let n = 0; n < 9; n += 1) await writer.write(() => insert.run(part), 'other', part.length)
  assert.equal(requests, 2)
  assert.ok(logOf(path).pages > AUTOMATIC_PAGES)
  assert.equal(statSync(path).size, before)
  await writer.close()
  db.close()
})

test('changes of endpoints are brought into the database before SQLite does it on the thread', async (t) => {
  const path = freshPath(t)
  await using store = Object.assign(await openSqliteStore({ path, logger: silent }), {
    [Symbol.asyncDispose]: (): Promise<void> => store.close(),
  })
  const before = statSync(path).size
  for (let n = 0; n < 110; n += 1) assert.equal(await insertEndpoint(store.endpoints, recordOf(n)), 'stored')
  assert.ok(logOf(path).pages < AUTOMATIC_PAGES)
  while (statSync(path).size === before) await new Promise((resolve) => setImmediate(resolve))
})
