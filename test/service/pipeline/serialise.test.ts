import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import type { Json } from '../../../src/domain/json.ts'
import { CODECS } from '../../../src/formats/codecs.ts'
import { write } from '../../../src/pipeline/stages/serialise.ts'
import { endpointDocument, json, type Service, startService } from '../../support/service.ts'

type Examples = { build: { why: string; input: Json; xml: string }[] }
const { build }: Examples = JSON.parse(readFileSync(new URL('../../data/xml.json', import.meta.url), 'utf8'))

const DECLARATION = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'

let service: Service
before(async () => {
  service = await startService()
  const outputs = { json: 'JSON', xml: 'XML', fhir: 'FHIR+JSON', openhim: 'JSON+OPENHIM' }
  for (const [name, output] of Object.entries(outputs)) {
    await service.register({ endpoint: { pattern: `/${name}` }, transformation: { input: 'JSON', output } })
  }
})
after(() => service.stop())

describe('the type of the output', () => {
  const cases = [
    { path: '/json', type: 'application/json', body: '{"a":[1,null]}' },
    { path: '/fhir', type: 'application/fhir+json', body: '{"a":[1,null]}' },
    { path: '/openhim', type: 'application/json+openhim', body: '{"a":[1,null]}' },
    { path: '/xml', type: 'application/xml', body: `${DECLARATION}\n<root>\n  <a>1</a>\n  <a/>\n</root>` },
  ]
  for (const { path, type, body } of cases) {
    it(`is ${type}`, async () => {
      const reply = await service.fetch(path, json('POST', { a: [1, null] }))
      assert.deepEqual([reply.status, reply.headers.get('content-type'), reply.text], [200, type, body])
    })
  }
})

describe('XML', () => {
  /** White space between elements does not count. */
  const compact = (xml: string) => xml.replace(/>\s+</g, '><')
  const cases: { why: string; input: Json; xml: string }[] = [
    ...build,
    { why: 'an empty object', input: {}, xml: `${DECLARATION}<root/>` },
    { why: 'a scalar', input: 7, xml: `${DECLARATION}<root>7</root>` },
    { why: 'false and zero', input: { a: false, b: 0 }, xml: `${DECLARATION}<root><a>false</a><b>0</b></root>` },
    {
      why: 'a text that would end its element',
      input: { m: { $: { q: '"><x a="' }, _: '</m><m>]]>' } },
      xml: `${DECLARATION}<m q="&quot;&gt;&lt;x a=&quot;">&lt;/m&gt;&lt;m&gt;]]&gt;</m>`,
    },
  ]
  for (const { why, input, xml } of cases) {
    it(`writes ${why}`, async () => {
      const reply = await service.fetch('/xml', json('POST', input))
      assert.equal(reply.status, 200, reply.text)
      assert.equal(compact(reply.text), compact(xml))
    })
  }

  const refused = [
    { why: 'a name that starts with a digit', input: { '1a': 1 }, says: /1a/ },
    { why: 'a name that would open an element', input: { 'a><b': 1 }, says: /a&gt;&lt;b/ },
    { why: 'attributes that are none', input: { m: { $: 'a' } }, says: /at "m\.\$"/ },
  ]
  for (const { why, input, says } of refused) {
    it(`refuses ${why}, naming the place`, async () => {
      const reply = await service.fetch('/xml', json('POST', input))
      assert.equal(reply.status, 500)
      assert.equal(reply.headers.get('content-type'), 'application/xml')
      assert.match(reply.text, /<code>SERIALISE_FAILED<\/code>\s*<stage>serialise<\/stage>/)
      assert.match(reply.text, says)
    })
  }

  it('warns at registration of a name that the mapping would write', async () => {
    const document = endpointDocument({
      endpoint: { pattern: '/warned' },
      transformation: { input: 'JSON', output: 'XML' },
      inputMapping: { 'requestBody.a': 'm.first name', 'requestBody.b': 'm.last' },
    })
    const reply = await service.fetch('/endpoints', json('POST', document))
    assert.equal(reply.status, 201)
    const warnings: { path: string; message: string }[] = JSON.parse(reply.headers.get('x-crosswalk-warnings') ?? '[]')
    assert.deepEqual(
      warnings.map(({ path }) => path),
      ['inputMapping.requestBody\\.a'],
    )
    assert.match(warnings[0]?.message ?? '', /"first name"/)
    const failed = await service.fetch('/warned', json('POST', { a: 1 }))
    assert.equal(failed.status, 500)
    const fine = await service.fetch('/warned', json('POST', { b: 1 }))
    assert.equal(fine.status, 200)
  })
})

it('refuses what is too long or too deep for a text', () => {
  let deep: Json = []
  for (let depth = 0; depth < 100_000; depth++) deep = [deep]
  for (const codec of Object.values(CODECS)) {
    assert.throws(() => write(deep, codec), { code: 'SERIALISE_FAILED' })
  }
})
