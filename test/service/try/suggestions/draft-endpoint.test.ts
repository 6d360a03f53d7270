/** `POST /endpoints/draft`: a sample becomes a document that is taken, and a test that passes. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { JsonObject } from '../../../../src/core/json.ts'
import { bearer, startServiceWithKeys } from '../../../support/api/access/service-with-keys.ts'
import { call } from '../../../support/inbound/http/management/call.ts'
import { json, type Service, startService } from '../../../support/service.ts'

type Drafted = Readonly<{ document: JsonObject; test?: JsonObject; faults: readonly Readonly<{ path: string }>[] }>

describe('a draft', () => {
  let service: Service
  before(async () => {
    service = await startService()
  })
  after(() => service.stop())
  const draft = (request: JsonObject) => service.fetch('/endpoints/draft', json('POST', request))

  const cases: readonly (readonly [name: string, sample: string, mapping: string[] | undefined, answer?: string])[] = [
    ['of JSON', '{"id": "1", "lines": [{"a.b": null}]}', ['requestBody.id', 'requestBody.lines']],
    [
      'of XML',
      '<?xml version="1.0"?><!-- <a> --><order nr="1"><id>2</id></order>',
      ['requestBody.$', 'requestBody.id'],
      '<order nr="1"><id>2</id></order>',
    ],
    ['of XML without fields', '<note>x</note>', ['requestBody'], '<note>x</note>'],
    ['of FHIR', '{"resourceType":"Patient"}', ['requestBody.resourceType']],
    ['of names with dots', '{"a.b": 1}', ['requestBody.a\\.b']],
    ['of names that no target can have', '{"__proto__": 1, "good": 2}', ['requestBody.good']],
    ['of what is no object', '[1, 2]', undefined],
  ]
  for (const [index, [name, sample, mapping, answer]] of cases.entries()) {
    test(`${name} is taken as it is, and its test passes`, async () => {
      const reply = await draft({
        name,
        pattern: `/draft/${index}`,
        sample,
        ...(name === 'of FHIR' ? { format: 'FHIR+JSON' } : {}),
      })
      const { document, test, faults } = reply.json<Drafted>()
      assert.deepEqual([reply.status, faults], [200, []], reply.text)
      assert.deepEqual(document.inputMapping && Object.keys(document.inputMapping), mapping)
      const { _id } = await service.register(document)
      const run = await service.fetch('/endpoints/tests/run', json('POST', { endpointId: _id, tests: [test ?? {}] }))
      assert.deepEqual([run.status, run.json().failed, run.json().passed], [200, 0, 1], run.text)
      // The first change of the mapping breaks no test.
      const changed = { ...document, inputMapping: { requestBody: 'whole' } }
      const again = await service.fetch(
        '/endpoints/tests/run',
        json('POST', { endpoint: changed, tests: [test ?? {}] }),
      )
      assert.deepEqual([again.json().failed, again.json().passed], [0, 1], again.text)
      if (answer === undefined) return
      const headers = { 'content-type': 'application/xml' }
      const sent = await service.fetch(`/draft/${index}`, { method: 'POST', headers, body: sample })
      assert.equal(sent.text.replace(/^<\?.*?\?>/, '').replace(/\s*(<[^>]*>)\s*/g, '$1'), answer)
    })
  }

  test('without a sample is the smallest document', async () => {
    const { document, ...rest } = (await draft({ name: 'Small', pattern: '/small' })).json<Drafted>()
    assert.deepEqual(rest, { faults: [] })
    assert.equal(document.name, 'Small')
    assert.deepEqual(document.inputMapping, { 'requestBody.id': 'id' })
    assert.equal('description' in document, false)
  })

  test('says which name or route is taken', async () => {
    await service.register({ name: 'Taken', endpoint: { pattern: '/taken' } })
    const { faults, test } = (await draft({ name: 'Taken', pattern: '/taken', sample: '{}' })).json<Drafted>()
    assert.deepEqual(faults.map(({ path }) => path).toSorted(), ['endpoint.pattern', 'name'])
    assert.equal(test, undefined)
  })

  const refused: readonly (readonly [request: JsonObject, ...paths: string[]])[] = [
    [{ name: 'A', pattern: '/a', format: 'YAML' }, 'format'],
    [{ name: 'A', pattern: '/a', samples: '{}' }, 'samples'],
    [{ pattern: '/a' }, 'name'],
    [{ name: '', pattern: 'a', sample: '{"a":' }, 'name', 'endpoint.pattern', 'sample'],
  ]
  for (const [request, ...paths] of refused) {
    test(`of ${JSON.stringify(request)} is refused with the place`, async () => {
      const reply = await draft(request)
      const { code, details } = reply.json<{ code: string; details: readonly Readonly<{ path: string }>[] }>()
      assert.deepEqual([reply.status, code], [400, 'SUGGESTION_INVALID'])
      const places = details.map(({ path }) => path)
      assert.deepEqual(places, paths)
    })
  }
})

test('drafts leave no entry in the audit log', async () => {
  const { service, keys, baseUrl } = await startServiceWithKeys()
  const headers = { 'content-type': 'application/json', ...bearer(keys.author) }
  const body = JSON.stringify({ name: 'A', pattern: '/a' })
  assert.equal((await call(baseUrl('admin'), 'POST', '/endpoints/draft', { headers, body })).status, 200)
  const path = '/audit?what=POST%20/endpoints/draft'
  const audit = await call(baseUrl('admin'), 'GET', path, { headers: bearer(keys.admin) })
  assert.deepEqual(audit.json().entries, [])
  await service.stop()
})
