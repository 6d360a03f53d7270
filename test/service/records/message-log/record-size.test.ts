/** What a record takes, and how much of a message with very many calls is kept. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MessageRecord } from '../../../../src/core/records/message-record.ts'
import { createBodyCapture } from '../../../../src/records/message-log/bodies.ts'
import { createRecordQueue } from '../../../../src/records/message-log/record-queue.ts'
import { recordedAt } from '../../../support/contracts/message-records.ts'
import { describeDatabases } from '../../../support/databases.ts'
import { json, startUpstream } from '../../../support/service.ts'
import { runLogged } from './message-logs.ts'

const LONG = 'x'.repeat(100_000)
const call = { kind: 'lookup', id: 'each', method: 'GET', target: 'http://127.0.0.1/a', startMs: 0, ms: 1 } as const
const body = { which: 'lookup.each', contentType: 'text/plain', size: 0, cut: true } as const

const large: Readonly<Record<string, Partial<MessageRecord>>> = {
  calls: { calls: Array(700).fill(call) },
  targets: { calls: [{ ...call, target: LONG }] },
  'summaries of bodies': { bodies: Array(900).fill(body) },
  'error text': { error: LONG },
  keys: { keys: { name: LONG, several: [LONG] } },
}

for (const [what, changes] of Object.entries(large)) {
  test(`a record takes as much as its ${what}`, () => {
    const queue = createRecordQueue({ records: 100, bytes: 1e9 })
    const { record } = recordedAt(0, { outcome: 'failed', status: 500, ...changes })
    const bodies = record.bodies.map((summary) => ({ summary, content: new Uint8Array() }))
    queue.push({ record, bodies })
    const { bytes } = queue.take({ records: 1, bytes: 1 })
    assert.ok(bytes >= JSON.stringify(record).length * 0.8, `${bytes} of ${JSON.stringify(record).length}`)
  })
}

test('a body that is cut, and a view of a large buffer, keep no more than their part in memory', () => {
  const fetched = Buffer.alloc(1_000_000, ' ')
  const capture = createBodyCapture(10_000, undefined, [])
  capture.addBody('incoming', 'application/json', fetched)
  capture.addBody('answer', 'application/json', fetched.subarray(500, 700))
  const shown = capture.bodies.map(({ content }) => content.byteLength)
  assert.deepEqual(shown, [10_000, 200])
  for (const { content } of capture.bodies)
    assert.ok(content.buffer.byteLength < 20_000, `${content.buffer.byteLength}`)
})

describeDatabases('a message with very many calls', ({ withDatabase }) => {
  test(
    'keeps 200 of them, those that went wrong among them, and says how many it left out; of a long target the start',
    withDatabase(async (database) => {
      const upstream = await startUpstream(({ url }, response) => {
        if (!url.endsWith('/249')) return { url }
        response.writeHead(404, { 'content-type': 'application/json' }).end('{}')
        return undefined
      })
      try {
        await runLogged(
          database,
          {},
          async ({ register, fetch }) => {
            const each = { url: `${upstream.url}/:nr`, params: { url: { nr: { path: 'item' } } } }
            await register({
              endpoint: { pattern: '/each' },
              requests: {
                lookup: [{ id: 'each', forEach: { items: 'requestBody.list' }, config: { ...each, method: 'GET' } }],
              },
            })
            for (const count of [200, 250]) {
              await fetch('/each', json('POST', { list: Array.from({ length: count }, (_, at) => String(at)) }))
            }
            await fetch('/each', json('POST', { list: ['x'.repeat(50_000)] }))
          },
          ({ records: [long, many, some] }) => {
            assert.match(long?.calls[0]?.target ?? '', /^http:.*x…$/)
            assert.equal(long?.calls[0]?.target.length, 2_049)
            assert.deepEqual([some?.outcome, some?.calls.length, some?.callsOmitted], ['done', 200, undefined])
            assert.deepEqual([many?.outcome, many?.calls.length, many?.callsOmitted], ['refused', 200, 50])
            assert.deepEqual([many?.calls.at(-1)?.item, many?.calls.at(-2)?.item], [249, 198])
          },
        )
      } finally {
        await upstream.stop()
      }
    }),
  )
})
