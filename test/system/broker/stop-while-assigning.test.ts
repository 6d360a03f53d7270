/** An instance that is stopped while it still asks where the partitions of a rebalance start. */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { Consumer } from '@platformatic/kafka'
import { body, consumerUntil, startBench } from '../../support/broker/broker.ts'
import { kafkaForTests } from '../../support/services/kafka.ts'
import { startUpstream } from './upstream.ts'

const kafka = await kafkaForTests()

const BEFORE = 40
const MEANWHILE = 100

describe('a stop in the midst of a rebalance', { skip: kafka.skip }, () => {
  test('commits no record that was not done, whatever is fetched meanwhile', async (t) => {
    const { service, topics } = await startBench(kafka.brokers)
    after(topics.close)
    const delivered = new Set<number>()
    const upstream = await startUpstream((text, _earlier, response) => {
      delivered.add((JSON.parse(text) as { n: number }).n)
      response.end('{}')
    })
    after(upstream.close)
    const topic = await topics.create(2)
    const { _id } = await service.register({
      endpoint: { pattern: '/stop' },
      kafkaConsumerTopic: topic,
      requests: { response: { id: 'out', config: { url: upstream.url } } },
    })
    const groupId = `mapping-mediator.${_id}`
    const shareOfSize = (count: number) =>
      consumerUntil(service, _id, (status) => status.state === 'running' && status.partitions.length === count)
    await shareOfSize(2)
    const other = new Consumer({ clientId: 'other', groupId, bootstrapBrokers: kafka.brokers.split(',') })
    const emitter: NodeJS.EventEmitter = other
    emitter.on('error', () => undefined)
    other.topics.track(topic)
    await other.joinGroup({})
    const mine = (await shareOfSize(1))?.partitions[0]?.partition as number

    // The real answer of the broker, only late.
    const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const ask = Consumer.prototype.listCommittedOffsets as (this: Consumer, options: unknown) => Promise<unknown>
    const late = t.mock.method(
      Consumer.prototype,
      'listCommittedOffsets',
      async function (this: Consumer, options: unknown) {
        asked.resolve()
        await answered.promise
        return ask.call(this, options)
      },
    )
    const feed = (from: number, to: number) =>
      topics.produce(
        topic,
        Array.from({ length: to - from }, (_, index) => ({ ...body({ n: from + index }), partition: mine })),
      )
    await other.close(true)
    await asked.promise
    await feed(0, BEFORE)
    const stopped = service.stop()
    await feed(BEFORE, BEFORE + MEANWHILE)
    // A fetch that is under way answers at once where there is something.
    for (let times = 0; times < 10; times += 1) assert.equal((await topics.read(topic)).length, BEFORE + MEANWHILE)
    answered.resolve()
    await stopped
    late.mock.restore()
    const committed = (await topics.committed(groupId, topic, 2))[mine] as number
    const skipped = Array.from({ length: Math.max(committed, 0) }, (_, n) => n).filter((n) => !delivered.has(n))
    assert.deepEqual(skipped, [])
  })
})
