/** How long records are kept, by a service as it runs. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../../../src/domain/json.ts'
import type { ListedMessage } from '../../../src/message-log/message-search.ts'
import { call } from '../../support/adapters/http-server/management/call.ts'
import { recordedAt, START, withBodies } from '../../support/contracts/message-records.ts'
import { describeDatabases, openDatabase } from '../../support/databases.ts'
import { until } from '../../support/message-log/log-stage.ts'
import { json, startService } from '../../support/service.ts'

const HOUR_MS = 3_600_000

describeDatabases('the message log of a service', ({ withDatabase }) => {
  test(
    'loses what is older than MESSAGE_LOG_DAYS, with its bodies, and that alone',
    withDatabase(async (database) => {
      const sinceStart = Date.now() - START
      const [old, young] = [25, 23].map((hours) =>
        withBodies(recordedAt(sinceStart - hours * HOUR_MS, { outcome: 'failed' }), { incoming: `of ${hours} h` }),
      )
      assert.ok(old && young)
      const store = await openDatabase(database)
      await store.messages.append([old, young])
      await store.close()

      const service = await startService({
        DATABASE_URL: database.url,
        MESSAGE_LOG_DAYS: '1',
        MESSAGE_LOG_MAX_MB: '1',
      })
      try {
        await service.register({ endpoint: { pattern: '/strict' }, inputValidation: { required: ['name'] } })
        // So much of the bound that the log is looked through at once, not within ten seconds.
        const sent = await service.fetch('/strict', json('POST', { text: 'x'.repeat(20_000) }))
        const messageId = String(sent.headers.get('x-crosswalk-message-id'))
        const ids = await until(
          async () => {
            const { messages } = (await call(service.adminUrl, 'GET', '/messages')).json<{
              messages: ListedMessage[]
            }>()
            return messages.map(({ id }) => id)
          },
          (found) => !found.includes(old.record.id),
        )
        assert.deepEqual(ids, [messageId, young.record.id])
      } finally {
        await service.stop()
      }
      const kept = (await database.messageRows('message_bodies')).map((row) => Object(row).message_id)
      assert.ok(kept.includes(young.record.id) && !kept.includes(old.record.id))
    }),
  )

  test(
    'holds the messages of a plan until it ends, and what an endpoint stores takes no room of another',
    withDatabase(async (database) => {
      const service = await startService({ DATABASE_URL: database.url, MESSAGE_LOG_MAX_MB: '1' })
      try {
        const register = (name: string) =>
          service.register({
            name,
            endpoint: { pattern: `/${name}` },
            inputValidation: { required: ['name'] },
          })
        const [{ _id: planned }] = await Promise.all([register('planned'), register('quiet'), register('flood')])
        const send = async (name: string, count: number, size = 20_000) => {
          for (let sent = 0; sent < count; sent += 1) {
            const { status } = await service.fetch(`/${name}`, json('POST', { text: 'x'.repeat(size) }))
            assert.equal(status, 400)
          }
        }
        const callJson = (method: string, path: string, body?: Json) =>
          call(service.adminUrl, method, path, {
            headers: { 'content-type': 'application/json' },
            ...(body === undefined ? {} : { body: JSON.stringify(body) }),
          })
        const ask = async <T>(method: string, path: string, body?: Json) =>
          (await callJson(method, path, body)).json<T>()
        const idsOf = async (name: string) =>
          (await ask<{ messages: ListedMessage[] }>('GET', `/messages?endpoint=${name}&limit=500`)).messages.map(
            ({ id }) => id,
          )
        await send('planned', 3)
        await send('quiet', 3)
        const [held, quiet] = [await idsOf('planned'), await idsOf('quiet')]
        const plan = await ask<{ id: string; count: number }>('POST', '/messages/replay', { endpoint: 'planned' })
        assert.equal(plan.count, 3)

        // Each is several times the whole log.
        await send('flood', 150)
        await send('planned', 150)
        const settled = await until(
          async () => ({ flood: await idsOf('flood'), planned: await idsOf('planned') }),
          ({ flood, planned }) => flood.length + planned.length < 60,
        )
        assert.deepEqual(await idsOf('quiet'), quiet)
        assert.deepEqual(settled.planned.slice(-3), held)
        assert.ok(settled.flood.length > 10, `${settled.flood.length} of the flood are left`)

        await callJson('PATCH', `/endpoints/${planned}`, { inputValidation: null })
        await ask('POST', `/messages/replay/${plan.id}/run`, {})
        const ended = await until(
          () => ask<{ state: string; done: number; skipped: number }>('GET', `/messages/replay/${plan.id}`),
          ({ state }) => state === 'finished',
        )
        assert.deepEqual([ended.done, ended.skipped], [3, 0])
      } finally {
        await service.stop()
      }
    }),
  )
})
