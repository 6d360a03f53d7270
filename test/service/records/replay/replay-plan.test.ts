/** `POST /messages/replay`: many messages once more, each once. */
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import type { Json, JsonObject } from '../../../../src/core/json.ts'
import type { ListedMessage } from '../../../../src/records/message-log/message-search.ts'
import { PLANS_KEPT, type PlanView } from '../../../../src/records/replay/replay-plans.ts'
import { LONG } from '../../../support/form.ts'
import { describeLogged, type LogStage, until } from '../../../support/records/message-log/log-stage.ts'
import { json, startUpstream, type Upstream } from '../../../support/service.ts'

const MANY = LONG ? 1_000 : 200

const planOf = async (stage: LogStage, filter: Json): Promise<PlanView> => {
  const reply = await stage.post('/messages/replay', filter)
  assert.equal(reply.status, 201, reply.text)
  const plan = reply.json<PlanView & JsonObject>()
  assert.equal(reply.headers.location, `/messages/replay/${plan.id}`)
  return plan
}
const viewOf = async (stage: LogStage, { id }: PlanView) =>
  (await stage.get(`/messages/replay/${id}`)).json<PlanView & JsonObject>()
const run = (stage: LogStage, { id }: PlanView, limits?: Json) => stage.post(`/messages/replay/${id}/run`, limits)
const ended = (stage: LogStage, plan: PlanView): Promise<PlanView> =>
  until(
    () => viewOf(stage, plan),
    ({ state }) => state !== 'running',
  )

const isBusy = async (asked: ReturnType<typeof run>, says = /./): Promise<void> => {
  const reply = await asked
  assert.deepEqual([reply.status, reply.json().code], [409, 'REPLAY_PLAN_BUSY'])
  assert.match(String(reply.json().error), says)
}

const everyPage = async (stage: LogStage, query: string): Promise<readonly ListedMessage[]> => {
  const found: ListedMessage[] = []
  let next: string | undefined
  do {
    const cursor = next === undefined ? '' : `&cursor=${next}`
    const page = await stage.get(`/messages?${query}&limit=500${cursor}`)
    const { messages, ...rest } = page.json<{ messages: ListedMessage[]; next?: string }>()
    found.push(...messages)
    next = rest.next
  } while (next !== undefined)
  return found
}

