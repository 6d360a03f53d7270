/** The rules that workers live by, each for itself. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { restartDelayMs, ScatterGather } from '../../../../src/app/workers/primary.ts'
import { consumesFor, settingsForWorker } from '../../../../src/app/workers/worker-cluster.ts'
import { addExpositions, endpointLabel } from '../../../../src/observe/metrics/expositions.ts'
import { readSettings } from '../../../../src/settings/settings.ts'
import fc from '../../../support/fast-check.ts'

const settingsOf = (env: Record<string, string>) => {
  const reading = readSettings(env)
  assert.ok(reading.ok)
  return reading.settings
}

describe('the share of a worker', () => {
  test('adds up to the whole, and is one at least', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 64 }), fc.integer({ min: 1, max: 5_000 }), (workers, most) => {
        const settings = settingsOf({
          MAX_MESSAGES_IN_FLIGHT: `${most}`,
          DATABASE_POOL_SIZE: `${Math.min(most, 1_000)}`,
        })
        const shares = Array.from({ length: workers }, (_, slot) => settingsForWorker(settings, { slot, workers }))
        for (const { maxMessagesInFlight, databasePoolSize } of shares) {
          assert.ok(maxMessagesInFlight >= 1 && databasePoolSize >= 1)
        }
        const sum = shares.reduce((so, { maxMessagesInFlight }) => so + maxMessagesInFlight, 0)
        assert.equal(sum, Math.max(most, workers))
      }),
    )
  })

  test('has each endpoint consumed by exactly one', () => {
    const ids = fc.tuple(fc.integer({ min: 0, max: 2 ** 45 }), fc.integer({ min: 0, max: 0xffff }))
    fc.assert(
      fc.property(ids, fc.integer({ min: 1, max: 128 }), ([ms, count], workers) => {
        const id = `${ms.toString(16).padStart(12, '0')}${count.toString(16).padStart(4, '0')}c69bf69b`
        const consuming = Array.from({ length: workers }, (_, slot) => consumesFor(id, { slot, workers }))
        assert.equal(consuming.filter(Boolean).length, 1)
      }),
    )
  })
})

test('the pause before a worker is replaced grows where it dies soon, and ends where it did not', () => {
  const cases = [
    { last: undefined, livedMs: 0, pause: 0 },
    { last: 0, livedMs: 59_999, pause: 1_000 },
    { last: 1_000, livedMs: 0, pause: 2_000 },
    { last: 16_000, livedMs: 0, pause: 30_000 },
    { last: 30_000, livedMs: 0, pause: 30_000 },
    { last: 30_000, livedMs: 60_000, pause: 0 },
  ]
  for (const { last, livedMs, pause } of cases) assert.equal(restartDelayMs(last, livedMs), pause)
})

describe('metrics of several processes', () => {
  const family = (name: string, type: string, ...lines: string[]) =>
    `# HELP ${name} What it is.\n# TYPE ${name} ${type}\n${lines.map((line) => `${line}\n`).join('')}`

  const cases = [
    {
      name: 'adds counters by their labels, and keeps what only one has',
      alive: [
        family('a_total', 'counter', 'a_total{x="1"} 1', 'a_total{x="2 3"} 5'),
        family('a_total', 'counter', 'a_total{x="1"} 2', 'a_total{x="4"} 7'),
      ],
      sum: family('a_total', 'counter', 'a_total{x="1"} 3', 'a_total{x="2 3"} 5', 'a_total{x="4"} 7'),
    },
    {
      name: 'adds the parts of histograms',
      alive: ['1', '2'].map((n) =>
        family('h', 'histogram', `h_bucket{le="1"} ${n}`, `h_bucket{le="+Inf"} ${n}`, `h_sum 0.5`, `h_count ${n}`),
      ),
      sum: family('h', 'histogram', 'h_bucket{le="1"} 3', 'h_bucket{le="+Inf"} 3', 'h_sum 1', 'h_count 3'),
    },
    {
      name: 'takes the highest of what is no amount, and the first start',
      alive: ['1', '2'].map(
        (n) =>
          family('crosswalk_build_info', 'gauge', 'crosswalk_build_info{version="1"} 1') +
          family('nodejs_eventloop_lag_p99_seconds', 'gauge', `nodejs_eventloop_lag_p99_seconds 0.${n}`) +
          family('process_start_time_seconds', 'gauge', `process_start_time_seconds ${n}`) +
          family('process_resident_memory_bytes', 'gauge', `process_resident_memory_bytes ${n}`),
      ),
      sum:
        family('crosswalk_build_info', 'gauge', 'crosswalk_build_info{version="1"} 1') +
        family('nodejs_eventloop_lag_p99_seconds', 'gauge', 'nodejs_eventloop_lag_p99_seconds 0.2') +
        family('process_start_time_seconds', 'gauge', 'process_start_time_seconds 1') +
        family('process_resident_memory_bytes', 'gauge', 'process_resident_memory_bytes 3'),
    },
    {
      name: 'keeps what lost ones counted, and not how they were',
      alive: [family('a_total', 'counter', 'a_total 1') + family('g', 'gauge', 'g 1')],
      lost: [family('a_total', 'counter', 'a_total 10') + family('g', 'gauge', 'g 10')],
      sum: family('a_total', 'counter', 'a_total 11') + family('g', 'gauge', 'g 1'),
    },
    {
      name: 'leaves out of the lost what is not kept',
      alive: [''],
      lost: [family('a_total', 'counter', 'a_total{endpoint="gone"} 1', 'a_total{endpoint="here"} 2')],
      keeps: (series: string) => endpointLabel(series) === 'here',
      sum: family('a_total', 'counter', 'a_total{endpoint="here"} 2'),
    },
  ]
  for (const { name, alive, lost, keeps, sum } of cases) {
    test(name, async () => assert.equal(await addExpositions(alive, lost, keeps), sum))
  }

  test('read the name of an endpoint as it is written in a label', () => {
    assert.equal(endpointLabel('a{x="1",endpoint="a \\"b\\" \\\\ \\n}"}'), 'a "b" \\ \n}')
    assert.equal(endpointLabel('a{endpointx="b"}'), undefined)
  })
})

describe('responses of several workers', () => {
  test('are all there when each member has responded, failed or left', async () => {
    const calls = new ScatterGather<string, number>()
    const asked: string[] = []
    const result = calls.gather(['a', 'b', 'c', 'd'], (member, call) => asked.push(`${member}${call}`), 60_000)
    assert.deepEqual(asked, ['a1', 'b1', 'c1', 'd1'])
    calls.respond('a', 1, 7)
    calls.respond('b', 1, undefined)
    calls.leave('c')
    calls.respond('d', 2, 8)
    calls.respond('d', 1, 9)
    const { responses, missing } = await result
    assert.deepEqual([...responses, missing], [['a', 7], ['d', 9], 1])
  })

  test('are counted as missing when they do not come in time', async () => {
    const calls = new ScatterGather<string, number>()
    assert.equal((await calls.gather(['a', 'b'], () => undefined, 5)).missing, 2)
    assert.equal((await calls.gather([], () => undefined, 60_000)).missing, 0)
  })
})

describe('WORKERS', () => {
  const cases = [
    { env: { WORKERS: '3' }, workers: 3 },
    { env: { WORKERS: 'two' }, fault: /^WORKERS is "two"\. Give a whole number from 1 to 128, or `auto`\.$/ },
    { env: { WORKERS: '0' }, fault: /^WORKERS is "0"/ },
    {
      env: { WORKERS: '3', MAX_MESSAGES_IN_FLIGHT: '2' },
      fault: /^MAX_MESSAGES_IN_FLIGHT is 2, and 3 workers share it/,
    },
    { env: { WORKERS: '2', DATABASE_URL: 'sqlite::memory:' }, fault: /^DATABASE_URL keeps everything in memory/ },
  ]
  for (const { env, workers, fault } of cases) {
    test(JSON.stringify(env), () => {
      const reading = readSettings(env)
      if (reading.ok) assert.equal(reading.settings.workers, workers)
      else assert.match(reading.faults.join('\n'), fault ?? /never/)
    })
  }

  test('auto is one for each core', () => assert.ok(settingsOf({ WORKERS: 'auto' }).workers >= 1))
})
