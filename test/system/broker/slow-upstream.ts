/**
 * A backlog far larger than what a slow upstream takes: what the service holds of it, and how many calls it makes at
 * once. `node bin/node.js test/system/broker/slow-upstream.ts [backlog] [seconds]` prints both.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '../../support/broker/broker.ts'
import { endpointDocument, json } from '../../support/service.ts'
import { startServices } from '../../support/services/all.ts'
import { openTopics } from '../../support/services/topics.ts'
import { spawnService } from '../../support/spawned-service.ts'
import { startUpstream } from './upstream.ts'

export type SlowOptions = Readonly<{
  brokers: string
  backlog: number
  partitions: number
  maxInFlight: number
  answerMs: number
  /** How many records are to be done while the memory is watched. */
  watched: number
}>

export type SlowReport = Readonly<{ done: number; maxAtOnce: number; grownMb: number }>

/** Memory is compared with that of the same process while it consumed the first records of a small topic. */
export async function consumeSlowly(options: SlowOptions): Promise<SlowReport> {
  const { brokers, backlog, partitions, maxInFlight, answerMs, watched } = options
  const topics = openTopics(brokers)
  const home = mkdtempSync(join(tmpdir(), 'crosswalk-slow-'))
  let isSlow = false
  const upstream = await startUpstream((_body, _earlier, response) => {
    setTimeout(() => response.end('{}'), isSlow ? answerMs : 0)
  })
  const service = await spawnService(home, {
    env: { KAFKA_BROKERS: brokers, KAFKA_MAX_IN_FLIGHT: String(maxInFlight) },
    lifetimeMs: 600_000,
  })
  const filler = 'x'.repeat(400)
  const records = (count: number) =>
    Array.from({ length: count }, (_, n) => ({
      value: Buffer.from(JSON.stringify({ n, filler })),
      partition: n % partitions,
    }))
  const register = async (pattern: string, topic: string) => {
    const requests = { response: { id: 'out', config: { url: upstream.url } } }
    const document = endpointDocument({ endpoint: { pattern }, kafkaConsumerTopic: topic, requests })
    const reply = await fetch(`${service.url}/endpoints`, json('POST', document))
    if (reply.status !== 201) throw new Error(await reply.text())
  }
  try {
    const [small, large] = [await topics.create(partitions), await topics.create(partitions)]
    await topics.produce(small, records(2_000))
    await topics.produce(large, records(backlog))
    await register('/small', small)
    await until(
      () => upstream.bodies.length,
      (count) => count >= 2_000,
    )
    const before = residentMb(service.child.pid)
    isSlow = true
    upstream.bodies.length = 0
    await register('/large', large)
    let most = before
    await until(
      () => {
        most = Math.max(most, residentMb(service.child.pid))
        return upstream.bodies.length
      },
      (count) => count >= watched,
      300_000,
    )
    return { done: upstream.bodies.length, maxAtOnce: upstream.most(), grownMb: Math.round(most - before) }
  } finally {
    service.child.kill('SIGKILL')
    await service.ended
    await upstream.close()
    await topics.close()
    rmSync(home, { recursive: true, force: true })
  }
}

const residentMb = (pid = 0): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024

if (import.meta.main) {
  const [backlog = 50_000, seconds = 30] = process.argv.slice(2).map(Number)
  const services = await startServices((line) => console.log(line))
  try {
    const brokers = process.env.KAFKA_BROKERS ?? ''
    const [partitions, maxInFlight, answerMs] = [96, 64, 200]
    const watched = Math.floor((seconds * 1000 * maxInFlight) / answerMs / 1.5)
    console.log(await consumeSlowly({ brokers, backlog, partitions, maxInFlight, answerMs, watched }))
  } finally {
    await services.stop()
  }
}
