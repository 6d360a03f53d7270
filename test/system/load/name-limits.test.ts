/** Bodies of many names, over HTTP: refused early with 413. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { startCpuTime } from '../../support/cpu-time.ts'
import { call } from '../../support/inbound/http/management/call.ts'
import { type Service, startService } from '../../support/service.ts'

const MANY = 1_000_000
/** Far less than such a body took: 1,000 to 3,000 ms. */
const MAX_MS = 700
/** The least counts: other work on the machine makes some of them slower. */
const ROUNDS = 3

const list = (count: number, item: (index: number) => string, between = '') =>
  Array.from({ length: count }, (_, index) => item(index)).join(between)

let service: Service
before(async () => {
  service = await startService({ PARSER_LIMIT: '32mb', MESSAGE_LOG: 'all', REDACT_PATHS: 'ssn' })
  await service.register({ endpoint: { pattern: '/json' } })
  await service.register({ endpoint: { pattern: '/xml' }, transformation: { input: 'XML', output: 'JSON' } })
})
after(() => service.stop())

const send = (body: string) => {
  const format = body.startsWith('<') ? 'xml' : 'json'
  return call(service.url, 'POST', `/${format}`, { headers: { 'content-type': `application/${format}` }, body })
}

describe('a body of a million names', () => {
  const cases: [name: string, body: () => string, says: RegExp][] = [
    [
      'attributes of one element',
      () => `<r ${list(MANY, (n) => `a${n}=""`, ' ')}/>`,
      /more attributes than 10000 \(PARSER_MAX_NAMES_PER_OBJECT\) at line 1;/,
    ],
    [
      'attributes of many elements',
      () => `<r>${list(MANY / 10, () => '<a a="" b="" c="" d="" e="" f="" g="" h="" i=""/>')}</r>`,
      /more elements and attributes than 300000 \(PARSER_MAX_NAMES\) at line 1;/,
    ],
    ['names of children', () => `<r>${list(MANY, (n) => `<a${n}/>`)}</r>`, /more names of children than 10000/],
    [
      'empty objects without a name',
      () => `[${list(MANY, () => '{}', ',')}]`,
      /The JSON has more objects and arrays than 300000 \(PARSER_MAX_NAMES\);/,
    ],
    [
      'members of one object',
      () => `{${list(MANY, (n) => `"a${n}":1`, ',')}}`,
      /The JSON has more members than 300000 \(PARSER_MAX_NAMES\);/,
    ],
    [
      'members of many objects',
      () => `[${list(MANY / 5, () => '{"a" :1,"b" :1,"c" :1,"d" :1,"e" :1}', ',')}]`,
      /The JSON has more members than 300000/,
    ],
    [
      'members of one object, fewer than are allowed in all',
      () => `{${list(100_000, (n) => `"a${n}":1`, ',')}}`,
      /An object of the JSON has more members than 10000 \(PARSER_MAX_NAMES_PER_OBJECT\);/,
    ],
  ]
  for (const [name, body, says] of cases) {
    test(`is refused: ${name}`, async (t) => {
      const text = body()
      const costsMs: number[] = []
      for (let round = 0; round < ROUNDS; round++) {
        const cpuTime = startCpuTime()
        const reply = await send(text)
        costsMs.push(cpuTime())
        assert.deepEqual([reply.status, reply.json().code], [413, 'BODY_TOO_LARGE'])
        assert.match(reply.json<{ error: string }>().error, says)
      }
      const minMs = Math.min(...costsMs)
      t.diagnostic(`${Math.round(minMs)} ms of processor time`)
      assert.ok(minMs < MAX_MS, `${minMs} ms`)
    })
  }

  test('in texts is no body of many names', async () => {
    const body = JSON.stringify([`":\\"${'x:"'.repeat(MANY)}`, { 'a:': ':' }])
    assert.equal((await send(body)).status, 200)
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
      assert.ok([400, 413].includes((await send(body)).status))
      t.diagnostic(`${Math.round(cpuTime())} ms of processor time`)
      assert.ok(cpuTime() < 3 * MAX_MS)
    }
  })
})
