/**
 * A broker that is killed and comes back while messages over HTTP are produced: whatever was answered with 2xx must be
 * in the topic. `node bin/node.js test/system/broker/broker-restart.ts [messages]`; it starts a broker of its own.
 */

import { until } from '../../support/broker/broker.ts'
import { endpointDocument, json, startService } from '../../support/service.ts'
import { tryStartKafka } from '../../support/services/kafka.ts'
import type { Kafka } from '../../support/services/start-kafka.ts'
import { openTopics } from '../../support/services/topics.ts'

export type RestartReport = Readonly<{
  /** Answers by their status. */
  answers: Readonly<Record<string, number>>
  /** Messages answered with 2xx that the topic does not hold. */
  lost: number
  /** Messages that were answered with 502 or 504 and are there all the same, which is allowed. */
  unacknowledged: number
}>

/** Sends until all messages are answered, with the broker killed after a third of them, and started again. */
export async function produceThroughRestart(
  kafka: Kafka,
  messages: number,
  concurrency: number,
): Promise<RestartReport> {
  const topics = openTopics(kafka.brokers)
  const service = await startService({ KAFKA_BROKERS: kafka.brokers })
  try {
    const topic = await topics.create(3)
    const requests = { response: { id: 'out', kafkaProducerTopic: topic, timeoutMs: 2_000 } }
    await service.fetch('/endpoints', json('POST', endpointDocument({ endpoint: { pattern: '/in' }, requests })))
    const statuses = new Map<number, number>()
    let next = 0
    let isBack = false
    const sender = async () => {
      while (next < messages) {
        const n = next
        next += 1
        // The last third waits until the broker is back, or they would all be refused before.
        if (n > (messages * 2) / 3)
          await until(
            () => isBack,
            (back) => back,
            90_000,
          )
        const { status } = await service.fetch('/in', json('POST', { n }))
        statuses.set(n, status)
      }
    }
    const restart = async () => {
      await until(
        () => statuses.size,
        (count) => count >= messages / 3,
        60_000,
      )
      await kafka.kill()
      await until(
        () => [...statuses.values()].some((status) => status >= 500),
        (failed) => failed,
        60_000,
      )
      await kafka.restart()
      // A broker that listens does not lead its partitions yet.
      await until(
        () => service.fetch('/in', json('POST', { n: -1 })),
        ({ status }) => status === 200,
        90_000,
      )
      isBack = true
    }
    await Promise.all([restart(), ...Array.from({ length: concurrency }, sender)])
    const stored = new Set(
      (await topics.read(topic)).map(({ value }) => (JSON.parse(String(value)) as { n: number }).n),
    )
    const answers: Record<string, number> = {}
    for (const status of statuses.values()) answers[status] = (answers[status] ?? 0) + 1
    const all = [...statuses]
    return {
      answers,
      lost: all.filter(([n, status]) => status < 300 && !stored.has(n)).length,
      unacknowledged: all.filter(([n, status]) => status >= 300 && stored.has(n)).length,
    }
  } finally {
    await service.stop()
    await topics.close()
  }
}

if (import.meta.main) {
  const [messages = 2_000] = process.argv.slice(2).map(Number)
  const kafka = await tryStartKafka()
  if (typeof kafka === 'string') throw new Error(kafka)
  try {
    console.log(await produceThroughRestart(kafka, messages, 20))
  } finally {
    await kafka.stop()
  }
}
