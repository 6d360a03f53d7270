/** How long records are kept, by a service as it runs. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NO_ID } from '../../../../src/core/id.ts'
import type { Json } from '../../../../src/core/json.ts'
import type { ListedMessage } from '../../../../src/records/message-log/message-search.ts'
import type { Misses } from '../../../../src/store/sql/unmapped-store.ts'
import { recordedAt, START, withBodies } from '../../../support/contracts/message-records.ts'
import { describeDatabases, openDatabase } from '../../../support/databases.ts'
import { call } from '../../../support/inbound/http/management/call.ts'
import { until } from '../../../support/records/message-log/log-stage.ts'
import { json, startService } from '../../../support/service.ts'

const HOUR_MS = 3_600_000

describeDatabases('the message log of a service', ({ withDatabase }) => {
  test(
    'loses what is older than MESSAGE_LOG_DAYS, with its bodies and unmapped codes, and that alone',
    withDatabase(async (database) => {
      const sinceStart = Date.now() - START
      const [old, young] = [25, 23].map((hours) =>
        withBodies(recordedAt(sinceStart - hours * HOUR_MS, { outcome: 'failed' }), { incoming: `of ${hours} h` }),
      )
      assert.ok(old && young)
      const store = await openDatabase(database)
      await store.messages.append([old, young])
      const missOf = (code: string, hours: number): Misses => {
        const at = Date.now() - hours * HOUR_MS
        const [table, column, endpointId] = code === '' ? ['sex', '', ''] : ['sex', 'fhir', NO_ID]
        return { table, column, code, endpointId, count: 1, firstAt: at - HOUR_MS, lastAt: at, messages: [] }
      }
      await store.unmapped.add([missOf('old', 25), missOf('', 25), missOf('young', 23)])
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
      const after = await openDatabase(database)
      const { codes, uncounted } = await after.unmapped.list('sex', 10)
      await after.close()
      assert.deepEqual([codes.map(({ code }) => code), uncounted], [['young'], 0])
    }),
  )

  test(
    'holds the messages of a plan until it ends',
    withDatabase(async (database) => {
      const service = await startService({ DATABASE_URL: database.url, MESSAGE_LOG_MAX_MB: '1' })
      const ask = async <T>(method: string, path: string, body?: Json) =>
        (await fetch(`${service.adminUrl}${path}`, json(method, body))).json() as Promise<T>
      const ids = async () =>
        (await ask<{ messages: ListedMessage[] }>('GET', '/messages?limit=500')).messages.map(({ id }) => id)
      try {
        const inputValidation = { required: ['name'] }
        const { _id } = await service.register({ name: 'planned', endpoint: { pattern: '/planned' }, inputValidation })
        const send = async (count: number) => {
          for (let sent = 0; sent < count; sent += 1) {
            const { status } = await service.fetch('/planned', json('POST', { text: 'x'.repeat(20_000) }))
            assert.equal(status, 400)
          }
        }
        await send(3)
        const held = await ids()
        const plan = await ask<{ id: string; count: number }>('POST', '/messages/replay', { endpoint: 'planned' })
        assert.equal(plan.count, 3)
        // Twice the whole log.
        await send(100)
        const left = await until(ids, ({ length }) => length < 60)
        assert.deepEqual(left.slice(-3), held)
        await service.fetch(`/endpoints/${_id}`, json('PATCH', { inputValidation: null }))
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
