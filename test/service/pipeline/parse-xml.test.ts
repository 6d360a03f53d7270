import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import type { Json } from '../../../src/domain/json.ts'
import { startCpuTime } from '../../support/cpu-time.ts'
import { type Service, startService } from '../../support/service.ts'

type Examples = { parse: { why: string; xml: string; output: Json }[]; refuse: { why: string; xml: string }[] }
const examples: Examples = JSON.parse(readFileSync(new URL('../../data/xml.json', import.meta.url), 'utf8'))

async function startXml(env: Record<string, string>): Promise<Service> {
  const service = await startService(env)
  await service.register({ endpoint: { pattern: '/xml' }, transformation: { input: 'XML', output: 'JSON' } })
  return service
}

const send = (service: Service, body: string | Uint8Array, contentType = 'application/xml') =>
  service.fetch('/xml', { method: 'POST', headers: { 'content-type': contentType }, body: Buffer.from(body) })

describe('XML', () => {
  let service: Service
  before(async () => {
    service = await startXml({})
  })
  after(() => service.stop())

  const nested = (depth: number) => '<a>'.repeat(depth) + '</a>'.repeat(depth)
  const proto = '<m><__proto__><polluted>1</polluted></__proto__></m>'
  const read = [
    ...examples.parse,
    {
      why: 'a repeated child beside a single one',
      xml: '<m><a>1</a><b/><a>2</a></m>',
      output: { a: ['1', '2'], b: '' },
    },
    { why: 'an empty root', xml: '<m/>', output: '' },
    { why: 'numbers as texts', xml: '<m><a>007</a></m>', output: { a: '007' } },
    { why: 'a name that objects inherit', xml: proto, output: JSON.parse('{"__proto__":{"polluted":"1"}}') },
  ]
  for (const { why, xml, output } of read) {
    it(`reads ${why}`, async () => {
      const reply = await send(service, xml)
      assert.equal(reply.status, 200, reply.text)
      assert.deepEqual(reply.json(), output)
      assert.equal('polluted' in {}, false)
    })
  }

  it('reads 64 levels', async () => {
    assert.equal((await send(service, nested(64))).status, 200)
  })

  const encodings = [
    { name: 'its declaration', bytes: '<?xml version="1.0" encoding="iso-8859-1"?><m>\u00fc</m>', type: 'text/xml' },
    { name: 'the header', bytes: '<m>\u00fc</m>', type: 'text/xml; charset=iso-8859-1' },
  ]
  for (const { name, bytes, type } of encodings) {
    it(`takes the encoding from ${name}`, async () => {
      const reply = await send(service, Buffer.from(bytes, 'latin1'), type)
      assert.equal(reply.text, '"ü"')
    })
  }

  const laughs = '<!DOCTYPE m [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><m>&b;</m>'
  const file = '<!DOCTYPE m [<!ENTITY f SYSTEM "file:///etc/hostname">]><m>&f;</m>'
  const refused = [
    // Nothing at all is a message without a body, so it does not come as far as the reader.
    ...examples.refuse.filter(({ xml }) => xml !== '').map((example) => ({ ...example, code: 'BODY_UNREADABLE' })),
    { why: 'a DOCTYPE', xml: '<!DOCTYPE m><m/>', code: 'BODY_UNREADABLE' },
    { why: 'entities of its own', xml: laughs, code: 'BODY_UNREADABLE' },
    { why: 'entities that name a file', xml: file, code: 'BODY_UNREADABLE' },
    { why: 'two roots', xml: '<a/><b/>', code: 'BODY_UNREADABLE' },
  ]
  for (const { why, xml, code } of refused) {
    it(`refuses ${why}`, async () => {
      const cpuMs = startCpuTime()
      const reply = await send(service, xml)
      assert.ok(cpuMs() < 3_000, 'it took long to be refused')
      assert.deepEqual([reply.status, reply.json().code, reply.json().stage], [400, code, 'parse'], reply.text)
    })
  }
})

describe('the settings of the XML reader', () => {
  const xml = '<m><a> 1 </a><b><c>2</c></b></m>'
  const cases: { env: Record<string, string>; expect: Json }[] = [
    { env: { PARSER_XML_OPTIONS_TRIM: 'false' }, expect: { a: ' 1 ', b: { c: '2' } } },
    { env: { PARSER_XML_OPTIONS_EXPLICIT_ROOT: 'true' }, expect: { m: { a: '1', b: { c: '2' } } } },
    { env: { PARSER_XML_OPTIONS_EXPLICIT_ARRAY: 'true' }, expect: { a: ['1'], b: [{ c: ['2'] }] } },
    {
      env: { PARSER_XML_OPTIONS_EXPLICIT_ARRAY: 'true', PARSER_XML_OPTIONS_EXPLICIT_ROOT: 'true' },
      expect: { m: { a: ['1'], b: [{ c: ['2'] }] } },
    },
  ]
  for (const { env, expect } of cases) {
    it(Object.entries(env).join(', ').replaceAll(',true', '=true').replaceAll(',false', '=false'), async () => {
      const service = await startXml(env)
      try {
        assert.deepEqual((await send(service, xml)).json(), expect)
      } finally {
        await service.stop()
      }
    })
  }
})
