import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { describe, it, type TestContext } from 'node:test'
import { type FlushLog, GroupCommit, type GroupCommitOptions } from '../../../../src/store/sqlite/group-commit.ts'
import { StoreUnavailable } from '../../../../src/store/store-access.ts'
import fc from '../../../support/fast-check.ts'
import { LONG } from '../../../support/form.ts'
import { silent } from '../../../support/silent.ts'
import { assertSound, freshPath } from '../../../support/store/folder.ts'

const PAGE_BYTES = 4_096

/** A writer over a table `kept (n, text)` whose `n` is unique. */
function writerFor(test: TestContext, more: Partial<GroupCommitOptions> = {}) {
  const path = freshPath(test)
  const db = new DatabaseSync(path)
  db.exec('PRAGMA journal_mode = WAL; CREATE TABLE kept (n INTEGER PRIMARY KEY, text TEXT) STRICT')
  const insert = db.prepare('INSERT INTO kept VALUES (?, ?)')
  const writer = new GroupCommit({ db, busyTimeoutMs: 5_000, logger: silent, ...more })
  return {
    path,
    db,
    writer,
    keep: (n: number, text = '') => writer.write(() => insert.run(n, text).changes),
    kept: () =>
      db
        .prepare('SELECT n FROM kept ORDER BY n')
        .all()
        .map((row) => row.n),
    async end() {
      await writer.close()
      if (db.isOpen) db.close()
      assertSound(path)
    },
  }
}

const outcomes = async (writes: readonly Promise<unknown>[]) =>
  (await Promise.allSettled(writes)).map((result) =>
    result.status === 'fulfilled' ? 'done' : result.reason instanceof StoreUnavailable ? 'unavailable' : 'failed',
  )

it('commits what waits at the same time in one transaction', async (test) => {
  const { path, keep, kept, end } = writerFor(test)
  await keep(0)
  const before = statSync(`${path}-wal`).size
  await Promise.all(Array.from({ length: 200 }, (_, n) => keep(n + 1)))
  const frames = (statSync(`${path}-wal`).size - before) / PAGE_BYTES
  assert.ok(frames < 20, `a transaction each writes at least 200 pages to the log; ${frames} were written`)
  assert.equal(kept().length, 201)
  await end()
})

const turn = () => new Promise((resolve) => setImmediate(resolve))

it('lets a batch grow while each turn brings more, but not for ever', async (test) => {
  const { writer, keep, end } = writerFor(test)
  let transactions = 0
  writer.onTransaction(() => {
    transactions += 1
  })
  const few = []
  for (let n = 0; n < 4; n++) {
    few.push(keep(n))
    await turn()
  }
  await Promise.all(few)
  assert.equal(transactions, 1)
  const many = []
  for (let n = 4; n < 44; n++) {
    many.push(keep(n))
    await turn()
  }
  await Promise.all(many)
  assert.ok(transactions > 5 && transactions < 20, `40 turns with a write each made ${transactions - 1} transactions`)
  await end()
})

it('runs writes in the order of the calls, gives each its own value, and rejects exactly those that cannot be done', async (test) => {
  const { writer, keep, kept, end } = writerFor(test)
  const order: number[] = []
  const fault = new Error('thrown by the work itself')
  const ordered = [1, 2, 3].map((n) => writer.write(() => order.push(n) * 10))
  const thrown = writer.write(() => {
    throw fault
  })
  const results = outcomes([keep(1), keep(1), thrown, keep(2)])
  await assert.rejects(thrown, fault)
  assert.deepEqual(await results, ['done', 'failed', 'failed', 'done'])
  assert.deepEqual(await Promise.all(ordered), [10, 20, 30])
  assert.deepEqual(
    [order, kept()],
    [
      [1, 2, 3],
      [1, 2],
    ],
  )
  await end()
})

it('keeps exactly what it acknowledged, whichever writes fail', async (test) => {
  const { keep, kept, end } = writerFor(test)
  const acknowledged = new Set<number>()
  const number = fc.oneof(fc.integer({ min: 0, max: 30 }), fc.constant(0.5))
  await fc.assert(
    fc.asyncProperty(fc.array(number, { maxLength: 12 }), async (numbers) => {
      const results = await outcomes(numbers.map((n) => keep(n)))
      for (const [index, n] of numbers.entries()) if (results[index] === 'done') acknowledged.add(n)
    }),
    { numRuns: LONG ? 200 : 20 },
  )
  assert.ok(acknowledged.size > 0 && !acknowledged.has(0.5))
  assert.deepEqual(
    kept(),
    [...acknowledged].sort((one, other) => one - other),
  )
  await end()
})

