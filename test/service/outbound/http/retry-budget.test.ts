import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FLOOR_TOKENS, fullBudget, MAX_TOKENS, noteCall, takeRetry } from '../../../../src/outbound/origins.ts'
import fc from '../../../support/fast-check.ts'
import { failsWith, get, startClient, startHttp, startTcp } from './upstream.ts'

describe('the budget of an origin', () => {
  test('is never more than its part of the calls, the floor and what time gave back', () => {
    const step = fc.record({ afterMs: fc.nat(400), calls: fc.nat(20), tries: fc.nat(20) })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.integer({ min: 0, max: 100 }), (steps, percent) => {
        const budget = fullBudget(0)
        let now = 0
        let calls = 0
        let retries = 0
        for (const { afterMs, calls: more, tries } of steps) {
          now += afterMs
          calls += more
          for (let call = 0; call < more; call++) noteCall(budget, percent)
          for (let tried = 0; tried < tries; tried++) if (takeRetry(budget, now)) retries += 1
        }
        assert.ok(retries <= FLOOR_TOKENS + (calls * percent) / 100 + now / 1000 + 1e-6)
      }),
    )
  })

  test('comes back with time as far as the floor, and with calls as far as its most', () => {
    const budget = fullBudget(0)
    for (let taken = 0; taken < FLOOR_TOKENS; taken++) assert.ok(takeRetry(budget, 0))
    assert.equal(takeRetry(budget, 999), false)
    assert.ok(takeRetry(budget, 1_000))
    assert.equal(takeRetry(budget, 1_500), false)
    let afterLong = 0
    while (takeRetry(budget, 3_600_000)) afterLong += 1
    assert.equal(afterLong, FLOOR_TOKENS)
    for (let call = 0; call < 10_000; call++) noteCall(budget, 20)
    let afterMany = 0
    while (takeRetry(budget, 3_600_000)) afterMany += 1
    assert.equal(afterMany, MAX_TOKENS)
  })
})

describe('calls to an origin that always fails', () => {
  const CALLS = 100

  test('are tried again a fifth as often, and say so', async (t) => {
    let seen = 0
    const upstream = await startHttp(t, (_request, response) => {
      seen += 1
      response.writeHead(503).end()
    })
    const client = startClient(t, { retry: { pause: async () => undefined } })
    const startedAt = performance.now()
    const answers = []
    for (let call = 0; call < CALLS; call++) answers.push(await client.send(get(upstream.url, { retries: 3 })))
    const refilled = (performance.now() - startedAt) / 1000
    const retries = seen - CALLS
    assert.ok(retries >= 10 + CALLS / 5 - 1 && retries <= 10 + CALLS / 5 + refilled, `${retries} retries`)
    const withRemark = answers.filter(({ remark }) => remark !== undefined)
    assert.ok(withRemark.length >= CALLS - retries)
    const remark = 'It was not tried again: too many calls to its target are retries already.'
    assert.equal(withRemark[0]?.remark, remark)
    assert.deepEqual([client.health().retries, client.health().retriesWithheld], [retries, withRemark.length])
  })

  test('say so in their error too', async (t) => {
    const upstream = await startTcp(t, (socket) => socket.once('data', () => socket.destroy()))
    const client = startClient(t, { retryBudgetPercent: 0, retry: { pause: async () => undefined } })
    const call = () => client.send(get(upstream.url, { retries: 10 }))
    await assert.rejects(call(), failsWith('unreachable', /complete\.$/))
    assert.equal(upstream.sockets.length, 11)
    await assert.rejects(call(), failsWith('unreachable', /complete\. It was not tried again/))
    assert.equal(upstream.sockets.length, 12)
  })

  test('use up nothing of another origin', async (t) => {
    const pause = async () => undefined
    const client = startClient(t, { retryBudgetPercent: 0, retry: { pause } })
    for (let origin = 0; origin < 3; origin++) {
      let seen = 0
      const upstream = await startHttp(t, (_request, response) => response.writeHead(seen++ === 0 ? 503 : 200).end())
      assert.equal((await client.send(get(upstream.url, { retries: 1 }))).status, 200)
    }
  })
})
