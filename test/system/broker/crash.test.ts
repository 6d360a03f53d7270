/** Nothing is lost when instances die: some rounds of `crash.ts`. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { kafkaForTests } from '../../support/services/kafka.ts'
import { createRandom } from '../crash/random.ts'
import { type CrashOptions, crashRounds } from './crash.ts'

const kafka = await kafkaForTests()

const nothing = { lost: 0, outOfOrder: 0, committedPastUnfinished: 0 }

describe('two instances, killed six times, and the group rebuilt four times', { skip: kafka.skip }, () => {
  const run = async (options: Omit<CrashOptions, 'brokers' | 'partitions' | 'random'>, maxDuplicates: number) => {
    const report = await crashRounds({ brokers: kafka.brokers, partitions: 6, random: createRandom(20), ...options })
    const { lost, outOfOrder, committedPastUnfinished, roundDuplicates } = report
    assert.deepEqual({ lost, outOfOrder, committedPastUnfinished }, nothing)
    assert.ok(Math.max(...roundDuplicates) <= maxDuplicates, `duplicates: ${roundDuplicates}`)
  }

  // KAFKA_MAX_IN_FLIGHT: what an instance has started and not committed.
  test('nothing is lost, nothing committed before it is done, little comes twice, order is kept', () =>
    run({ records: 6_000, kills: 6, rebalances: 4 }, 64))

  // Those of the killed instance, and those of the partitions that it gets back from the other one.
  test('the same by key, with a lookup that fails at random, and always for one key at first', () =>
    run({ records: 4_000, kills: 3, rebalances: 2, keys: 102, awayMs: 10_000 }, 2 * 64))
})
