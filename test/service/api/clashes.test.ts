/** Two endpoints share neither a name nor, for one method, the paths that they answer on. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Json } from '../../../src/core/json.ts'
import { endpointDocument, json, type Service, type StoredEndpoint, startService } from '../../support/service.ts'

let service: Service
let first: StoredEndpoint
before(async () => {
  service = await startService()
  first = await service.register({ name: 'first', endpoint: { pattern: '/first/:id/x' } })
})
after(() => service.stop())

const send = (method: string, path: string, body?: Json) => service.fetch(path, json(method, body))
const list = async () => (await service.fetch('/endpoints')).text

type Case = readonly [
  what: string,
  name: string | undefined,
  pattern: string,
  clashes: readonly string[],
  method?: string,
]
const cases: readonly Case[] = [
  ['the same name', 'first', '/second', ['name']],
  ['the same pattern', undefined, '/first/:id/x', ['endpoint.pattern'], 'POST'],
  ['another parameter name and a last slash', undefined, '/first/:other/x/', ['endpoint.pattern']],
  ['both', 'first', '/first/:other/x', ['name', 'endpoint.pattern']],
  ['another method', undefined, '/first/:id/x', [], 'PUT'],
  ['a literal for the parameter', undefined, '/first/id/x', []],
  ['another case', 'First', '/First/:id/x', []],
]
for (const [what, name, pattern, clashes, way] of cases) {
  test(`${what} is ${clashes.length > 0 ? 'refused' : 'allowed'}`, async () => {
    const endpoint = { pattern, ...(way && { method: way }) }
    const document = endpointDocument({ endpoint, ...(name && { name }) })
    for (const method of ['POST', 'PUT', 'PATCH']) {
      const own = method === 'POST' ? undefined : await service.register({ endpoint: { pattern: '/own' } })
      const before = await list()
      const reply = await send(method, own === undefined ? '/endpoints' : `/endpoints/${own._id}`, document)
      if (clashes.length === 0) assert.ok(reply.status < 300, reply.text)
      else {
        const { code, details } = reply.json<{ code: string; details: { path: string; message: string }[] }>()
        assert.deepEqual([reply.status, code], [409, 'CONFIGURATION_CLASH'])
        assert.deepEqual(
          details.map(({ path }) => path),
          clashes,
        )
        for (const { path, message } of details) assert.ok(message.includes(path === 'name' ? first._id : 'first'))
        assert.equal(await list(), before)
      }
      const id = own?._id ?? reply.json<{ _id?: string }>()._id
      if (id !== undefined) await send('DELETE', `/endpoints/${id}`)
    }
  })
}

test('an endpoint does not clash with itself, and a name that was given up is free', async () => {
  for (const method of ['PUT', 'PATCH'])
    assert.equal((await send(method, `/endpoints/${first._id}`, first)).status, 200)
  const { _id } = await service.register({ name: 'taken', endpoint: { pattern: '/taken' } })
  await send('PATCH', `/endpoints/${_id}`, { name: 'renamed', endpoint: { pattern: '/renamed' } })
  await service.register({ name: 'taken', endpoint: { pattern: '/taken' } })
})

describe('of many registrations at once, over both ports, exactly one', () => {
  const CONTENDERS = 40
  const contests: readonly { name: string; document: (n: number) => Record<string, Json> }[] = [
    { name: 'gets the name', document: (n) => ({ name: 'contested', endpoint: { pattern: `/contested/${n}` } }) },
    { name: 'gets the route', document: (n) => ({ endpoint: { pattern: `/:p${n}/contest`, method: 'DELETE' } }) },
  ]
  for (const { name, document } of contests) {
    test(name, async () => {
      const count = async () => (await service.fetch('/endpoints')).json<unknown[]>().length
      const before = await count()
      const statuses = await Promise.all(
        Array.from({ length: CONTENDERS }, async (_, n) => {
          const base = n % 2 === 0 ? service.url : service.adminUrl
          const response = await fetch(`${base}/endpoints`, json('POST', endpointDocument(document(n))))
          await response.body?.cancel()
          return response.status
        }),
      )
      assert.deepEqual(statuses.toSorted(), [201, ...Array(CONTENDERS - 1).fill(409)])
      assert.equal(await count(), before + 1)
    })
  }
})
