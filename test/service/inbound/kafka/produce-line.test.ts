/** Records that are produced without waiting for each other: whatever fails, each topic gets them in order, and all of them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ProduceSlot } from '../../../../src/core/ports/record-producer.ts'
import type { CompiledEndpoint } from '../../../../src/endpoints/compiled-endpoint.ts'
import { PartitionQueue } from '../../../../src/inbound/kafka/partition-queue.ts'
import { RecordSemaphore } from '../../../../src/inbound/kafka/record-order.ts'
import fc from '../../../support/fast-check.ts'
import { LONG } from '../../../support/form.ts'
import { endpointWith, outcomeOf, processingOf, recordAt } from './record-fixtures.ts'

type Queued = Readonly<{ offset: number; slot: ProduceSlot | undefined; settle: (isWritten: boolean) => void }>

/** What a topic does next: a batch of `size` records, in which the partitions of `failing` fail, or a record that times out. */
type Step = Readonly<{ topic: number; do: 'send' | 'time out' | 'wake'; size: number; failing: number }>

const TOPICS = 2
const TARGETS = 2
const RECORDS = 30

const turnOfLoop = () => new Promise<void>((resolve) => setImmediate(resolve))

const step: fc.Arbitrary<Step> = fc.record({
  topic: fc.nat(TOPICS - 1),
  do: fc.constantFrom('send', 'send', 'send', 'send', 'time out', 'wake'),
  size: fc.integer({ min: 1, max: 8 }),
  /** One bit for each partition of the topic. */
  failing: fc.constantFrom(0, 0, 0, 1, 2, 3),
})

/** A queue that has got `records` records of its partition. */
function openFilledQueue(
  compiled: CompiledEndpoint,
  semaphore: RecordSemaphore,
  records: number,
  onFault: (error: unknown) => void,
): PartitionQueue {
  const queue = new PartitionQueue({
    partition: 0,
    committed: undefined,
    order: 'partition',
    semaphore,
    // Only a change of the endpoint ends these pauses.
    processing: { ...processingOf(() => compiled), retryPausesMs: [3_600_000] },
    onProgress: () => {},
    onRoom: () => {},
    onReport: () => {},
    onFault,
  })
  queue.offer(
    Array.from({ length: records }, (_, offset) => recordAt(BigInt(offset))),
    BigInt(records),
  )
  return queue
}

async function run(permits: number, bad: ReadonlySet<number>, steps: readonly Step[]): Promise<number> {
  const semaphore = new RecordSemaphore(permits)
  const queued: Queued[][] = Array.from({ length: TOPICS }, () => [])
  /** The offsets that each partition of each topic has, in order. */
  const written: number[][] = Array.from({ length: TOPICS * TARGETS }, () => [])
  const faults: unknown[] = []
  let most = 0
  let failuresLeft = new Map([...bad].map((offset) => [offset, 1]))

  const produce = (topic: number, offset: number, turn: ProduceSlot | undefined) =>
    new Promise<boolean>((resolve) => {
      let isSettled = false
      const settle = (isWritten: boolean) => {
        if (isSettled) return
        isSettled = true
        if (!isWritten) turn?.failed()
        resolve(isWritten)
      }
      queued[topic]?.push({ offset, slot: turn, settle })
      turn?.handed()
    })
  /** As the producer does: what is void is refused, then all of the batch is written or fails by partition. */
  const send = ({ topic, size, failing }: Step) => {
    const batch = queued[topic]?.splice(0, size) ?? []
    most = Math.max(most, batch.length)
    const live = batch.filter(({ slot: turn, settle }) => {
      if (turn?.isVoid !== true) return true
      settle(false)
      return false
    })
    const fails = ({ offset }: Queued) => ((failing >> (offset % TARGETS)) & 1) === 1
    for (const one of live.filter((entry) => !fails(entry))) {
      written[topic * TARGETS + (one.offset % TARGETS)]?.push(one.offset)
      one.settle(true)
    }
    for (const one of live.filter(fails)) one.settle(false)
  }
  const compiled = {
    ...endpointWith(async (message, { slot: turn }) => {
      const offset = Number(message.requestHeaders['kafka-offset'])
      const left = failuresLeft.get(offset) ?? 0
      // A stage that fails before anything is produced.
      if (left > 0) {
        failuresLeft = new Map([...failuresLeft, [offset, left - 1]])
        return outcomeOf('LOOKUP_UNREACHABLE')
      }
      if (offset % 3 === 0) await Promise.resolve()
      const results = await Promise.all(Array.from({ length: TOPICS }, (_, topic) => produce(topic, offset, turn)))
      return outcomeOf(results.every((isWritten) => isWritten) ? 'ok' : 'RESPONSE_UNREACHABLE')
    }),
    produces: TOPICS,
  }
  const queue = openFilledQueue(compiled, semaphore, RECORDS, (error) => faults.push(error))
  for (const one of steps) {
    await turnOfLoop()
    queue.committed(queue.snapshot())
    if (one.do === 'send') send(one)
    if (one.do === 'wake') queue.wake()
    if (one.do === 'time out') queued[one.topic]?.splice(one.size - 1, 1)[0]?.settle(false)
  }
  for (let turns = 0; queue.doneOffset < BigInt(RECORDS); turns += 1) {
    assert.ok(turns < 2_000, 'the rest does not finish')
    await turnOfLoop()
    queue.committed(queue.snapshot())
    queue.wake()
    for (let topic = 0; topic < TOPICS; topic += 1) send({ topic, do: 'send', size: 5, failing: 0 })
  }
  queue.committed(queue.snapshot())
  assert.deepEqual([faults, queue.bufferedBytes, queue.figures.holes], [[], 0, 0])
  await queue.close()
  assert.equal(semaphore.held, 0)
  for (const [index, offsets] of written.entries()) {
    const expected = Array.from({ length: RECORDS }, (_, offset) => offset).filter(
      (offset) => offset % TARGETS === index % TARGETS,
    )
    assert.deepEqual([...new Set(offsets)], expected, 'first deliveries are in order, and none is missing')
  }
  return most
}

