/** Any interleaving of finished, failed and revoked records, for each order, against a plain model of the partition. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type CommitSnapshot, readNote } from '../../../../src/inbound/kafka/offset-commits.ts'
import { PartitionQueue } from '../../../../src/inbound/kafka/partition-queue.ts'
import type { CommittedOffset, ConsumedRecord } from '../../../../src/inbound/kafka/record-consumer.ts'
import { type RecordOrder, RecordSemaphore } from '../../../../src/inbound/kafka/record-order.ts'
import type { Outcome } from '../../../../src/pipeline/outcome.ts'
import fc from '../../../support/fast-check.ts'
import { LONG } from '../../../support/form.ts'
import { endpointWith, outcomeOf, processingOf, recordAt } from './record-fixtures.ts'

const KEYS = ['a', 'b', 'c', null] as const

type Step = Readonly<{ do: 'offer' | 'finish' | 'fail' | 'wake' | 'commit' | 'confirm' | 'revoke'; at: number }>

const step: fc.Arbitrary<Step> = fc.record({
  do: fc.constantFrom('offer', 'offer', 'finish', 'finish', 'finish', 'fail', 'wake', 'commit', 'confirm', 'revoke'),
  at: fc.nat(40),
})

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

/** The log of a partition: keys, and offsets that have no record, as a compacted topic has. */
const log = fc.array(fc.record({ key: fc.constantFrom(...KEYS), gap: fc.nat(2) }), { minLength: 1, maxLength: 40 })

type Attempt = Readonly<{ offset: number; end: (outcome: Outcome) => void; owner: object }>

async function follow(order: RecordOrder, permits: number, records: readonly ConsumedRecord[], steps: readonly Step[]) {
  const semaphore = new RecordSemaphore(permits)
  const chainOf = (record: ConsumedRecord) =>
    order === 'none' ? String(record.offset) : order === 'partition' ? '' : String(record.key)
  const faults: unknown[] = []
  const runs = new Map<number, number>()
  const attempts: Attempt[] = []
  let done = new Set<number>()
  let saved: CommittedOffset | undefined
  let offered = 0
  let owner = {}

  const compiled = endpointWith((message) => {
    const offset = Number(message.requestHeaders['kafka-offset'])
    const record = records.find((one) => Number(one.offset) === offset) as ConsumedRecord
    assert.ok(!done.has(offset), 'a record that is done does not run again')
    const mates = records.filter((one) => one.offset < record.offset && chainOf(one) === chainOf(record))
    assert.ok(
      mates.every((one) => done.has(Number(one.offset))),
      'the earlier records of its chain are done',
    )
    assert.ok(semaphore.held <= permits)
    runs.set(offset, (runs.get(offset) ?? 0) + 1)
    return new Promise((end) => attempts.push({ offset, end, owner }))
  })
  const open = (): PartitionQueue =>
    new PartitionQueue({
      partition: 0,
      committed: saved,
      order,
      semaphore,
      // Only a change of the endpoint ends these pauses.
      processing: { ...processingOf(() => compiled), retryPausesMs: [3_600_000] },
      onProgress: () => {},
      onRoom: () => {},
      onReport: () => {},
      onFault: (error) => faults.push(error),
    })
  let queue = open()
  const end = async (result: 'ok' | 'RESPONSE_UNREACHABLE', at: number) => {
    const index = attempts.length === 0 ? 0 : at % attempts.length
    const [attempt] = attempts.splice(index, 1)
    if (attempt === undefined) return
    if (result === 'ok' && attempt.owner === owner) done.add(attempt.offset)
    attempt.end(outcomeOf(result))
    await turn()
  }
  const offer = (count: number) => {
    const next = records.slice(offered, offered + count)
    offered += next.length
    const last = next.at(-1)
    if (last !== undefined) queue.offer(next, last.offset + 1n)
  }
  const expectedOffset = () => records.find(({ offset }) => !done.has(Number(offset)))
  let pending: CommitSnapshot | undefined
  /** Whether the offset is done, by what is committed. */
  const isSaved = (offset: bigint): boolean => {
    const { offset: before, note } = saved ?? { offset: 0n, note: '' }
    return offset < before || readNote(before, note).some(({ from, to }) => from <= offset && offset < to)
  }
  const take = () => {
    pending ??= queue.snapshot()
    const { offset, note } = queue.snapshot()
    const first = expectedOffset()
    // Offsets without a record, in front of the first that is not done, count as done with that record.
    const before = records.findLast((record) => first === undefined || record.offset < first.offset)
    assert.equal(offset, before === undefined || done.size === 0 ? 0n : before.offset + 1n)
    const noted = readNote(offset, note.text)
    for (const record of records) {
      const isNoted: boolean =
        record.offset < offset || noted.some(({ from, to }) => from <= record.offset && record.offset < to)
      assert.equal(isNoted, done.has(Number(record.offset)), `whether ${record.offset} is done`)
    }
  }
  /** The broker has confirmed what was done when the commit was sent. */
  const confirm = () => {
    if (pending === undefined) return
    saved = { offset: pending.offset, note: pending.note.text }
    queue.committed(pending)
    pending = undefined
    const uncommitted = [...done].filter((offset) => !isSaved(BigInt(offset))).length
    assert.ok(semaphore.held >= uncommitted, 'what runs again after a crash holds permits')
  }
  const revoke = async () => {
    const kept = saved?.offset ?? 0n
    const closed = queue.close()
    owner = {}
    pending = undefined
    done = new Set(records.filter(({ offset }) => isSaved(offset)).map(({ offset }) => Number(offset)))
    for (const attempt of attempts.splice(0)) attempt.end(outcomeOf('ok'))
    await closed
    queue = open()
    offered = records.findIndex(({ offset }) => offset >= kept)
    if (offered < 0) offered = records.length
  }

  for (const { do: what, at } of steps) {
    if (what === 'offer') offer(at)
    if (what === 'finish') await end('ok', at)
    if (what === 'fail') await end('RESPONSE_UNREACHABLE', at)
    if (what === 'wake') queue.wake()
    if (what === 'commit') take()
    if (what === 'confirm') confirm()
    if (what === 'revoke') await revoke()
    await turn()
    const { underWay, retrying } = queue.figures
    assert.ok(underWay + retrying <= records.length)
  }
  // All that is left runs to its end.
  offer(records.length)
  for (let turns = 0; expectedOffset() !== undefined; turns += 1) {
    assert.ok(turns < 1_000, 'the rest does not finish')
    queue.wake()
    take()
    await turn()
    await end('ok', 0)
    confirm()
  }
  take()
  confirm()
  take()
  confirm()
  assert.deepEqual(faults, [])
  assert.deepEqual([queue.bufferedBytes, queue.figures.holes, attempts.length], [0, 0, 0])
  await queue.close()
  assert.equal(semaphore.held, 0, 'no permit is left')
}

describe('any interleaving keeps the order, commits what is done, and gives back all permits', () => {
  for (const order of ['partition', 'key', 'none'] as const) {
    test(`with the order ${order}`, async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.integer({ min: 1, max: 8 }),
          log,
          fc.array(step, { maxLength: 60 }),
          async (permits, entries, steps) => {
            let offset = 0
            const records = entries.map(({ key, gap }) => {
              const record = recordAt(BigInt(offset), { key: key === null ? null : Buffer.from(key) })
              offset += 1 + gap
              return record
            })
            await follow(order, permits, records, steps)
          },
        ),
        { numRuns: LONG ? 150 : 60 },
      )
    })
  }
})
