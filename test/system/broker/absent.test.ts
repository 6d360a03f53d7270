/** A broker that no endpoint needs, and one that cannot be reached: neither may affect HTTP, and a consumer of it ends with a sentence. */
import assert from 'node:assert/strict'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { after, describe, test } from 'node:test'
import { createKafkaConsumer } from '../../../src/inbound/kafka/kafka-consumer.ts'
import { TopicReader } from '../../../src/inbound/kafka/topic-reader.ts'
import { consumerUntil, until } from '../../support/broker/broker.ts'
import { idleListener } from '../../support/broker/consumer.ts'
import { json, startService } from '../../support/service.ts'
import { kafkaSettings } from '../../support/services/kafka-settings.ts'

const listen = (server: Server): Promise<number> =>
  new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)))

describe('the broker', () => {
  test('is not contacted until an endpoint names a topic', async () => {
    let connections = 0
    const sockets = new Set<Socket>()
    const server = createServer((socket) => {
      connections += 1
      sockets.add(socket)
      socket.on('error', () => undefined)
    })
    const port = await listen(server)
    const service = await startService({ KAFKA_BROKERS: `127.0.0.1:${port}` })
    after(async () => {
      await service.stop()
      for (const socket of sockets) socket.destroy()
      server.close()
    })
    await service.register({ endpoint: { pattern: '/plain' } })
    assert.equal((await service.fetch('/plain', json('POST', { a: 1 }))).status, 200)
    assert.deepEqual(await (await fetch(`${service.adminUrl}/consumers`)).json(), [])
    assert.equal(connections, 0)
    await service.register({ endpoint: { pattern: '/consumes' }, kafkaConsumerTopic: 'somewhere' })
    await until(
      () => connections,
      (count) => count > 0,
    )
  })

  test('where it is away: a warning, retries, 502 for producing, and HTTP goes on', async () => {
    const server = createServer()
    const port = await listen(server)
    await new Promise((resolve) => server.close(resolve))
    const service = await startService({ KAFKA_BROKERS: `127.0.0.1:${port}` })
    after(service.stop)
    const consumer = await service.register({ endpoint: { pattern: '/consumes' }, kafkaConsumerTopic: 'somewhere' })
    await service.register({
      endpoint: { pattern: '/produces' },
      requests: { response: { id: 'out', kafkaProducerTopic: 'elsewhere' } },
    })
    const status = await consumerUntil(service, consumer._id, (one) => one.lastError !== undefined)
    assert.equal(status?.state, 'connecting')
    assert.match(status?.lastError?.message ?? '', /ECONNREFUSED.*; check that the broker runs, and KAFKA_BROKERS$/)
    const exposition = await (await fetch(`${service.adminUrl}/metrics`)).text()
    assert.match(exposition, /^crosswalk_consumers\{.*topic="somewhere",state="connecting"\} 1$/m)
    assert.match(exposition, /^crosswalk_consumers\{.*topic="somewhere",state="running"\} 0$/m)
    const warnings = () => service.log.filter(({ level, fields }) => level === 'warn' && fields.topic === 'somewhere')
    assert.equal(warnings().length, 1)
    assert.equal((await service.fetch('/consumes', json('POST', { a: 1 }))).status, 200)
    const refused = await service.fetch('/produces', json('POST', { a: 1 }))
    assert.deepEqual([refused.status, refused.json().code], [502, 'RESPONSE_UNREACHABLE'])
    assert.equal((await fetch(`${service.adminUrl}/health/ready`)).status, 200)
  })

  test('where it does not answer: 504 in the time of the request', async () => {
    const sockets = new Set<Socket>()
    const server = createServer((socket) => {
      sockets.add(socket)
      socket.on('error', () => undefined)
    })
    const port = await listen(server)
    const service = await startService({ KAFKA_BROKERS: `127.0.0.1:${port}` })
    after(async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await service.stop()
    })
    await service.register({
      endpoint: { pattern: '/produces' },
      requests: { response: { id: 'out', kafkaProducerTopic: 'elsewhere', timeoutMs: 300 } },
    })
    const startedAt = Date.now()
    const reply = await service.fetch('/produces', json('POST', { a: 1 }))
    assert.deepEqual([reply.status, reply.json().code], [504, 'RESPONSE_TIMED_OUT'])
    // The client's own time would be 10 s.
    assert.ok(Date.now() - startedAt < 8_000)
  })
})

/** No server listens there. */
const NOWHERE = { port: 1, host: '127.0.0.1' }
const settings = kafkaSettings(`${NOWHERE.host}:${NOWHERE.port}`, 1_000)

describe('where no broker can be read from', () => {
  test('a reader gives up once, and then tries nothing until it is closed', async () => {
    const ended = Promise.withResolvers<void>()
    let [ends, tries] = [0, 0]
    const reader = new TopicReader(settings, 'tests', 't', {
      ...idleListener,
      demand: () => ({ maxBytes: 1_000, partitionBytes: new Map([[0, 1_000]]) }),
      onTrouble: () => {
        tries += 1
      },
      onEnd: () => {
        ends += 1
        ended.resolve()
      },
    })
    reader.assign([{ partition: 0, offset: 5n }])
    await ended.promise
    for (let times = 0; times < 100; times += 1) {
      const socket = connect(NOWHERE)
      await new Promise((resolve) => socket.once('error', resolve))
    }
    await reader.close()
    assert.deepEqual([ends, tries], [1, 20])
  })

  test('a session ends with one sentence, and can be closed', async () => {
    const ended = Promise.withResolvers<Error>()
    const subscription = {
      groupId: 'tests',
      topic: 't',
      startAt: 'committed',
      groupStart: 'earliest',
      exactlyOnce: false,
    } as const
    const session = await createKafkaConsumer(settings).open(subscription, { ...idleListener, onEnd: ended.resolve })
    assert.match((await ended.promise).message, /^[^\n]*ECONNREFUSED[^\n]*$/)
    await session.close()
  })

  test('a client that refuses its settings rejects with one sentence', async () => {
    const consumer = createKafkaConsumer({ ...settings, kafkaSessionTimeoutMs: -1 })
    await assert.rejects(
      consumer.open(
        { groupId: 'tests', topic: 't', startAt: 'committed', groupStart: 'earliest', exactlyOnce: false },
        idleListener,
      ),
      /^Error: [^\n]*sessionTimeout/,
    )
  })
})
