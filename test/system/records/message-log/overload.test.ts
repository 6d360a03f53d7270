/** What becomes of records when PostgreSQL cannot follow. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { openPostgres } from '../../../support/contracts/stores.ts'
import { json, startService } from '../../../support/service.ts'
import { freshDatabase, postgresMissing } from '../../../support/services/postgres.ts'
import { until } from '../../../support/until.ts'

test('while PostgreSQL holds the log, messages are answered, failures wait, and what was too much is reported', {
  skip: postgresMissing() ?? false,
}, async (suite) => {
  const database = await freshDatabase(suite)
  const service = await startService({ DATABASE_URL: database.url })
  const holder = new pg.Client({ connectionString: database.url })
  await holder.connect()
  try {
    await service.register({ endpoint: { pattern: '/in' }, inputValidation: { required: ['name'] } })
    await holder.query('begin; lock table messages in access exclusive mode')
    for (let at = 0; at < 50; at += 1) {
      assert.equal((await service.fetch('/in', json('POST', { name: 'a' }))).status, 200)
      assert.equal((await service.fetch('/in', json('POST', {}))).status, 400)
    }
    const unanswered = () => service.log.filter(({ message }) => message.startsWith('The message log did not answer'))
    await until(unanswered, ({ length }) => length > 0)
    await holder.query('rollback')
  } finally {
    await holder.end()
    await service.stop()
  }
  const store = await openPostgres(database.url)
  try {
    assert.equal(await store.messages.count({ outcome: ['refused'] }), 50)
    assert.equal(await store.messages.count({ outcome: ['done'] }), 50)
  } finally {
    await store.close()
  }
})
