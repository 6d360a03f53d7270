/** What the log keeps of the answers of lookups, whatever they are, and gives a replay back. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { OutboundAnswer } from '../../../../src/core/ports/http-client-port.ts'
import { endCall, startCall, startTrace, type Trace } from '../../../../src/core/tracing/trace.ts'
import { createBodyCapture } from '../../../../src/records/message-log/bodies.ts'
import {
  isPolled,
  LOOKUPS,
  lookupAnswers,
  readLookupAnswers,
} from '../../../../src/records/message-log/lookup-answers.ts'

const answered = (trace: Trace, kind: 'lookup' | 'response', id: string, item: number | undefined) =>
  startCall(trace, { kind, id, item, method: 'GET', target: 'http://target' })

const HEADERS = { link: '<?page=1>; rel="next"', 'set-cookie': ['a=1', 'b=2'], vary: ['a', 'b'] }

test('rows of answers and failures are read as they were written', () => {
  const trace = startTrace()
  const answer: OutboundAnswer = { status: 204, headers: HEADERS, body: new Uint8Array() }
  endCall(answered(trace, 'lookup', 'status[1]', 0), answer)
  endCall(answered(trace, 'lookup', 'away', undefined), 'timeout')
  endCall(answered(trace, 'lookup', 'late', undefined), 'deadline')
  endCall(answered(trace, 'response', 'sink', undefined), answer)
  const rows = lookupAnswers(trace.calls, ({ 'set-cookie': _, ...rest }) => rest)
  const capture = createBodyCapture(10, undefined, [], { answerBytes: 1_000 })
  capture.addValue(LOOKUPS, rows)
  const [body] = capture.bodies
  assert.ok(body)
  assert.deepEqual(body.summary.cut, undefined)
  assert.deepEqual(readLookupAnswers(body), [
    { id: 'status[1]', item: 0, result: 204, headers: { link: HEADERS.link, vary: HEADERS.vary } },
    { id: 'away', item: undefined, result: 'timeout', headers: {} },
  ])
})

test('answers share their room, and a longer one is cut', () => {
  const capture = createBodyCapture(10, undefined, [], { answerBytes: 100, originalBytes: 1_000 })
  const add = (which: string, bytes: number) => capture.addBody(which, 'text/plain', Buffer.alloc(bytes, 'x'))
  add('incoming', 900)
  add('lookup.a[0]', 60)
  add('lookup.a[1]', 41)
  add('lookup.b', 40)
  add('response.c', 11)
  assert.deepEqual(
    capture.bodies.map(({ summary, content }) => [summary.which, content.byteLength, summary.cut]),
    [
      ['incoming', 900, undefined],
      ['lookup.a[0]', 60, undefined],
      ['lookup.a[1]', 10, true],
      ['lookup.b', 40, undefined],
      ['response.c', 10, true],
    ],
  )
})

describe('a message is polled', () => {
  const page = { next: { path: 'page.data.next' }, max: 2 }
  const cases = [
    ['schedule', [{}], true],
    ['schedule', [], false],
    ['http', [{}, { page }], true],
    ['http', [{}], false],
    ['kafka', [{ page }], true],
  ] as const
  for (const [door, lookup, expected] of cases) {
    test(`${expected}: ${door} with ${JSON.stringify(lookup)}`, () => {
      const requests = { lookup, response: [] } as unknown as Parameters<typeof isPolled>[1]['requests']
      assert.equal(isPolled(door, { requests }), expected)
    })
  }
})
