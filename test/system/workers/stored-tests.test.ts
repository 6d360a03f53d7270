/** The tests of endpoints on a service of several workers. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/domain/json.ts'
import { startCrew } from './crew.ts'

const FILE: JsonObject = {
  tests: [{ name: 'good', given: { message: { body: {} } }, expect: { answer: { body: { answer: 'good' } } } }],
}

test('stored tests are those of every worker, and judge changes on each of them', async (t) => {
  const crew = await startCrew(t, { env: { TESTS_ON_CHANGE: 'require', MESSAGE_LOG: 'all' } })
  const { _id } = await crew.register({
    name: 'tested',
    endpoint: { pattern: '/tested' },
    constants: { answer: 'good' },
    inputMapping: { 'constants.answer': 'answer' },
  })
  const callers = await crew.connectToEach('/tested')
  const path = `/endpoints/${_id}/tests`
  const [first, second] = callers
  assert.ok(first && second)
  let { etag } = await first.call('GET', path)
  for (const { call } of [first, second, first]) {
    const put = await call('PUT', path, FILE, { 'if-match': etag })
    assert.equal(put.status, 200)
    etag = put.etag
    for (const other of callers) assert.deepEqual((await other.call('GET', path)).body, FILE)
  }
  for (const { call } of callers) {
    const refused = await call('PATCH', `/endpoints/${_id}`, { constants: { answer: 'bad' } })
    assert.deepEqual([refused.status, refused.body.code], [409, 'TESTS_FAILED'])
    const run = await call('POST', '/endpoints/tests/run', { endpointId: _id })
    assert.equal(run.body.passed, 1)
    const override = { 'x-crosswalk-override': 'known' }
    assert.equal((await call('PATCH', `/endpoints/${_id}`, { constants: { answer: 'bad' } }, override)).status, 200)
    assert.equal((await call('PATCH', `/endpoints/${_id}`, { constants: { answer: 'good' } })).status, 200)
  }
  for (const caller of callers) caller.end()
})

test('a test can be made from the message of any worker', async (t) => {
  const crew = await startCrew(t, { env: { MESSAGE_LOG: 'all' } })
  await crew.register({ name: 'recorded', endpoint: { pattern: '/recorded' }, inputMapping: { 'requestBody.a': 'a' } })
  const callers = await crew.connectToEach('/recorded')
  for (const { call } of callers) {
    assert.equal((await call('POST', '/recorded', { a: 1 })).status, 200)
  }
  const { body } = await crew.admin('GET', '/messages?endpoint=recorded')
  const messages = (body.messages as JsonObject[]).slice(0, callers.length)
  assert.equal(messages.length, callers.length)
  for (const { id } of messages) {
    const made = await crew.admin('POST', `/messages/${String(id)}/test`, {})
    assert.deepEqual([made.status, (made.body.result as JsonObject).verdict], [200, 'passed'])
  }
  for (const caller of callers) caller.end()
})
