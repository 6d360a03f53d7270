import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { JsonObject } from '../../../src/domain/json.ts'
import { call } from '../../support/adapters/http-server/management/call.ts'
import {
  endpointDocument,
  json,
  type Service,
  startService,
  startUpstream,
  type Upstream,
} from '../../support/service.ts'

let service: Service
let upstream: Upstream
before(async () => {
  service = await startService()
  upstream = await startUpstream(() => ({}))
})
after(async () => {
  await service.stop()
  await upstream.stop()
})

const JSON_FIRST = 'application/json, */*;q=0.8'
const FHIR_FIRST = 'application/fhir+json, application/json;q=0.9, */*;q=0.8'
const XML_FIRST = 'application/xml, application/json;q=0.9, */*;q=0.8'

describe('a request asks for', () => {
  const cases: { output?: string; headers?: JsonObject; method?: string; accept: string }[] = [
    { accept: JSON_FIRST },
    { method: 'POST', accept: JSON_FIRST },
    { output: 'XML', accept: JSON_FIRST },
    { output: 'JSON+OPENHIM', accept: JSON_FIRST },
    { output: 'FHIR+JSON', accept: FHIR_FIRST },
    { output: 'FHIR+JSON', headers: { 'Content-Type': 'application/json' }, accept: FHIR_FIRST },
    { headers: { 'content-type': 'text/xml; charset=utf-8' }, accept: XML_FIRST },
    { headers: { 'Content-Type': 'application/soap+xml' }, output: 'FHIR+JSON', accept: XML_FIRST },
    { headers: { 'Content-Type': 'text/plain' }, accept: JSON_FIRST },
    { headers: { ACCEPT: 'text/csv' }, output: 'FHIR+JSON', accept: 'text/csv' },
    { headers: { accept: '*/*', 'content-type': 'application/xml' }, accept: '*/*' },
  ]
  let routes = 0
  for (const kind of ['lookup', 'response']) {
    for (const { output = 'JSON', headers = {}, method = 'GET', accept } of cases) {
      it(`${accept}: ${kind}, ${method}, ${output}, ${JSON.stringify(headers)}`, async () => {
        routes += 1
        const config = { url: upstream.url, method, headers }
        await service.register({
          endpoint: { pattern: `/accept-${routes}` },
          transformation: { input: 'JSON', output },
          requests: { [kind]: { id: 'one', config } },
        })
        const from = upstream.received.length
        const reply = await service.fetch(`/accept-${routes}`, json('POST', {}))
        assert.equal(reply.status, 200, reply.text)
        assert.deepEqual(
          upstream.received.slice(from).map((one) => one.headers.accept),
          [accept],
        )
      })
    }
  }
})

it('is beside headers that refer to secrets', async () => {
  process.env.CROSSWALK_SECRET_ACCEPT = 'abc'
  const holder = await startService({ SECRETS_ALLOW: 'CROSSWALK_SECRET_*' })
  try {
    const config = { url: upstream.url, headers: { 'X-Token': '${env:CROSSWALK_SECRET_ACCEPT}' } }
    await holder.register({ endpoint: { pattern: '/secret' }, requests: { lookup: { id: 'one', config } } })
    const reply = await holder.fetch('/secret', json('POST', {}))
    assert.equal(reply.status, 200, reply.text)
    const { accept, 'x-token': token } = upstream.received.at(-1)?.headers ?? {}
    assert.deepEqual([accept, token], [JSON_FIRST, 'abc'])
  } finally {
    await holder.stop()
    delete process.env.CROSSWALK_SECRET_ACCEPT
  }
})

it('is nothing that a record for a topic carries', async () => {
  const endpoint = endpointDocument({
    endpoint: { pattern: '/topic' },
    requests: { response: { id: 'one', kafkaProducerTopic: 'out' } },
  })
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ endpoint, message: { body: {} } })
  const reply = await call(service.adminUrl, 'POST', '/endpoints/dry-run', { headers, body })
  const { calls } = reply.json<{ calls: { headers: JsonObject }[] }>()
  assert.deepEqual(Object.keys(calls[0]?.headers ?? {}), ['content-type', 'crosswalk.message-id'])
})
