/** A replay of a message that its lookups make: it uses their recorded answers, or says that and why it cannot. */
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import type { Json, JsonObject } from '../../../../src/core/json.ts'
import { describeLogged, type LogStage, until } from '../../../support/records/message-log/log-stage.ts'
import { json, startUpstream, type Upstream } from '../../../support/service.ts'

type Replayed = Readonly<{
  id: string
  outcome: string
  code?: string
  error?: string
  lookups?: string
  requests?: Json
}>

/** A source with pages of records, a sink that takes or refuses them, and an endpoint that polls the one for the other. */
async function startPoll(stage: LogStage) {
  let pages: readonly (readonly string[])[] = []
  let refused: ReadonlySet<string> = new Set()
  let sourceStatus = 200
  let extra: JsonObject = {}
  const source = await startUpstream(({ url }, response) => {
    const index = Number(new URL(url, 'http://source').searchParams.get('page') ?? 0)
    response.statusCode = sourceStatus
    response.setHeader('set-cookie', 'session=1')
    if (index + 1 < pages.length) response.setHeader('link', `<?page=${index + 1}>; rel="next"`)
    return { records: (pages[index] ?? []).map((id) => ({ record: { id } })), ...extra }
  })
  const sink = await startUpstream(({ body }, response) => {
    const { id } = JSON.parse(body) as { id?: string }
    response.statusCode = refused.has(id ?? '') || refused.has('*') ? 503 : 201
    return {}
  })
  let made = 0
  const polling = (fields: JsonObject = {}, lookup: JsonObject = {}, response: JsonObject = {}): JsonObject => ({
    endpoint: {},
    schedule: { cron: '0 0 1 1 *' },
    transformation: { output: 'JSON' },
    inputMapping: { 'lookupRequests.source.data[].records[].record': 'records' },
    requests: {
      lookup: [
        {
          id: 'source',
          config: { url: source.url },
          page: { max: 200, next: { expression: '$match(page.headers.link, /<([^>]*)>; *rel="next"/).groups[0]' } },
          ...lookup,
        },
      ],
      response: [
        {
          id: 'sink',
          config: { method: 'POST', url: sink.url },
          forEach: { items: 'lookupRequests.source.data[].records[].record' },
          ...response,
        },
      ],
    },
    ...fields,
  })
  const register = (document: JsonObject) => {
    made += 1
    return stage.service.register({ name: `Poll ${made}`, ...document })
  }
  const idsIn = async (upstream: Upstream, work: () => Promise<unknown>): Promise<readonly string[]> => {
    const from = upstream.received.length
    await work()
    return upstream.received.slice(from).map(({ body, url }) => (body === '' ? url : JSON.parse(body).id))
  }
  return {
    polling,
    urls: { source: source.url, sink: sink.url },
    register,
    setPages: (all: readonly (readonly string[])[], more: JsonObject = {}) => {
      pages = all
      extra = more
    },
    refuse: (...ids: readonly string[]) => {
      refused = new Set(ids)
    },
    setStatus: (status: number) => {
      sourceStatus = status
    },
    asked: (work: () => Promise<unknown>) => idsIn(source, work),
    sent: (work: () => Promise<unknown>) => idsIn(sink, work),
    /** Runs the schedule. Out: the id of the message, which is in the log. */
    poll: async (endpointId: string, outcome: string) => {
      const { messageId } = (await stage.post(`/endpoints/${endpointId}/run`)).json<{ messageId: string }>()
      assert.equal((await stage.record(messageId)).outcome, outcome)
      return messageId
    },
    stop: async () => {
      await source.stop()
      await sink.stop()
    },
  }
}

const replay = async (stage: LogStage, id: string, query = '', body?: Json): Promise<Replayed> => {
  const reply = await stage.post(`/messages/${id}/replay${query}`, body)
  assert.equal(reply.status, 200, reply.text)
  return reply.json<Replayed & JsonObject>()
}

const assertRefused = async (stage: LogStage, id: string, says: RegExp, query = ''): Promise<void> => {
  const reply = await stage.post(`/messages/${id}/replay${query}`)
  assert.deepEqual([reply.status, reply.json().code], [409, 'REPLAY_REFUSED'], reply.text)
  assert.match(String(reply.json().error), says)
}

const replayableOf = async (stage: LogStage, id: string) =>
  (await stage.record(id)) as unknown as { replayable: { can: boolean; reason?: string } }

