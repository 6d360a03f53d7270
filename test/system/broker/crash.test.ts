/** Nothing is lost when instances die: some rounds of `crash.ts`. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { kafkaForTests } from '../../support/services/kafka.ts'
import { createRandom } from '../crash/random.ts'
import { crashRounds } from './crash.ts'

const kafka = await kafkaForTests()

describe('two instances, killed six times, and the group rebuilt four times', { skip: kafka.skip }, () => {
  test('nothing is lost, nothing committed before it is done, little comes twice, order is kept', async () => {
    const report = await crashRounds({
      brokers: kafka.brokers,
      records: 6_000,
      partitions: 6,
      kills: 6,
      rebalances: 4,
      random: createRandom(20),
    })
    const { lost, outOfOrder, committedPastUnfinished } = report
    assert.deepEqual(
      { lost, outOfOrder, committedPastUnfinished },
      { lost: 0, outOfOrder: 0, committedPastUnfinished: 0 },
    )
    // KAFKA_MAX_IN_FLIGHT: what an instance has started and not committed.
    assert.ok(Math.max(...report.roundDuplicates) <= 64, `duplicates: ${report.roundDuplicates}`)
  })

  test('the same by key, with a lookup that fails at random, and always for one key at first', async () => {
    const report = await crashRounds({
      brokers: kafka.brokers,
      records: 4_000,
      partitions: 6,
      kills: 3,
      rebalances: 2,
      keys: 102,
      awayMs: 10_000,
      random: createRandom(20),
    })
    const { lost, outOfOrder, committedPastUnfinished } = report
    assert.deepEqual(
      { lost, outOfOrder, committedPastUnfinished },
      { lost: 0, outOfOrder: 0, committedPastUnfinished: 0 },
    )
    // Those of the killed instance, and those of the partitions that it gets back from the other one.
    assert.ok(Math.max(...report.roundDuplicates) <= 2 * 64, `duplicates: ${report.roundDuplicates}`)
  })
})
