/**
 * The service is killed at every step of a poll whose sink is away, late or failing: nothing is lost, skipped or stored twice,
 * and a replay says what it did.
 */
import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import type { JsonObject } from '../../../src/core/json.ts'
import type { MessageRecord } from '../../../src/core/records/message-record.ts'
import { DATABASES, type DatabaseKind } from '../../support/databases.ts'
import { LONG } from '../../support/form.ts'
import { endpointDocument, json, startUpstream } from '../../support/service.ts'
import { freshFolder, type SpawnedService, spawnService } from '../../support/spawned-service.ts'
import { until } from '../../support/until.ts'
import { createRandom, type Random } from '../crash/random.ts'

const ROUNDS = LONG ? 3 : 1
/** At random moments, after the rounds. */
const KILLS = LONG ? 6 : 2
const PATIENTS = 3
const PAGE = 3
/** In two pages. */
const NEW_RESULTS = 2 * PAGE
const PERIOD_MS = 1_000

const SETTINGS = {
  DELIVERY_CONCURRENCY: '8',
  CIRCUIT_BREAKER_PAUSE_MS: '50',
  CIRCUIT_BREAKER_MAX_PAUSE_MS: '500',
  LOG_LEVEL: 'info',
}

/** `once locked`: when the database takes no more writes. */
type Step = Readonly<{
  name: string
  lab?: Readonly<{ page: 0 | 1; does: 'holds' | 'answers half' | 'answers once locked' }>
  sink?: 'is away' | 'fails' | 'holds' | 'takes and holds' | 'takes once locked'
}>

/** Where each poll is when the service is killed. */
const STEPS: readonly Step[] = [
  { name: 'the claim of the schedule is not stored' },
  { name: 'the first page is asked for', lab: { page: 0, does: 'holds' } },
  { name: 'the last page is asked for', lab: { page: 1, does: 'holds' } },
  { name: 'half of the last page has arrived', lab: { page: 1, does: 'answers half' } },
  { name: 'all pages have arrived, and nothing is stored', lab: { page: 1, does: 'answers once locked' } },
  { name: 'the results are stored, and the sink is away', sink: 'is away' },
  { name: 'the sink has failed, and the next attempt is due later', sink: 'fails' },
  { name: 'a result is being sent', sink: 'holds' },
  { name: 'the sink has a result, and has not answered', sink: 'takes and holds' },
  { name: 'the sink has answered, and that is not stored', sink: 'takes once locked' },
]

/** One kill at all steps. Between rounds, labs and sinks fail at random; at the end they do not. */
type Round = Readonly<{ isArmed: boolean; chaos: number; locked: Promise<void>; killed: Promise<void> }>
const CALM: Round = { isArmed: false, chaos: 0, locked: Promise.resolve(), killed: Promise.resolve() }
const CHAOS: Round = { ...CALM, chaos: 1 }

type Arrival = Readonly<{ n: number; patient: string; id: string; isTaken: boolean }>

