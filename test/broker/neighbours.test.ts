/** Endpoints that come, change and go while another one consumes under load: that one must not notice. */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { json } from '../service.ts'
import { kafkaForTests } from '../services/kafka.ts'
import { startBench, until } from './broker.ts'
import { account, numbered, readMade, tracing } from './numbered.ts'

const kafka = await kafkaForTests()

const PARTITIONS = 6
const ROUNDS = 5

describe('while other endpoints come, change and go', { skip: kafka.skip }, async () => {
  const { service, topics, stop } = await startBench(kafka.brokers)
  after(stop)

  test('an endpoint under load loses nothing, gets nothing twice, and pauses for less than 2 s', async () => {
    const [topic, out, ...others] = await Promise.all(Array.from({ length: 4 }, () => topics.create(PARTITIONS)))
    assert.ok(topic !== undefined && out !== undefined)
    await service.register({ endpoint: { pattern: '/steady' }, kafkaConsumerTopic: topic, ...tracing(out) })
    let fed = 0
    let isFeeding = true
    const feeding = (async () => {
      while (isFeeding) {
        await topics.produce(topic, numbered(fed, fed + 50, PARTITIONS))
        fed += 50
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    })()
    let longestPauseMs = 0
    let last = { at: Date.now(), count: 0 }
    const watching = (async () => {
      while (isFeeding) {
        const count = await topics.count(out)
        const now = Date.now()
        if (last.count > 0) longestPauseMs = Math.max(longestPauseMs, now - last.at)
        if (count > last.count) last = { at: now, count }
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
    })()
    await until(
      () => last.count,
      (count) => count > 0,
    )
    for (let round = 0; round < ROUNDS; round += 1) {
      const [one = '', other = ''] = others
      const { _id } = await service.register({ endpoint: { pattern: '/passing' }, kafkaConsumerTopic: one })
      const beside = await service.register({ endpoint: { pattern: '/same' }, kafkaConsumerTopic: topic })
      const before = last.count
      await until(
        () => last.count,
        (count) => count > before + 100,
      )
      await service.fetch(`/endpoints/${_id}`, json('PATCH', { kafkaConsumerTopic: other }))
      await service.fetch(`/endpoints/${_id}`, { method: 'DELETE' })
      await service.fetch(`/endpoints/${beside._id}`, { method: 'DELETE' })
    }
    isFeeding = false
    await Promise.all([feeding, watching])
    const made = await until(
      async () => readMade(await topics.read(out)),
      (found) => found.length >= fed,
    )
    assert.deepEqual(account(made, fed), { lost: 0, duplicates: 0, outOfOrder: 0 })
    assert.ok(longestPauseMs < 2_000, `paused for ${longestPauseMs} ms`)
  })
})
