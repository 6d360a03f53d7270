/** The least that a consumer can do: read, parse, count. Prints the milliseconds from the first record to the last. */
import { randomUUID } from 'node:crypto'
import { Consumer } from '@platformatic/kafka'

const [brokers = '', topic = '', count = '0'] = process.argv.slice(2)
const consumer = new Consumer({
  clientId: 'bare',
  groupId: `bare-${randomUUID()}`,
  bootstrapBrokers: brokers.split(','),
})
const stream = await consumer.consume({
  topics: [topic],
  mode: 'committed',
  fallbackMode: 'earliest',
  autocommit: 1_000,
  maxWaitTime: 100,
})
let parsed = 0
let startedAt = 0
for await (const { value } of stream) {
  if (parsed === 0) startedAt = performance.now()
  JSON.parse(String(value))
  parsed += 1
  if (parsed === Number(count)) break
}
console.log(performance.now() - startedAt)
await consumer.close(true)
