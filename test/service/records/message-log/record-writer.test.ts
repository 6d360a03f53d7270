/** Each record is written once or counted as lost, whatever the store makes of its neighbours. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Logger } from '../../../../src/core/ports/logger-port.ts'
import type { Recorded } from '../../../../src/core/records/message-record.ts'
import { createRecordQueue, type RecordQueue } from '../../../../src/records/message-log/record-queue.ts'
import { createRecordWriter } from '../../../../src/records/message-log/record-writer.ts'
import type { MessageStore } from '../../../../src/store/sql/messages.ts'
import { openSqliteStore } from '../../../../src/store/sqlite/open-sqlite-store.ts'
import { StoreUnavailable } from '../../../../src/store/store-access.ts'
import { doneLineOf, recordAt, recordedAt } from '../../../support/contracts/message-records.ts'
import { silent } from '../../../support/silent.ts'

const lineAt = (ms: number, status = 200) => doneLineOf(recordAt(ms, { status }))
const failed = (ms: number, changes: Partial<Recorded['record']> = {}) =>
  recordedAt(ms, { outcome: 'failed', status: 500, code: 'INTERNAL', ...changes })

/** The status of a record that no column takes. */
const REFUSED = Number.NaN

async function withLog(work: (messages: MessageStore) => Promise<void>): Promise<void> {
  const store = await openSqliteStore({ path: ':memory:', logger: silent })
  const appendDone = async (lines: Uint8Array): Promise<void> => {
    if (Buffer.from(lines).includes('NaN')) throw new Error('refused')
    await store.messages.appendDone(lines)
  }
  try {
    await work({ ...store.messages, appendDone })
  } finally {
    await store.close()
  }
}

/** The store away for its n-th call of each kind. */
function awayOnce({ append, appendDone }: MessageStore, nth: number): Pick<MessageStore, 'append' | 'appendDone'> {
  const calls = { append: 0, appendDone: 0 }
  const count = (kind: keyof typeof calls) => {
    calls[kind] += 1
    if (calls[kind] === nth) throw new StoreUnavailable('away')
  }
  return {
    append: async (batch) => {
      count('append')
      await append(batch)
    },
    appendDone: async (lines) => {
      count('appendDone')
      await appendDone(lines)
    },
  }
}

function start(store: Pick<MessageStore, 'append' | 'appendDone'>, logger: Logger = silent, records = 100) {
  const queue = createRecordQueue({ records, bytes: 1e6 })
  return { queue, writer: createRecordWriter({ store, queue, logger }) }
}

for (const at of [0, 3, 6]) {
  test(`line ${at} of seven is refused: the others are written, and it is counted`, () =>
    withLog(async (store) => {
      const { queue, writer } = start(store)
      for (let ms = 0; ms < 7; ms += 1) queue.pushDone(lineAt(ms, ms === at ? REFUSED : 200))
      assert.equal(await writer.close(5_000), 0)
      assert.equal(await store.count({}), 6)
      assert.deepEqual([writer.written(), queue.dropped.done], [6, 1])
    }))
}

test('a record that is refused is counted by its outcome', () =>
  withLog(async (store) => {
    const { queue, writer } = start(store)
    for (let ms = 0; ms < 7; ms += 1) queue.push(failed(ms, ms === 3 ? { status: REFUSED } : {}))
    assert.equal(await writer.close(5_000), 0)
    assert.equal(await store.count({}), 6)
    assert.deepEqual([writer.written(), queue.dropped.failed], [6, 1])
  }))

for (const nth of [1, 2, 3, 4, 5, 6]) {
  test(`each record is counted once where the store was away for its call ${nth}`, () =>
    withLog(async (messages) => {
      const { queue, writer } = start(awayOnce(messages, nth))
      for (let ms = 0; ms < 8; ms += 1) queue.push(failed(ms, ms === 5 ? { status: REFUSED } : {}))
      for (let ms = 10; ms < 18; ms += 1) queue.pushDone(lineAt(ms, ms === 15 ? REFUSED : 200))
      assert.equal(await writer.close(10_000), 0)
      assert.equal(await messages.count({}), 14)
      assert.deepEqual([writer.written(), queue.dropped.failed, queue.dropped.done], [14, 1, 1])
    }))
}

test('reports once that records were given up, and at the end how many', () =>
  withLog(async (store) => {
    const reported: unknown[] = []
    const logger = { ...silent, warn: (fields: object | string) => void reported.push(fields) }
    const { queue, writer } = start(store, logger, 1)
    for (let ms = 0; ms < 5; ms += 1) {
      queue.pushDone(lineAt(ms))
      writer.wake()
    }
    assert.deepEqual(reported, [{ dropped: { done: 1, partial: 0, refused: 0, failed: 0 } }])
    await writer.close(5_000)
    assert.deepEqual(reported.at(-1), { dropped: { done: 4, partial: 0, refused: 0, failed: 0 } })
    assert.equal(reported.length, 2)
  }))

const waiting: Readonly<Record<string, (queue: RecordQueue) => void>> = {
  'a record of a failure': (queue) => queue.push(failed(0)),
  'the line of a message that ended done': (queue) => queue.pushDone(lineAt(0)),
}
for (const [what, push] of Object.entries(waiting)) {
  test(`reports that ${what} waits, since the store does not answer`, () =>
    withLog(async (messages) => {
      const reported: string[] = []
      const logger = { ...silent, warn: (_fields: object, message: string) => void reported.push(message) }
      const { queue, writer } = start(awayOnce(messages, 1), logger)
      push(queue)
      assert.equal(await writer.close(10_000), 0)
      assert.deepEqual(reported, ['The message log did not answer; its records wait'])
    }))
}

test('a sender learns whether its record is stored', () =>
  withLog(async (store) => {
    const { queue, writer } = start(store)
    const ended = new Map<string, Promise<boolean>>()
    const awaited = (name: string) => {
      const { promise, resolve } = Promise.withResolvers<boolean>()
      ended.set(name, promise)
      return resolve
    }
    queue.pushDone(lineAt(0))
    queue.pushDone(lineAt(1), awaited('line'))
    queue.pushDone(lineAt(2, REFUSED), awaited('refused line'))
    queue.pushDone(lineAt(3), awaited('last line'))
    queue.push(recordedAt(4, { outcome: 'partial', status: 200 }), awaited('record'))
    queue.push(recordedAt(5, { outcome: 'partial', status: REFUSED }), awaited('refused record'))
    assert.ok(queue.isAwaited)
    writer.wake()
    const results = await Promise.all([...ended].map(async ([name, isLost]) => [name, await isLost]))
    assert.deepEqual(Object.fromEntries(results), {
      line: false,
      'refused line': true,
      'last line': false,
      record: false,
      'refused record': true,
    })
    assert.ok(!queue.isAwaited)
    await writer.close(10_000)
  }))

test('a sender learns that its record was dropped for others', () =>
  withLog(async (store) => {
    const { queue, writer } = start(store, silent, 3)
    const lost: number[] = []
    for (const ms of [0, 1, 2, 3]) queue.pushDone(lineAt(ms), (isLost) => isLost && lost.push(ms))
    assert.deepEqual(lost, [3])
    const taken = queue.takeDone()
    queue.push(failed(4))
    assert.deepEqual(lost, [3])
    if (taken !== undefined) queue.acknowledgeDone(taken)
    for (const ms of [5, 6]) queue.pushDone(lineAt(ms), (isLost) => isLost && lost.push(ms))
    queue.push(failed(7))
    assert.deepEqual(lost, [3, 5, 6])
    assert.ok(!queue.isAwaited)
    await writer.close(10_000)
  }))
