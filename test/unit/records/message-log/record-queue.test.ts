/** Whatever becomes of the store, records that wait take a bounded room, and the time of none depends on how many there are. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Recorded } from '../../../../src/core/records/message-record.ts'
import {
  createRecordBuffer,
  createRecordQueue,
  type RecordQueue,
} from '../../../../src/records/message-log/record-queue.ts'
import { doneLineOf, recordAt, recordedAt, withBodies } from '../../../support/contracts/message-records.ts'
import { timesAsCostly } from '../../../support/cpu-time.ts'

const lineAt = (ms: number) => doneLineOf(recordAt(ms))
const failed = (ms: number) => recordedAt(ms, { outcome: 'failed', status: 500, code: 'INTERNAL' })
const withBody = (ms: number, bytes: number) => withBodies(failed(ms), { incoming: 'x'.repeat(bytes) })
const takeAll = (queue: RecordQueue) => queue.take({ records: 1e9, bytes: 1e12 }).batch
const bodyBytes = (batch: readonly Recorded[]) =>
  batch.flatMap(({ bodies }) => bodies).reduce((sum, { content }) => sum + content.byteLength, 0)

for (const answering of [true, false]) {
  const store = answering ? 'answers slowly' : 'does not answer'

  test(`takes failures at the same pace however many wait, while the store ${store}`, async () => {
    const pushMany = (records: number) => () => {
      const queue = createRecordQueue({ records, bytes: 1e9 })
      queue.setAnswering(answering)
      const one = failed(0)
      for (let count = 0; count < 40_000; count += 1) queue.push(one)
      assert.equal(queue.size + queue.dropped.failed, 40_000)
    }
    const ratio = await timesAsCostly(pushMany(answering ? 5_000 : 20_000), pushMany(100))
    assert.ok(ratio < 15, `${ratio.toFixed(1)} times the processor time`)
  })

  test(`holds so many failures at most, the newest, while the store ${store}`, () => {
    const queue = createRecordQueue({ records: 10, bytes: 1e9 })
    queue.setAnswering(answering)
    for (let ms = 0; ms < 1_000; ms += 1) queue.push(failed(ms))
    const batch = takeAll(queue)
    assert.ok(batch.length >= 10 && batch.length <= 100, `${batch.length}`)
    assert.equal(queue.dropped.failed, 1_000 - batch.length)
    assert.deepEqual(batch.at(-1), failed(999))
  })

  test(`gives up the bodies of the oldest failures before a record, while the store ${store}`, () => {
    const queue = createRecordQueue({ records: 1_000, bytes: 100_000 })
    queue.setAnswering(answering)
    for (let ms = 0; ms < 40; ms += 1) queue.push(withBody(ms, 20_000))
    const batch = takeAll(queue)
    assert.equal(batch.length, 40)
    assert.deepEqual(queue.dropped, { done: 0, partial: 0, refused: 0, failed: 0 })
    assert.ok(bodyBytes(batch) > 0 && bodyBytes(batch) <= 100_000, `${bodyBytes(batch)}`)
  })

  test(`holds so many bytes at most, while the store ${store}`, () => {
    const queue = createRecordQueue({ records: 1e6, bytes: 100_000 })
    queue.setAnswering(answering)
    for (let ms = 0; ms < 400; ms += 1) queue.push(withBody(ms, 20_000))
    const batch = takeAll(queue)
    assert.ok(batch.length > 20 && batch.length <= 200, `${batch.length}`)
    assert.equal(queue.dropped.failed, 400 - batch.length)
    assert.deepEqual(batch.at(-1)?.record.id, failed(399).record.id)
  })
}

test('holds what is being written within the bound too', () => {
  const queue = createRecordQueue({ records: 1, bytes: 1e9 })
  for (let ms = 0; ms < 10; ms += 1) queue.push(failed(ms))
  takeAll(queue)
  for (let ms = 10; ms < 100; ms += 1) queue.push(failed(ms))
  assert.ok(queue.size <= 10, `${queue.size}`)
  assert.equal(queue.size + queue.dropped.failed, 100)
})

for (const code of ['OVERLOADED', 'SHUTTING_DOWN']) {
  test(`gives up what was refused with ${code} before any other failure`, () => {
    const queue = createRecordQueue({ records: 3, bytes: 1e9 })
    const shed = (ms: number) => recordedAt(ms, { outcome: 'failed', status: 503, code })
    for (let ms = 0; ms < 20; ms += 1) queue.push(shed(ms))
    assert.deepEqual([queue.size, queue.dropped.failed], [3, 17])
    queue.push(failed(20))
    assert.deepEqual(takeAll(queue), [failed(20)])
    assert.equal(queue.dropped.failed, 20)
  })
}

test('never gives up a replay that ended done for another record: that it is not repeated hangs on its record', () => {
  const queue = createRecordQueue({ records: 3, bytes: 1e9 })
  const replay = (ms: number) => recordedAt(ms, { source: 'replay', replayOf: '0'.repeat(24) })
  queue.push(replay(0))
  for (let ms = 1; ms < 5; ms += 1) queue.push(recordedAt(ms))
  queue.push(replay(5))
  queue.push(failed(6))
  assert.deepEqual(takeAll(queue), [replay(0), replay(5), failed(6)])
  assert.deepEqual(queue.dropped, { done: 4, partial: 0, refused: 0, failed: 0 })
})

test('drops lines that exceed the bytes, and has room again once what was taken is acknowledged', () => {
  const queue = createRecordQueue({ records: 1e6, bytes: 100_000 })
  for (let ms = 0; ms < 10; ms += 1) queue.pushDone('x'.repeat(20_000))
  assert.equal(queue.size + queue.dropped.done, 10)
  assert.ok(queue.size > 0 && queue.size <= 5, `${queue.size}`)
  const taken = queue.takeDone()
  queue.pushDone('x'.repeat(20_000))
  assert.ok(taken !== undefined && queue.size === taken.count)
  queue.acknowledgeDone(taken)
  queue.pushDone('x'.repeat(20_000))
  assert.equal(queue.size, 1)
})

test('takes no droppable record once failures have used up the bytes, or where it is larger than what they left', () => {
  const queue = createRecordQueue({ records: 100, bytes: 1e9 })
  queue.push(recordedAt(0))
  queue.push(withBody(1, 20_000))
  const limits = { records: 100, bytes: 10_000 }
  assert.deepEqual(queue.take(limits).batch, [withBody(1, 20_000)])
  queue.acknowledge(1)
  assert.deepEqual(queue.take(limits).batch, [recordedAt(0)])
  const other = createRecordQueue({ records: 100, bytes: 1e9 })
  other.push(recordedAt(0))
  other.push(failed(1))
  assert.deepEqual(other.take({ records: 100, bytes: 1_200 }).batch, [failed(1)])
})

test('counts the line of a message that ended done in bytes, not in characters', () => {
  const queue = createRecordQueue({ records: 100, bytes: 1_000 })
  queue.pushDone('€'.repeat(500))
  assert.deepEqual([queue.size, queue.dropped.done], [0, 1])
})

test('gives up those of messages that ended done before any failure', () => {
  const queue = createRecordQueue({ records: 4, bytes: 1e9 })
  for (let ms = 0; ms < 3; ms += 1) queue.pushDone(lineAt(ms))
  queue.push(recordedAt(3))
  queue.push(recordedAt(4))
  queue.pushDone(lineAt(5))
  assert.deepEqual([queue.size, queue.dropped.done], [4, 2])
  queue.push(failed(6))
  assert.deepEqual([queue.size, queue.dropped.done, queue.dropped.failed], [1, 6, 0])
  for (let ms = 7; ms < 20; ms += 1) queue.push(failed(ms))
  assert.deepEqual([queue.size, queue.dropped.failed], [14, 0])
})

test('has what could not be written again, before what came later', () => {
  const queue = createRecordQueue({ records: 100, bytes: 1e9 })
  queue.push(failed(0))
  queue.pushDone(lineAt(0))
  queue.take({ records: 100, bytes: 1e9 })
  queue.takeDone()
  queue.push(failed(1))
  queue.requeue()
  assert.equal(queue.size, 3)
  assert.deepEqual(queue.take({ records: 100, bytes: 1e9 }).batch, [failed(0), failed(1)])
  const lines = queue.takeDone()
  assert.ok(lines?.count === 1)
  queue.acknowledge(2)
  queue.acknowledgeDone(lines)
  assert.equal(queue.size, 0)
})

test('lines of any text and length come out as they went in, in their order', () => {
  const buffer = createRecordBuffer()
  const names = ['a', 'ü€😀', 'x'.repeat(500_000), ...Array.from({ length: 15_000 }, (_, at) => `endpoint ${at}`)]
  const lines = names.map((endpoint, ms) => doneLineOf(recordAt(ms, { endpoint })))
  for (const line of lines) buffer.add(line)
  assert.equal(buffer.count, lines.length)
  const parts: Buffer[] = []
  for (let taken = buffer.take(); taken !== undefined; taken = buffer.take()) {
    parts.push(Buffer.from(taken.bytes))
    buffer.acknowledge(taken)
  }
  assert.ok(parts.length > 1)
  assert.equal(Buffer.concat(parts).toString(), lines.join(''))
  assert.deepEqual([buffer.count, buffer.bytes], [0, 0])
})
