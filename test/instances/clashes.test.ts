/** Two instances can never both accept what clashes: the database decides. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { endpointDocument } from '../service.ts'
import { type Instance, needsPostgres, startInstances } from './instances.ts'

const CLASHES = 200

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