/** The lab and the sink of a poll. */
async function startPoll(step: Step, random: Random, roundOf: () => Round) {
  let count = 0
  let reached = Promise.withResolvers<void>()
  const asked: number[] = []
  const arrivals: Arrival[] = []
  const holdUntilKilled = async (response: ServerResponse, { killed }: Round) => {
    reached.resolve()
    await killed
    response.destroy()
    return undefined
  }
  const lab = await startUpstream(async ({ url }, response) => {
    const round = roundOf()
    const query = new URL(url, 'http://lab').searchParams
    const [since, page] = [Number(query.get('since') ?? 0), Number(query.get('page') ?? 0)]
    const upTo = Number(query.get('upTo') ?? count)
    if (page === 0) asked.push(since)
    if (random.chance(0.1 * round.chaos)) {
      response.statusCode = 500
      return {}
    }
    const first = since + page * PAGE + 1
    const last = Math.min(first + PAGE - 1, upTo)
    const numbers = Array.from({ length: Math.max(last - first + 1, 0) }, (_, index) => first + index)
    const answer = {
      results: numbers.map((n) => ({ record: { n, patient: `p-${n % PATIENTS}` } })),
      ...(numbers.length === 0 ? {} : { cursor: last }),
      next: last < upTo ? `?since=${since}&upTo=${upTo}&page=${page + 1}` : null,
    }
    const does = round.isArmed && upTo > since && step.lab?.page === page ? step.lab.does : undefined
    if (does === 'holds') return holdUntilKilled(response, round)
    if (does === 'answers half') {
      const text = JSON.stringify(answer)
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': text.length })
      response.write(text.slice(0, text.length / 2))
      return holdUntilKilled(response, round)
    }
    if (does === 'answers once locked') {
      reached.resolve()
      await round.locked
    }
    return answer
  })
  const sink = await startUpstream(async ({ headers, body }, response) => {
    const round = roundOf()
    const { n, patient } = JSON.parse(body) as { n: number; patient: string }
    const arrive = (isTaken: boolean) => arrivals.push({ n, patient, id: String(headers['idempotency-key']), isTaken })
    const does = round.isArmed ? step.sink : undefined
    if (does === 'holds' || does === 'takes and holds') {
      arrive(does === 'takes and holds')
      return holdUntilKilled(response, round)
    }
    if (does !== undefined) reached.resolve()
    if (does === 'is away' || random.chance(0.05 * round.chaos)) {
      response.destroy()
      return undefined
    }
    if (does === 'takes once locked') await round.locked
    if (random.chance(0.05 * round.chaos)) await pause(random.below(300))
    const isTaken = does !== 'fails' && !random.chance(0.2 * round.chaos)
    arrive(isTaken)
    response.statusCode = isTaken ? 201 : 503
    return {}
  })
  return {
    step,
    asked,
    arrivals,
    get count() {
      return count
    },
    add: () => {
      count += NEW_RESULTS
    },
    /** Adds results; resolves when the poll is at its step. */
    reach: () => {
      reached = Promise.withResolvers()
      if (step.lab === undefined && step.sink === undefined) reached.resolve()
      else count += NEW_RESULTS
      return reached.promise
    },
    document: endpointDocument({
      name: step.name,
      endpoint: {},
      schedule: { every: `${PERIOD_MS / 1_000}s` },
      transformation: { output: 'JSON' },
      requests: {
        lookup: {
          id: 'lab',
          config: { url: lab.url, params: { query: { since: { path: 'state.responseBody.cursor' } } } },
          page: { next: { path: 'page.data.next' }, max: 10 },
        },
        response: {
          id: 'sink',
          forEach: { items: 'lookupRequests.lab.data[].results[].record' },
          config: { url: sink.url },
          delivery: { key: 'item.patient', schedule: ['0s', '1s'], giveUpAfter: '1d' },
        },
      },
      inputTransforms: { cursor: '$max(lookupRequests.lab.data.cursor) ?: state.responseBody.cursor' },
      inputMapping: { 'transforms.cursor': 'cursor' },
      state: { extract: { responseBody: { cursor: 'cursor' } }, config: { commit: 'delivered' } },
      messageLog: 'all',
    }),
    stop: () => Promise.all([lab.stop(), sink.stop()]),
  }
}

type Poll = Awaited<ReturnType<typeof startPoll>>

/** Lets no other process write. Resolves to what ends that. */
async function lockDatabase(url: string): Promise<() => Promise<void>> {
  if (url.startsWith('sqlite:')) {
    const file = new DatabaseSync(url.slice('sqlite:'.length), { timeout: 5_000 })
    file.exec('begin immediate')
    return async () => file.close()
  }
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  // No transaction of the service writes both.
  await client.query('begin; lock table schedules, delivery_lanes in exclusive mode')
  return () => client.end()
}

for (const kind of DATABASES) {
  const skip = kind.missing ?? false
  test(`${kind.name}: a poll is killed at each of its steps, and loses and skips nothing`, { skip }, (t) =>
    survive(t, kind),
  )
}

