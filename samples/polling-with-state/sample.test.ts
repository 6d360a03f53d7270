import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Sample, startSample } from '../run-sample.ts'
import { answerAs, type FhirServer } from './fhir-server.ts'

const FHIR = 'http://127.0.0.1:8081'
const SEARCH = '/fhir/Observation?category=laboratory&_sort=_lastUpdated&_count=100'

type Answer = Readonly<{ asOf: string; more: boolean; results: readonly Readonly<{ id: string }>[] }>

let sample: Sample
const server: FhirServer = { now: '2026-03-04T09:00:00.000Z', pageSize: 100, trouble: 'none' }

before(async () => {
  sample = await startSample(import.meta.dirname, ['endpoint.json'], { [FHIR]: answerAs(server) })
})
after(() => sample.stop())

/** The answer to a poll, and what it asked the server for. */
async function poll(sample: Sample) {
  const reply = await sample.send('/lab-results/new')
  return { reply, asked: sample.received(FHIR).at(-1)?.url }
}

test('gets everything at first, and then only what is new', async () => {
  const first = await poll(sample)
  assert.equal(first.asked, SEARCH)
  assert.equal(first.reply.status, 200)
  assert.deepEqual(first.reply.json(), sample.json('output.json'))

  server.now = '2026-03-04T09:15:00.000Z'
  const next = await poll(sample)
  assert.equal(next.asked, `${SEARCH}&_lastUpdated=ge2026-03-04T09:00:00.000Z`)
  assert.equal(next.reply.status, 200)
  assert.deepEqual(next.reply.json(), sample.json('output-next.json'))
})

test('goes on where it was after polls that failed', async () => {
  server.now = '2026-03-04T09:30:00.000Z'
  const failures = [
    { trouble: 'refuses', status: 503 },
    { trouble: 'drops', status: 502 },
  ] as const
  for (const { trouble, status } of failures) {
    server.trouble = trouble
    const { reply } = await poll(sample)
    assert.equal(reply.status, status)
  }
  server.trouble = 'none'
  const { reply, asked } = await poll(sample)
  assert.equal(asked, `${SEARCH}&_lastUpdated=ge2026-03-04T09:15:00.000Z`)
  assert.deepEqual(reply.json(), { since: '2026-03-04T09:15:00.000Z', asOf: server.now, more: false, results: [] })
})

test('goes on from the last result it got, where one answer does not hold all of them', async (t) => {
  const pages: FhirServer = { now: '2026-03-04T10:00:00.000Z', pageSize: 2, trouble: 'none' }
  const sample = await startSample(import.meta.dirname, ['endpoint.json'], { [FHIR]: answerAs(pages) })
  t.after(sample.stop)
  const answers: Answer[] = []
  for (let at = 0; at < 3; at++) answers.push((await poll(sample)).reply.json<Answer>())
  assert.deepEqual(
    answers.map(({ more, asOf, results }) => [more, asOf, results.map(({ id }) => id)]),
    [
      [true, '2026-03-04T08:41:37.904Z', ['o-1', 'o-2']],
      [false, pages.now, ['o-2', 'o-3']],
      [false, pages.now, []],
    ],
  )
})
