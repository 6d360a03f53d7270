/** Documents that read a lookup as other services have it: where that could only ever find nothing, it is refused. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { JsonObject } from '../../../../../src/domain/json.ts'
import { endpointDocument, json, type Service, startService } from '../../../../support/service.ts'

let service: Service
before(async () => {
  service = await startService()
})
after(() => service.stop())

type Detail = { path: string; message: string }

const lookup: JsonObject = { id: 'l', config: { url: 'http://127.0.0.1:9/' } }
const each: JsonObject = { ...lookup, forEach: { items: 'payload.list' } }
const parameter = (group: string): JsonObject => ({ [group]: { p: { path: 'lookupRequests.l.x' } } })
const responding = (response: JsonObject): JsonObject => ({
  requests: { lookup, response: { id: 'r', config: { url: 'http://127.0.0.1:9/' }, ...response } },
})
const calling = (params: JsonObject) => responding({ config: { url: 'http://127.0.0.1:9/:p', params } })

const cases: readonly { name: string; document: JsonObject; path: string; meant?: string; warns?: true }[] = [
  {
    name: 'the mapping',
    document: { requests: { lookup }, inputMapping: { 'lookupRequests.l.x': 'x' } },
    path: 'inputMapping.lookupRequests\\.l\\.x',
  },
  {
    name: 'the mapping, of a lookup with forEach',
    document: { requests: { lookup: each }, inputMapping: { 'lookupRequests.l[0].x': 'x' } },
    path: 'inputMapping.lookupRequests\\.l[0]\\.x',
    meant: 'lookupRequests.l[0].data.x',
  },
  {
    name: 'a parameter of the query',
    document: responding({ config: { url: 'http://127.0.0.1:9/', params: parameter('query') } }),
    path: 'requests.response[0].config.params.query.p.path',
  },
  {
    name: 'a parameter of the URL',
    document: calling(parameter('url')),
    path: 'requests.response[0].config.params.url.p.path',
  },
  {
    name: 'forEach',
    document: responding({ forEach: { items: 'lookupRequests.l.x' } }),
    path: 'requests.response[0].forEach.items',
  },
  {
    name: 'an expression, which may have conditions',
    document: { requests: { lookup }, inputTransforms: { t: 'lookupRequests.l.x' } },
    path: 'inputTransforms.t',
    warns: true,
  },
  {
    name: 'a key of the record',
    document: { requests: { lookup }, messageKeys: { k: 'lookupRequests.l.x' } },
    path: 'messageKeys.k',
    warns: true,
  },
]

describe('what no lookup holds', () => {
  for (const { name, document, path, meant = 'lookupRequests.l.data.x', warns } of cases) {
    test(`is ${warns ? 'warned of' : 'refused'} in ${name}`, async () => {
      const reply = await service.fetch(
        '/endpoints',
        json('POST', endpointDocument({ endpoint: { pattern: '/read' }, ...document })),
      )
      const details: Detail[] = warns
        ? JSON.parse(reply.headers.get('x-crosswalk-warnings') ?? '[]')
        : reply.json<{ details?: Detail[] }>().details
      assert.equal(reply.status, warns ? 201 : 400, reply.text)
      assert.deepEqual(details, [
        {
          path,
          message: `A lookup holds "data" and "headers" only, so this finds nothing; did you mean "${meant}"?`,
        },
      ])
      if (warns) await service.fetch(`/endpoints/${reply.json()._id}`, { method: 'DELETE' })
    })
  }
})
