/** Several workers are one service. Everything else of them: test/system/app/workers/. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startCrew } from '../app/workers/crew.ts'

test('an endpoint is served by every worker once its registration is answered, and by none once its deletion is', async (t) => {
  const crew = await startCrew(t)
  await crew.register({ name: 'open', endpoint: { pattern: '/open' } })
  const callers = await crew.connectToEach('/open')
  t.after(() => {
    for (const caller of callers) caller.end()
  })
  const { _id } = await crew.register({
    name: 'orders',
    endpoint: { pattern: '/orders' },
    inputMapping: { 'requestBody.n': 'order.number' },
  })
  for (const { call } of callers) {
    const { status, body } = await call('POST', '/orders', { n: 1 })
    assert.deepEqual([status, body], [200, { order: { number: 1 } }])
  }
  assert.equal((await crew.admin('DELETE', `/endpoints/${_id}`)).status, 200)
  for (const { call } of callers) assert.equal((await call('POST', '/orders', { n: 1 })).status, 404)
})