it('rejects with StoreUnavailable while the disk is full, loses nothing, and goes on when there is room', async (test) => {
  const { db, keep, kept, end } = writerFor(test)
  await keep(1)
  const pages = Number(db.prepare('PRAGMA page_count').get()?.page_count)
  db.exec(`PRAGMA max_page_count = ${pages + 2}`)
  const large = 'x'.repeat(50 * PAGE_BYTES)
  assert.deepEqual(await outcomes([keep(2, large), keep(3, large)]), ['unavailable', 'unavailable'])
  db.exec('PRAGMA max_page_count = 1000000')
  assert.deepEqual(await outcomes([keep(4, large), keep(5)]), ['done', 'done'])
  assert.deepEqual(kept(), [1, 4, 5])
  await end()
})

const losses: Readonly<Record<string, (db: DatabaseSync) => void>> = {
  'transaction that was given up': (db) => {
    db.exec('ROLLBACK')
    throw new Error('the database gave up the transaction')
  },
  'commit that failed': (db) => db.exec('INSERT INTO pointing VALUES (99)'),
}
for (const [name, lose] of Object.entries(losses)) {
  it(`rejects the whole batch of a ${name}, and only that`, async (test) => {
    const { db, writer, keep, kept, end } = writerFor(test)
    db.exec('CREATE TABLE pointing (n INTEGER REFERENCES kept DEFERRABLE INITIALLY DEFERRED) STRICT')
    await keep(1)
    const lost = writer.write(() => lose(db))
    assert.deepEqual(await outcomes([keep(2), lost, keep(3)]), ['failed', 'failed', 'failed'])
    assert.deepEqual(kept(), [1])
    assert.equal(await keep(4), 1)
    await end()
  })
}

it('finishes the writes that wait before it closes, and takes no more', async (test) => {
  const { writer, keep, kept, end } = writerFor(test)
  const writes = Promise.all(Array.from({ length: 1_000 }, (_, n) => keep(n)))
  const closed = writer.close()
  await assert.rejects(keep(2_000), StoreUnavailable)
  await Promise.all([closed, writes])
  assert.equal(kept().length, 1_000)
  await end()
})

const logWith = (flush: FlushLog): NonNullable<GroupCommitOptions['log']> => ({ flush, rewrite() {} })

describe('a writer that may flush elsewhere', () => {
  it('answers what no message waits for when that is flushed, on the thread nothing', async (test) => {
    const flush = Promise.withResolvers<void>()
    let flushes = 0
    const { writer, keep, kept, end } = writerFor(test, {
      log: logWith(() => {
        flushes += 1
        return flush.promise
      }),
    })
    const answered: string[] = []
    const other = keep(1).then(() => answered.push('other'))
    const closed = other.then(() => writer.close())
    while (flushes === 0) await turn()
    await writer.write(() => undefined, 'message').then(() => answered.push('message'))
    assert.deepEqual([answered, kept(), flushes], [['message'], [1], 1])
    flush.resolve()
    await closed
    assert.deepEqual(answered, ['message', 'other'])
    await end()
  })

  it('waits for flushes before it closes', async (test) => {
    const flush = Promise.withResolvers<void>()
    const { writer, keep, end } = writerFor(test, { log: logWith(() => flush.promise) })
    const order: string[] = []
    const written = keep(1).then(() => order.push('written'))
    const closed = writer.close().then(() => order.push('closed'))
    flush.resolve()
    await Promise.all([written, closed])
    assert.deepEqual(order, ['written', 'closed'])
    await end()
  })

  it('rejects with StoreUnavailable what could not be flushed, and goes on', async (test) => {
    let failing = true
    const { keep, end } = writerFor(test, {
      log: logWith(async () => {
        if (failing) throw new StoreUnavailable('the disk is broken')
      }),
    })
    assert.deepEqual(await outcomes([keep(1), keep(2)]), ['unavailable', 'unavailable'])
    failing = false
    assert.equal(await keep(3), 1)
    await end()
  })

  it('flushes for messages on the thread, and leaves that so', async (test) => {
    const { db, writer, keep, end } = writerFor(test, { log: logWith(async () => undefined) })
    const synchronous = () => db.prepare('PRAGMA synchronous').get()?.synchronous
    const levels = [
      await writer.write(synchronous, 'message'),
      await writer.write(synchronous),
      ...(await Promise.all([writer.write(synchronous), writer.write(synchronous, 'message')])),
    ]
    await keep(1)
    assert.deepEqual([...levels, synchronous()], [2, 1, 2, 2, 2])
    await end()
  })
})

