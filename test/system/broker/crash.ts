/**
 * The whole of crash.test.ts: `node bin/node.js test/system/broker/crash.ts [records] [kills] [rebalances] [keys]`, on the
 * broker of KAFKA_BROKERS or one of its own. With a number of keys, a multiple of 6, the order is by key, with a lookup that fails at random
 * and for one key always for a minute.
 */

import { startServices } from '../../support/services/all.ts'
import { createRandom } from '../crash/random.ts'
import { crashRounds } from './crash-rounds.ts'

const [records = 20_000, kills = 10, rebalances = 5, keys] = process.argv.slice(2).map(Number)
const print = (line: string) => console.log(line)
const services = await startServices(print)
try {
  const brokers = process.env.KAFKA_BROKERS ?? ''
  const report = await crashRounds({
    brokers,
    records,
    partitions: 6,
    kills,
    rebalances,
    keys,
    awayMs: 60_000,
    random: createRandom(1),
    print,
  })
  console.log(report)
} finally {
  await services.stop()
}
