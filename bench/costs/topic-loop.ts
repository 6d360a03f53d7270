/**
 * The least that a program from topic to topic can do, by hand: read a batch, parse, produce all of it at once, and commit when
 * all of it is acknowledged. Prints the milliseconds from the first record to the last acknowledgement.
 */
import { randomUUID } from 'node:crypto'
import { Consumer, Producer } from '@platformatic/kafka'

const [brokers = '', topic = '', out = '', count = '0'] = process.argv.slice(2)
const options = { clientId: 'loop', bootstrapBrokers: brokers.split(',') }
const consumer = new Consumer({ ...options, groupId: `loop-${randomUUID()}` })
const producer = new Producer({ ...options, idempotent: true })
const stream = await consumer.consume({
  topics: [topic],
  mode: 'committed',
  fallbackMode: 'earliest',
  autocommit: 1_000,
  maxWaitTime: 100,
})
let done = 0
let startedAt = 0
let batch: { topic: string; key: Buffer; value: Buffer }[] = []
const send = async () => {
  const messages = batch
  batch = []
  await producer.send({ messages, acks: -1 })
  done += messages.length
}
const BATCH = 500
for await (const { key, value } of stream) {
  if (startedAt === 0) startedAt = performance.now()
  batch.push({ topic: out, key, value: Buffer.from(JSON.stringify(JSON.parse(String(value)))) })
  if (batch.length === BATCH || done + batch.length === Number(count)) await send()
  if (done === Number(count)) break
}
console.log(performance.now() - startedAt)
await consumer.close(true)
await producer.close(true)
