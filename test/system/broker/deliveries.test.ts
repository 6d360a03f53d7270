/** Records of a topic whose requests are durable: their offsets are committed once these are stored, and not before. */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import type { JsonObject } from '../../../src/core/json.ts'
import { bodies, committedUntil, consumerUntil, startBench, until } from '../../support/broker/broker.ts'
import { startUpstream } from '../../support/service.ts'
import { kafkaForTests } from '../../support/services/kafka.ts'

const kafka = await kafkaForTests()

const RECORDS = 40
const KEYS = ['a', 'b', 'c']
const keyOf = (n: number) => KEYS[n % KEYS.length] as string

describe('records with durable requests', { skip: kafka.skip }, async () => {
  const { service, topics, stop } = await startBench(kafka.brokers, {
    KAFKA_RETRY_PAUSES_MS: '10,20',
    // Of the forty records, this has room for less than ten.
    DELIVERY_MAX_BYTES: '20000',
    CIRCUIT_BREAKER_FAILURES: '3',
    CIRCUIT_BREAKER_PAUSE_MS: '20',
    CIRCUIT_BREAKER_MAX_PAUSE_MS: '50',
  })
  after(stop)
  const read = async (path: string) => (await (await fetch(`${service.adminUrl}${path}`)).json()) as JsonObject
  const pendingOf = async (endpoint: string) =>
    ((await read(`/deliveries?state=pending&limit=500&endpoint=${endpoint}`)).deliveries as readonly JsonObject[])
      .length

  for (const order of ['partition', 'key', 'none']) {
    test(`with the order ${order}, wait for a full backlog and none is dead-lettered`, async (t) => {
      let isAway = true
      const upstream = await startUpstream((_request, response) => {
        response.statusCode = isAway ? 503 : 200
        return {}
      })
      t.after(upstream.stop)
      const topic = await topics.create(1)
      const records = bodies(0, RECORDS).map((one, n) => ({ ...one, key: Buffer.from(keyOf(n)), partition: 0 }))
      await topics.produce(topic, records)
      const { _id, name } = await service.register({
        name: `Order ${order}`,
        endpoint: {},
        kafkaConsumerTopic: topic,
        kafka: { order, inFlight: 10 },
        constants: { note: 'x'.repeat(2_000) },
        inputMapping: { 'requestBody.n': 'n', 'constants.note': 'note' },
        requests: {
          response: {
            id: 'out',
            config: { method: 'POST', url: upstream.url },
            delivery: { key: 'requestHeaders.kafka-key', schedule: ['0s', '1s'] },
          },
        },
      })
      const stopped = await consumerUntil(service, _id, ({ partitions }) => partitions[0]?.state === 'stopped')
      const [partition] = stopped.partitions
      const waiting = await pendingOf(encodeURIComponent(name))
      assert.ok(waiting > 0 && waiting < 10, `${waiting} wait`)
      assert.ok((partition?.committed ?? 0) <= waiting, `${partition?.committed} committed, ${waiting} stored`)
      const { messages } = await read(`/messages?outcome=failed&endpoint=${_id}`)
      const failed = messages as readonly JsonObject[]
      assert.ok(failed.length > 3)
      for (const { code, triedAgain } of failed) assert.deepEqual([code, triedAgain], ['DELIVERIES_FULL', true])

      isAway = false
      await committedUntil(topics, _id, topic, [RECORDS])
      await until(
        () => pendingOf(encodeURIComponent(name)),
        (left) => left === 0,
      )
      assert.deepEqual(await topics.read(`${topic}.dlq`).catch(() => []), [])
      const arrived = upstream.received.map(({ body, headers }) => ({
        n: (JSON.parse(body) as { n: number }).n,
        id: headers['idempotency-key'],
      }))
      assert.equal(new Set(arrived.map(({ id }) => id)).size, RECORDS)
      for (const key of order === 'none' ? [] : KEYS) {
        const numbers = [...new Set(arrived.map(({ n }) => n).filter((n) => keyOf(n) === key))]
        assert.deepEqual(
          numbers,
          numbers.toSorted((one, other) => one - other),
          key,
        )
      }
    })
  }
})
