/** Topics where a service has several workers. */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import type { ConsumerStatus } from '../../../src/inbound/kafka/endpoint-consumers.ts'
import { body, until } from '../../support/broker/broker.ts'
import { readCommitted } from '../../support/services/committed-records.ts'
import { kafkaForTests } from '../../support/services/kafka.ts'
import { openTopics } from '../../support/services/topics.ts'
import { startCrew } from '../app/workers/crew.ts'
import { countDeliveries, numbered, readMade, tracing } from './numbered.ts'
import { startUpstream } from './upstream.ts'

const kafka = await kafkaForTests()

describe('with several workers', { skip: kafka.skip }, async () => {
  const topics = openTopics(kafka.brokers)
  after(() => topics.close())
  const env = { KAFKA_BROKERS: kafka.brokers, KAFKA_SESSION_TIMEOUT_MS: '3000', KAFKA_REQUEST_TIMEOUT_MS: '5000' }

  test('each endpoint has one consumer, which keeps to KAFKA_MAX_IN_FLIGHT, also after a worker was lost', async (t) => {
    const [endpoints, partitions, limit] = [4, 6, 2]
    const crew = await startCrew(t, { env: { ...env, KAFKA_MAX_IN_FLIGHT: `${limit}` } })
    const upstreams = await Promise.all(
      Array.from({ length: endpoints }, () =>
        startUpstream((_body, _earlier, response) => {
          setTimeout(() => response.writeHead(200).end('{}'), 5)
        }),
      ),
    )
    t.after(() => Promise.all(upstreams.map(({ close }) => close())))
    const topic = await topics.create(partitions)
    const produce = (from: number, to: number) =>
      topics.produce(
        topic,
        Array.from({ length: to - from }, (_, n) => ({ ...body({ n: from + n }), partition: (from + n) % partitions })),
      )
    await produce(0, 60)
    for (const [index, { url }] of upstreams.entries()) {
      await crew.register({
        name: `consumer ${index}`,
        endpoint: { pattern: `/consumer/${index}` },
        kafkaConsumerTopic: topic,
        requests: { response: { id: 'out', config: { url } } },
      })
    }
    const numbers = (bodies: readonly unknown[]) => new Set(bodies.map((one) => JSON.stringify(one))).size
    const all = (count: number) =>
      until(
        () => upstreams.map(({ bodies }) => numbers(bodies)),
        (counts) => counts.every((one) => one === count),
        90_000,
      )
    await all(60)
    const { body: listed } = await crew.admin('GET', '/consumers')
    const names = (listed as unknown as ConsumerStatus[]).map(({ endpoint }) => endpoint).sort()
    assert.deepEqual(
      names,
      upstreams.map((_, index) => `consumer ${index}`),
    )
    // A group that is one consumer's alone: nothing came twice.
    for (const { bodies, most } of upstreams) {
      assert.equal(bodies.length, 60)
      assert.ok(most() <= limit)
    }
    process.kill(crew.workerPids()[0] as number, 'SIGKILL')
    await produce(60, 90)
    await all(90)
  })

  test('exactlyOnce holds when all workers are lost', async (t) => {
    const [partitions, records] = [3, 3_000]
    const [topic, out] = [await topics.create(partitions), await topics.create(partitions)]
    const crew = await startCrew(t, { env })
    const { _id } = await crew.register({
      name: 'once',
      endpoint: { pattern: '/once' },
      kafkaConsumerTopic: topic,
      kafka: { exactlyOnce: true, inFlight: 500 },
      ...tracing(out),
    })
    const untilCommitted = (isSo: (offsets: readonly number[]) => boolean) =>
      until(() => topics.committed(`mapping-mediator.${_id}`, topic, partitions), isSo, 60_000)
    await topics.produce(topic, numbered(0, records / 2, partitions))
    await untilCommitted((offsets) => offsets.some((offset) => offset > 0))
    for (const pid of crew.workerPids()) process.kill(pid, 'SIGKILL')
    await topics.produce(topic, numbered(records / 2, records, partitions))
    await untilCommitted((offsets) => offsets.every((offset) => offset === records / partitions))
    const made = readMade(await readCommitted(kafka.brokers, out))
    assert.deepEqual(countDeliveries(made, records), { lost: 0, duplicates: 0, outOfOrder: 0 })
  })
})
