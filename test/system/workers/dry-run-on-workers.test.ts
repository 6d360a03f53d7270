/** Dry runs with several workers: a message that any worker processed runs dry at once, on the admin port only. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/domain/json.ts'
import { startCrew } from './crew.ts'

test('a message that any worker has just processed runs dry, and each worker gives a value that another one cut', async (t) => {
  const crew = await startCrew(t, { env: { MESSAGE_LOG: 'all' } })
  await crew.register({ name: 'open', endpoint: { pattern: '/open' } })
  const { _id } = await crew.register({
    name: 'doubled',
    endpoint: { pattern: '/doubled' },
    inputTransforms: { both: '[requestBody.text, requestBody.text]' },
    inputMapping: { 'transforms.both': 'both', 'requestBody.nr': 'nr' },
  })
  const callers = await crew.connectToEach('/open')
  t.after(() => {
    for (const caller of callers) caller.end()
  })
  for (const [nr, sender] of callers.entries()) {
    assert.equal((await sender.call('POST', '/doubled', { nr, text: 'x' })).status, 200)
    const { body } = await crew.admin('GET', `/messages?endpoint=${_id}&limit=1`)
    const [message] = body.messages as JsonObject[]
    const recorded = { messageId: message?.id ?? '' }
    const report = await crew.admin('POST', '/endpoints/dry-run', recorded)
    assert.equal(report.status, 200, JSON.stringify(report.body))
    assert.equal((report.body.answer as JsonObject).body, JSON.stringify({ both: ['x', 'x'], nr }))
    // Who may send messages is not always who may read them.
    const { status, body: refused } = await sender.call('POST', '/endpoints/dry-run', recorded)
    assert.deepEqual([status, refused.code], [400, 'DRY_RUN_INVALID'])
  }
  const asked = { endpointId: _id, message: { body: { nr: 1, text: 'x'.repeat(600_000) } } }
  const at = '/stages/1/output/transforms'
  for (const { call } of callers) {
    const { body } = await call('POST', '/endpoints/dry-run', asked)
    assert.ok(JSON.stringify(body.stages).includes(`"at":"${at}"`))
    for (const other of callers) {
      const whole = await other.call('POST', '/endpoints/dry-run/value', { ...asked, at })
      assert.equal((whole.body.both as string[]).length, 2)
    }
  }
})
