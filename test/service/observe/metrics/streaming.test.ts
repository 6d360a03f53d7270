/** /metrics is written part by part, as it is read, and has a bound. */
import assert from 'node:assert/strict'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import {
  addExpositions,
  expose,
  type Family,
  mergeExpositions,
  type Sample,
  writeFamilies,
} from '../../../../src/observe/metrics/expositions.ts'
import { readExposition } from '../../../support/observe/metrics/exposition.ts'
import { startService } from '../../../support/service.ts'

const NAME = 'n'.repeat(200)

function counters(count: number, asked: { samples: number } = { samples: 0 }): Family {
  return {
    name: 'things_total',
    help: 'Things.',
    type: 'counter',
    labels: ['endpoint'],
    *samples() {
      for (let at = 0; at < count; at += 1) {
        asked.samples += 1
        yield { labels: { endpoint: `${NAME}${at}` }, value: at }
      }
    },
  }
}

const histograms = (count: number): Family => ({
  name: 'duration_seconds',
  help: 'Durations.',
  type: 'histogram',
  labels: ['endpoint'],
  *samples(): Generator<Sample> {
    for (let at = 0; at < count; at += 1) {
      const labels = { endpoint: `${NAME}${at}` }
      for (const le of ['0.1', '1', '+Inf']) yield { suffix: '_bucket', labels: { ...labels, le }, value: at }
      yield { suffix: '_sum', labels, value: at }
      yield { suffix: '_count', labels, value: at }
    }
  },
})

const omittedIn = (exposition: string): number =>
  Number(/^crosswalk_metrics_omitted_samples (\d+)$/m.exec(exposition)?.[1])

test('an exposition is made as far as it is read', async () => {
  const asked = { samples: 0 }
  const chunks = expose([counters(100_000, asked)])
  const first = await chunks.next()
  assert.ok(first.done === false && first.value.length > 0)
  assert.ok(asked.samples <= 1_000, `${asked.samples} samples were asked for`)
  await chunks.return(undefined)
})

for (const [title, families, perEndpoint] of [
  ['counters', [counters(2_000)], 1],
  ['histograms, none of them in part', [histograms(2_000)], 5],
] as const) {
  test(`an exposition has no more than its bound: ${title}`, async () => {
    const bound = 100_000
    const whole = await text(expose(families))
    const bounded = await text(expose(families, bound))
    const { series } = readExposition(bounded)
    assert.equal(omittedIn(whole), 0)
    assert.ok(Buffer.byteLength(bounded) <= bound + 2_000, `it has ${Buffer.byteLength(bounded)} bytes`)
    assert.equal((series.length - 1) % perEndpoint, 0)
    assert.equal(series.length - 1 + omittedIn(bounded), 2_000 * perEndpoint)
    assert.ok(whole.startsWith(bounded.slice(0, bounded.indexOf('# HELP crosswalk_metrics_omitted'))))
  })
}

test('what several workers omit is added up', async () => {
  const texts = await Promise.all([text(expose([counters(50)], 2_000)), text(expose([counters(50)]))])
  const { families, omitted } = await mergeExpositions(texts)
  assert.equal(omitted, omittedIn(texts[0] as string))
  assert.ok(omitted > 0)
  assert.equal(omittedIn(await text(writeFamilies(families, omitted))), omitted)
  assert.equal(omittedIn(await text(writeFamilies(families, omitted, 2_000))), 2 * omitted)
  assert.doesNotMatch(await addExpositions([], texts), /omitted/)
})

test('a scrape is sent in parts', async () => {
  const service = await startService()
  try {
    const response = await fetch(`${service.adminUrl}/metrics`)
    assert.equal(response.headers.get('content-length'), null)
    assert.match(response.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/)
    const exposition = await response.text()
    assert.equal(omittedIn(exposition), 0)
    assert.ok(readExposition(exposition).series.some(({ name }) => name === 'process_resident_memory_bytes'))
  } finally {
    await service.stop()
  }
})
