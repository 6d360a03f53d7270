/** Two instances share what they keep in PostgreSQL. Everything else of it: the long forms of the stores, and test/system/instances/. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { json, startService } from '../../support/service.ts'
import { freshDatabase, postgresMissing } from '../../support/services/postgres.ts'
import { until } from '../../support/until.ts'

test('what one instance registers and records, another one serves and shows', {
  skip: postgresMissing() ?? false,
}, async (t) => {
  const database = await freshDatabase(t)
  const start = async () => {
    const service = await startService({ DATABASE_URL: database.url, MESSAGE_LOG: 'all' })
    database.uses(service.stop)
    return service
  }
  const [one, other] = [await start(), await start()]
  const { _id } = await one.register({
    name: 'Orders',
    endpoint: { pattern: '/orders' },
    inputMapping: { 'requestBody.n': 'order.number' },
  })
  const send = () => other.fetch('/orders', json('POST', { n: 1 }))
  const { text } = await until(send, ({ status }) => status === 200)
  assert.equal(text, '{"order":{"number":1}}')
  const recorded = await until(
    async () => (await (await fetch(`${one.adminUrl}/messages?endpoint=${_id}`)).json()) as { messages: object[] },
    ({ messages }) => messages.length > 0,
  )
  assert.equal(recorded.messages.length, 1)
  assert.equal((await other.fetch(`/endpoints/${_id}`, { method: 'DELETE' })).status, 200)
  await until(
    () => one.fetch(`/endpoints/${_id}`),
    ({ status }) => status === 404,
  )
})