for (const messageLog of ['failures', 'all'])
  describeLogged(
    `a replay of a poll, with ${messageLog} recorded,`,
    (stage) => {
      let poll: Awaited<ReturnType<typeof startPoll>>
      before(async () => {
        poll = await startPoll(stage)
      })
      after(() => poll.stop())
      beforeEach(() => {
        poll.setPages([['a', 'b'], ['c'], ['d']])
        poll.refuse('b', 'd')
        poll.setStatus(200)
      })

      test('asks nothing, and sends the recorded records of all pages that were not delivered', async () => {
        const { _id } = await poll.register(poll.polling())
        const id = await poll.poll(_id, 'failed')
        poll.setPages([['x'], ['y']])
        poll.refuse('d')
        let again: Replayed = { id: '', outcome: '' }
        const asked = await poll.asked(async () => {
          assert.deepEqual(await poll.sent(async () => (again = await replay(stage, id))), ['b', 'd'])
        })
        assert.deepEqual(asked, [])
        assert.deepEqual([again.outcome, again.lookups], ['failed', 'recorded'])
        assert.deepEqual(again.requests, [{ request: 'sink', sent: 2, stored: 0, left: 2 }])
        const { calls, notMade } = await stage.record(again.id)
        const lookups = calls.filter(({ kind }) => kind === 'lookup')
        assert.deepEqual(
          lookups.map(({ item, status, cached }) => [item, status, cached]),
          [0, 1, 2].map((item) => [item, 200, true]),
        )
        assert.match(lookups[0]?.remark ?? '', /nothing was sent/)
        assert.deepEqual(
          notMade,
          [0, 2].map((item) => ({ kind: 'response', id: 'sink', item, why: 'delivered' })),
        )
        // The replay of a replay has the same answers.
        poll.refuse()
        assert.deepEqual(await poll.sent(async () => (again = await replay(stage, again.id))), ['d'])
        assert.deepEqual([again.outcome, again.lookups], ['done', 'recorded'])
      })

      test('asks again if it is asked to, and then sends all that it finds', async () => {
        const { _id } = await poll.register(poll.polling())
        const id = await poll.poll(_id, 'failed')
        poll.setPages([['x', 'b']])
        poll.refuse()
        let again: Replayed = { id: '', outcome: '' }
        const sent = await poll.sent(async () => (again = await replay(stage, id, '?lookups=again')))
        assert.deepEqual(sent, ['x', 'b'])
        assert.deepEqual([again.outcome, again.lookups], ['done', 'again'])
      })

      for (const [lookups, since] of [
        ['recorded', '30'],
        ['again', '40'],
      ])
        test(`with its lookups ${lookups} leaves ${lookups === 'again' ? 'what it found then as' : 'no'} state`, async () => {
          const cursor = { 'lookupRequests.source.data[0].cursor': 'cursor' }
          const params = { query: { since: { path: 'state.responseBody.cursor' } } }
          const { _id } = await poll.register(
            poll.polling(
              { inputMapping: cursor, state: { extract: { responseBody: { cursor: 'cursor' } } } },
              { config: { url: poll.urls.source, params } },
            ),
          )
          const pollTo = async (to: string, outcome: string) => {
            poll.setPages([['a', 'b']], { cursor: to })
            return poll.poll(_id, outcome)
          }
          const old = await pollTo('20', 'failed')
          poll.refuse()
          await pollTo('30', 'done')
          poll.setPages([['a', 'b']], { cursor: '40' })
          const again = await replay(stage, old, `?lookups=${lookups}`)
          assert.deepEqual([again.outcome, again.lookups], ['done', lookups])
          const asked = await poll.asked(() => poll.poll(_id, 'done'))
          assert.deepEqual(asked, [`/?since=${since}`])
        })

      test('asks again by itself if its lookups had failed, as it polled nothing', async () => {
        const { _id } = await poll.register(poll.polling())
        poll.setStatus(500)
        const id = await poll.poll(_id, 'failed')
        poll.setStatus(200)
        poll.refuse()
        await assertRefused(stage, id, /lookups did not succeed.*lookups=again/, '?lookups=recorded')
        let again: Replayed = { id: '', outcome: '' }
        assert.deepEqual(await poll.sent(async () => (again = await replay(stage, id))), ['a', 'b', 'c', 'd'])
        assert.deepEqual([again.outcome, again.lookups], ['done', 'again'])
      })

      test('fails before anything is sent if the document needs an answer that was not recorded', async () => {
        poll.refuse('*')
        const { _id } = await poll.register(poll.polling())
        const id = await poll.poll(_id, 'failed')
        poll.refuse()
        const { requests } = poll.polling() as { requests: { lookup: JsonObject[] } & JsonObject }
        const other = { id: 'other', config: { url: 'http://127.0.0.1:9' }, optional: true }
        const changed = await stage.service.fetch(
          `/endpoints/${_id}`,
          json('PATCH', { requests: { ...requests, lookup: [...requests.lookup, other] } }),
        )
        assert.equal(changed.status, 200, changed.text)
        let again: Replayed = { id: '', outcome: '' }
        assert.deepEqual(await poll.sent(async () => (again = await replay(stage, id))), [])
        assert.deepEqual([again.outcome, again.code], ['failed', 'LOOKUP_NOT_RECORDED'])
        assert.match(again.error ?? '', /none of the lookup "other" .*lookups=again/)
      })

      test('has the recorded answer of each item, and the recorded failure of an optional lookup', async () => {
        poll.refuse('*')
        const wards = { forEach: { items: 'constants.wards' } }
        const { _id } = await poll.register({
          ...poll.polling({ constants: { wards: ['1', '2'] } }),
          inputMapping: { 'lookupRequests.source[].data.records': 'records', 'lookupRequests.gone[].data': 'gone' },
          requests: {
            lookup: [
              { id: 'source', config: { url: poll.urls.source }, ...wards },
              { id: 'gone', config: { url: 'http://127.0.0.1:9' }, ...wards, optional: true, default: 'away' },
            ],
            response: [{ id: 'sink', config: { method: 'POST', url: poll.urls.sink } }],
          },
        })
        const messageId = await poll.poll(_id, 'failed')
        poll.refuse()
        const again = await replay(stage, messageId)
        assert.deepEqual([again.outcome, again.lookups], ['done', 'recorded'])
        const { calls } = await stage.record(again.id)
        const lookups = calls.filter(({ kind }) => kind === 'lookup')
        assert.deepEqual(lookups.map(({ id, item, status, fault }) => `${id} ${item} ${status ?? fault}`).sort(), [
          'gone 0 unreachable',
          'gone 1 unreachable',
          'source 0 200',
          'source 1 200',
        ])
      })

      test('of a request whose lookups have pages uses them too, unless another body replaces that of the message', async () => {
        poll.refuse('*')
        const path = `/pages/${messageLog}`
        const { schedule: _, ...document } = poll.polling()
        const transformation = { input: 'JSON', output: 'JSON' }
        await poll.register({ ...document, endpoint: { pattern: path }, transformation })
        const sent = await stage.service.fetch(path, json('POST', {}))
        const id = sent.headers.get('x-crosswalk-message-id') ?? ''
        await stage.record(id)
        poll.refuse()
        poll.setPages([['x']])
        assert.deepEqual(await poll.sent(() => replay(stage, id)), ['a', 'b', 'c', 'd'])
        assert.deepEqual(await poll.sent(() => replay(stage, id, '', {})), ['x'])
      })

      test('keeps answers beyond MESSAGE_LOG_BODY_LIMIT, and refuses those that are not whole', async () => {
        const { _id } = await poll.register(poll.polling())
        poll.setPages([['a'], ['b']], { filling: 'x'.repeat(15_000) })
        const whole = await poll.poll(_id, 'failed')
        poll.refuse()
        assert.deepEqual(await poll.sent(() => replay(stage, whole)), ['b'])
        poll.refuse('b')
        poll.setPages([['a'], ['b']], { filling: 'x'.repeat(26_000) })
        const cut = await poll.poll(_id, 'failed')
        assert.equal((await replayableOf(stage, cut)).replayable.reason, 'lookups-cut')
        await assertRefused(stage, cut, /not recorded whole.*PARSER_LIMIT.*lookups=again/)
        poll.refuse()
        assert.deepEqual(await poll.sent(() => replay(stage, cut, '?lookups=again')), ['a', 'b'])
      })

      test('refuses answers of which parts are masked, alone and in a plan', async () => {
        const { _id, name } = await poll.register(poll.polling())
        poll.setPages([['a'], ['b']], { ssn: '123-45-6789' })
        const id = await poll.poll(_id, 'failed')
        assert.equal((await replayableOf(stage, id)).replayable.reason, 'lookups-masked')
        await assertRefused(stage, id, /answers of its lookups are masked: REDACT_PATHS names them\. .*lookups=again/)
        const filter = { endpoint: name, outcome: 'failed' }
        const plan = (await stage.post('/messages/replay', filter)).json<
          { cannot: { reason: string }[] } & JsonObject
        >()
        assert.deepEqual([plan.count, plan.lookups, plan.cannot[0]?.reason], [0, undefined, 'lookups-masked'])
        const again = (await stage.post('/messages/replay?lookups=again', filter)).json<{ id: string } & JsonObject>()
        assert.deepEqual([again.count, again.lookups], [1, 'again'])
        poll.refuse()
        const sent = await poll.sent(async () => {
          await stage.post(`/messages/replay/${again.id}/run`)
          await until(
            async () => (await stage.get(`/messages/replay/${again.id}`)).json().state,
            (state) => state === 'finished',
          )
        })
        assert.deepEqual(sent, ['a', 'b'])
      })

      test('refuses a choice that there is not', async () => {
        const { _id } = await poll.register(poll.polling())
        const id = await poll.poll(_id, 'failed')
        for (const [path, query] of [
          [`/messages/${id}/replay`, 'lookups=none'],
          [`/messages/${id}/replay`, 'lookup=again'],
          ['/messages/replay', 'lookups=none'],
        ]) {
          const reply = await stage.post(`${path}?${query}`)
          assert.deepEqual([reply.status, reply.json().code], [400, 'FILTER_INVALID'], reply.text)
        }
      })
    },
    { MESSAGE_LOG: messageLog, MESSAGE_LOG_BODY_LIMIT: '1kb', PARSER_LIMIT: '50kb', REDACT_PATHS: 'ssn' },
  )
