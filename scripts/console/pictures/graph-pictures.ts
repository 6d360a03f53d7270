/** Pictures of the picture of an endpoint and of the map of all. */
import type { JsonObject } from '../../../src/core/json.ts'
import { json, type Service, startService, startUpstream } from '../../../test/support/service.ts'
import { until } from '../../../test/support/until.ts'
import type { Picture, Shot } from './pictures.ts'

const BRANCHING = {
  name: 'Lab orders',
  endpoint: { pattern: '/lab/orders' },
  labels: { team: 'lab' },
  inputValidation: { type: 'object', required: ['requestBody'], properties: { requestBody: { required: ['nr'] } } },
  inputTransforms: { ward: "$table('wards', requestBody.ward)" },
  inputMapping: {
    'requestBody.nr': 'order.number',
    'transforms.ward': 'order.ward',
    'lookupRequests.visit.data.id': 'order.visit',
  },
} as const

/** Lookups that follow each other, branches, a table; some messages have failed in three places. */
export async function startGraphService(): Promise<Readonly<{ service: Service; id: string; stop(): Promise<void> }>> {
  const upstream = await startUpstream(async () => ({ id: 7 }))
  const service = await startService()
  const csv = { method: 'PUT', headers: { 'content-type': 'text/csv' }, body: 'code,text\nA3,Ward A3\n' }
  await fetch(`${service.adminUrl}/tables/wards`, csv)
  const to = (id: string, more: JsonObject = {}) => ({ id, config: { url: `${upstream.url}/${id}` }, ...more })
  const { _id: id } = await service.register({
    ...BRANCHING,
    unrouted: 'answer',
    requests: {
      lookup: [
        to('patient', {
          config: { url: `${upstream.url}/patient/:nr`, params: { url: { nr: { path: 'payload.nr' } } } },
        }),
        to('visit', {
          config: {
            url: `${upstream.url}/visit`,
            params: { query: { of: { path: 'lookupRequests.patient.data.id' } } },
          },
        }),
        to('rules', { optional: true }),
      ],
      response: [
        to('urgent', {
          when: "requestBody.kind = 'urgent'",
          config: { method: 'POST', url: 'http://127.0.0.1:9/urgent' },
          retries: 0,
        }),
        to('routine', {
          when: "requestBody.kind = 'routine'",
          config: { method: 'POST', url: `${upstream.url}/routine` },
        }),
      ],
    },
  })
  for (const [name, pattern, topic] of [
    ['Admissions', '/admissions', 'visits'],
    ['Discharges', '/discharges', 'visits'],
    ['Radiology', '/radiology', 'images'],
  ] as const) {
    const response = { id: 'on', kafkaProducerTopic: topic }
    await service.register({ name, endpoint: { pattern }, requests: { response } })
  }
  for (let nr = 0; nr < 12; nr += 1) {
    const kind = nr % 5 === 4 ? 'urgent' : nr % 2 === 0 ? 'routine' : 'other'
    await service.fetch('/lab/orders', json('POST', nr % 4 === 3 ? {} : { nr, kind, ward: 'A3' }))
  }
  const read = async () => (await fetch(`${service.adminUrl}/endpoints/${id}/graph`)).text()
  await until(read, (text) => text.includes('"sampled":12'))
  const stop = async () => {
    await service.stop()
    await upstream.stop()
  }
  return { service, id, stop }
}

const onGraph = (name: string, path: (id: string) => string): Picture => ({
  name,
  start: async (): Promise<Shot> => {
    const { service, id, stop } = await startGraphService()
    return { origin: `http://127.0.0.1:${service.app.adminPort}`, path: path(id), stop }
  },
})

export const GRAPH_PICTURES: readonly Picture[] = [
  onGraph('graph-endpoint', (id) => `endpoints/${id}/picture`),
  onGraph('graph-all', () => 'picture'),
  onGraph('graph-around', () => 'picture?focus=topic:visits'),
]
