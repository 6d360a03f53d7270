/** Bodies of many names, over HTTP: refused early with 413, and counted exactly. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { call } from '../../support/adapters/http-server/management/call.ts'
import { startCpuTime } from '../../support/cpu-time.ts'
import { type Service, startService, startUpstream } from '../../support/service.ts'

const MANY = 1_000_000
/** Far less than such a body took: 1,000 to 3,000 ms. */
const MOST_MS = 700
/** The least counts: other work on the machine makes some of them slower. */
const ROUNDS = 3

const XML = 'application/xml'
const JSON_TYPE = 'application/json'
const list = (count: number, item: (index: number) => string, between = '') =>
  Array.from({ length: count }, (_, index) => item(index)).join(between)

let large: Service
let small: Service
before(async () => {
  large = await startService({ PARSER_LIMIT: '32mb', MESSAGE_LOG: 'all', REDACT_PATHS: 'ssn' })
  small = await startService({ PARSER_MAX_NAMES: '6', PARSER_MAX_NAMES_PER_OBJECT: '3' })
  for (const service of [large, small]) {
    await service.register({ endpoint: { pattern: '/json' } })
    await service.register({ endpoint: { pattern: '/xml' }, transformation: { input: 'XML', output: 'JSON' } })
  }
})
after(async () => {
  await large.stop()
  await small.stop()
})

const send = (service: Service, type: string, body: string) =>
  call(service.url, 'POST', type === XML ? '/xml' : '/json', { headers: { 'content-type': type }, body })

describe('a body of a million names', () => {
  const cases: readonly { name: string; type: string; body: () => string; says: RegExp }[] = [
    {
      name: 'attributes of one element',
      type: XML,
      body: () => `<r ${list(MANY, (n) => `a${n}=""`, ' ')}/>`,
      says: /more attributes than 10000 \(PARSER_MAX_NAMES_PER_OBJECT\) at line 1;/,
    },
    {
      name: 'attributes of many elements',
      type: XML,
      body: () => `<r>${list(MANY / 10, () => '<a a="" b="" c="" d="" e="" f="" g="" h="" i=""/>')}</r>`,
      says: /more elements and attributes than 300000 \(PARSER_MAX_NAMES\) at line 1;/,
    },
    {
      name: 'names of children',
      type: XML,
      body: () => `<r>${list(MANY, (n) => `<a${n}/>`)}</r>`,
      says: /more names of children than 10000/,
    },
    {
      name: 'empty objects without a name',
      type: JSON_TYPE,
      body: () => `[${list(MANY, () => '{}', ',')}]`,
      says: /The JSON has more objects and arrays than 300000 \(PARSER_MAX_NAMES\);/,
    },
    {
      name: 'members of one object',
      type: JSON_TYPE,
      body: () => `{${list(MANY, (n) => `"a${n}":1`, ',')}}`,
      says: /The JSON has more members than 300000 \(PARSER_MAX_NAMES\);/,
    },
    {
      name: 'members of many objects',
      type: JSON_TYPE,
      body: () => `[${list(MANY / 5, () => '{"a" :1,"b" :1,"c" :1,"d" :1,"e" :1}', ',')}]`,
      says: /The JSON has more members than 300000/,
    },
    {
      name: 'members of one object, fewer than are allowed in all',
      type: JSON_TYPE,
      body: () => `{${list(100_000, (n) => `"a${n}":1`, ',')}}`,
      says: /An object of the JSON has more members than 10000 \(PARSER_MAX_NAMES_PER_OBJECT\);/,
    },
  ]
  for (const { name, type, body, says } of cases) {
    test(`is refused: ${name}`, async (t) => {
      const text = body()
      const costsMs: number[] = []
      for (let round = 0; round < ROUNDS; round++) {
        const cpuTime = startCpuTime()
        const reply = await send(large, type, text)
        costsMs.push(cpuTime())
        assert.deepEqual([reply.status, reply.json().code], [413, 'BODY_TOO_LARGE'])
        assert.match(reply.json<{ error: string }>().error, says)
      }
      const leastMs = Math.min(...costsMs)
      t.diagnostic(`${Math.round(leastMs)} ms of processor time`)
      assert.ok(leastMs < MOST_MS, `${leastMs} ms`)
    })
  }

  test('in texts is no body of many names', async () => {
    const body = JSON.stringify([`":\\"${'x:"'.repeat(MANY)}`, { 'a:': ':' }])
    assert.equal((await send(large, JSON_TYPE, body)).status, 200)
  })

  test('is counted in linear time, whatever it is', async (t) => {
    const bodies = [
      ':'.repeat(16_000_000),
      `"${':'.repeat(16_000_000)}`,
      '":'.repeat(8_000_000),
      '"\\":'.repeat(4_000_000),
    ]
    for (const body of bodies) {
      const cpuTime = startCpuTime()
      assert.ok([400, 413].includes((await send(large, JSON_TYPE, body)).status))
      t.diagnostic(`${Math.round(cpuTime())} ms of processor time`)
      assert.ok(cpuTime() < 3 * MOST_MS)
    }
  })

  test('in the answer of a lookup is a 502', async (t) => {
    const upstream = await startUpstream((_request, response) => {
      response.setHeader('content-type', JSON_TYPE)
      response.end(`{${list(20_000, (n) => `"a${n}":1`, ',')}}`)
      return undefined
    })
    t.after(upstream.stop)
    await large.register({
      endpoint: { pattern: '/lookup', method: 'GET' },
      requests: { lookup: [{ id: 'up', config: { url: upstream.url } }] },
    })
    const reply = await call(large.url, 'GET', '/lookup')
    assert.deepEqual([reply.status, /PARSER_MAX_NAMES_PER_OBJECT/.test(reply.text)], [502, true])
  })
})

describe('names are counted', () => {
  const cases: readonly { type: string; body: string; status: number }[] = [
    { type: JSON_TYPE, body: '{"a":1,"b":2,"c":3}', status: 200 },
    { type: JSON_TYPE, body: '{"a":1,"b":2,"c":3,"d":4}', status: 413 },
    { type: JSON_TYPE, body: '[{"a":{"a":1}},{"a":[1,2,3,4,5,6,7]},{"a":1,"b":2}]', status: 200 },
    { type: JSON_TYPE, body: '[{"a":1,"b":1},{"a":1,"b":1},{"a":1,"b":1}]', status: 200 },
    { type: JSON_TYPE, body: '[{"a":1,"b":1},{"a":1,"b":1},{"a":1,"b":1},{"a":1}]', status: 413 },
    { type: JSON_TYPE, body: '["a:\\":b","::::::::::::::::::::::::::::::::::::::::"]', status: 200 },
    { type: XML, body: '<r a="" b="" c=""/>', status: 200 },
    { type: XML, body: '<r a="" b="" c="" d=""/>', status: 413 },
    { type: XML, body: '<r><a/><a/><a/><a/><a/></r>', status: 200 },
    { type: XML, body: '<r><a/><a/><a/><a/><a/><a/></r>', status: 413 },
    { type: XML, body: '<r><a/><b/><c/></r>', status: 200 },
    { type: XML, body: '<r><a/><b/><c/><d/></r>', status: 413 },
    { type: XML, body: '<r a=""><a b="" c="" d=""/></r>', status: 200 },
    { type: XML, body: '<r a=""><a b="" c="" d=""/><a b=""/></r>', status: 413 },
  ]
  for (const { type, body, status } of cases) {
    test(`${body}: ${status}`, async () => {
      assert.equal((await send(small, type, body)).status, status)
    })
  }
})
