/** Records that overlap: which of them keep their order, and which run again after a crash. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import type { ConsumerStatus } from '../../../src/inbound/kafka/endpoint-consumers.ts'
import { consumerUntil, startBench, until } from '../../support/broker/broker.ts'
import { LONG } from '../../support/form.ts'
import { endpointDocument, json } from '../../support/service.ts'
import { kafkaForTests } from '../../support/services/kafka.ts'
import { type SpawnedService, spawnService } from '../../support/spawned-service.ts'
import { statusOf } from './instances.ts'
import { startUpstream } from './upstream.ts'

const kafka = await kafkaForTests()

const keyed = (n: number, key: string | null) => ({
  value: Buffer.from(JSON.stringify({ n, key })),
  ...(key === null ? {} : { key: Buffer.from(key) }),
  partition: 0,
})
/** A key that is null is left out of the output. */
const bodyOf = (body: string) => ({ key: null, ...JSON.parse(body) }) as { n: number; key: string | null }
const mapping = { 'requestBody.n': 'n', 'requestBody.key': 'key' }

describe('records of one partition', { skip: kafka.skip }, async () => {
  const { service, topics, stop } = await startBench(kafka.brokers, {
    // It is tried again until it succeeds.
    KAFKA_DLQ: 'off',
    KAFKA_RETRY_PAUSES_MS: '25',
    CIRCUIT_BREAKER_FAILURES: '0',
  })
  after(stop)

  test('by key: one that fails holds back its key only, and each key keeps its order', async () => {
    let isAway = true
    const upstream = await startUpstream((body, _, response) => {
      const { n, key } = bodyOf(body)
      const status = key === 'bad' && isAway ? 503 : 200
      setTimeout(() => response.writeHead(status).end('{}'), n % 3)
    })
    after(upstream.close)
    const topic = await topics.create(1)
    const keys = ['bad', 'a', 'b', null, 'c']
    const records = Array.from({ length: 500 }, (_, n) => keyed(n, keys[n % keys.length] ?? null))
    await topics.produce(topic, records)
    const { _id } = await service.register({
      endpoint: { pattern: '/keys' },
      kafkaConsumerTopic: topic,
      kafka: { order: 'key', inFlight: 50 },
      inputMapping: mapping,
      requests: { response: { id: 'out', config: { url: upstream.url } } },
    })
    const others = () => upstream.bodies.map(bodyOf).filter(({ key }) => key !== 'bad')
    await until(others, (made) => made.length === 400)
    const status = await consumerUntil(service, _id, (one) => one.retrying === 1 && one.underWay === 0)
    const [partition] = status?.partitions ?? []
    assert.deepEqual([partition?.committed, partition?.holes, partition?.lag], [0, 100, 500])
    assert.ok(Date.parse(status?.oldestAt ?? '') <= Date.now())
    isAway = false
    await consumerUntil(service, _id, (one) => one.lag === 0)
    const done = upstream.bodies.map(bodyOf)
    for (const key of keys) {
      const numbers = [...new Set(done.filter((one) => one.key === key).map(({ n }) => n))]
      assert.deepEqual(
        numbers,
        records.map((_, n) => n).filter((n) => (keys[n % keys.length] ?? null) === key),
      )
    }
    assert.ok(upstream.most() > 1, 'keys overlap')
  })

  test('without order, all overlap up to inFlight, also those of one key; a change of it holds at once', async () => {
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const upstream = await startUpstream((_body, _earlier, response) => {
      void held.then(() => response.writeHead(200).end('{}'))
    })
    after(upstream.close)
    const topic = await topics.create(1)
    await topics.produce(
      topic,
      Array.from({ length: 60 }, (_, n) => keyed(n, 'same')),
    )
    const document = {
      endpoint: { pattern: '/no-order' },
      kafkaConsumerTopic: topic,
      kafka: { order: 'none', inFlight: 20 },
      inputMapping: mapping,
      requests: { response: { id: 'out', config: { url: upstream.url } } },
    }
    const { _id } = await service.register(document)
    await until(upstream.most, (most) => most === 20)
    const changed = { ...document, name: 'no order', kafka: { order: 'none', inFlight: 40 } }
    const reply = await fetch(`${service.adminUrl}/endpoints/${_id}`, json('PUT', endpointDocument(changed)))
    assert.equal(reply.status, 200)
    await until(upstream.most, (most) => most === 40)
    release()
    await consumerUntil(service, _id, (one) => one.lag === 0)
    assert.equal(upstream.bodies.length, 60)
  })

  test('by partition, from topic to topic: those that a topic refuses are dead-lettered, the others stay in order', async () => {
    const { service: strict, stop: stopStrict } = await startBench(kafka.brokers)
    after(stopStrict)
    const topic = await topics.create(1)
    const out = await topics.create(2, undefined, { 'max.message.bytes': '2000' })
    const isLarge = (n: number) => n % 10 === 3
    await topics.produce(
      topic,
      Array.from({ length: 300 }, (_, n) => keyed(n, isLarge(n) ? 'x'.repeat(3_000) : `key ${n % 2}`)),
    )
    const { _id } = await strict.register({
      endpoint: { pattern: '/pipelined' },
      kafkaConsumerTopic: topic,
      inputMapping: mapping,
      kafka: { order: 'partition' },
      requests: { response: { id: 'out', kafkaProducerTopic: out, key: { path: 'requestBody.key' } } },
    })
    await consumerUntil(strict, _id, (one) => one.partitions[0]?.committed === 300)
    const made = (await topics.read(out)).map(({ value }) => bodyOf(String(value)))
    for (const key of ['key 0', 'key 1']) {
      const numbers = [...new Set(made.filter((one) => one.key === key).map(({ n }) => n))]
      const expected = Array.from({ length: 300 }, (_, n) => n).filter((n) => !isLarge(n) && key === `key ${n % 2}`)
      assert.deepEqual(numbers, expected)
    }
    const letters = await topics.read(`${topic}.dlq`)
    assert.deepEqual(
      letters.map(({ value }) => bodyOf(String(value)).n),
      Array.from({ length: 30 }, (_, index) => index * 10 + 3),
    )
  })

  test('another order: what was done beyond a waiting record does not run again', async () => {
    let isAway = true
    const upstream = await startUpstream((body, _, response) => {
      response.writeHead(bodyOf(body).n === 0 && isAway ? 503 : 200).end('{}')
    })
    after(upstream.close)
    const topic = await topics.create(1)
    await topics.produce(
      topic,
      Array.from({ length: 30 }, (_, n) => keyed(n, `key ${n}`)),
    )
    const document = {
      endpoint: { pattern: '/reordered' },
      kafkaConsumerTopic: topic,
      kafka: { order: 'key' },
      inputMapping: mapping,
      requests: { response: { id: 'out', config: { url: upstream.url } } },
    }
    const { _id } = await service.register(document)
    const made = (from: number) => upstream.bodies.map(bodyOf).filter(({ n }) => n >= from)
    await until(
      () => made(1),
      (done) => done.length === 29,
    )
    const changed = { ...document, name: 'reordered', kafka: { order: 'partition' } }
    await fetch(`${service.adminUrl}/endpoints/${_id}`, json('PUT', endpointDocument(changed)))
    await topics.produce(topic, [keyed(30, 'a'), keyed(31, 'b')])
    await consumerUntil(service, _id, (one) => one.retrying === 1 && one.lag === 32)
    assert.equal(made(1).length, 29)
    isAway = false
    await consumerUntil(service, _id, (one) => one.lag === 0)
    assert.deepEqual(
      made(1)
        .map(({ n }) => n)
        .toSorted((a, b) => a - b),
      Array.from({ length: 31 }, (_, n) => n + 1),
    )
  })
})