describeLogged('replaying many messages', (stage) => {
  let upstream: Upstream
  let away = true
  let endpointId: string
  let held: Promise<void> | undefined
  before(async () => {
    upstream = await startUpstream(async ({ body }, response) => {
      await held
      if (!away) return JSON.parse(body)
      response.destroy()
      return undefined
    })
    const { _id } = await stage.service.register({
      name: 'Orders',
      endpoint: { pattern: '/orders' },
      requests: { response: [{ id: 'target', config: { method: 'POST', url: upstream.url } }] },
    })
    endpointId = _id
    const batch = 20
    for (let start = 0; start < MANY; start += batch) {
      const numbers = Array.from({ length: batch }, (_, index) => start + index)
      await Promise.all(numbers.map((n) => stage.service.fetch('/orders', json('POST', { n }))))
    }
    await until(
      async () => (await planOf(stage, { endpoint: 'Orders' })).count,
      (count) => count === MANY,
    )
  })
  after(() => upstream.stop())

  const numbersOf = (received: Upstream['received']): number[] => received.map(({ body }) => JSON.parse(body).n)

  test('does each of many that failed once, in two runs at the same time, and leaves them as they were', async () => {
    const originals = await everyPage(stage, 'source=http')
    const [plan, same] = [await planOf(stage, { endpoint: 'Orders' }), await planOf(stage, { endpoint: endpointId })]
    const group = {
      endpointId,
      endpoint: 'Orders',
      outcome: 'failed',
      code: 'RESPONSE_UNREACHABLE',
      path: 'requests.response[0]',
      count: MANY,
    }
    assert.deepEqual(
      [plan.state, plan.count, plan.groups, plan.cannot, plan.left, plan.filter],
      [
        'planned',
        MANY,
        [group],
        [],
        MANY,
        { endpoint: ['Orders'], outcome: ['refused', 'failed'], source: ['http', 'broker', 'mllp', 'schedule'] },
      ],
    )
    upstream.received.length = 0
    away = false
    // The same plan twice, and another one with the same messages.
    const replies = await Promise.all([
      run(stage, plan, { concurrency: 8 }),
      run(stage, plan, { concurrency: 8 }),
      run(stage, same, { concurrency: 8 }),
    ])
    assert.deepEqual(replies.map(({ status }) => status).sort(), [202, 202, 409])
    const [first, second] = [await ended(stage, plan), await ended(stage, same)]
    assert.deepEqual([first.state, second.state, first.left, second.left], ['finished', 'finished', 0, 0])
    assert.deepEqual([first.failed, second.failed], [0, 0])
    assert.equal(first.done + second.done, MANY)
    assert.equal(first.done + first.skipped, MANY)
    assert.equal(second.done + second.skipped, MANY)
    for (const { reason } of [...first.skippedFor, ...second.skippedFor]) {
      assert.ok(reason === 'replayed' || reason === 'under-way', reason)
    }
    assert.equal(upstream.received.length, MANY)
    assert.equal(new Set(numbersOf(upstream.received)).size, MANY)

    const replays = await until(
      () => everyPage(stage, 'source=replay'),
      ({ length }) => length >= MANY,
    )
    assert.ok(replays.every(({ outcome }) => outcome === 'done'))
    assert.deepEqual(replays.map(({ replayOf }) => replayOf).sort(), originals.map(({ id }) => id).sort())
    assert.deepEqual(await everyPage(stage, 'source=http'), originals)
  })

  test('has nothing left to do then', async () => {
    const plan = await until(
      () => planOf(stage, { endpoint: 'Orders' }),
      ({ count }) => count === 0,
    )
    const [cannot] = plan.cannot
    assert.deepEqual([cannot?.reason, cannot?.count], ['replayed', MANY])
    assert.deepEqual((await run(stage, plan)).status, 202)
    assert.equal((await ended(stage, plan)).state, 'finished')
  })

  describe('later', () => {
    let serial = 0
    /** A filter that takes only what is sent after it was asked for. */
    const fresh = async (count: number, path = '/later'): Promise<JsonObject> => {
      away = true
      const sent: string[] = []
      for (let n = 0; n < count; n += 1) {
        serial += 1
        const reply = await stage.service.fetch(path, json('POST', { n: serial }))
        sent.push(reply.headers.get('x-crosswalk-message-id') ?? '')
      }
      const records = await Promise.all(sent.map((id) => stage.record(id)))
      away = false
      upstream.received.length = 0
      return { endpoint: records[0]?.endpointId ?? '', from: records[0]?.startedAt ?? '' }
    }
    before(() =>
      stage.service.register({
        name: 'Later',
        endpoint: { pattern: '/later' },
        requests: { response: [{ id: 'target', config: { method: 'POST', url: upstream.url } }] },
      }),
    )
    beforeEach(() => {
      away = true
    })

    const arrived = (calls: number) =>
      until(
        async () => upstream.received.length,
        (count) => count === calls,
      )
    const firstDone = (plan: PlanView) =>
      until(
        () => viewOf(stage, plan),
        ({ done }) => done === 1,
      )
    const idsOf = async ({ from }: JsonObject): Promise<string[]> => {
      const found = await everyPage(stage, `endpoint=Later&source=http&from=${String(from)}`)
      return found.map(({ id }) => id)
    }

    test('a plan is run in parts, in the order in which messages came', async () => {
      const plan = await planOf(stage, await fresh(10))
      assert.equal((await run(stage, plan, { max: 4 })).status, 202)
      const paused = await ended(stage, plan)
      assert.deepEqual([paused.state, paused.done, paused.left], ['paused', 4, 6])
      await run(stage, plan, {})
      const finished = await ended(stage, plan)
      assert.deepEqual([finished.state, finished.done, finished.left], ['finished', 10, 0])
      const numbers = numbersOf(upstream.received)
      assert.deepEqual(
        numbers,
        numbers.toSorted((a, b) => a - b),
      )
      assert.equal(numbers.length, 10)
      await isBusy(run(stage, plan))
    })

    test('a plan replays one message first, and the rest when it is continued', async () => {
      const plan = await planOf(stage, await fresh(5))
      const [id] = (await idsOf(plan.filter as JsonObject)).toReversed()
      await isBusy(stage.post(`/messages/replay/${plan.id}/continue`))
      assert.equal((await run(stage, plan, { canary: 1, concurrency: 4, max: 4 })).status, 202)
      const waiting = await ended(stage, plan)
      assert.deepEqual([waiting.state, waiting.done, waiting.left, waiting.limits?.canary], ['waiting', 1, 4, 1])
      assert.deepEqual(
        waiting.canaries?.map(({ id: of, outcome }) => [of, outcome]),
        [[id, 'done']],
      )
      const [canary] = waiting.canaries ?? []
      assert.equal((await stage.record(canary?.replayId ?? '')).replayOf, id)
      await isBusy(run(stage, plan), /continue it/)
      assert.equal((await stage.post(`/messages/replay/${plan.id}/continue`)).status, 202)
      const paused = await ended(stage, plan)
      assert.deepEqual([paused.state, paused.done, paused.left, paused.canaries?.length], ['paused', 4, 1, 1])
      await run(stage, plan)
      assert.equal((await ended(stage, plan)).state, 'finished')
      assert.equal(upstream.received.length, 5)
    })

    test('a first message that fails is shown, and one that cannot be replayed does not count', async () => {
      const plan = await planOf(stage, await fresh(4))
      const oldest = (await idsOf(plan.filter as JsonObject)).toReversed()
      assert.equal((await stage.post(`/messages/${oldest[0]}/replay`)).json().outcome, 'done')
      away = true
      await run(stage, plan, { canary: 2 })
      const waiting = await ended(stage, plan)
      assert.deepEqual([waiting.state, waiting.skipped, waiting.failed, waiting.left], ['waiting', 1, 2, 1])
      assert.deepEqual(
        waiting.canaries?.map(({ id, outcome, code }) => [id, outcome, code]),
        [1, 2].map((n) => [oldest[n], 'failed', 'RESPONSE_UNREACHABLE']),
      )
      assert.deepEqual(waiting.failures, waiting.canaries?.toReversed())
      assert.equal((await stage.post(`/messages/replay/${plan.id}/cancel`)).json().state, 'cancelled')
      await isBusy(stage.post(`/messages/replay/${plan.id}/continue`))
    })

    test('a plan is paused and run again', async () => {
      const plan = await planOf(stage, await fresh(5))
      await isBusy(stage.post(`/messages/replay/${plan.id}/pause`))
      await run(stage, plan, { perSecond: 0.01 })
      await firstDone(plan)
      const paused = await stage.post(`/messages/replay/${plan.id}/pause`)
      assert.deepEqual([paused.status, paused.json().state, paused.json().left], [200, 'paused', 4])
      // Until the run that was paused has ended, the plan cannot be run.
      await until(
        () => run(stage, plan, { concurrency: 2 }),
        ({ status }) => status === 202,
      )
      const finished = await ended(stage, plan)
      assert.deepEqual([finished.state, finished.done], ['finished', 5])
      assert.equal(upstream.received.length, 5)
    })

    test('a plan that is cancelled starts nothing more', async () => {
      const plan = await planOf(stage, await fresh(5))
      await run(stage, plan, { perSecond: 0.01 })
      await firstDone(plan)
      const cancelled = await stage.post(`/messages/replay/${plan.id}/cancel`)
      assert.deepEqual([cancelled.status, cancelled.json().state, cancelled.json().left], [200, 'cancelled', 4])
      await isBusy(run(stage, plan))
      // A plan of what is left does it: nothing is held by the one that was cancelled.
      const rest = await until(
        () => planOf(stage, plan.filter as JsonObject),
        ({ count }) => count === 4,
      )
      await run(stage, rest, { concurrency: 4 })
      assert.equal((await ended(stage, rest)).done, 4)
      assert.equal(upstream.received.length, 5)
    })

    test('what fails again can be planned again, and its replays are no messages of their own', async () => {
      const filter = await fresh(3)
      away = true
      const plan = await planOf(stage, filter)
      await run(stage, plan)
      const failed = await ended(stage, plan)
      assert.deepEqual([failed.state, failed.done, failed.failed], ['finished', 0, 3])
      await until(
        async () => (await stage.get(`/messages?endpoint=Later&source=replay&from=${String(filter.from)}`)).json(),
        ({ messages }) => (messages as Json[]).length === 3,
      )
      const again = await planOf(stage, filter)
      assert.equal(again.count, 3)
      away = false
      await run(stage, again)
      assert.equal((await ended(stage, again)).done, 3)
    })

    test('one that was replayed by hand just now is not done twice', async () => {
      for (let round = 0; round < 2; round += 1) {
        const filter = await fresh(1)
        const plan = await planOf(stage, filter)
        const [id] = await idsOf(filter)
        const replayed = await stage.post(`/messages/${id}/replay`)
        assert.equal(replayed.json().outcome, 'done')
        await run(stage, plan)
        const { done, skippedFor } = await ended(stage, plan)
        assert.deepEqual([done, skippedFor[0]?.reason], [0, 'replayed'])
        assert.equal(upstream.received.length, 1)
      }
    })

    test('one that is under way in a plan is not replayed by hand', async () => {
      const filter = await fresh(1)
      const plan = await planOf(stage, filter)
      const [id] = await idsOf(filter)
      const release = Promise.withResolvers<void>()
      held = release.promise
      await run(stage, plan)
      await arrived(1)
      let answered = false
      const refused = stage.post(`/messages/${id}/replay`).finally(() => {
        answered = true
      })
      await until(
        async () => answered || upstream.received.length > 1,
        (enough) => enough,
      )
      release.resolve()
      held = undefined
      const { status, json: read } = await refused
      assert.deepEqual([status, read().code], [409, 'REPLAY_REFUSED'])
      assert.match(String(read().error), /being replayed at this moment/)
      assert.equal((await ended(stage, plan)).done, 1)
      assert.equal(upstream.received.length, 1)
    })

    test('one that is under way by hand, or whose replay is, is not replayed by a plan', async () => {
      const filter = await fresh(1)
      const [id] = await idsOf(filter)
      away = true
      const failed = (await stage.post(`/messages/${id}/replay`)).json<{ id: string }>()
      away = false
      for (const repeated of [id, failed.id]) {
        upstream.received.length = 0
        const plan = await planOf(stage, { ...filter, outcome: 'failed' })
        assert.equal(plan.count, 1)
        const release = Promise.withResolvers<void>()
        held = release.promise
        const byHand = stage.post(`/messages/${repeated}/replay`)
        await arrived(1)
        away = true
        await run(stage, plan)
        await until(
          async () => (await viewOf(stage, plan)).state !== 'running' || upstream.received.length > 1,
          (enough) => enough,
        )
        release.resolve()
        held = undefined
        const { skippedFor } = await ended(stage, plan)
        assert.equal(skippedFor[0]?.reason, 'under-way')
        assert.equal((await byHand).json().outcome, 'failed')
        assert.equal(upstream.received.length, 1)
      }
    })

    test('messages that cannot be replayed are counted, not tried', async () => {
      const { _id } = await stage.service.register({ name: 'Gone', endpoint: { pattern: '/gone' } })
      const reply = await stage.service.fetch('/gone', { ...json('POST', undefined), body: 'broken' })
      const id = reply.headers.get('x-crosswalk-message-id') ?? ''
      await stage.record(id)
      const before = await planOf(stage, { endpoint: 'Gone' })
      assert.equal(before.count, 1)
      await stage.service.fetch(`/endpoints/${_id}`, { method: 'DELETE' })
      const plan = await planOf(stage, { endpoint: _id })
      assert.deepEqual(
        [plan.count, plan.cannot.map(({ reason, count, sampleId }) => [reason, count, sampleId])],
        [0, [['endpoint-gone', 1, id]]],
      )
      await run(stage, before)
      const { skipped, skippedFor, state } = await ended(stage, before)
      assert.deepEqual([state, skipped, skippedFor[0]?.reason], ['finished', 1, 'endpoint-gone'])
    })

    test('messages that ended done are taken only where they are asked for', async () => {
      await stage.service.register({ name: 'Fine', endpoint: { pattern: '/fine' } })
      const reply = await stage.service.fetch('/fine', json('POST', {}))
      await stage.record(reply.headers.get('x-crosswalk-message-id') ?? '')
      assert.equal((await planOf(stage, { endpoint: 'Fine' })).count, 0)
      assert.equal((await planOf(stage, { endpoint: 'Fine', outcome: 'done' })).count, 1)
    })

    test('plans are listed, the newest first, and the oldest is forgotten', async () => {
      const plans: PlanView[] = []
      for (let count = 0; count <= PLANS_KEPT; count += 1)
        plans.push(await planOf(stage, { endpoint: 'Later', from: '-1s' }))
      const listed = (await stage.get('/messages/replay')).json<{ plans: PlanView[] }>().plans
      assert.deepEqual(
        listed.map(({ id }) => id),
        plans
          .slice(1)
          .reverse()
          .map(({ id }) => id),
      )
      const forgotten = await stage.get(`/messages/replay/${plans[0]?.id}`)
      assert.deepEqual([forgotten.status, forgotten.json().code], [404, 'REPLAY_PLAN_UNKNOWN'])
    })

    const wrong: readonly (readonly [path: string, body: Json, code: string, says: RegExp])[] = [
      ['', { outcom: 'failed' }, 'FILTER_INVALID', /did you mean "outcome"/],
      ['', { limit: 3 }, 'FILTER_INVALID', /There is no filter "limit"/],
      ['', { status: { gt: 5 } }, 'FILTER_INVALID', /status cannot be/],
      ['', [], 'FILTER_INVALID', /an object/],
      ['', { source: 'replay' }, 'FILTER_INVALID', /source cannot be "replay" here/],
      ['/{plan}/run', { concurency: 1 }, 'REPLAY_OPTION_INVALID', /did you mean "concurrency"/],
      ['/{plan}/run', { concurrency: 0 }, 'REPLAY_OPTION_INVALID', /from 1 to 100/],
      ['/{plan}/run', { max: 1.5 }, 'REPLAY_OPTION_INVALID', /a whole number/],
      ['/{plan}/run', { perSecond: '1' }, 'REPLAY_OPTION_INVALID', /perSecond cannot be "1"/],
      ['/{plan}/run', { canary: 11 }, 'REPLAY_OPTION_INVALID', /from 1 to 10/],
      ['/{plan}/run', [], 'REPLAY_OPTION_INVALID', /an object/],
    ]
    test('what is no filter and no limit is refused', async () => {
      const { id } = await planOf(stage, { endpoint: 'Later', from: '-1s' })
      for (const [path, body, code, says] of wrong) {
        const reply = await stage.post(`/messages/replay${path.replace('{plan}', id)}`, body)
        assert.deepEqual([reply.status, reply.json().code], [400, code], reply.text)
        assert.match(reply.json<{ error: string }>().error, says)
      }
    })

    test('a plan that there is not is reported', async () => {
      const url = `/messages/replay/${'0'.repeat(24)}`
      for (const path of ['', '/run', '/continue', '/pause', '/cancel']) {
        const reply = await (path === '' ? stage.get(url) : stage.post(`${url}${path}`))
        assert.deepEqual([reply.status, reply.json().code], [404, 'REPLAY_PLAN_UNKNOWN'], path)
      }
    })
  })
})

