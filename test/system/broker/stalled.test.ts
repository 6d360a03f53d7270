/** An instance that stands still for so long that its partitions are given to another, and then goes on. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { body, until } from '../../support/broker/broker.ts'
import { kafkaForTests } from '../../support/services/kafka.ts'
import { openTopics } from '../../support/services/topics.ts'
import { freshFolder, type SpawnedService, spawnService } from '../../support/spawned-service.ts'
import { registerInBoth, statusOf } from './instances.ts'
import { startUpstream } from './upstream.ts'

const kafka = await kafkaForTests()

const RECORDS = 6
/** The record at which the one instance stops, and the one at which the other is held. */
const [STOPPED, HELD] = [2, 5]

describe('an instance that stands still', { skip: kafka.skip }, () => {
  test('commits nothing of what became another one’s: no offset goes back, or past a record that is not done', async () => {
    const topics = openTopics(kafka.brokers)
    after(topics.close)
    const home = freshFolder({ after })
    const folders = [join(home, 'a'), join(home, 'b')] as const
    const topic = await topics.create(2)
    const reached = Promise.withResolvers<void>()
    const answer = Promise.withResolvers<void>()
    const release = Promise.withResolvers<void>()
    const done = new Set<number>()
    let stalledPartition = -1
    const upstream = await startUpstream(async (text, earlier, response) => {
      const { n, partition } = JSON.parse(text) as { n: number; partition: string }
      if (Number(partition) === stalledPartition && n === STOPPED && earlier === 0) {
        reached.resolve()
        await answer.promise
      }
      if (n === HELD) await release.promise
      if (Number(partition) === stalledPartition) done.add(n)
      response.end('{}')
    })
    after(upstream.close)
    const env = { KAFKA_BROKERS: kafka.brokers, KAFKA_SESSION_TIMEOUT_MS: '2000' }
    const id = await registerInBoth(
      folders,
      {
        endpoint: { pattern: '/stalled' },
        kafkaConsumerTopic: topic,
        inputMapping: { 'requestBody.n': 'n', 'requestHeaders.kafka-partition': 'partition' },
        requests: { response: { id: 'out', config: { url: upstream.url } } },
      },
      env,
    )
    const lifetimeMs = 120_000
    const instances = await Promise.all(folders.map((folder) => spawnService(folder, { env, lifetimeMs })))
    after(async () => {
      for (const { child } of instances) child.kill('SIGKILL')
      await Promise.all(instances.map(({ ended }) => ended))
    })
    const [stalled, other] = instances as [SpawnedService, SpawnedService]
    const shareOf = async (instance: SpawnedService) => {
      const status = await statusOf(instance)
      return status?.state === 'running' ? status.partitions.map(({ partition }) => partition) : []
    }
    const sharesOf = () => Promise.all([shareOf(stalled), shareOf(other)])
    const [mine] = await until(sharesOf, (shares) => shares.every(({ length }) => length === 1))
    stalledPartition = mine[0] as number
    const committed = async () =>
      (await topics.committed(`mapping-mediator.${id}`, topic, 2))[stalledPartition] as number
    await topics.produce(
      topic,
      Array.from({ length: RECORDS }, (_, n) => ({ ...body({ n }), partition: stalledPartition })),
    )
    await reached.promise
    stalled.child.kill('SIGSTOP')
    answer.resolve()
    await until(committed, (offset) => offset === HELD)
    stalled.child.kill('SIGCONT')
    const seen: number[] = []
    const watch = async () => {
      seen.push(await committed())
      return sharesOf()
    }
    await until(watch, (shares) => shares.every(({ length }) => length === 1))
    for (let times = 0; times < 20; times += 1) await watch()
    assert.deepEqual(
      seen.filter((offset) => offset !== HELD),
      [],
    )
    release.resolve()
    await until(committed, (offset) => offset === RECORDS)
    assert.equal(done.size, RECORDS)
  })
})
