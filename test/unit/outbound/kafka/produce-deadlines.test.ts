/** One timer for the records of a topic: each record is timed out at its own deadline, whatever the others have. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ProduceDeadlines, QueuedRecord } from '../../../../src/outbound/kafka/kafka-producer.ts'
import { until } from '../../../support/until.ts'

function startRecords(timeoutsMs: readonly number[]) {
  const timedOut: number[] = []
  const early: number[] = []
  const records = timeoutsMs.map(
    (timeoutMs) =>
      new QueuedRecord(
        { topic: 't', key: null, value: '', headers: [] },
        timeoutMs,
        undefined,
        () => {},
        () => {},
      ),
  )
  const deadlines = new ProduceDeadlines(
    () => records,
    (record) => {
      if (performance.now() < record.deadlineMs) early.push(record.timeoutMs)
      timedOut.push(record.timeoutMs)
      record.reject(new Error('timed out'))
    },
  )
  for (const record of records) deadlines.watch(record)
  return { records, deadlines, timedOut, early }
}

test('each record times out, none before its own deadline', async () => {
  const { timedOut, early } = startRecords([60, 20, 100, 40, 80])
  await until(
    () => timedOut,
    ({ length }) => length === 5,
  )
  assert.deepEqual([timedOut.toSorted((one, other) => one - other), early], [[20, 40, 60, 80, 100], []])
})

test('settled records do not time out, and those behind them do', async () => {
  const { records, timedOut } = startRecords([20, 30, 60])
  records[0]?.resolve({ topic: 't', partition: 0, offset: 0 })
  await until(
    () => timedOut,
    ({ length }) => length === 2,
  )
  assert.deepEqual(timedOut, [30, 60])
})

test('after a stop nothing times out until a record is watched again', async () => {
  const { records, deadlines, timedOut } = startRecords([20, 400])
  deadlines.stop()
  records[0]?.resolve({ topic: 't', partition: 0, offset: 0 })
  deadlines.watch(records[1] as QueuedRecord)
  await until(
    () => timedOut,
    ({ length }) => length === 1,
  )
  assert.deepEqual(timedOut, [400])
})
