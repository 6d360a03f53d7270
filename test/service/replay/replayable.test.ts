/** The record of a message says whether it can be replayed, and why not. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Json, JsonObject } from '../../../src/domain/json.ts'
import { describeLogged } from '../../support/message-log/log-stage.ts'
import { json, startUpstream, type Upstream } from '../../support/service.ts'

describeLogged(
  'a record',
  (stage) => {
    let upstream: Upstream
    before(async () => {
      upstream = await startUpstream(() => ({}))
    })
    after(() => upstream.stop())

    const send = async (path: string, body: Json): Promise<string> => {
      const reply = await stage.service.fetch(path, json('POST', body))
      const id = reply.headers.get('x-crosswalk-message-id') ?? ''
      await stage.record(id)
      return id
    }
    const replayableOf = async (id: string) =>
      ((await stage.record(id)) as unknown as { replayable: JsonObject }).replayable

    test('says that a message can be replayed, and which replay of it ended done', async () => {
      await stage.service.register({ endpoint: { pattern: '/plain' } })
      const id = await send('/plain', {})
      assert.deepEqual(await replayableOf(id), { can: true })
      const replayed = (await stage.post(`/messages/${id}/replay`)).json<{ id: string }>()
      assert.deepEqual(await replayableOf(id), { can: true, alreadyDoneBy: replayed.id })
      await stage.record(replayed.id)
      assert.deepEqual(await replayableOf(replayed.id), { can: true })
      const again = (await stage.post(`/messages/${replayed.id}/replay`)).json<{ id: string }>()
      await stage.record(again.id)
      assert.deepEqual(await replayableOf(replayed.id), { can: true, alreadyDoneBy: again.id })
      assert.deepEqual(await replayableOf(again.id), { can: true, alreadyDoneBy: replayed.id })
    })

    const cases: readonly {
      why: string
      path: string
      document: JsonObject
      body: Json
      change?: JsonObject
      gives: JsonObject
    }[] = [
      {
        why: 'its body was redacted',
        path: '/masked',
        document: {},
        body: { ssn: '1' },
        gives: { reason: 'masked', withBody: true },
      },
      {
        why: 'its body was cut',
        path: '/cut',
        document: {},
        body: { a: 'x'.repeat(3_000) },
        gives: { reason: 'cut', withBody: true },
      },
      {
        why: 'it was not recorded',
        path: '/unrecorded',
        document: { messageLog: 'metadata' },
        body: {},
        gives: { reason: 'not-kept', withBody: true },
      },
      {
        why: 'its route has changed',
        path: '/changed',
        document: {},
        body: {},
        change: { endpoint: { pattern: '/changed/:ward', method: 'POST' } },
        gives: { reason: 'route-changed', withBody: true },
      },
    ]
    for (const { why, path, document, body, change, gives } of cases) {
      test(`says that ${why}`, async () => {
        const { _id } = await stage.service.register({ endpoint: { pattern: path }, ...document })
        const id = await send(path, body)
        if (change !== undefined) await stage.service.fetch(`/endpoints/${_id}`, json('PATCH', change))
        const { why: sentence, ...rest } = await replayableOf(id)
        assert.deepEqual(rest, { can: false, ...gives })
        const refused = await stage.post(`/messages/${id}/replay`)
        assert.equal(refused.status, 409)
        assert.equal(refused.json().error, `The message '${id}' cannot be replayed. ${sentence}`)
      })
    }

    test('says that its endpoint was deleted, or that there was none', async () => {
      const { _id } = await stage.service.register({ endpoint: { pattern: '/gone' } })
      const id = await send('/gone', {})
      await stage.service.fetch(`/endpoints/${_id}`, { method: 'DELETE' })
      assert.deepEqual((await replayableOf(id)).reason, 'endpoint-gone')
      assert.deepEqual((await replayableOf(await send('/nowhere', {}))).reason, 'no-endpoint')
    })
  },
  { MESSAGE_LOG_BODY_LIMIT: '1kb', REDACT_PATHS: 'ssn' },
)
