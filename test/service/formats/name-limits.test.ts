/** Bodies of many names, over HTTP: counted exactly. What millions of them cost: test/system/load/name-limits.test.ts. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Service, startService, startUpstream } from '../../support/service.ts'

let service: Service
before(async () => {
  service = await startService({ PARSER_MAX_NAMES: '6', PARSER_MAX_NAMES_PER_OBJECT: '3' })
  await service.register({ endpoint: { pattern: '/json' } })
  await service.register({ endpoint: { pattern: '/xml' }, transformation: { input: 'XML', output: 'JSON' } })
})
after(() => service.stop())

const cases: [status: number, body: string][] = [
  [200, '{"a":1,"b":2,"c":3}'],
  [413, '{"a":1,"b":2,"c":3,"d":4}'],
  [200, '[{"a":{"a":1}},{"a":[1,2,3,4,5,6,7]},{"a":1,"b":2}]'],
  [200, '[{"a":1,"b":1},{"a":1,"b":1},{"a":1,"b":1}]'],
  [413, '[{"a":1,"b":1},{"a":1,"b":1},{"a":1,"b":1},{"a":1}]'],
  [200, '["a:\\":b","::::::::::::::::::::::::::::::::::::::::"]'],
  [200, '<r a="" b="" c=""/>'],
  [413, '<r a="" b="" c="" d=""/>'],
  [200, '<r><a/><a/><a/><a/><a/></r>'],
  [413, '<r><a/><a/><a/><a/><a/><a/></r>'],
  [200, '<r><a/><b/><c/></r>'],
  [413, '<r><a/><b/><c/><d/></r>'],
  [200, '<r a=""><a b="" c="" d=""/></r>'],
  [413, '<r a=""><a b="" c="" d=""/><a b=""/></r>'],
]
for (const [status, body] of cases) {
  test(`names are counted: ${body}: ${status}`, async () => {
    const format = body.startsWith('<') ? 'xml' : 'json'
    const headers = { 'content-type': `application/${format}` }
    assert.equal((await service.fetch(`/${format}`, { method: 'POST', headers, body })).status, status)
  })
}

test('too many names in the answer of a lookup are a 502', async (t) => {
  const upstream = await startUpstream(() => ({ a: 1, b: 2, c: 3, d: 4 }))
  t.after(upstream.stop)
  const lookup = [{ id: 'up', config: { url: upstream.url } }]
  await service.register({ endpoint: { pattern: '/lookup', method: 'GET' }, requests: { lookup } })
  const reply = await service.fetch('/lookup')
  assert.deepEqual([reply.status, /PARSER_MAX_NAMES_PER_OBJECT/.test(reply.text)], [502, true])
})
