/**
 * Two instances share the partitions of an endpoint while they are killed and the group is rebuilt, again and again.
 * What was lost, came twice or out of order is counted in the topics themselves.
 *
 * `node bin/node.js test/system/broker/crash.ts [records] [kills] [rebalances] [keys]`, on the broker of KAFKA_BROKERS or one of its own. With
 * a number of keys, a multiple of 6, the order is by key, with a lookup that fails at random and for one key always for a minute.
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Consumer } from '@platformatic/kafka'
import type { JsonObject } from '../../../src/core/json.ts'
import { until } from '../../support/broker/broker.ts'
import { startServices } from '../../support/services/all.ts'
import { readCommitted } from '../../support/services/committed-records.ts'
import { openTopics } from '../../support/services/topics.ts'
import { type SpawnedService, spawnService } from '../../support/spawned-service.ts'
import { createRandom, type Random } from '../crash/random.ts'
import { registerInBoth, statusOf } from './instances.ts'
import { countDeliveries, type Deliveries, type Made, numbered, readMade, tracing } from './numbered.ts'

export type FlakyLookup = Readonly<{
  /** The lookup, as a document has it: it sends the body of the message. */
  request: JsonObject
  close(): Promise<void>
}>

const SHARE = 0.05

/** In: bodies with a number `n`; `isAway` says for which numbers the target is away now. */
export async function startFlakyLookup(random: Random, isAway: (n: number) => boolean): Promise<FlakyLookup> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { n } = JSON.parse(String(Buffer.concat(chunks))) as { n: number }
    const status = isAway(n) || random.chance(SHARE) ? 503 : 200
    response.writeHead(status, { 'content-type': 'application/json' }).end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    request: {
      id: 'flaky',
      config: { method: 'POST', url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` },
      forwardExistingRequestBody: true,
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

export type CrashOptions = Readonly<{
  brokers: string
  records: number
  partitions: number
  kills: number
  rebalances: number
  /** The order by so many keys, a multiple of the partitions, with a lookup that fails at random; else by partition. */
  keys?: number | undefined
  /** What is produced and the offsets are committed together; the counts are those of a reader of committed records. */
  exactlyOnce?: boolean
  /** How long the lookup always fails for one of the keys, from the start on. */
  awayMs?: number
  random: Random
  print?: (line: string) => void
}>

export type CrashReport = Deliveries &
  Readonly<{
    committedPastUnfinished: number
    roundDuplicates: readonly number[]
    /**
     * How often an instance got partitions. Each time, another one may have had records under way; a busy machine that misses
     * heartbeats makes them more than a round has on its own.
     */
    roundAssignments: readonly number[]
  }>

const PATIENCE_MS = 60_000
const lifetimeMs = 600_000

export async function crashRounds(options: CrashOptions): Promise<CrashReport> {
  const { brokers, records, partitions, kills, rebalances, keys, exactlyOnce = false, awayMs = 0, random } = options
  const { print = () => undefined } = options
  const backAt = performance.now() + awayMs
  const topics = openTopics(brokers)
  const home = mkdtempSync(join(tmpdir(), 'crosswalk-crash-'))
  const [topic, out] = [await topics.create(partitions), await topics.create(partitions)]
  const follow = topics.follow(out)
  const made: Made[] = []
  /** Only what is new is read: this process also answers the lookups. */
  const readAll = async (): Promise<readonly Made[]> => {
    if (exactlyOnce) return readMade(await readCommitted(brokers, out))
    for (const one of readMade(await follow())) made.push(one)
    return made
  }
  const folders = [join(home, 'a'), join(home, 'b')] as const
  const env = {
    KAFKA_BROKERS: brokers,
    KAFKA_SESSION_TIMEOUT_MS: '3000',
    LOG_LEVEL: 'info',
    // A lookup that fails is tried again until it succeeds.
    ...(keys === undefined ? {} : { KAFKA_DLQ: 'off', KAFKA_RETRY_PAUSES_MS: '50', CIRCUIT_BREAKER_FAILURES: '0' }),
  }
  const isAway = (n: number) => n % (keys ?? 1) === 0 && performance.now() < backAt
  const lookup = keys === undefined ? undefined : await startFlakyLookup(random, isAway)
  const { requests, ...traced } = tracing(out)
  const document = {
    endpoint: { pattern: '/crash' },
    kafkaConsumerTopic: topic,
    ...traced,
    ...(lookup === undefined
      ? { requests, ...(exactlyOnce ? { kafka: { exactlyOnce } } : {}) }
      : { kafka: { order: 'key' }, requests: { ...requests, lookup: [lookup.request] } }),
  }
  const id = await registerInBoth(folders, document, env)
  const group = `mapping-mediator.${id}`
  const instances: SpawnedService[] = await Promise.all(
    folders.map((folder) => spawnService(folder, { env, lifetimeMs })),
  )
  try {
    const rounds = disturbances(kills, rebalances)
    const chunk = Math.ceil(records / (rounds.length + 1))
    let produced = 0
    let committedPastUnfinished = 0
    const roundDuplicates: number[] = []
    const roundAssignments: number[] = []
    let earlierAssignments = 0
    const assignments = () => earlierAssignments + sumOf(instances.map(assignmentsOf))
    const count = async () => (exactlyOnce ? (await readAll()).length : topics.count(out))
    /** If a partition stops, its count says which one. */
    const countMade = async () => {
      const all = await readAll()
      const byPartition = Array.from(
        { length: partitions },
        (_, index) => all.filter((one) => one.partition === index).length,
      )
      return { total: all.length, produced, byPartition }
    }
    const pastUnfinished = async () => {
      const committed = await topics.committed(group, topic, partitions)
      // The broker marks a transaction as committed in one partition after the other.
      return until(
        async () => countPastUnfinished(committed, await readAll()),
        (missing) => !exactlyOnce || missing === 0,
      )
    }
    const feed = async () => {
      const next = Math.min(records, produced + chunk)
      await topics.produce(topic, numbered(produced, next, partitions, keys))
      produced = next
    }
    for (const disturbance of rounds) {
      // What a round finds is then of its own disturbance, not of an instance that is still joining.
      await until(
        () => sharesOf(instances),
        (shares) => shares.every((share) => share === partitions / 2),
        PATIENCE_MS,
      )
      const assigned = assignments()
      const before = await count()
      const target = before + 1 + random.below(chunk * 0.6)
      await feed()
      await until(count, (found) => found >= target, PATIENCE_MS)
      if (disturbance === 'kill') {
        const victim = random.below(2)
        const { child, ended } = instances[victim] as SpawnedService
        child.kill('SIGKILL')
        await ended
        earlierAssignments += assignmentsOf(instances[victim] as SpawnedService)
        committedPastUnfinished += await pastUnfinished()
        instances[victim] = await spawnService(folders[victim] as string, { env, lifetimeMs })
      } else {
        await forceRebalance(brokers, group, topic)
        committedPastUnfinished += await pastUnfinished()
      }
      const mayMiss = () => (performance.now() < backAt ? produced / (keys ?? 1) : 0)
      await until(countMade, ({ total }) => total >= produced - mayMiss(), PATIENCE_MS)
      const found = await until(
        async () => countDeliveries(await readAll(), produced, keys),
        ({ lost }) => lost <= mayMiss(),
        PATIENCE_MS,
      )
      roundDuplicates.push(found.duplicates - sumOf(roundDuplicates))
      roundAssignments.push(assignments() - assigned)
      const [duplicates, times] = [roundDuplicates.at(-1), roundAssignments.at(-1)]
      print(`${disturbance}: ${produced} records, ${duplicates} duplicates, partitions assigned ${times} times`)
    }
    while (produced < records) await feed()
    await until(
      () => topics.committed(group, topic, partitions),
      (offsets) => sumOf(offsets) >= records,
      PATIENCE_MS,
    )
    return {
      ...countDeliveries(await readAll(), records, keys),
      committedPastUnfinished,
      roundDuplicates,
      roundAssignments,
    }
  } catch (error) {
    // Which consumer does not go on, and where.
    const states = await Promise.all(instances.map((instance) => statusOf(instance).catch(String)))
    print(JSON.stringify(states))
    throw error
  } finally {
    for (const { child } of instances) child.kill('SIGKILL')
    await Promise.all(instances.map(({ ended }) => ended))
    await lookup?.close()
    await topics.close()
    rmSync(home, { recursive: true, force: true })
  }
}

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0)

const assignmentsOf = ({ output }: SpawnedService): number => output.stdout.split('Consuming the topic').length - 1

/** Kills and rebalances, mixed evenly. */
function disturbances(kills: number, rebalances: number): ('kill' | 'rebalance')[] {
  const all = [
    ...Array.from({ length: kills }, (_, index) => ['kill', (index + 0.5) / kills] as const),
    ...Array.from({ length: rebalances }, (_, index) => ['rebalance', (index + 0.5) / rebalances] as const),
  ]
  return all.sort(([, one], [, other]) => one - other).map(([name]) => name)
}

/** How many partitions each instance consumes now; 0 where it is not in the group. */
const sharesOf = (instances: readonly SpawnedService[]): Promise<number[]> =>
  Promise.all(
    instances.map(async (instance) => {
      const status = await statusOf(instance)
      return status?.state === 'running' ? status.partitions.length : 0
    }),
  )

/** Records before a committed offset that nothing was produced for. */
function countPastUnfinished(committed: readonly number[], made: readonly Made[]): number {
  const done = new Set(made.map(({ partition, offset }) => `${partition}:${offset}`))
  let missing = 0
  for (const [partition, end] of committed.entries()) {
    for (let offset = 0; offset < end; offset += 1) if (!done.has(`${partition}:${offset}`)) missing += 1
  }
  return missing
}

/** A member that comes, is given partitions, and goes: the group is rebuilt twice. */
async function forceRebalance(brokers: string, groupId: string, topic: string): Promise<void> {
  const member = new Consumer({ clientId: 'tests', groupId, bootstrapBrokers: [brokers], retries: 10, retryDelay: 100 })
  const emitter: NodeJS.EventEmitter = member
  emitter.on('error', () => undefined)
  member.topics.track(topic)
  await member.joinGroup({})
  await member.close(true)
}

if (import.meta.main) {
  const [records = 20_000, kills = 10, rebalances = 5, keys] = process.argv.slice(2).map(Number)
  const print = (line: string) => console.log(line)
  const services = await startServices(print)
  try {
    const brokers = process.env.KAFKA_BROKERS ?? ''
    const report = await crashRounds({
      brokers,
      records,
      partitions: 6,
      kills,
      rebalances,
      keys,
      awayMs: 60_000,
      random: createRandom(1),
      print,
    })
    console.log(report)
  } finally {
    await services.stop()
  }
}
