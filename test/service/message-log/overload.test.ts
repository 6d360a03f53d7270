/** What becomes of records when the store cannot follow. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import pg from 'pg'
import { createRecordBuffer } from '../../../src/message-log/record-buffer.ts'
import { createRecordQueue } from '../../../src/message-log/record-queue.ts'
import { doneLineOf, recordAt, recordedAt, withBodies } from '../../support/contracts/message-records.ts'
import { openPostgres } from '../../support/contracts/stores.ts'
import { json, startService } from '../../support/service.ts'
import { freshDatabase, postgresMissing } from '../../support/services/postgres.ts'
import { until } from '../../support/until.ts'

const ALL = { records: 100, bytes: 1e9 }
const lineAt = (ms: number) => doneLineOf(recordAt(ms))
const failed = (ms: number) => recordedAt(ms, { outcome: 'failed', status: 500, code: 'INTERNAL' })

describe('the queue of records', () => {
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

  test('gives up the oldest failures only where the store does not answer', () => {
    const queue = createRecordQueue({ records: 3, bytes: 1e9 })
    queue.setAnswering(false)
    for (let ms = 0; ms < 5; ms += 1) queue.push(failed(ms))
    assert.deepEqual([queue.size, queue.dropped.failed], [3, 2])
    assert.deepEqual(queue.take(ALL).batch, [failed(2), failed(3), failed(4)])
  })

  test('keeps the record of a failure where there is no room for its bodies', () => {
    const queue = createRecordQueue({ records: 100, bytes: 3_000 })
    const large = withBodies(failed(0), { incoming: 'x'.repeat(1_500) })
    queue.push(large)
    queue.push(large)
    const [first, second] = queue.take(ALL).batch
    assert.deepEqual(first, large)
    assert.deepEqual(second?.record.bodies, [{ ...large.record.bodies[0], cut: true }])
    assert.equal(second?.bodies[0]?.content.byteLength, 0)
  })

  test('has what could not be written again, before what came later', () => {
    const queue = createRecordQueue({ records: 100, bytes: 1e9 })
    queue.push(failed(0))
    queue.pushDone(lineAt(0))
    queue.take(ALL)
    queue.takeDone()
    queue.push(failed(1))
    queue.requeue()
    assert.equal(queue.size, 3)
    assert.deepEqual(queue.take(ALL).batch, [failed(0), failed(1)])
    const lines = queue.takeDone()
    assert.ok(lines?.count === 1)
    queue.acknowledge(2)
    queue.acknowledgeDone(lines)
    assert.equal(queue.size, 0)
  })
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

test('while PostgreSQL holds the log, messages are answered, failures wait, and what was too much is reported', {
  skip: postgresMissing() ?? false,
}, async (suite) => {
  const database = await freshDatabase(suite)
  const service = await startService({ DATABASE_URL: database.url })
  const holder = new pg.Client({ connectionString: database.url })
  await holder.connect()
  try {
    await service.register({ endpoint: { pattern: '/in' }, inputValidation: { required: ['name'] } })
    await holder.query('begin; lock table messages in access exclusive mode')
    for (let at = 0; at < 50; at += 1) {
      assert.equal((await service.fetch('/in', json('POST', { name: 'a' }))).status, 200)
      assert.equal((await service.fetch('/in', json('POST', {}))).status, 400)
    }
    const unanswered = () => service.log.filter(({ message }) => message.startsWith('The message log did not answer'))
    await until(unanswered, ({ length }) => length > 0)
    await holder.query('rollback')
  } finally {
    await holder.end()
    await service.stop()
  }
  const store = await openPostgres(database.url)
  try {
    assert.equal(await store.messages.count({ outcome: ['refused'] }), 50)
    assert.equal(await store.messages.count({ outcome: ['done'] }), 50)
  } finally {
    await store.close()
  }
})