describe('a crash while one record takes long', { skip: kafka.skip }, async () => {
  const { topics, stop } = await startBench(kafka.brokers)
  after(stop)

  test('thousands behind it are done, and almost none of them runs again', async (test) => {
    const count = LONG ? 50_000 : 3_000
    const [waitMs, lifetimeMs] = LONG ? [300_000, 900_000] : [60_000, 240_000]
    let isSlow = true
    const upstream = await startUpstream((body, _, response) => {
      if (bodyOf(body).n === 0 && isSlow) return
      response.writeHead(200).end('{}')
    })
    after(upstream.close)
    const topic = await topics.create(1)
    await topics.produce(
      topic,
      Array.from({ length: count }, (_, n) => keyed(n, `key ${n}`)),
    )
    const folder = mkdtempSync(join(tmpdir(), 'crosswalk-order-'))
    after(() => rmSync(folder, { recursive: true, force: true }))
    const env = { KAFKA_BROKERS: kafka.brokers, KAFKA_SESSION_TIMEOUT_MS: '3000', MESSAGE_TIMEOUT_MS: '300000' }
    const first = await spawnService(folder, { env, lifetimeMs })
    after(() => first.child.kill('SIGKILL'))
    const document = {
      endpoint: { pattern: '/slow' },
      kafkaConsumerTopic: topic,
      kafka: { order: 'key' },
      inputMapping: mapping,
      // Longer than the test: the slow record is tried once.
      requests: { response: { id: 'out', timeoutMs: 300_000, config: { url: upstream.url } } },
    }
    await fetch(`${first.url}/endpoints`, json('POST', endpointDocument(document)))
    const state = (instance: SpawnedService): Promise<ConsumerStatus | undefined> => statusOf(instance)
    await until(
      () => upstream.bodies.length,
      (length) => length >= count,
      waitMs,
    )
    // The slow one alone holds a permit: all others are committed, beyond the one gap that it leaves.
    const last = await until(
      () => state(first),
      (one) => one?.underWay === 1 && one.inFlight === 1,
    )
    assert.deepEqual([last?.partitions[0]?.committed, last?.holes], [0, 1])
    first.child.kill('SIGKILL')
    await first.ended
    isSlow = false
    const second = await spawnService(folder, { env, lifetimeMs })
    after(() => second.child.kill('SIGKILL'))
    await until(
      () => state(second),
      (one) => one?.state === 'running' && one.partitions[0]?.committed === count,
    )
    const again = upstream.bodies.length - new Set(upstream.bodies).size
    test.diagnostic(`${again} of ${count} ran again`)
    assert.ok(again >= 1 && again < count / 100, `${again} ran again`)
    second.child.kill('SIGTERM')
    await second.ended
  })
})
