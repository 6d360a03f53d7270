/** A replay that ended done is known of afterwards, also where nothing is kept of other messages. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeLogged } from '../../support/message-log/log-stage.ts'
import { json, type Reply } from '../../support/service.ts'

const document = { name: 'Orders', endpoint: { pattern: '/orders' }, messageKeys: { nr: 'requestBody.nr' } }
const idOf = ({ headers }: Reply): string => headers.get('x-crosswalk-message-id') ?? ''

describeLogged('a replay where messages are not logged any more', (stage) => {
  test('leaves a record without bodies and keys, and is not repeated by a plan', async () => {
    const { service } = stage
    const { _id } = await service.register({ ...document, inputValidation: { required: ['name'] } })
    const id = idOf(await service.fetch('/orders', json('POST', { nr: 1 })))
    await stage.recorded('outcome=refused', 1)
    await service.fetch(`/endpoints/${_id}`, json('PATCH', { inputValidation: null, messageLog: 'off' }))
    const ordinary = idOf(await service.fetch('/orders', json('POST', { nr: 2 })))
    const replayed = (await stage.post(`/messages/${id}/replay`)).json<{ id: string; outcome: string }>()
    assert.equal(replayed.outcome, 'done')
    const { replayOf, source, bodies, keys } = await stage.record(replayed.id)
    assert.deepEqual({ replayOf, source, bodies, keys }, { replayOf: id, source: 'replay', bodies: [], keys: {} })
    assert.equal((await stage.get(`/messages/${ordinary}`)).status, 404)
    const plan = (await stage.post('/messages/replay', {})).json<{ count: number; cannot: readonly object[] }>()
    assert.equal(plan.count, 0)
  })
})
