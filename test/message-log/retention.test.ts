/** How long records are kept, by a service as it runs. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ListedMessage } from '../../src/message-log/message-search.ts'
import { call } from '../adapters/http-server/management/call.ts'
import { recordedAt, START, withBodies } from '../contracts/message-records.ts'
import { describeDatabases, openDatabase } from '../databases.ts'
import { json, startService } from '../service.ts'
import { until } from './log-stage.ts'

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
})