describeLogged('a service that stops', (stage) => {
  test('starts nothing more of a plan, and finishes what is under way', async () => {
    let answers = Promise.withResolvers<void>()
    answers.resolve()
    const upstream = await startUpstream(async (_request, response) => {
      await answers.promise
      response.statusCode = 503
      return {}
    })
    const { service } = stage
    await service.register({
      name: 'Held',
      endpoint: { pattern: '/held' },
      requests: { response: [{ id: 'target', config: { method: 'POST', url: upstream.url } }] },
    })
    for (let n = 0; n < 5; n += 1) await service.fetch('/held', json('POST', { n }))
    const plan = await planOf(stage, { endpoint: 'Held' })
    assert.equal(plan.count, 5)
    answers = Promise.withResolvers()
    upstream.received.length = 0
    await run(stage, plan)
    await until(
      async () => upstream.received.length,
      (length) => length === 1,
    )
    const stopped = service.app.stop()
    answers.resolve()
    assert.equal(await stopped, 0)
    assert.equal(upstream.received.length, 1)
    assert.deepEqual(
      service.log.filter(({ level }) => level === 'error'),
      [],
    )
    const ends = await until(
      async () => service.log.filter(({ message }) => message === 'A run of a replay plan has ended'),
      ({ length }) => length === 1,
    )
    assert.deepEqual([ends[0]?.fields.state, ends[0]?.fields.failed], ['running', 1])
    await upstream.stop()
  })
})
