/** The consumer of an endpoint over a broker in memory: sessions, commits, rebalances, backpressure and its status. */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import type { JsonObject } from '../../../../src/core/json.ts'
import { createEndpointRegistry } from '../../../../src/endpoints/endpoint-registry.ts'
import { FetchBudget } from '../../../../src/inbound/kafka/consumer-session.ts'
import { EndpointConsumer, EndpointConsumers } from '../../../../src/inbound/kafka/endpoint-consumers.ts'
import type { GroupStart } from '../../../../src/inbound/kafka/record-consumer.ts'
import { readOrder } from '../../../../src/inbound/kafka/record-order.ts'
import type { Handle, Outcome } from '../../../../src/pipeline/outcome.ts'
import { type LogLine, loggerInto } from '../../../support/service.ts'
import { openMemoryBroker } from './memory-broker.ts'
import { ENDPOINT_ID, endpointWith, openIntake, openProducer, outcomeOf, TOPIC } from './record-fixtures.ts'

/** Runs turns of the event loop until the condition holds; nothing here waits for a time. */
async function until(holds: () => boolean): Promise<void> {
  for (let turns = 0; !holds(); turns += 1) {
    assert.ok(turns < 10_000, 'this did not come about')
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** Enough turns for all that needs no timer. */
async function severalTurns(): Promise<void> {
  for (let turns = 0; turns < 20; turns += 1) await new Promise((resolve) => setImmediate(resolve))
}

const settingsWith = (maxInFlight: number) => ({
  groupId: 'group',
  maxInFlight,
  maxBufferedBytes: 4 * 1024 * 1024,
  retryPausesMs: [1_000],
  deadLetterTopic: '{topic}.dlq',
  produceTimeoutMs: 1_000,
  validationAcceptNullValues: false,
})

/** A pipeline whose messages end when the test says so, and a consumer in front of it. */
async function start(t: TestContext, maxInFlight = 10, fields: JsonObject = {}) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const broker = openMemoryBroker()
  const log: LogLine[] = []
  const logger = loggerInto(log)
  const underWay: { at: string; end: (outcome: Outcome) => void }[] = []
  const handle: Handle = (message) => {
    const { 'kafka-partition': partition, 'kafka-offset': offset } = message.requestHeaders
    return new Promise((resolve) => underWay.push({ at: `${partition}/${offset}`, end: resolve }))
  }
  let compiled = endpointWith(handle, fields)
  const consumer = new EndpointConsumer({
    consumer: broker.consumer,
    settings: settingsWith(maxInFlight),
    budget: new FetchBudget(4 * 1024 * 1024),
    endpointId: ENDPOINT_ID,
    topic: TOPIC,
    order: readOrder(compiled.endpoint),
    exactlyOnce: false,
    get: () => compiled,
    intake: openIntake(logger),
    producer: openProducer(),
    logger,
  })
  await until(() => broker.listener !== undefined)
  const places = () => underWay.map(({ at }) => at)
  /** Ends the first record under way. */
  const end = (result: Parameters<typeof outcomeOf>[0] = 'ok') => underWay.shift()?.end(outcomeOf(result))
  const change = (changed: JsonObject) => {
    compiled = endpointWith(handle, changed)
    consumer.wake()
  }
  return { broker, consumer, log, places, end, change, tick: (timeMs: number) => t.mock.timers.tick(timeMs) }
}

describe('the consumer of an endpoint', () => {
  test('processes each partition in order and commits what is done', async (t) => {
    const { broker, consumer, places, end } = await start(t)
    broker.append(0, 2)
    broker.append(1, 1)
    broker.assign(0, 1)
    assert.equal(broker.deliver(), 3)
    await until(() => places().length === 2)
    assert.deepEqual(places(), ['0/0', '1/0'])
    end()
    await until(() => broker.committed.get(0) === 1n)
    assert.deepEqual(places(), ['1/0', '0/1'])
    end()
    end()
    await until(() => broker.committed.get(0) === 2n && broker.committed.get(1) === 1n)
    const { state, lag, inFlight, groupId, partitions } = consumer.status()
    assert.deepEqual(
      { state, lag, inFlight, groupId },
      { state: 'running', lag: 0, inFlight: 0, groupId: `group.${ENDPOINT_ID}` },
    )
    assert.deepEqual(partitions[0], {
      ...{ partition: 0, state: 'running', committed: 2, end: 2, lag: 0 },
      ...{ underWay: 0, retrying: 0, holes: 0 },
    })
    await consumer.stop()
    assert.equal(broker.listener, undefined)
  })

  test('is stopped: lets the record under way finish and commits it, and starts no other', async (t) => {
    const { broker, consumer, places, end } = await start(t)
    broker.append(0, 2)
    broker.assign(0)
    broker.deliver()
    await until(() => places().length === 1)
    const stopped = consumer.stop()
    end()
    await stopped
    assert.deepEqual(broker.commits, [[0, 1n]])
    assert.deepEqual(places(), [])
  })

  test('leaves its group while the endpoint is paused, and continues behind what it has committed', async () => {
    const broker = openMemoryBroker()
    const logger = loggerInto([])
    const underWay: ((outcome: Outcome) => void)[] = []
    const handle: Handle = () => new Promise((resolve) => underWay.push(resolve))
    const registry = createEndpointRegistry()
    const put = (fields: JsonObject) => registry.put(endpointWith(handle, fields))
    put({})
    const consumers = new EndpointConsumers({
      consumer: broker.consumer,
      settings: settingsWith(10),
      registry,
      isOwn: () => true,
      intake: openIntake(logger),
      producer: openProducer(),
      logger,
    })
    await until(() => broker.listener !== undefined)
    broker.append(0, 2)
    broker.assign(0)
    broker.deliver()
    await until(() => underWay.length === 1)
    put({ paused: true })
    underWay.shift()?.(outcomeOf('ok'))
    await until(() => broker.listener === undefined)
    assert.deepEqual([consumers.status(), broker.commits, underWay], [[], [[0, 1n]], []])
    put({ description: 'Another.', paused: true })
    await severalTurns()
    assert.equal(broker.listener, undefined)
    put({})
    await until(() => broker.listener !== undefined)
    broker.assign(0)
    broker.deliver()
    await until(() => underWay.length === 1)
    underWay.shift()?.(outcomeOf('ok'))
    await consumers.stop()
    assert.deepEqual(broker.commits.at(-1), [0, 2n])
  })

  test('starts no more records than maxInFlight, and one that waits for its retry does not count', async (t) => {
    const { broker, consumer, places, end, tick } = await start(t, 1)
    broker.append(0, 1)
    broker.append(1, 1)
    broker.assign(0, 1)
    broker.deliver()
    await until(() => places().length === 1)
    assert.deepEqual(places(), ['0/0'])
    end('RESPONSE_UNREACHABLE')
    await until(() => places().length === 1)
    assert.deepEqual([places(), consumer.status().state], [['1/0'], 'waiting'])
    tick(1_000)
    end()
    await until(() => places()[0] === '0/0')
    end()
    await until(() => broker.commits.length === 2)
    assert.equal(consumer.status().state, 'running')
    await consumer.stop()
  })

  test('starts no record during a rebalance, and commits nothing of a revoked partition', async (t) => {
    const { broker, consumer, places, end } = await start(t)
    broker.append(0, 2)
    broker.append(1, 2)
    broker.assign(0, 1)
    broker.deliver()
    await until(() => places().length === 2)
    broker.listener?.onRebalance()
    end()
    await until(() => broker.commits.length === 1)
    assert.deepEqual(places(), ['1/0'])
    broker.assign(0)
    await until(() => places().length === 2)
    assert.deepEqual(places(), ['1/0', '0/1'])
    end()
    end()
    await until(() => broker.committed.get(0) === 2n)
    assert.equal(broker.committed.has(1), false)
    await consumer.stop()
  })

  test('whose commit is fenced commits again only after the next assignment', async (t) => {
    const { broker, consumer, places, end } = await start(t)
    broker.append(0, 2)
    broker.assign(0)
    broker.deliver()
    await until(() => places().length === 1)
    broker.isFenced = true
    end()
    await until(() => broker.commitAttempts === 1)
    end()
    await until(() => places().length === 0)
    assert.equal(broker.commitAttempts, 1)
    broker.isFenced = false
    broker.assign(0)
    await until(() => broker.committed.get(0) === 2n)
    await consumer.stop()
  })

  test('opens another session after pauses that grow to 10 s, and start at 500 ms again once it has partitions', async (t) => {
    const { broker, consumer, log, tick } = await start(t)
    let sessions = 1
    const reopensAfter = async (pauseMs: number, why: string) => {
      broker.listener?.onEnd(new Error(why))
      await until(() => broker.listener === undefined)
      await severalTurns()
      tick(pauseMs - 1)
      await severalTurns()
      assert.equal(broker.subscriptions.length, sessions)
      tick(1)
      sessions += 1
      await until(() => broker.listener !== undefined)
    }
    for (const pauseMs of [500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000]) await reopensAfter(pauseMs, 'away')
    assert.deepEqual([consumer.status().state, consumer.status().lastError?.message], ['connecting', 'away'])
    broker.assign(0)
    await reopensAfter(500, 'away')
    await reopensAfter(1_000, 'away again')
    // The log has a line when what is wrong changes, not for each session.
    const warnings = log.filter(({ level }) => level === 'warn').map(({ message }) => message.split(': ').at(-1))
    assert.deepEqual(warnings, ['away', 'away', 'away again'])
    await consumer.stop()
  })

  test('whose topic was created again starts at its earliest record, and commits that over the former offsets', async (t) => {
    const { broker, consumer, tick } = await start(t)
    broker.committed.set(0, 40n)
    broker.assign(0)
    broker.listener?.onReplaced(new Error('the topic was made anew'))
    await until(() => broker.listener === undefined)
    await severalTurns()
    tick(500)
    await until(() => broker.listener !== undefined)
    assert.deepEqual(
      broker.subscriptions.map(({ startAt }) => startAt),
      ['committed', 'earliest'],
    )
    broker.assign(0)
    await until(() => broker.committed.get(0) === 0n)
    await consumer.stop()
  })

  test('asks for the start of its document until its group has offsets', async (t) => {
    const starts: readonly (readonly [fields: JsonObject, GroupStart])[] = [
      [{}, 'earliest'],
      [{ kafkaConsumerStart: 'latest' }, 'latest'],
      [{ kafkaConsumerStart: 'group:group:latest' }, { group: 'group:latest' }],
    ]
    for (const [fields, groupStart] of starts) {
      const { broker, consumer, tick } = await start(t, 10, fields)
      const reopen = async () => {
        broker.listener?.onEnd(new Error('away'))
        await until(() => broker.listener === undefined)
        await severalTurns()
        tick(500)
        await until(() => broker.listener !== undefined)
      }
      broker.assign(0)
      await reopen()
      broker.committed.set(0, 7n)
      broker.assign(0)
      await reopen()
      const asked = broker.subscriptions.map((subscription) => subscription.groupStart)
      assert.deepEqual(asked, [groupStart, groupStart, 'earliest'])
      await consumer.stop()
      t.mock.timers.reset()
    }
  })

  test('that waits to start follows a change of the document at once, and the pauses start at 500 ms again', async (t) => {
    const { broker, consumer, change, tick } = await start(t, 10, { kafkaConsumerStart: 'group:a' })
    const fails = async () => {
      broker.listener?.onEnd(new Error('no offsets'))
      await severalTurns()
    }
    const starts = () => broker.subscriptions.map(({ groupStart }) => groupStart)
    await fails()
    tick(500)
    await until(() => starts().length === 2)
    await fails()
    assert.equal(starts().length, 2)
    change({ kafkaConsumerStart: 'latest' })
    await until(() => starts().length === 3)
    await fails()
    tick(500)
    await until(() => starts().length === 4)
    // The session that is open has the former start.
    change({ kafkaConsumerStart: 'group:b' })
    await fails()
    await until(() => starts().length === 5)
    assert.deepEqual(starts(), [{ group: 'a' }, { group: 'a' }, 'latest', 'latest', { group: 'b' }])
    await consumer.stop()
  })

  test('whose next record was deleted goes on at the earliest one, and says which were missed', async (t) => {
    const { broker, consumer } = await start(t)
    broker.committed.set(0, 3n)
    broker.assign(0, 1)
    assert.equal(broker.listener?.onOffsetReset(0, 8n), true)
    // Nothing of the other partition was ever read, so nothing was missed.
    assert.equal(broker.listener?.onOffsetReset(1, 5n), true)
    await until(() => broker.commits.length === 2)
    assert.deepEqual(Object.fromEntries(broker.committed), { 0: 8n, 1: 5n })
    assert.match(consumer.status().lastError?.message ?? '', /^The records 3 to 7 of partition 0 were deleted/)
    await consumer.stop()
  })

  test('pauses a partition whose queue is half full, and demands of it again once that was processed', async (t) => {
    const { broker, consumer, places, end } = await start(t)
    broker.append(0, 2, 150_000)
    broker.append(1, 1)
    broker.assign(0, 1)
    broker.deliver()
    await until(() => places().length === 2)
    const demanded = () => [...(broker.listener?.demand().partitionBytes.keys() ?? [])]
    assert.deepEqual(demanded(), [1])
    end()
    await until(() => places().includes('0/1'))
    end()
    end()
    await until(() => demanded().length === 2)
    await consumer.stop()
  })
})
