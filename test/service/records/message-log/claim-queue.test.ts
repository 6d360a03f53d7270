/** Messages that wait for a place in a capture: a store that does not answer must not keep their records. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CompletedMessage } from '../../../../src/inbound/completed-message.ts'
import {
  type ActiveCaptures,
  type ClaimQueue,
  createActiveCaptures,
  createClaimQueue,
} from '../../../../src/records/message-log/captures.ts'
import { openSqliteStore } from '../../../../src/store/sqlite/open-sqlite-store.ts'
import { StoreUnavailable } from '../../../../src/store/store-access.ts'
import { messageId } from '../../../support/contracts/message-records.ts'
import { endpointOf, idOf, insertEndpoint } from '../../../support/contracts/records.ts'
import { silent } from '../../../support/silent.ts'

type Stage = Readonly<{
  captures: ActiveCaptures
  queue: ClaimQueue
  /** What was recorded, in order: the number of the message, and whether it was captured. */
  recorded: (readonly [number, boolean])[]
}>

/** `claiming` wraps each claim in the store. */
async function withQueue(
  work: (stage: Stage) => Promise<void>,
  claiming: <T>(claim: () => Promise<T>) => Promise<T> = (claim) => claim(),
  limitBytes = 1_000,
): Promise<void> {
  const store = await openSqliteStore({ path: ':memory:', logger: silent })
  try {
    await insertEndpoint(store.endpoints, endpointOf(1))
    const until = Date.now() + 60_000
    await store.captures.put({ endpointId: idOf(1), id: 'c', messages: 5, until, startedAt: '', by: '' })
    const captures = createActiveCaptures({
      store: {
        active: store.captures.active,
        claim: (capture, count) => claiming(() => store.captures.claim(capture, count)),
      },
      clock: Date.now,
      logger: silent,
    })
    await captures.reload()
    const recorded: (readonly [number, boolean])[] = []
    const queue = createClaimQueue({
      captures,
      estimateBytes: () => 100,
      limitBytes,
      record: ({ ms }, isCaptured) => void recorded.push([ms, isCaptured]),
      logger: silent,
    })
    await work({ captures, queue, recorded })
  } finally {
    await store.close()
  }
}

/** Only what a queue reads of a message. */
const message = (n: number, endpoint = 1): CompletedMessage =>
  ({
    messageId: messageId(n),
    ms: n,
    compiled: endpointOf(endpoint),
    trace: {},
    answer: {},
  }) as unknown as CompletedMessage

const numbers = (count: number) => Array.from({ length: count }, (_, n) => n)

test('takes as many messages as there are places, and no others', () =>
  withQueue(async ({ captures, queue, recorded }) => {
    const taken = numbers(8).map((n) => queue.offer(message(n)))
    assert.deepEqual(taken, [true, true, true, true, true, false, false, false])
    assert.equal(queue.offer(message(8, 2)), false, 'another endpoint')
    assert.equal(queue.offer({ ...message(8), trace: undefined }), false, 'a message that no stage saw')
    await queue.drained(10_000)
    assert.deepEqual(
      recorded,
      numbers(5).map((n) => [n, true]),
    )
    assert.deepEqual([queue.count, captures.size, queue.offer(message(9))], [0, 0, false])
  }))

test('takes one message of any size, and no more than there is memory for', async () => {
  const cases: readonly (readonly [limitBytes: number, taken: readonly boolean[]])[] = [
    [10, [true, false, false]],
    [250, [true, true, false]],
  ]
  for (const [limitBytes, taken] of cases) {
    const work = async ({ queue, recorded }: Stage) => {
      const shown = numbers(3).map((n) => queue.offer(message(n)))
      assert.deepEqual(shown, taken)
      await queue.drained(10_000)
      assert.equal(queue.offer(message(4)), true)
      await queue.drained(10_000)
      assert.equal(recorded.length, taken.filter(Boolean).length + 1)
    }
    await withQueue(work, undefined, limitBytes)
  }
})

test('gives back messages that the store gives no place, and later ones are captured again', async () => {
  let isAway = true
  await withQueue(
    async ({ queue, recorded }) => {
      for (const n of numbers(2)) assert.equal(queue.offer(message(n)), true)
      await queue.drained(10_000)
      assert.deepEqual(recorded, [
        [0, false],
        [1, false],
      ])
      isAway = false
      assert.equal(queue.offer(message(2)), true)
      await queue.drained(10_000)
      assert.deepEqual(recorded[2], [2, true])
    },
    async (claim) => {
      if (isAway) throw new StoreUnavailable('away')
      return claim()
    },
  )
})

test('gives back at its end what still waits for a store that does not answer, each message once', async () => {
  const answer = Promise.withResolvers<void>()
  await withQueue(
    async ({ queue, recorded }) => {
      for (const n of numbers(3)) assert.equal(queue.offer(message(n)), true)
      await queue.close(20)
      const all = numbers(3).map((n) => [n, false])
      assert.deepEqual(recorded, all)
      assert.equal(queue.offer(message(4)), false)
      answer.resolve()
      await queue.drained(10_000)
      assert.deepEqual(recorded, all)
    },
    async (claim) => {
      await answer.promise
      return claim()
    },
  )
})
