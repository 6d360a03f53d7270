/** What is between the service and the database, or how that is set, where it differs from the usual. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import pg from 'pg'
import { Connections, prepareText } from '../../../src/store/postgres/connection-pool.ts'
import { MIGRATIONS } from '../../../src/store/sql/migrations.ts'
import { StoreUnavailable } from '../../../src/store/store-access.ts'
import { endpointOf, insertEndpoint } from '../../support/contracts/records.ts'
import { openPostgres } from '../../support/contracts/stores.ts'
import { freshDatabase, postgresMissing } from '../../support/services/postgres.ts'
import { silent } from '../../support/silent.ts'

const needsPostgres = { skip: postgresMissing() ?? false }

test(
  'writers wait for each other where the database isolates transactions more by default',
  needsPostgres,
  async (test) => {
    const database = await freshDatabase(test)
    const name = pg.escapeIdentifier(new URL(database.url).pathname.slice(1))
    await database.query(`alter database ${name} set default_transaction_isolation = 'repeatable read'`)
    const stores = await Promise.all(Array.from({ length: 6 }, () => openPostgres(database.url)))
    for (const store of stores) database.uses(store.close)
    assert.equal((await database.query('select 1 from schema_version')).length, MIGRATIONS.length)
    // Not all at once: those that wait for a connection of a small pool would exceed the time of a call on a busy machine.
    for (let round = 0; round < 30; round += 1) {
      const results = await Promise.all(
        stores.map(({ endpoints }, side) =>
          insertEndpoint(endpoints, endpointOf(6 * round + side, {}, `POST /one/${round}/:`)),
        ),
      )
      assert.deepEqual(results.toSorted(), [...Array(stores.length - 1).fill('claim'), 'stored'])
    }
  },
)

/** Parameters that PgBouncer lets a client start with: https://www.pgbouncer.org/config.html#ignore_startup_parameters */
const TAKEN = [
  'user',
  'database',
  'client_encoding',
  'datestyle',
  'timezone',
  'standard_conforming_strings',
  'application_name',
]

/** Refuses every connection, as a pooler does where it starts with a parameter that is not its own. */
async function startPooler(test: TestContext, reported: string[][]): Promise<string> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.once('data', (startup) => {
      const names = startup
        .toString('utf8', 8)
        .split('\0')
        .filter((_, index) => index % 2 === 0)
      reported.push(names.filter((name) => name !== ''))
      const fields = Buffer.from(`SFATAL\0C08P01\0Mno more clients, says the pooler\0\0`)
      const head = Buffer.alloc(5, 'E')
      head.writeInt32BE(fields.length + 4, 1)
      socket.end(Buffer.concat([head, fields]))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  test.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return `postgres://u:s3cr3t@127.0.0.1:${(server.address() as AddressInfo).port}/x`
}

test('a connection starts with nothing that a pooler refuses, and the start reports what a server says', async (test) => {
  const reported: string[][] = []
  const url = await startPooler(test, reported)
  await assert.rejects(openPostgres(url), (thrown) => {
    assert.ok(thrown instanceof StoreUnavailable)
    assert.match(thrown.message, /the connection failed \(no more clients, says the pooler\)/)
    assert.ok(!thrown.message.includes('s3cr3t'))
    return true
  })
  const connections = new Connections({ url, poolSize: 1, timeoutMs: 1_000, logger: silent })
  const one = prepareText<undefined, never>('select 1', () => [])
  await assert.rejects(connections.run(one, undefined), StoreUnavailable)
  await connections.close()
  assert.equal(reported.length, 2)
  for (const names of reported)
    assert.deepEqual(
      names.filter((name) => !TAKEN.includes(name.toLowerCase())),
      [],
    )
})
