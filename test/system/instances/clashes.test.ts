/** Two instances can never both accept what clashes: the database decides. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { endpointDocument } from '../../support/service.ts'
import { freshDatabase } from '../../support/services/postgres.ts'
import { type Instance, needsPostgres, startInstance, startInstances, until } from './instances.ts'

const CLASHES = 60

test(
  `of ${CLASHES} pairs of registrations that clash, each made on two instances at once, exactly one is accepted`,
  needsPostgres,
  async (test) => {
    const instances = (await startInstances(test, 2)) as [Instance, Instance]
    const byName = (n: number, side: number) => ({
      name: `name ${n}`,
      endpoint: { pattern: `/name-${n}/side-${side}` },
    })
    const byRoute = (n: number, side: number) => ({
      name: `route ${n}, side ${side}`,
      // Parameter names aside, these match the same paths.
      endpoint: { pattern: `/route-${n}/:parameter${side}` },
    })
    const accepted: unknown[] = []
    await Promise.all(
      Array.from({ length: CLASHES }, async (_, n) => {
        const answers = await Promise.all(
          instances.map((instance, side) =>
            instance.ask('POST', '/endpoints', endpointDocument((n % 2 === 0 ? byName : byRoute)(n, side))),
          ),
        )
        assert.deepEqual(answers.map(({ status }) => status).toSorted(), [201, 409], `pair ${n}`)
        const { code, details } = answers.find(({ status }) => status === 409)?.body ?? {}
        assert.equal(code, 'CONFIGURATION_CLASH')
        assert.equal((details as { path: string }[])[0]?.path, n % 2 === 0 ? 'name' : 'endpoint.pattern')
        accepted.push(answers.find(({ status }) => status === 201)?.body._id)
      }),
    )
    for (const instance of instances) {
      const { body } = await instance.ask('GET', '/endpoints')
      assert.deepEqual((body as unknown as { _id: string }[]).map(({ _id }) => _id).sort(), accepted.sort())
    }
  },
)

test('an instance takes over what another has just given up', needsPostgres, async (test) => {
  const [one, other] = (await startInstances(test, 2)) as [Instance, Instance]
  const document = endpointDocument({ endpoint: { pattern: '/moving' } })
  for (let turn = 0; turn < 20; turn += 1) {
    const [here, there] = turn % 2 === 0 ? [one, other] : [other, one]
    const made = await here.ask('POST', '/endpoints', document)
    assert.equal(made.status, 201, JSON.stringify(made.body))
    assert.equal((await there.ask('DELETE', `/endpoints/${made.body._id}`)).status, 200)
  }
})

for (const { clash, path, columns } of [
  { clash: 'name', path: 'name', columns: ['taken', 'http GET /elsewhere'] },
  { clash: 'route', path: 'endpoint.pattern', columns: ['other', 'http POST /taken/:'] },
]) {
  test(`a ${clash} that is taken behind the back of the service is a clash too`, needsPostgres, async (test) => {
    const database = await freshDatabase(test)
    const one = await startInstance(test, database)
    const other = new pg.Client({ connectionString: database.url })
    await other.connect()
    database.uses(() => other.end())
    await other.query('begin')
    await other.query('alter table endpoints disable trigger configuration_changed')
    await other.query(`insert into endpoints (id, name, document) values ('x', $1, '{}')`, columns.slice(0, 1))
    await other.query(`insert into endpoint_claims (endpoint_id, key) values ('x', $1)`, columns.slice(1))
    const asked = one.ask(
      'POST',
      '/endpoints',
      endpointDocument({ name: 'taken', endpoint: { pattern: '/taken/:id' } }),
    )
    // Every check has found it free by then; the index waits for the other one.
    const waits = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    await until('the index to be asked', 60_000, async () => (await database.query(waits)).length > 0)
    await other.query('commit')
    const { status, body } = await asked
    assert.deepEqual([status, body.code], [409, 'CONFIGURATION_CLASH'])
    assert.equal((body.details as { path: string }[])[0]?.path, path)
  })
}