test('any failures, timeouts and batches: first deliveries in order, none lost, no permit left', async () => {
  let most = 0
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 12 }),
      fc.uniqueArray(fc.nat(RECORDS - 1), { maxLength: 3 }),
      fc.array(step, { maxLength: 40 }),
      async (permits, bad, steps) => {
        most = Math.max(most, await run(permits, new Set(bad), steps))
      },
    ),
    { numRuns: LONG ? 300 : 100 },
  )
  assert.ok(most > 1, 'records share batches')
})

test('a record that got its permit late fails: those behind it wait for its retry', async () => {
  const semaphore = new RecordSemaphore(4)
  let queued: Queued[] = []
  const written: number[] = []
  const produce = (offset: number, turn: ProduceSlot | undefined) =>
    new Promise<boolean>((resolve) => {
      const settle = (isWritten: boolean) => {
        if (isWritten) written.push(offset)
        else turn?.failed()
        resolve(isWritten)
      }
      queued.push({ offset, slot: turn, settle })
      turn?.handed()
    })
  const compiled = {
    ...endpointWith((message, { slot: turn }) =>
      produce(Number(message.requestHeaders['kafka-offset']), turn).then((isWritten) =>
        outcomeOf(isWritten ? 'ok' : 'RESPONSE_UNREACHABLE'),
      ),
    ),
    produces: 1,
  }
  const queue = openFilledQueue(compiled, semaphore, 12, assert.ifError)
  const send = (isWritten: (offset: number) => boolean) => {
    const batch = queued
    queued = []
    for (const { offset, slot: turn, settle } of batch) settle(turn?.isVoid !== true && isWritten(offset))
  }
  const commit = async () => {
    await turnOfLoop()
    queue.committed(queue.snapshot())
    await turnOfLoop()
  }
  await turnOfLoop()
  assert.equal(queued.length, 4)
  send(() => true)
  await commit()
  assert.deepEqual(
    queued.map(({ offset }) => offset),
    [4, 5, 6, 7],
  )
  send((offset) => offset !== 4)
  for (let turns = 0; queue.doneOffset < 12n; turns += 1) {
    assert.ok(turns < 100, 'the rest does not finish')
    await commit()
    queue.wake()
    await turnOfLoop()
    send(() => true)
  }
  assert.deepEqual(written, [...Array(12).keys()])
  await queue.close()
})
