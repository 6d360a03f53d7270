/** The record of a message says whether it can be replayed, and why not. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../../../src/core/json.ts'
import { describeLogged } from '../../../support/records/message-log/log-stage.ts'
import { json } from '../../../support/service.ts'

describeLogged(
  'a record',
  (stage) => {
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

    const cases: readonly (readonly [
      reason: string,
      says: RegExp,
      body: Json,
      own?: JsonObject,
      change?: JsonObject,
    ])[] = [
      ['masked', /are masked: REDACT_PATHS names them\.$/, { ssn: '1' }],
      ['cut', /Only the start/, { b: 'x'.repeat(3_000) }],
      ['not-kept', /was not recorded/, {}, { messageLog: 'metadata' }],
      [
        'route-changed',
        /now has parameters that the message did not have/,
        {},
        {},
        { endpoint: { pattern: '/r/:ward' } },
      ],
    ]
    for (const [reason, says, body, own, change] of cases) {
      test(`says that and why a message cannot be replayed without another body: ${reason}`, async () => {
        const path = `/${reason}`
        const inputMapping = { 'requestBody.a': 'a' }
        const { _id } = await stage.service.register({ endpoint: { pattern: path }, inputMapping, ...own })
        const id = await send(path, body)
        if (change !== undefined) await stage.service.fetch(`/endpoints/${_id}`, json('PATCH', change))
        const { why: sentence, ...rest } = await replayableOf(id)
        assert.deepEqual(rest, { can: false, reason, withBody: true })
        assert.match(String(sentence), says)
        const refused = await stage.post(`/messages/${id}/replay`)
        assert.deepEqual([refused.status, refused.json().code], [409, 'REPLAY_REFUSED'])
        assert.equal(refused.json().error, `The message '${id}' cannot be replayed. ${sentence}`)
        if (reason !== 'masked' && reason !== 'cut') return
        const { outcome, answer } = (await stage.post(`/messages/${id}/replay`, { a: 1 })).json()
        assert.deepEqual([outcome, answer], ['done', { a: 1 }])
      })
    }

    test('says that its endpoint was deleted, or that there was none', async () => {
      const { _id } = await stage.service.register({ endpoint: { pattern: '/gone' } })
      const id = await send('/gone', {})
      await stage.service.fetch(`/endpoints/${_id}`, { method: 'DELETE' })
      assert.deepEqual((await replayableOf(id)).reason, 'endpoint-gone')
      const nowhere = await send('/nowhere', {})
      assert.deepEqual((await replayableOf(nowhere)).reason, 'no-endpoint')
      for (const [one, body, says] of [
        [id, undefined, /not active any more/],
        [id, {}, /not active any more/],
        [nowhere, undefined, /No endpoint took the message/],
      ] as const) {
        assert.match(String((await stage.post(`/messages/${one}/replay`, body)).json().error), says)
      }
    })
  },
  { MESSAGE_LOG_BODY_LIMIT: '1kb', REDACT_PATHS: 'ssn' },
)
