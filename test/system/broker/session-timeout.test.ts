/** The limits of the setting that decides when an instance counts as gone: the client refuses some combinations. */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { body, startBench, until } from '../../support/broker/broker.ts'
import { json } from '../../support/service.ts'
import { kafkaForTests } from '../../support/services/kafka.ts'

const kafka = await kafkaForTests()

describe('KAFKA_SESSION_TIMEOUT_MS', { skip: kafka.skip }, () => {
  for (const timeoutMs of [1_000, 60_000, 60_001, 300_000]) {
    test(`${timeoutMs}: topics are consumed`, async () => {
      const { service, topics, stop } = await startBench(kafka.brokers, {
        KAFKA_SESSION_TIMEOUT_MS: String(timeoutMs),
      })
      after(stop)
      const topic = await topics.create()
      await topics.produce(topic, [body({})])
      const { _id } = await service.register({ endpoint: { pattern: '/session' }, kafkaConsumerTopic: topic })
      const committed = () => topics.committed(`mapping-mediator.${_id}`, topic, 1)
      await until(committed, ([offset]) => offset === 1)
      assert.equal((await service.fetch('/session', json('POST', {}))).status, 200)
    })
  }
})
