/** A message that the service could not wait for when it stopped: there is word of it all the same. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MessageRecord } from '../../../../src/core/records/message-record.ts'
import type { ListedMessage } from '../../../../src/records/message-log/message-search.ts'
import { describeDatabases } from '../../../support/databases.ts'
import { call } from '../../../support/inbound/http/management/call.ts'
import { json, startService, startUpstream } from '../../../support/service.ts'

describeDatabases('a message given up at the stop', ({ withDatabase }) => {
  test(
    'has a line in the log and a record, once',
    withDatabase(async ({ url }, t) => {
      const arrived = Promise.withResolvers<void>()
      const released = Promise.withResolvers<void>()
      const upstream = await startUpstream(async () => {
        arrived.resolve()
        await released.promise
        return {}
      })
      t.after(() => upstream.stop())
      const stopped = await startService({ DATABASE_URL: url, SHUTDOWN_TIMEOUT_MS: '50' })
      await stopped.register({
        name: 'Held',
        endpoint: { pattern: '/held' },
        requests: { response: [{ id: 'target', config: { method: 'POST', url: upstream.url } }] },
      })
      const sent = stopped.fetch('/held', json('POST', { n: 1 })).catch(() => undefined)
      await arrived.promise
      assert.equal(await stopped.app.stop(), 1)
      const lines = () => stopped.log.filter(({ fields }) => fields.messageId !== undefined)
      const reported = lines().map(({ level, fields }) => [level, fields.endpoint, fields.outcome, fields.code])
      assert.deepEqual(reported, [['warn', 'Held', 'failed', 'SHUTTING_DOWN']])
      released.resolve()
      await sent

      const again = await startService({ DATABASE_URL: url })
      const get = async <T>(path: string) => (await call(again.adminUrl, 'GET', path)).json<T>()
      const { messages } = await get<{ messages: readonly ListedMessage[] }>('/messages')
      assert.equal(messages.length, 1)
      const record = await get<MessageRecord>(`/messages/${messages[0]?.id}`)
      await again.stop()
      assert.deepEqual(
        [record.id, record.outcome, record.code, record.calls.map(({ id }) => id)],
        [lines()[0]?.fields.messageId, 'failed', 'SHUTTING_DOWN', ['target']],
      )
      assert.equal(record.stages.at(-1)?.stage, 'serialise')
      assert.equal(lines().length, 1)
    }),
  )
})
