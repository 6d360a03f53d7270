/** Two endpoints share neither a name nor, for one method, the paths that they answer on. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Json } from '../../../../../src/domain/json.ts'
import { endpointDocument, json, type Service, type StoredEndpoint, startService } from '../../../../support/service.ts'

let service: Service
let first: StoredEndpoint
before(async () => {
  service = await startService()
  first = await service.register({ name: 'first', endpoint: { pattern: '/first/:id/x' } })
})
after(() => service.stop())

const send = (method: string, path: string, body?: Json) => service.fetch(path, json(method, body))

type Route = { pattern: string; method?: string }
const cases: readonly { name: string; named?: string; route: Route; clashes: readonly string[] }[] = [
  { name: 'the same name', named: 'first', route: { pattern: '/second' }, clashes: ['name'] },
  { name: 'the same pattern', route: { pattern: '/first/:id/x' }, clashes: ['endpoint.pattern'] },
  { name: 'another parameter name', route: { pattern: '/first/:other/x' }, clashes: ['endpoint.pattern'] },
  { name: 'a last slash', route: { pattern: '/first/:id/x/' }, clashes: ['endpoint.pattern'] },
  {
    name: 'the default method written out',
    route: { pattern: '/first/:id/x', method: 'POST' },
    clashes: ['endpoint.pattern'],
  },
  { name: 'both', named: 'first', route: { pattern: '/first/:other/x' }, clashes: ['name', 'endpoint.pattern'] },
  { name: 'another method', route: { pattern: '/first/:id/x', method: 'PUT' }, clashes: [] },
  { name: 'a literal for the parameter', route: { pattern: '/first/id/x' }, clashes: [] },
  { name: 'a parameter for a literal', route: { pattern: '/first/:id/:x' }, clashes: [] },
  { name: 'another case', named: 'First', route: { pattern: '/First/:id/x' }, clashes: [] },
  { name: 'a longer path', route: { pattern: '/first/:id/x/y' }, clashes: [] },
]

for (const method of ['POST', 'PUT', 'PATCH']) {
  describe(method, () => {
    for (const { name, named, route, clashes } of cases) {
      test(`${clashes.length > 0 ? 'refuses' : 'allows'} ${name}`, async () => {
        const document = endpointDocument({ endpoint: route, ...(named === undefined ? {} : { name: named }) })
        const own = method === 'POST' ? undefined : await service.register({ endpoint: { pattern: '/own' } })
        const path = own === undefined ? '/endpoints' : `/endpoints/${own._id}`
        const before = (await service.fetch('/endpoints')).text
        const reply = await send(method, path, document)
        if (clashes.length === 0) assert.ok(reply.status === 200 || reply.status === 201, reply.text)
        else {
          const { code, details } = reply.json<{ code: string; details: { path: string; message: string }[] }>()
          assert.deepEqual([reply.status, code], [409, 'CONFIGURATION_CLASH'])
          assert.deepEqual(
            details.map(({ path }) => path),
            clashes,
          )
          for (const { path, message } of details)
            assert.ok(message.includes(path === 'name' ? first._id : 'first'), message)
          assert.equal((await service.fetch('/endpoints')).text, before)
        }
        const id = own?._id ?? reply.json<{ _id?: string }>()._id
        if (id !== undefined) await send('DELETE', `/endpoints/${id}`)
      })
    }
  })
}

test('an endpoint does not clash with itself', async () => {
  for (const method of ['PUT', 'PATCH'])
    assert.equal((await send(method, `/endpoints/${first._id}`, first)).status, 200)
})

test('a name that was given up is free', async () => {
  const { _id } = await service.register({ name: 'taken', endpoint: { pattern: '/taken' } })
  await send('PATCH', `/endpoints/${_id}`, { name: 'renamed', endpoint: { pattern: '/renamed' } })
  await service.register({ name: 'taken', endpoint: { pattern: '/taken' } })
})

describe('of 200 registrations at once, over both ports, exactly one', () => {
  const contests: readonly { name: string; document: (n: number) => Record<string, Json> }[] = [
    { name: 'gets the name', document: (n) => ({ name: 'contested', endpoint: { pattern: `/contested/${n}` } }) },
    { name: 'gets the route', document: (n) => ({ endpoint: { pattern: `/:p${n}/contest`, method: 'DELETE' } }) },
  ]
  for (const { name, document } of contests) {
    test(name, async () => {
      const count = async () => (await service.fetch('/endpoints')).json<unknown[]>().length
      const before = await count()
      const statuses = await Promise.all(
        Array.from({ length: 200 }, async (_, n) => {
          const base = n % 2 === 0 ? service.url : service.adminUrl
          const response = await fetch(`${base}/endpoints`, json('POST', endpointDocument(document(n))))
          await response.body?.cancel()
          return response.status
        }),
      )
      assert.equal(statuses.filter((status) => status === 201).length, 1)
      assert.equal(statuses.filter((status) => status === 409).length, 199)
      assert.equal(await count(), before + 1)
    })
  }
})
