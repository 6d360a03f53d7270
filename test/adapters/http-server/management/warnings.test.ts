/** The header with the warnings of a document: on every write, and in the description of the API. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { JsonObject } from '../../../../src/domain/json.ts'
import { endpointDocument, json, type Service, startService } from '../../../service.ts'
import { call } from './call.ts'

let service: Service
before(async () => {
  service = await startService()
})
after(() => service.stop())

test('every write of a document returns its warnings', async () => {
  const document = endpointDocument({
    endpoint: { pattern: '/written' },
    state: { extract: { query: { page: 'query.page' } } },
  })
  const { _id } = await service.register(document)
  for (const [method, path] of [
    ['PUT', `/endpoints/${_id}`],
    ['PATCH', `/endpoints/${_id}`],
    ['POST', `/endpoints/${_id}/versions/1/restore`],
  ] as const) {
    const reply = await service.fetch(path, json(method, document))
    assert.equal(reply.status, 200, reply.text)
    assert.match(String(reply.headers.get('x-crosswalk-warnings')), /state\.extract\.query\.page/, `${method} ${path}`)
  }
})

test('/openapi.json says so', async () => {
  type Operation = Readonly<{ responses?: JsonObject }>
  const reply = await call(service.adminUrl, 'GET', '/openapi.json', {})
  const { paths } = reply.json<{ paths: Record<string, Record<string, Operation>> }>()
  const writes = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, { responses }]) =>
      JSON.stringify(responses ?? {}).includes('X-Crosswalk-Warnings') ? [`${method} ${path}`] : [],
    ),
  )
  assert.deepEqual(writes.sort(), [
    'patch /endpoints/{id}',
    'post /endpoints',
    'post /endpoints/{id}/versions/{version}/restore',
    'put /endpoints/{id}',
  ])
})
