/** Events of an instance that shares its store: it reports what others change too. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readEvents } from '../../support/observe/events/event-reader.ts'
import { type Instance, needsPostgres, startInstances } from './instances.ts'

test('changes of endpoints on one instance are events and rows of the other', needsPostgres, async (t) => {
  const [one, other] = (await startInstances(t, 2)) as [Instance, Instance]
  const reader = await readEvents(`${other.adminUrl}/events?types=endpoints`)
  await reader.first(({ type }) => type === 'open')
  const { _id: id } = await one.register({ name: 'shared', endpoint: { pattern: '/shared' } })
  const created = await reader.first(({ type }) => type === 'endpoints')
  assert.deepEqual(created.data.changes, [{ change: 'created', id, version: 1, name: 'shared' }])
  const { body } = await other.ask('GET', '/endpoints?view=summary')
  assert.deepEqual([body.total, (body.endpoints as { id: string }[])[0]?.id], [1, id])
  await one.ask('DELETE', `/endpoints/${id}`)
  const deleted = await reader.first((event) => event.type === 'endpoints' && event !== created)
  assert.deepEqual(deleted.data.changes, [{ change: 'deleted', id, name: 'shared' }])
  reader.close()
})
