/** Whatever document comes: it is accepted or refused, and no crash, no 5xx, and nothing that all objects share is changed. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fc from '../../support/fast-check.ts'
import { bytesNear, jsonText, xmlText } from '../../support/fuzz/arbitraries.ts'
import { documentTexts, PLAIN } from '../../support/fuzz/documents.ts'
import { CANNED_REQUESTS, dryRunTexts } from '../../support/fuzz/dry-runs.ts'
import { openInProcess } from './in-process.ts'
import { assertStatus, codeOf, fuzz } from './run.ts'

const service = await openInProcess()
after(() => service.close())

test('any document', async () => {
  const headers = { 'content-type': 'application/json' }
  const inputs = fc.tuple(documentTexts, bytesNear(fc.oneof(jsonText, xmlText)))
  await fuzz({ inputs: 8_000, deep: 0.05 }, inputs, async ([text, body]) => {
    const reply = await service.inject({ method: 'POST', url: '/endpoints', headers, payload: text })
    assertStatus(reply.statusCode, [201, 400, 409, 413, 415], reply.body)
    if (reply.statusCode !== 201) return false
    const { endpoint, transformation } = reply.json()
    const answer = await service.inject({
      method: endpoint.method,
      url: endpoint.pattern.replaceAll(':', ''),
      headers: { 'content-type': transformation.input === 'XML' ? 'text/xml' : 'application/json' },
      payload: Buffer.from(body),
    })
    // The document may ask for what fails, a transform of the wrong type for one: only a fault of the service is none.
    for (const code of ['INTERNAL', 'ROUTE_UNKNOWN']) assert.notEqual(codeOf(answer.body), code)
    const removed = await service.inject({ method: 'DELETE', url: String(reply.headers.location) })
    assert.equal(removed.statusCode, 200)
    return true
  })
})

test('any dry run', async () => {
  const headers = { 'content-type': 'application/json' }
  const requestsOf = (ids: readonly string[]) => ids.map((id) => ({ id, config: { url: 'http://stub.invalid/' } }))
  const { lookup, response } = CANNED_REQUESTS
  const requests = { lookup: requestsOf(lookup), response: requestsOf(response) }
  const document = fc.oneof(documentTexts, fc.constant(JSON.stringify({ ...PLAIN, requests })))
  await fuzz({ inputs: 6_000, deep: 0.05 }, fc.tuple(document, dryRunTexts), async ([endpoint, rest]) => {
    const payload = rest.startsWith('{"') ? `{"endpoint":${endpoint},${rest.slice(1)}` : rest
    const before = service.sent.length
    const reply = await service.inject({ method: 'POST', url: '/endpoints/dry-run', headers, payload })
    assertStatus(reply.statusCode, [200, 400, 404, 413], reply.body)
    assert.equal(service.sent.length, before)
    assert.ok(!reply.body.includes('"code":"INTERNAL"'), reply.body)
    return reply.statusCode === 200 && reply.json().ran
  })
})