/** A log that reports what was done with it; each flush ends as the one in its place in `ends` does, well where there is none. */
function recordingLog(ends: readonly (FlushLog | undefined)[] = []) {
  const reported: string[] = []
  let flushes = 0
  const log = {
    flush: async () => {
      reported.push('flush')
      await ends[flushes++]?.()
    },
    rewrite: () => void reported.push('rewrite'),
  }
  return { log, reported }
}

const broken = () => new StoreUnavailable('the disk is broken')

describe('a log that could not be flushed', () => {
  it('is written over before the next batch, which is done once that is flushed', async (test) => {
    const { log, reported } = recordingLog([undefined, () => Promise.reject(broken())])
    const { writer, keep, kept, end } = writerFor(test, { log })
    const work = () => void reported.push('work')
    await keep(1)
    reported.length = 0
    assert.deepEqual(await outcomes([keep(2)]), ['unavailable'])
    await writer.write(work, 'message')
    await writer.write(work)
    assert.deepEqual(reported, ['flush', 'rewrite', 'work', 'work', 'flush'])
    assert.deepEqual(kept(), [1, 2])
    await end()
  })

  it('is written over before the first batch too, as its content is unknown', async (test) => {
    for (const urgency of ['message', 'other'] as const) {
      const { log, reported } = recordingLog()
      const { writer, end } = writerFor(test, { log })
      await writer.write(() => void reported.push('work'), urgency)
      assert.deepEqual(reported.slice(0, 2), ['rewrite', 'work'])
      await end()
    }
  })

  it('leaves nothing done that was committed before that was known, though it is flushed later', async (test) => {
    const first = Promise.withResolvers<void>()
    const second = Promise.withResolvers<void>()
    const { log, reported } = recordingLog([() => first.promise, () => second.promise])
    const { keep, kept, end } = writerFor(test, { log })
    const flushed = async (times: number) => {
      while (reported.filter((one) => one === 'flush').length < times) await turn()
    }
    const results = [keep(1)]
    await flushed(1)
    results.push(keep(2))
    await flushed(2)
    first.reject(broken())
    await assert.rejects(results[0] as Promise<unknown>, StoreUnavailable)
    // Comes after it is known, and so after the log was written over; shares nothing with those before.
    assert.equal(await keep(3), 1)
    second.resolve()
    assert.deepEqual(await outcomes(results), ['unavailable', 'unavailable'])
    assert.equal(await keep(4), 1)
    assert.deepEqual(kept(), [1, 2, 3, 4])
    await end()
  })

  it('refuses what comes while it cannot be written over, and is read', async (test) => {
    const { log } = recordingLog()
    let failing = true
    const rewrite = () => {
      if (failing) throw broken()
    }
    const { keep, kept, writer, end } = writerFor(test, { log: { ...log, rewrite } })
    const message = writer.write(() => undefined, 'message')
    assert.deepEqual(await outcomes([keep(1), message]), ['unavailable', 'unavailable'])
    assert.deepEqual(await outcomes([keep(2)]), ['unavailable'])
    assert.deepEqual(kept(), [])
    failing = false
    assert.equal(await keep(3), 1)
    assert.deepEqual(kept(), [3])
    await end()
  })

  it('is notified by a commit on the thread as well, for those who wait for a flush', async (test) => {
    const flush = Promise.withResolvers<void>()
    const { log, reported } = recordingLog([() => flush.promise])
    const { db, keep, writer, end } = writerFor(test, { log })
    const results = [keep(1)]
    while (!reported.includes('flush')) await turn()
    results.push(
      writer.write(() => {
        db.exec('ROLLBACK')
        // SQLITE_IOERR_FSYNC: what SQLite says where the disk fails.
        throw Object.assign(new Error('disk I/O error'), { errcode: 1034 })
      }, 'message'),
    )
    await assert.rejects(results[1] as Promise<unknown>, StoreUnavailable)
    flush.resolve()
    assert.deepEqual(await outcomes(results), ['unavailable', 'unavailable'])
    assert.equal(await keep(2), 1)
    assert.deepEqual(reported, ['rewrite', 'flush', 'rewrite', 'flush'])
    await end()
  })
})
