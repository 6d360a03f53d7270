/** Each record is committed once, though instances die in the middle of transactions and the group is rebuilt. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { LONG } from '../../support/form.ts'
import { kafkaForTests } from '../../support/services/kafka.ts'
import { createRandom } from '../crash/random.ts'
import { crashRounds } from './crash.ts'

const kafka = await kafkaForTests()
const [kills, rebalances, records] = LONG ? [20, 5, 20_000] : [3, 1, 3_000]

describe('two instances with exactlyOnce', { skip: kafka.skip }, () => {
  test(`${kills} kills and ${rebalances} rebuilt groups: each of ${records} records once, in order`, async () => {
    const report = await crashRounds({
      brokers: kafka.brokers,
      records,
      partitions: 6,
      kills,
      rebalances,
      exactlyOnce: true,
      random: createRandom(20),
    })
    const { lost, duplicates, outOfOrder, committedPastUnfinished } = report
    assert.deepEqual(
      { lost, duplicates, outOfOrder, committedPastUnfinished },
      { lost: 0, duplicates: 0, outOfOrder: 0, committedPastUnfinished: 0 },
    )
  })
})
