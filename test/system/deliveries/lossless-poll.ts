/** Polls of a lab with pages and a position for a sink, and what must hold however often the service is killed. */
import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import type { TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { JsonObject } from '../../../src/core/json.ts'
import type { MessageRecord } from '../../../src/core/records/message-record.ts'
import { json, startUpstream } from '../../support/service.ts'
import { type SpawnedService, spawnService } from '../../support/spawned-service.ts'
import { until } from '../../support/until.ts'
import type { Random } from '../crash/random.ts'

const PATIENTS = 3
const PAGE = 3
/** In two pages. */
const NEW_RESULTS = 2 * PAGE
/** What the lab gives one run: the next one asks for the rest. */
const LIMIT = 4 * PAGE
export const PERIOD_MS = 1_000

const SETTINGS = {
  DELIVERY_CONCURRENCY: '8',
  CIRCUIT_BREAKER_PAUSE_MS: '50',
  CIRCUIT_BREAKER_MAX_PAUSE_MS: '500',
  LOG_LEVEL: 'info',
  REQUEST_RETRIES: '0',
}

/** `once locked`: when the database takes no more writes. */
export type Step = Readonly<{
  name: string
  lab?: Readonly<{ page: 0 | 1; does: 'holds' | 'answers half' | 'answers once locked' }>
  sink?: 'is away' | 'fails' | 'holds' | 'takes and holds' | 'takes once locked'
}>

/** One kill at all steps. Between rounds, labs and sinks fail at random; at the end they do not. */
export type Round = Readonly<{ isArmed: boolean; chaos: number; locked: Promise<void>; killed: Promise<void> }>
export const CALM: Round = { isArmed: false, chaos: 0, locked: Promise.resolve(), killed: Promise.resolve() }
export const CHAOS: Round = { ...CALM, chaos: 1 }

type Arrival = Readonly<{ n: number; patient: string; id: string; isTaken: boolean }>

/** The lab and the sink of a poll. */
export async function startPoll(step: Step, random: Random, roundOf: () => Round) {
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
    const upTo = Number(query.get('upTo') ?? Math.min(count, since + LIMIT))
    if (page === 0) asked.push(since)
    if (random.chance(0.2 * round.chaos)) {
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
    document: {
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
    },
    stop: () => Promise.all([lab.stop(), sink.stop()]),
  }
}

type Poll = Awaited<ReturnType<typeof startPoll>>

export const startVictim = (folder: string, url: string) =>
  spawnService(folder, { env: { ...SETTINGS, DATABASE_URL: url }, lifetimeMs: 600_000 })

export const killVictim = ({ child, ended }: SpawnedService) => {
  child.kill('SIGKILL')
  return ended
}

/** What is new arrives too, and nothing of what there was is missing. */
export async function assertLossless(
  t: TestContext,
  service: SpawnedService,
  polls: readonly Poll[],
  kills: number,
  seed: number,
): Promise<void> {
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
  const mostRepeats = kills * PATIENTS
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
  const { id, outcome, lookups, requests, answer } = await ask<{
    id: string
    outcome: string
    lookups: string
    requests: JsonObject[]
    answer: { deliveries: readonly { id: string }[] }
  }>(service, `/messages/${old.id}/replay`, json('POST', undefined))
  assert.deepEqual([outcome, lookups], ['done', 'recorded'], step.name)
  assert.deepEqual(requests, [{ request: 'sink', sent: 0, stored: idsThen.size, left: 0 }], step.name)
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
