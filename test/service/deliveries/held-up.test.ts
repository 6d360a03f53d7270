/** Many deliveries that wait for a target, or for one of their key, hold up no other target and no other key. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SCHEDULE_MS, startSimulatedSender } from '../../support/deliveries/simulated-sender.ts'
import { clockedSqlite } from '../../support/store/database-clock.ts'
import { startHttp } from '../outbound/http/upstream.ts'

const START_MS = Date.parse('2027-01-01T00:00:00.000Z')
const RULES = { scheduleMs: SCHEDULE_MS, giveUpAfterMs: 270_000_000 }
const WAITING = 2_000
const MAX_WAIT_MS = 1_000

/** `ms`: how long each attempt takes. */
const AWAY: readonly (readonly [name: string, how: 'refuses' | 500 | 503 | 'timeout', ms: number])[] = [
  ['refuses connections', 'refuses', 0],
  ['answers 500', 500, 50],
  ['answers 503 slowly', 503, 20_000],
  ['answers after the time of the request', 'timeout', 5_000],
  ['accepts connections and never answers', 'timeout', 300_000],
]

for (const [name, how, ms] of AWAY) {
  test(`a target that ${name} holds up no other`, async (test) => {
    const away = await startHttp(test, (_request, response) =>
      response.writeHead(typeof how === 'number' ? how : 200).end(),
    )
    const taken = new Map<string, number>()
    const healthy = await startHttp(test, (request, response) => {
      taken.set(String(request.headers['idempotency-key']), timers.now())
      response.end()
    })
    const awayUrl = how === 'refuses' ? 'http://127.0.0.1:9' : away.url
    const { timers, accept, store } = await startSimulatedSender(clockedSqlite(test, START_MS), START_MS, (target) => {
      if (target === healthy.url) return { answersMs: 20 }
      return how === 'timeout' ? { timesOutMs: ms } : { answersMs: ms }
    })
    const waiting = Array.from({ length: WAITING }, (_, number) => (number % 2 === 0 ? `k${number % 50}` : undefined))
    await accept(`${awayUrl}/in`, waiting, RULES)
    await timers.pass(10_000)
    for (let round = 0; round < 10; round += 1) {
      const acceptedAt = timers.now()
      const ids = await accept(`${healthy.url}/in`, ['own', undefined, 'other', undefined], RULES)
      await timers.pass(3_000)
      for (const id of ids) {
        const waitedMs = (taken.get(id) ?? Number.POSITIVE_INFINITY) - acceptedAt
        assert.ok(waitedMs <= MAX_WAIT_MS, `It waited ${waitedMs} ms.`)
      }
    }
    assert.equal((await store.list({ state: 'delivered', target: new URL(awayUrl).origin }, 1)).length, 0)
  })
}

test('a key that fails holds up no other of its target', async (test) => {
  const taken: string[] = []
  const failing = new Set<string>()
  const target = await startHttp(test, (request, response) => {
    const id = String(request.headers['idempotency-key'])
    if (failing.has(id)) response.statusCode = 500
    else taken.push(id)
    response.end()
  })
  const { timers, accept, store } = await startSimulatedSender(clockedSqlite(test, START_MS), START_MS, () => ({
    answersMs: 20,
  }))
  const [first = assert.fail(), ...behind] = await accept(`${target.url}/in`, Array(100).fill('held'), RULES)
  failing.add(first)
  await timers.pass(1_000)
  const others = await accept(
    `${target.url}/in`,
    Array.from({ length: 200 }, (_, number) => (number % 2 === 0 ? `k${number % 20}` : undefined)),
    RULES,
  )
  await timers.pass(10_000)
  assert.deepEqual(taken.toSorted(), others.toSorted())
  assert.equal((await store.list({ state: 'pending', orderKey: 'held' }, 1_000)).length, 100)
  failing.clear()
  await timers.pass(340_000, 1_000)
  await timers.pass(30_000)
  assert.deepEqual(
    taken.filter((id) => id === first || behind.includes(id)),
    [first, ...behind],
  )
})
