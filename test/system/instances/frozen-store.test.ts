/** Management calls while PostgreSQL is frozen: connected, and silent. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { freshDatabase } from '../../support/services/postgres.ts'
import { startTcpProxy } from '../../support/services/tcp-proxy.ts'
import { needsPostgres, startInstance } from './instances.ts'

const TIMEOUT_MS = 1_500
/** The time of the call itself, on a busy machine: as much as leaves no room for the same timeout a second time. */
const SPARE_MS = 0.95 * TIMEOUT_MS

// They wait more than they work.
describe('while PostgreSQL is frozen', { concurrency: true }, () => {
  for (const auth of ['', 'off']) {
    test(
      `every management call ends within DATABASE_TIMEOUT_MS, with MANAGEMENT_AUTH=${auth}`,
      needsPostgres,
      async (t) => {
        const database = await freshDatabase(t)
        const proxy = await startTcpProxy(database.url)
        database.uses(proxy.stop)
        const settings = { DATABASE_URL: proxy.url, DATABASE_TIMEOUT_MS: `${TIMEOUT_MS}`, MANAGEMENT_AUTH: auth }
        const one = await startInstance(t, database, settings)
        const { _id, ...document } = await one.register({ endpoint: { pattern: '/frozen' } })
        const other = { ...document, name: 'other', endpoint: { pattern: '/other' } }
        const calls: readonly [string, string, object?][] = [
          // First, as long as no connection is known to be lost.
          ['POST', '/endpoints', other],
          ['GET', '/endpoints'],
          ['GET', `/endpoints/${_id}`],
          ['POST', '/endpoints', other],
          ['PUT', `/endpoints/${_id}`, document],
          ['PATCH', `/endpoints/${_id}`, { description: 'x' }],
          ['DELETE', `/endpoints/${_id}`],
          ['GET', `/endpoints/${_id}/versions`],
          ['POST', `/endpoints/${_id}/versions/1/restore`, {}],
          ['POST', '/endpoints/batch', { operations: [{ op: 'delete', id: _id }] }],
          ['GET', `/endpoints/${_id}/stats`],
          ['GET', '/endpoints?view=summary'],
        ]
        proxy.stall()
        for (const [method, path, body] of calls) {
          const startedAt = performance.now()
          const reply = await one.ask(method, path, body as never)
          const ms = Math.round(performance.now() - startedAt)
          const said = `${method} ${path}: ${reply.status} after ${ms} ms: ${JSON.stringify(reply.body).slice(0, 200)}`
          t.diagnostic(said)
          if (reply.status !== 200) assert.equal(reply.status, 503, said)
          assert.ok(ms < TIMEOUT_MS + SPARE_MS, said)
          assert.doesNotMatch(JSON.stringify(reply.body), /API key/, said)
        }
        await proxy.heal()
      },
    )
  }

  test(
    'the failure names what was asked for, also if it is not known whether there are keys',
    needsPostgres,
    async (t) => {
      const database = await freshDatabase(t)
      const proxy = await startTcpProxy(database.url)
      database.uses(proxy.stop)
      const one = await startInstance(t, database, { DATABASE_URL: proxy.url, DATABASE_TIMEOUT_MS: `${TIMEOUT_MS}` })
      proxy.stall()
      const cases = [
        { url: `${one.url}/endpoints`, names: 'The store of endpoints' },
        { url: `${one.adminUrl}/keys`, names: 'The store of API keys' },
        { url: `${one.adminUrl}/messages`, names: 'The message log' },
      ]
      for (const { url, names } of cases) {
        const reply = await fetch(url)
        const { error } = (await reply.json()) as { error: string }
        assert.deepEqual([reply.status, error], [503, `${names} does not answer now; try again.`])
      }
      await proxy.heal()
    },
  )
})
