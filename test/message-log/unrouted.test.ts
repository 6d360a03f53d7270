/** A message for which no route can even be looked up has an id and a record as any other that is refused. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { call } from '../adapters/http-server/management/call.ts'
import { describeLogged } from './log-stage.ts'

describeLogged('a URL with a broken percent-encoding', (stage) => {
  test('is a message that is refused', async () => {
    await stage.service.register({ endpoint: { pattern: '/known/:id' } })
    const headers = { 'content-type': 'application/json' }
    const reply = await call(stage.service.url, 'POST', '/known/%zz?a=%zz', { headers, body: '{}' })
    const id = String(reply.headers['x-crosswalk-message-id'])
    assert.deepEqual([reply.status, reply.json().code, reply.json().messageId], [400, 'URL_MALFORMED', id])
    const { outcome, status, code, source, stages, bodies, endpoint } = await stage.record(id)
    assert.deepEqual(
      { outcome, status, code, source, stages, bodies, endpoint },
      {
        outcome: 'refused',
        status: 400,
        code: 'URL_MALFORMED',
        source: 'http',
        stages: [],
        bodies: [],
        endpoint: undefined,
      },
    )
    const lines = stage.service.log.filter(({ fields }) => fields.messageId === id)
    assert.deepEqual(
      lines.map(({ fields }) => fields.code),
      ['URL_MALFORMED'],
    )
  })

  test('is no message where the path is one of the service', async () => {
    const before = await stage.recorded('', 0)
    for (const base of [stage.service.url, stage.service.adminUrl]) {
      const reply = await call(base, 'GET', '/endpoints/%zz')
      assert.deepEqual([reply.status, reply.json().code], [400, 'URL_MALFORMED'])
      assert.equal(reply.headers['x-crosswalk-message-id'], undefined)
    }
    assert.deepEqual(await stage.recorded('', 0), before)
  })
})
