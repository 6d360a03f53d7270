/** A slow upstream slows consuming down and nothing else: the short form of `slow-upstream.ts`. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { kafkaForTests } from '../../support/services/kafka.ts'
import { consumeSlowly } from './slow-upstream.ts'

const kafka = await kafkaForTests()

describe('a slow upstream with a backlog', { skip: kafka.skip }, () => {
  test('memory stays bounded, and calls never pass the limit', async () => {
    const { maxAtOnce, grownMb } = await consumeSlowly({
      brokers: kafka.brokers,
      backlog: 50_000,
      partitions: 12,
      maxInFlight: 8,
      answerMs: 50,
      watched: 500,
    })
    assert.equal(maxAtOnce, 8)
    assert.ok(grownMb < 60, `grew by ${grownMb} MB`)
  })
})
