/** The lines of messages that ended done are stored as they are, so their text is a format that must not change. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { doneHead, doneLine, parseLines, restText } from '../../../src/core/records/message-record.ts'
import fc from '../../support/fast-check.ts'

const ID = '0190a1b2c3d4e5f6a7b8c9d0'
const ENDPOINT = 'e'.repeat(24)
const HEAD = doneHead(ENDPOINT, 'http', 200, 'intake', 3)
const call = { kind: 'lookup', id: 'a', method: 'GET', target: 'http://h/€', startMs: 0.1, ms: 2 } as const

const cases: Readonly<Record<string, Readonly<{ line: Parameters<typeof doneLine>[0]; text: string }>>> = {
  'durations in microseconds': {
    line: {
      head: doneHead(ENDPOINT, 'http', 200, 'a "b"\n\u001f ü', 3),
      id: ID,
      ms: 1.25,
      stages: [
        { stage: 'parse', startMs: 5, endMs: 5.25 },
        { stage: 'map', startMs: 0, endMs: 1.0004 },
      ],
    },
    text: `${ID}\u001f${ENDPOINT}\u001fhttp\u001f200\u001f["a \\"b\\"\\n\\u001f ü",3,1250,[["parse",250],["map",1000]]]\n`,
  },
  'neither name nor version nor stages': {
    line: { head: doneHead(ENDPOINT, 'broker', 201, undefined, undefined), id: ID, ms: 0, stages: [] },
    text: `${ID}\u001f${ENDPOINT}\u001fbroker\u001f201\u001f[null,null,0,[]]\n`,
  },
  'the rest of a record': {
    line: { head: HEAD, id: ID, ms: 1, stages: [], rest: restText({ keys: {}, calls: [call], bodies: [] }) },
    text: `${ID}\u001f${ENDPOINT}\u001fhttp\u001f200\u001f["intake",3,1000,[],{"calls":[{"kind":"lookup","id":"a","method":"GET","target":"http://h/€","startMs":0.1,"ms":2}]}]\n`,
  },
  'no rest where the record has none': {
    line: { head: HEAD, id: ID, ms: 1, stages: [], rest: restText({ keys: {}, calls: [], bodies: [] }) },
    text: `${ID}\u001f${ENDPOINT}\u001fhttp\u001f200\u001f["intake",3,1000,[]]\n`,
  },
}

for (const [name, { line, text }] of Object.entries(cases)) {
  test(`a line has ${name}`, () => assert.equal(doneLine(line), text))
}

for (const [ms, microseconds] of [
  [0, 0],
  [-0.2, 0],
  [-3, 0],
  [Number.NaN, 0],
  [0.0004, 0],
  [0.0005, 1],
  [999.9996, 1_000_000],
  [30_000.017, 30_000_017],
] as const) {
  test(`a duration of ${ms} ms is stored as ${microseconds} µs`, () => {
    const line = doneLine({ head: HEAD, id: ID, ms, stages: [{ stage: 'parse', startMs: 0, endMs: ms }] })
    assert.ok(line.endsWith(`,${microseconds},[["parse",${microseconds}]]]\n`), line)
  })
}

test('the columns of lines of any name come out as they went in', () => {
  const names = fc.array(fc.string({ unit: 'binary' }), { maxLength: 5 })
  fc.assert(
    fc.property(names, (endpoints) => {
      const lines = endpoints.map((endpoint) =>
        doneLine({ head: doneHead(ENDPOINT, 'http', 200, endpoint, 1), id: ID, ms: 1, stages: [] }),
      )
      const columns = [...parseLines(lines.join(''))]
      assert.deepEqual(
        columns.map(([id, endpointId, source, status, detail = '']) => [
          id,
          endpointId,
          source,
          status,
          JSON.parse(detail),
        ]),
        endpoints.map((endpoint) => [ID, ENDPOINT, 'http', '200', [endpoint, 1, 1000, []]]),
      )
    }),
  )
})
