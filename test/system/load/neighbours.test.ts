/** Endpoints that come, move and go, each under load, while another one consumes under load: that one must not notice. */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { consumerUntil, startBench, until } from '../../support/broker/broker.ts'
import { json } from '../../support/service.ts'
import { kafkaForTests } from '../../support/services/kafka.ts'
import { countDeliveries, numbered, readMade, tracing } from '../broker/numbered.ts'

const kafka = await kafkaForTests()

const PARTITIONS = 6
const ROUNDS = 2
const MAX_PAUSE_MS = 2_000

describe('while other endpoints come, move and go', { skip: kafka.skip }, async () => {
  const { service, topics, stop } = await startBench(kafka.brokers)
  after(stop)

  /** Feeds a topic until asked to stop; resolves to how many records it got. */
  const feed = (topic: string) => {
    let isFeeding = true
    const fed = (async () => {
      let count = 0
      while (isFeeding) {
        await topics.produce(topic, numbered(count, count + 50, PARTITIONS))
        count += 50
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      return count
    })()
    return () => {
      isFeeding = false
      return fed
    }
  }
  /** Watches how many records a topic gets; resolves to the longest time, in ms, in which it got none. */
  const watch = (topic: string) => {
    let isWatching = true
    const longest = (async () => {
      let maxMs = 0
      let last = { at: Date.now(), count: await topics.count(topic) }
      while (isWatching) {
        const count = await topics.count(topic)
        const at = Date.now()
        maxMs = Math.max(maxMs, at - last.at)
        if (count > last.count) last = { at, count }
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
      return maxMs
    })()
    return () => {
      isWatching = false
      return longest
    }
  }
  const grows = async (topic: string, by: number) => {
    const before = await topics.count(topic)
    await until(
      () => topics.count(topic),
      (count) => count >= before + by,
    )
  }
  const madeIn = async (out: string, count: number) => {
    const made = await until(
      async () => readMade(await topics.read(out)),
      (found) => found.length >= count,
    )
    return countDeliveries(made, count)
  }

  test('the one under load loses nothing, gets nothing twice, and pauses for less than 2 s; so do those that move', async () => {
    const create = () => topics.create(PARTITIONS)
    const [topic, out, from, to] = [await create(), await create(), await create(), await create()]
    await service.register({ endpoint: { pattern: '/steady' }, kafkaConsumerTopic: topic, ...tracing(out) })
    const stopFeeding = [topic, from, to].map(feed)
    await grows(out, 1)
    const stopWatching = watch(out)
    for (let round = 0; round < ROUNDS; round += 1) {
      const [moving, beside] = [await create(), await create()]
      const { _id } = await service.register({
        endpoint: { pattern: '/moving' },
        kafkaConsumerTopic: from,
        ...tracing(moving),
      })
      const same = await service.register({
        endpoint: { pattern: '/same' },
        kafkaConsumerTopic: topic,
        ...tracing(beside),
      })
      await grows(moving, 100)
      await grows(beside, 100)
      await service.fetch(`/endpoints/${_id}`, json('PATCH', { kafkaConsumerTopic: to }))
      await consumerUntil(service, _id, (status) => status.topic === to && status.state === 'running')
      await grows(moving, 100)
      await service.fetch(`/endpoints/${_id}`, json('PATCH', { kafkaConsumerTopic: from }))
      await consumerUntil(service, _id, (status) => status.topic === from && status.state === 'running')
      await grows(moving, 100)
      await grows(out, 100)
      await service.fetch(`/endpoints/${_id}`, { method: 'DELETE' })
      await service.fetch(`/endpoints/${same._id}`, { method: 'DELETE' })
    }
    const longestPauseMs = await stopWatching()
    const [fed = 0, fedFrom = 0, fedTo = 0] = await Promise.all(stopFeeding.map((stopOne) => stopOne()))
    assert.deepEqual(await madeIn(out, fed), { lost: 0, duplicates: 0, outOfOrder: 0 })
    assert.ok(longestPauseMs < MAX_PAUSE_MS, `paused for ${longestPauseMs} ms`)

    // One that has moved there and back under load has every record of both, once each.
    const moved = await create()
    const { _id } = await service.register({
      endpoint: { pattern: '/moved' },
      kafkaConsumerTopic: from,
      ...tracing(moved),
    })
    await grows(moved, 1)
    await service.fetch(`/endpoints/${_id}`, json('PATCH', { kafkaConsumerTopic: to }))
    await until(
      () => topics.committed(`mapping-mediator.${_id}`, to, PARTITIONS),
      (offsets) => offsets.reduce((sum, offset) => sum + offset, 0) === fedTo,
    )
    await service.fetch(`/endpoints/${_id}`, json('PATCH', { kafkaConsumerTopic: from }))
    await until(
      () => topics.count(moved),
      (count) => count >= fedFrom + fedTo,
    )
    assert.equal(await topics.count(moved), fedFrom + fedTo)
  })
})
