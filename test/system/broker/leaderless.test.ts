/** A partition whose only broker is gone: the others of its topic go on, and it does so when the broker is back. */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { Admin } from '@platformatic/kafka'
import { body, consumerUntil, startBench, until } from '../../support/broker/broker.ts'
import { whyNoJava } from '../../support/services/java-class-path.ts'
import { servicesRequired } from '../../support/services/service-process.ts'
import { startKafka } from '../../support/services/start-kafka.ts'
import { startUpstream } from './upstream.ts'

const noJava = servicesRequired() ? undefined : await whyNoJava()
const skip = noJava === undefined ? false : `no Kafka brokers of our own: ${noJava}`

const RECORDS = 40

describe('two brokers, of which one is killed', { skip }, () => {
  test('the partitions of the other are consumed on, and those of the killed one when it is back', async () => {
    const kafka = await startKafka()
    after(kafka.stop)
    const { service, topics, stop } = await startBench(kafka.brokers)
    after(stop)
    // The first broker alone keeps what groups commit, since it is asked for while there is no other.
    await topics.committed('none', await topics.create(), 1)
    const second = await startKafka({ join: kafka.controllerPort })
    after(second.stop)
    const admin = new Admin({ clientId: 'tests', bootstrapBrokers: [kafka.brokers], retries: 10, retryDelay: 200 })
    after(() => admin.close())
    const topic = `on-two-${Date.now()}`
    const assignments = [
      { partition: 0, brokers: [1] },
      { partition: 1, brokers: [2] },
    ]
    await until(
      () =>
        admin
          .createTopics({ topics: [topic], partitions: -1, replicas: -1, assignments })
          .then(() => true)
          .catch(() => false),
      (created) => created,
    )
    // So large that several fetches are needed.
    const filler = 'x'.repeat(50_000)
    const release = Promise.withResolvers<void>()
    const upstream = await startUpstream(async (text, _earlier, response) => {
      if ((JSON.parse(text) as { n: number }).n >= 2) await release.promise
      response.end('{}')
    })
    after(upstream.close)
    for (const partition of [0, 1]) {
      for (let n = 0; n < RECORDS; n += 20) {
        const records = Array.from({ length: 20 }, (_, index) => ({ ...body({ n: n + index, filler }), partition }))
        await topics.produce(topic, records)
      }
    }
    const { _id } = await service.register({
      endpoint: { pattern: '/two' },
      kafkaConsumerTopic: topic,
      inputMapping: { 'requestBody.n': 'n' },
      requests: { response: { id: 'out', config: { url: upstream.url } } },
    })
    const committed = () => topics.committed(`mapping-mediator.${_id}`, topic, 2)
    await until(committed, ([first, other]) => first === 2 && other === 2)
    await second.kill()
    release.resolve()
    const troubled = await consumerUntil(
      service,
      _id,
      (status) => /have no leader/.test(status.lastError?.message ?? ''),
      60_000,
    )
    assert.equal(troubled?.state, 'connecting')
    await until(committed, ([first]) => first === RECORDS)
    const [, other = 0] = await committed()
    assert.ok(other < RECORDS, `${other} of the partition without a leader`)
    await second.restart()
    await until(committed, (offsets) => offsets.every((offset) => offset === RECORDS), 60_000)
    await consumerUntil(service, _id, (status) => status.state === 'running' && status.lag === 0)
    assert.equal(upstream.bodies.length, 2 * RECORDS)
  })
})
