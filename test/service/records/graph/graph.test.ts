/** Pictures of endpoints with the counts of the last hour, and of all endpoints: who feeds whom. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { JsonObject } from '../../../../src/core/json.ts'
import type { CountedGraph } from '../../../../src/records/graph/endpoint-counts.ts'
import type { ServiceGraph } from '../../../../src/records/graph/service-graph.ts'
import { json, type Service, startService, startUpstream } from '../../../support/service.ts'

let service: Service
let upstream: Awaited<ReturnType<typeof startUpstream>>
before(async () => {
  upstream = await startUpstream(async () => ({ id: 1 }))
  service = await startService()
})
after(async () => {
  await service.stop()
  await upstream.stop()
})

const read = async <T>(path: string): Promise<T> => {
  const reply = await service.fetch(path)
  assert.equal(reply.status, 200, reply.text)
  return reply.json<T>()
}

test('failures are counted where they happened, and durations by stage and call', async () => {
  const { _id } = await service.register({
    name: 'Counted',
    endpoint: { pattern: '/counted' },
    inputValidation: { required: ['id'] },
    requests: {
      lookup: [
        { id: 'good', config: { url: upstream.url } },
        { id: 'gone', when: 'requestBody.bad', config: { url: 'http://127.0.0.1:9/x' }, retries: 0 },
      ],
    },
    inputMapping: { 'lookupRequests.good.data.id': 'id' },
  })
  for (const body of [{ id: 1 }, { id: 2 }, { id: 3, bad: true }, {}])
    await service.fetch('/counted', json('POST', body))
  await service.fetch('/counted', { ...json('POST', undefined), body: 'broken' })
  const { nodes, sampled, ...rest } = await read<CountedGraph>(`/endpoints/${_id}/graph`)
  assert.deepEqual([rest.endpointId, rest.name, sampled], [_id, 'Counted', 5])
  const counted = nodes.map(({ id, failures, runs, groups }) => [id, failures, runs, groups.map(({ code }) => code)])
  assert.deepEqual(counted, [
    ['source:0', 0, 0, []],
    ['parse', 1, 5, ['BODY_UNREADABLE']],
    ['lookup:0', 0, 4, []],
    ['lookup:1', 1, 1, ['LOOKUP_UNREACHABLE']],
    ['validate', 1, 3, ['VALIDATION_FAILED']],
    ['map', 0, 2, []],
    ['answer', 0, 0, []],
  ])
  assert.ok(nodes.every(({ runs, p95 }) => (runs === 0) === (p95 === undefined)))
})

const topicPair: readonly JsonObject[] = [
  {
    name: 'First',
    labels: { team: 'lab' },
    endpoint: { pattern: '/first' },
    requests: { response: { id: 'on', kafkaProducerTopic: 'orders' } },
  },
  {
    name: 'Second',
    endpoint: { pattern: '/second' },
    requests: {
      lookup: [
        { id: 'who', config: { url: 'http://people.test/:id', params: { url: { id: { path: 'payload.id' } } } } },
      ],
      response: { id: 'on', kafkaProducerTopic: 'orders' },
    },
    inputMapping: { 'lookupRequests.who.data': 'who' },
  },
]

test('all endpoints: what they share, found by words and around one node', async () => {
  const ids = new Map<string, string>()
  for (const document of topicPair) ids.set(String(document.name), (await service.register(document))._id)
  const named = (path: string) =>
    read<ServiceGraph>(path).then(({ nodes, edges, total, shown }) => {
      const nameOf = (id: string) => nodes.find((node) => node.id === id)?.name ?? id
      return {
        names: nodes.map(({ name }) => name).sort(),
        edges: edges.map(({ from, to, reads }) => `${nameOf(from)} ${reads ? '~' : '>'} ${nameOf(to)}`).sort(),
        total,
        shown,
      }
    })
  const pair = {
    names: ['First', 'Second', 'orders', 'people.test'],
    edges: ['First > orders', 'Second > orders', 'people.test ~ Second'],
    total: 2,
    shown: 2,
  }
  assert.deepEqual(await named('/endpoints/graph?q=ORDERS'), pair)
  assert.deepEqual(await named('/endpoints/graph?focus=topic:orders'), pair)
  assert.deepEqual(await named(`/endpoints/graph?focus=${ids.get('First')}`), pair)
  assert.deepEqual((await named('/endpoints/graph?q=team lab')).names, ['First', 'orders'])
  const busiest = await read<ServiceGraph>('/endpoints/graph?limit=1')
  assert.deepEqual([busiest.shown, busiest.nodes[0]?.name, busiest.nodes[0]?.count], [1, 'Counted', 5])
  assert.ok(busiest.total >= 3)
  assert.deepEqual(await named('/endpoints/graph?q=nothing-like-it'), { names: [], edges: [], total: 0, shown: 0 })
})
