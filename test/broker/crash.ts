/**
 * The whole of crash.test.ts: `node bin/node.js test/broker/crash.ts [records] [kills] [rebalances]`, on the broker
 * of KAFKA_BROKERS or one of its own.
 */
import { createRandom } from '../crash/random.ts'
import { startServices } from '../services/all.ts'
import { crashRounds } from './crash-rounds.ts'

const [records = 20_000, kills = 10, rebalances = 5] = process.argv.slice(2).map(Number)
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
    random: createRandom(1),
    print,
  })
  console.log(report)
} finally {
  await services.stop()
}
