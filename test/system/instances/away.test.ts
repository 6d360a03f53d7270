/** PostgreSQL away: what needs it is refused for now, the rest goes on, and everything recovers by itself. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { freshDatabase } from '../../support/services/postgres.ts'
import { startTcpProxy } from '../../support/services/tcp-proxy.ts'
import { freshFolder, startProgram } from '../../support/spawned-service.ts'
import { needsPostgres, startInstance, until } from './instances.ts'

/** Long enough for a machine that is busy, and waited for a dozen times. */
const TIMEOUT_MS = 2_500

// They wait more than they work.
describe('without PostgreSQL', { concurrency: 3 }, () => {
  for (const cut of ['refuse', 'stall'] as const) {
    test(`while PostgreSQL is away (${cut}) only what needs it is refused`, needsPostgres, async (test) => {
      const database = await freshDatabase(test)
      const proxy = await startTcpProxy(database.url)
      database.uses(proxy.stop)
      const one = await startInstance(test, database, { DATABASE_URL: proxy.url, DATABASE_TIMEOUT_MS: `${TIMEOUT_MS}` })
      const stateless = await one.register({ endpoint: { pattern: '/stateless' } })
      await one.register({
        endpoint: { pattern: '/stateful' },
        state: { extract: { requestBody: { n: 'n' } } },
        inputMapping: { 'state.requestBody.n': 'previous' },
      })
      assert.equal((await one.ask('POST', '/stateful', { n: 1 })).status, 200)

      await proxy[cut]()
      const refused = [
        { method: 'POST', path: '/stateful', body: { n: 2 }, code: 'STATE_UNAVAILABLE' },
        { method: 'POST', path: '/endpoints', body: stateless, code: 'STORE_UNAVAILABLE' },
        { method: 'GET', path: '/endpoints', body: undefined, code: 'STORE_UNAVAILABLE' },
        { method: 'GET', path: `/endpoints/${stateless._id}`, body: undefined, code: 'STORE_UNAVAILABLE' },
        { method: 'PATCH', path: `/endpoints/${stateless._id}`, body: {}, code: 'STORE_UNAVAILABLE' },
        { method: 'DELETE', path: `/endpoints/${stateless._id}`, body: undefined, code: 'STORE_UNAVAILABLE' },
      ]
      for (const { method, path, body, code } of [...refused, ...refused]) {
        const answer = await one.ask(method, path, body)
        assert.deepEqual([answer.status, answer.body.code], [503, code], `${method} ${path}`)
        assert.equal(answer.headers.get('retry-after'), '1')
        assert.ok(!JSON.stringify(answer.body).includes('127.0.0.1'))
      }
      assert.equal((await one.ask('POST', '/stateless', { n: 3 })).status, 200)
      const { status, headers, body } = await one.ready()
      assert.deepEqual([status, body.status, body.store], [503, 'not ready', 'unavailable'])
      assert.equal(headers.get('retry-after'), '1')

      await proxy.heal()
      const recoveredMs = await until('readiness', 10_000, async () => (await one.ready()).status === 200)
      await until('state', 10_000, async () => (await one.ask('POST', '/stateful', { n: 4 })).status === 200)
      assert.deepEqual((await one.ask('POST', '/stateful', { n: 5 })).body, { previous: 4 })
      assert.equal((await one.ask('DELETE', `/endpoints/${stateless._id}`)).status, 200)
      assert.equal((await one.ask('POST', '/stateless', {})).status, 404)
      test.diagnostic(`ready again ${recoveredMs.toFixed(0)} ms after it came back`)
    })
  }

  test('connections that died unnoticed while nothing was sent are not used again', needsPostgres, async (test) => {
    const database = await freshDatabase(test)
    const proxy = await startTcpProxy(database.url)
    database.uses(proxy.stop)
    const one = await startInstance(test, database, { DATABASE_URL: proxy.url })
    await one.register({ endpoint: { pattern: '/kept' }, state: { extract: { requestBody: { n: 'n' } } } })
    const sendMany = async () => {
      const answers = await Promise.all(Array.from({ length: 20 }, () => one.ask('POST', '/kept', { n: 1 })))
      return answers.map(({ status }) => status)
    }
    assert.deepEqual(await sendMany(), Array(20).fill(200))
    proxy.stall()
    await until('a line in the log', 60_000, () =>
      one.output.stdout.includes('Changes of other instances are not received'),
    )
    await proxy.heal()
    assert.deepEqual(await sendMany(), Array(20).fill(200))
  })

  test('an instance that starts before PostgreSQL waits for it', needsPostgres, async (test) => {
    const database = await freshDatabase(test)
    const proxy = await startTcpProxy(database.url)
    database.uses(proxy.stop)
    await proxy.refuse()
    const { child, output, ended } = startProgram(freshFolder(test), { env: { DATABASE_URL: proxy.url } })
    await until('a line in the log', 60_000, () => output.stdout.includes('The store cannot be reached yet'))
    await proxy.heal()
    await until('a service that listens', 60_000, () => output.stdout.includes('messagePort'))
    child.kill('SIGTERM')
    assert.deepEqual(await ended, { code: 0, signal: null })
  })

  const unusable = [
    { name: 'a database that does not exist', path: '/nowhere', expect: /there is no such database/ },
    { name: 'a server that stays away', port: '1', expect: /the connection failed \(ECONNREFUSED\)/ },
  ]
  for (const { name, path, port, expect } of unusable) {
    test(`the start is refused with one line for ${name}`, needsPostgres, async (test) => {
      const database = await freshDatabase(test)
      const url = new URL(database.url)
      if (path !== undefined) url.pathname = path
      if (port !== undefined) url.port = port
      url.password = 's3cr3t'
      const starting = startInstance(test, database, {
        DATABASE_URL: url.href,
        DATABASE_START_TIMEOUT_MS: port === undefined ? '30000' : '0',
      })
      await assert.rejects(starting, ({ message }: Error) => {
        assert.match(message, expect)
        assert.ok(!message.includes('s3cr3t'))
        assert.match(message, /^the service did not start: crosswalk: The database of DATABASE_URL .*\n$/)
        return true
      })
    })
  }
})