async function survive(t: TestContext, kind: DatabaseKind): Promise<void> {
  const seed = Number(process.env.TEST_SEED ?? Date.now() % 2 ** 31)
  const random = createRandom(seed)
  let round = CALM
  const polls = await Promise.all(STEPS.map((step) => startPoll(step, random, () => round)))
  const folder = freshFolder(t)
  const database = await kind.create()
  const start = () => spawnService(folder, { env: { ...SETTINGS, DATABASE_URL: database.url }, lifetimeMs: 600_000 })
  let service = await start()
  const kill = () => {
    service.child.kill('SIGKILL')
    return service.ended
  }
  t.after(async () => {
    await kill()
    await Promise.all(polls.map((poll) => poll.stop()))
    await database.drop()
  })
  for (const { document } of polls) {
    const reply = await fetch(`${service.url}/endpoints`, json('POST', document))
    assert.equal(reply.status, 201, await reply.text())
  }

  for (let at = 0; at < ROUNDS; at += 1) {
    const [locked, killed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    round = { isArmed: true, chaos: 0, locked: locked.promise, killed: killed.promise }
    await Promise.all(polls.map((poll) => poll.reach()))
    const unlock = await lockDatabase(database.url)
    locked.resolve()
    // Each schedule is due meanwhile, and what labs and sinks have answered arrives.
    const killAt = Date.now() + PERIOD_MS + random.below(500)
    await until(Date.now, (now) => now >= killAt)
    await kill()
    round = CHAOS
    killed.resolve()
    await unlock()
    service = await start()
  }
  for (let at = 0; at < KILLS; at += 1) {
    for (const poll of polls) poll.add()
    await pause(300 + random.below(2_500))
    await kill()
    service = await start()
  }
  round = CALM
  for (const poll of polls) poll.add()
  for (const { step, count, arrivals } of polls) {
    const missing = () => {
      const taken = new Set(arrivals.filter(({ isTaken }) => isTaken).map(({ n }) => n))
      return Array.from({ length: count }, (_, index) => index + 1).filter((n) => !taken.has(n))
    }
    await until(missing, (numbers) => numbers.length === 0, 90_000).catch((thrown: Error) => {
      throw new Error(`Lost when ${step.name}; seed ${seed}`, { cause: thrown })
    })
  }
  const counts = async () =>
    (await ask<{ counts: readonly JsonObject[] }>(service, '/deliveries/counts')).counts.map(({ state }) => state)
  await until(counts, (states) => states.every((state) => state === 'delivered'), 60_000)
  assert.deepEqual(polls.flatMap(findFaults), [], `seed ${seed}`)
  const repeats = polls.map(({ arrivals, count }) => arrivals.filter(({ isTaken }) => isTaken).length - count)
  const mostRepeats = (ROUNDS + KILLS) * PATIENTS
  assert.ok(Math.max(...repeats) <= mostRepeats, `${repeats} repeats; seed ${seed}`)
  t.diagnostic(`${polls.reduce((sum, { count }) => sum + count, 0)} results; arrived again: ${repeats}; seed ${seed}`)
  await Promise.all(polls.map((poll) => replay(service, poll)))
}

const ask = async <Answer>({ adminUrl }: SpawnedService, path: string, init?: RequestInit): Promise<Answer> =>
  (await (await fetch(`${adminUrl}${path}`, init)).json()) as Answer

function findFaults({ step, asked, arrivals }: Poll): readonly string[] {
  const faults: string[] = []
  const ids = new Map<number, string>()
  const last = new Map<string, number>()
  for (const { n, patient, id } of arrivals) {
    if (id !== (ids.get(n) ?? id)) faults.push(`${n} was stored twice`)
    ids.set(n, id)
    if (n < (last.get(patient) ?? 0)) faults.push(`${n} arrived after ${last.get(patient)}`)
    last.set(patient, n)
  }
  for (const [index, since] of asked.entries()) {
    const before = asked[index - 1] ?? 0
    if (since < before) faults.push(`the position went from ${before} back to ${since}`)
  }
  return faults.map((fault) => `${step.name}: ${fault}`)
}

/** A run that found results is replayed: it sends these again, asks the lab for nothing, and says so; the position stays. */
async function replay(service: SpawnedService, { step, count, asked, arrivals }: Poll): Promise<void> {
  const query = new URLSearchParams({ endpoint: step.name, source: 'schedule', outcome: 'done', limit: '500' })
  const { messages } = await ask<{ messages: readonly { id: string }[] }>(service, `/messages?${query}`)
  const record = (id: string) => ask<MessageRecord>(service, `/messages/${id}`)
  let old: MessageRecord | undefined
  for (const { id } of messages.toReversed()) {
    old = await record(id)
    if (old.deliveries !== undefined) break
  }
  assert.ok(old?.deliveries, step.name)
  const idsThen = new Set(old.deliveries.map(({ id }) => id))
  const sentThen = new Set(arrivals.filter(({ id }) => idsThen.has(id)).map(({ n }) => n))
  const before = asked.length
  const { id, outcome, lookups, answer } = await ask<{
    id: string
    outcome: string
    lookups: string
    answer: { deliveries: readonly { id: string }[] }
  }>(service, `/messages/${old.id}/replay`, json('POST', undefined))
  assert.deepEqual([outcome, lookups], ['done', 'recorded'], step.name)
  const ids = new Set(answer.deliveries.map((delivery) => delivery.id))
  const sent = () => arrivals.filter((arrival) => ids.has(arrival.id)).map(({ n }) => n)
  await until(sent, ({ length }) => length >= idsThen.size)
  assert.deepEqual(new Set(sent()), sentThen, step.name)
  const replayed = await until(
    () => record(id),
    ({ calls }) => calls !== undefined,
  )
  assert.deepEqual(new Set(replayed.deliveries?.map((delivery) => delivery.id)), ids)
  assert.ok(replayed.calls.length > 0 && replayed.calls.every(({ cached }) => cached), step.name)
  await until(
    () => asked.length,
    (length) => length >= before + 3,
  )
  assert.deepEqual(new Set(asked.slice(before)), new Set([count]), step.name)
}
