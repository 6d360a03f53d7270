/** `POST /endpoints/draft`: a sample becomes a document that is taken, and a test that passes. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { JsonObject } from '../../../src/domain/json.ts'
import { bearer, startServiceWithKeys } from '../../support/access/service-with-keys.ts'
import { call } from '../../support/adapters/http-server/management/call.ts'
import { json, type Service, startService } from '../../support/service.ts'

type Drafted = Readonly<{ document: JsonObject; test?: JsonObject; faults: readonly Readonly<{ path: string }>[] }>

describe('a draft', () => {
  let service: Service
  before(async () => {
    service = await startService()
  })
  after(() => service.stop())
  const draft = (request: JsonObject) => service.fetch('/endpoints/draft', json('POST', request))

  const cases: readonly Readonly<{
    name: string
    sample: string
    format?: string
    answer?: string
    mapping: readonly string[] | undefined
  }>[] = [
    {
      name: 'of JSON',
      sample: '{"id": "1", "lines": [{"a.b": null}]}',
      mapping: ['requestBody.id', 'requestBody.lines'],
    },
    {
      name: 'of XML',
      sample: '<?xml version="1.0"?><!-- <a> --><order nr="1"><id>2</id></order>',
      mapping: ['requestBody.$', 'requestBody.id'],
      answer: '<order nr="1"><id>2</id></order>',
    },
    { name: 'of XML without fields', sample: '<note>x</note>', mapping: ['requestBody'], answer: '<note>x</note>' },
    {
      name: 'of FHIR',
      sample: '{"resourceType":"Patient"}',
      format: 'FHIR+JSON',
      mapping: ['requestBody.resourceType'],
    },
    { name: 'of names with dots', sample: '{"a.b": 1}', mapping: ['requestBody.a\\.b'] },
    { name: 'of names that no target can have', sample: '{"__proto__": 1, "good": 2}', mapping: ['requestBody.good'] },
    { name: 'of what is no object', sample: '[1, 2]', mapping: undefined },
  ]
  for (const [index, { name, mapping, answer, ...sample }] of cases.entries()) {
    test(`${name} is taken as it is, and its test passes`, async () => {
      const reply = await draft({ name, pattern: `/draft/${index}`, ...sample })
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
      const sent = await service.fetch(`/draft/${index}`, { method: 'POST', headers, body: sample.sample })
      assert.equal(sent.text.replace(/^<\?.*?\?>/, '').replace(/\s*(<[^>]*>)\s*/g, '$1'), answer)
    })
  }

  test('without a sample is the smallest document', async () => {
    const { document, ...rest } = (await draft({ name: 'Small', pattern: '/small' })).json<Drafted>()
    assert.deepEqual(rest, { faults: [] })
    assert.equal(document.name, 'Small')
    assert.deepEqual(document.inputMapping, { 'requestBody.id': 'id' })
  })

  test('has no description, which only its author can give', async () => {
    const { document } = (await draft({ name: 'Plain', pattern: '/plain', sample: '{"id": "1"}' })).json<Drafted>()
    assert.equal('description' in document, false)
  })

  test('says which name or route is taken', async () => {
    await service.register({ name: 'Taken', endpoint: { pattern: '/taken' } })
    const { faults, test } = (await draft({ name: 'Taken', pattern: '/taken', sample: '{}' })).json<Drafted>()
    assert.deepEqual(faults.map(({ path }) => path).toSorted(), ['endpoint.pattern', 'name'])
    assert.equal(test, undefined)
  })

  const refused: readonly Readonly<{ name: string; request: JsonObject; paths: readonly string[] }>[] = [
    { name: 'a sample that is no JSON', request: { name: 'A', pattern: '/a', sample: '{"a":' }, paths: ['sample'] },
    { name: 'a format that there is not', request: { name: 'A', pattern: '/a', format: 'CSV' }, paths: ['format'] },
    { name: 'a field that there is not', request: { name: 'A', pattern: '/a', samples: '{}' }, paths: ['samples'] },
    { name: 'no name', request: { pattern: '/a' }, paths: ['name'] },
    {
      name: 'a sample, a name and a pattern that are all wrong',
      request: { name: '', pattern: 'a', sample: '{"a":' },
      paths: ['name', 'endpoint.pattern', 'sample'],
    },
  ]
  for (const { name, request, paths } of refused) {
    test(`of ${name} is refused with the place`, async () => {
      const reply = await draft(request)
      const { code, details } = reply.json<{ code: string; details: readonly Readonly<{ path: string }>[] }>()
      assert.deepEqual([reply.status, code], [400, 'SUGGESTION_INVALID'])
      assert.deepEqual(
        details.map(({ path }) => path),
        paths,
      )
    })
  }
})

test('drafts are for authors, and leave no entry in the audit log', async () => {
  const { service, keys, baseOf } = await startServiceWithKeys()
  const body = JSON.stringify({ name: 'A', pattern: '/a' })
  const status = async (role: 'viewer' | 'operator' | 'author') => {
    const headers = { 'content-type': 'application/json', ...bearer(keys[role]) }
    return (await call(baseOf('admin'), 'POST', '/endpoints/draft', { headers, body })).status
  }
  assert.deepEqual([await status('viewer'), await status('operator'), await status('author')], [403, 403, 200])
  const audit = await call(baseOf('admin'), 'GET', '/audit?what=POST%20/endpoints/draft', {
    headers: bearer(keys.admin),
  })
  assert.deepEqual(
    audit.json<{ entries: readonly { status: number }[] }>().entries.map((entry) => entry.status),
    [403, 403],
  )
  await service.stop()
})
