/** Nothing is lost when instances die: the short form of `crash.ts`. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createRandom } from '../crash/random.ts'
import { kafkaForTests } from '../services/kafka.ts'
import { crashRounds } from './crash-rounds.ts'

const kafka = await kafkaForTests()

describe('two instances, three of them killed and the group rebuilt twice', { skip: kafka.skip }, () => {
  test('nothing is lost, nothing committed before it is done, little comes twice, order is kept', async () => {
    const report = await crashRounds({
      brokers: kafka.brokers,
      records: 3_000,
      partitions: 6,
      kills: 3,
      rebalances: 2,
      random: createRandom(20),
    })
    const { lost, outOfOrder, committedPastUnfinished } = report
    assert.deepEqual(
      { lost, outOfOrder, committedPastUnfinished },
      { lost: 0, outOfOrder: 0, committedPastUnfinished: 0 },
    )
    // KAFKA_MAX_IN_FLIGHT: what an instance has begun and not committed.
    assert.ok(Math.max(...report.roundDuplicates) <= 64, `duplicates: ${report.roundDuplicates}`)
  })
})
