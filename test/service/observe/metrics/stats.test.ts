/** Counting how messages went: the error of percentiles, minutes as they pass, and a store that is away. */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { startTrace } from '../../../../src/core/tracing/trace.ts'
import type { CompiledEndpoint } from '../../../../src/endpoints/compiled-endpoint.ts'
import type { CompletedMessage } from '../../../../src/inbound/completed-message.ts'
import {
  ALL_ENDPOINTS,
  bucketFor,
  createMinutes,
  createStats,
  percentile,
} from '../../../../src/records/statistics/stats.ts'
import type { MinuteCount, StatsStore } from '../../../../src/store/sql/stats-store.ts'
import { openSqliteStore } from '../../../../src/store/sqlite/open-sqlite-store.ts'
import { StoreUnavailable } from '../../../../src/store/store-access.ts'
import fc from '../../../support/fast-check.ts'
import { silent } from '../../../support/silent.ts'

const MINUTE = 60_000
const START = Date.UTC(2026, 0, 1)
const ID = '0'.repeat(24)

type Reported = Pick<CompletedMessage, 'compiled' | 'outcome' | 'startedAt' | 'ms' | 'trace'>
const trace = startTrace()
const reported = (startedAt: number, changes: Partial<Reported> = {}): Reported => ({
  compiled: { document: { _id: ID } } as CompiledEndpoint,
  outcome: 'done',
  startedAt,
  ms: 1,
  trace,
  ...changes,
})

describe('a percentile', () => {
  test('is at most 10 % off, whatever the times are', () => {
    const times = fc.array(fc.double({ min: 0.01, max: 600_000, noNaN: true }), { minLength: 1, maxLength: 200 })
    const shares = fc.constantFrom(0.5, 0.95, 0.99)
    fc.assert(
      fc.property(times, shares, (ms, share) => {
        const buckets = new Map<number, number>()
        for (const one of ms) buckets.set(bucketFor(one), (buckets.get(bucketFor(one)) ?? 0) + 1)
        const exact = ms.toSorted((a, b) => a - b)[Math.max(Math.ceil(ms.length * share), 1) - 1] as number
        const off = Math.abs((percentile(buckets, share) as number) / exact - 1)
        assert.ok(off <= 0.1, `${percentile(buckets, share)} for ${exact}`)
      }),
    )
  })

  test('of nothing is null, of odd times still one', () => {
    assert.equal(percentile(new Map(), 0.5), null)
    for (const ms of [0, -1, 1e-9, 1e12])
      assert.ok((percentile(new Map([[bucketFor(ms), 1]]), 0.5) as number) > 0, `${ms}`)
  })
})

describe('minutes', () => {
  const minute = START / MINUTE
  /** Those of one endpoint, without the row of all of them. */
  const own = (counts: readonly MinuteCount[]) => counts.filter(({ endpointId }) => endpointId === ID)

  test('are taken whole as long as they go on, and then let go', () => {
    const minutes = createMinutes()
    const take = (at: number) =>
      own(minutes.take(at)).map(({ minute: of, count, failures }) => [of - minute, count, failures])
    minutes.count(reported(START))
    assert.deepEqual(take(minute), [[0, 1, 0]])
    assert.deepEqual(take(minute), [])
    minutes.count(reported(START + 10, { outcome: 'partial' }))
    assert.deepEqual(take(minute), [[0, 2, 1]])
    minutes.count(reported(START + 20))
    minutes.count(reported(START + MINUTE))
    assert.deepEqual(take(minute + 1), [
      [0, 3, 1],
      [1, 1, 0],
    ])
    assert.deepEqual(take(minute + 90), [])
    minutes.count(reported(START + 90 * MINUTE))
    assert.deepEqual(take(minute + 90), [[90, 1, 0]])
  })

  test('count a message when it ends, and none twice where the clock goes back', () => {
    const minutes = createMinutes()
    minutes.count(reported(START + MINUTE - 10, { ms: 20 }))
    minutes.count(reported(START))
    const shown = own(minutes.take(minute)).map(({ minute: of, count }) => [of - minute, count])
    assert.deepEqual(shown, [[1, 2]])
  })

  test('have the time of messages only that came as far as the pipeline', () => {
    const minutes = createMinutes()
    minutes.count(reported(START, { ms: 0, trace: undefined, outcome: 'failed' }))
    minutes.count(reported(START, { compiled: undefined }))
    minutes.count(reported(START, { ms: 8 }))
    const [{ count, failures, buckets } = assert.fail()] = own(minutes.take(minute))
    assert.deepEqual([count, failures, [...buckets]], [2, 1, [[bucketFor(8), 1]]])
  })

  test('have a row of all endpoints together', () => {
    const minutes = createMinutes()
    const other = { document: { _id: '1'.repeat(24) } } as CompiledEndpoint
    minutes.count(reported(START, { ms: 8 }))
    minutes.count(reported(START, { compiled: other, outcome: 'failed', ms: 8 }))
    minutes.count(reported(START, { compiled: undefined }))
    const all = minutes.take(minute).find(({ endpointId }) => endpointId === ALL_ENDPOINTS) ?? assert.fail()
    assert.deepEqual([all.count, all.failures, [...all.buckets]], [2, 1, [[bucketFor(8), 2]]])
  })

  test('that could not be stored are taken again, unless there is something newer', () => {
    const minutes = createMinutes()
    minutes.count(reported(START))
    const taken = minutes.take(minute)
    minutes.count(reported(START))
    minutes.count(reported(START + MINUTE))
    minutes.putBack(taken)
    assert.deepEqual(
      own(minutes.take(minute + 1)).map(({ minute: of, count }) => [of - minute, count]),
      [
        [0, 2],
        [1, 1],
      ],
    )
  })
})

describe('a report', () => {
  async function open(context: TestContext) {
    const { stats: store, close } = await openSqliteStore({ path: ':memory:', logger: silent })
    let now = START
    let away = false
    const mayBeAway: StatsStore = {
      ...store,
      write: (...args) => (away ? Promise.reject(new StoreUnavailable('away')) : store.write(...args)),
    }
    const stats = createStats({ store: mayBeAway, instance: 'a', clock: () => now, logger: silent })
    context.after(async () => {
      await stats.close()
      await close()
    })
    return {
      stats,
      store,
      count: (changes: Partial<Reported> = {}) => stats.count(reported(now, { ms: 0.5, ...changes })),
      pass: (ms: number) => {
        now += ms
      },
      setAway: (is: boolean) => {
        away = is
      },
    }
  }

  test('has the last hour and day, and every minute in which messages ended', async (context) => {
    const { stats, count, pass } = await open(context)
    const none = { count: 0, failures: 0, p50: null, p95: null, p99: null }
    assert.deepEqual(await stats.report(ID), { endpointId: ID, hour: none, day: none, minutes: [] })
    count()
    pass(MINUTE * 60 * 23)
    for (let n = 0; n < 99; n += 1) count({ ms: 10 })
    count({ ms: 1_000, outcome: 'failed' })
    const { hour, day, minutes } = await stats.report(ID)
    const near = (value: number, exact: number) => assert.ok(Math.abs(value / exact - 1) <= 0.1, `${value}, ${exact}`)
    const { p50, p95, p99, ...counts } = hour as Record<string, number>
    assert.deepEqual(counts, { count: 100, failures: 1 })
    for (const one of [p50, p95, p99]) near(one as number, 10)
    assert.deepEqual([(day as Record<string, number>).count], [101])
    assert.deepEqual(
      (minutes as { at: string; count: number }[]).map((one) => [one.at, one.count]),
      [
        ['2026-01-01T00:00:00.000Z', 1],
        ['2026-01-01T23:00:00.000Z', 100],
      ],
    )
  })

  test('of several endpoints has the last hour in slots, of those with messages', async (context) => {
    const { stats, count, pass } = await open(context)
    const idle = { count: 0, failures: 0, perMinute: 0 }
    const hour = async () => [...(await stats.hours([ID, '1'.repeat(24)])).values()]
    assert.deepEqual(await hour(), [idle, idle])
    count({ ms: 10 })
    pass(MINUTE * 58)
    count({ ms: 10, outcome: 'failed' })
    count({ ms: 10 })
    const [{ p95, ...rest }] = (await hour()) as [Record<string, unknown>]
    assert.ok(Math.abs(Number(p95) / 10 - 1) <= 0.1, String(p95))
    assert.deepEqual(rest, {
      ...{ count: 3, failures: 1, perMinute: 0 },
      counts: [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2],
      failed: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
    })
    pass(MINUTE * 120)
    assert.deepEqual((await hour())[0], idle)
  })

  test('of all endpoints adds them up, with the rate of the last whole minutes', async (context) => {
    const { stats, count, pass } = await open(context)
    const other = { document: { _id: '1'.repeat(24) } } as CompiledEndpoint
    for (let n = 0; n < 10; n += 1) count(n === 0 ? { compiled: other, outcome: 'refused' } : {})
    pass(MINUTE)
    count()
    const { perMinute, hour, minutes } = await stats.reportAll()
    assert.equal(perMinute, 2)
    const { count: all, failures } = hour as Record<string, number>
    assert.deepEqual([all, failures, (minutes as unknown[]).length], [11, 1, 2])
  })

  test('forgets what is older than a day, and the store a little later', async (context) => {
    const { stats, store, count, pass } = await open(context)
    count()
    const total = async () => (await stats.report(ID)).day
    assert.equal(((await total()) as { count: number }).count, 1)
    pass(MINUTE * 60 * 24)
    assert.equal(((await total()) as { count: number }).count, 0)
    assert.equal((await store.read(ID, 0)).length, 1)
    pass(MINUTE * 61)
    await total()
    assert.deepEqual(await store.read(ID, 0), [])
  })

  test('fails while the store is away, and has everything afterwards', async (context) => {
    const { stats, count, pass, setAway } = await open(context)
    count()
    setAway(true)
    await assert.rejects(stats.report(ID), { code: 'STORE_UNAVAILABLE' })
    pass(MINUTE)
    count()
    count()
    await assert.rejects(stats.report(ID), { code: 'STORE_UNAVAILABLE' })
    setAway(false)
    const { day, minutes } = await stats.report(ID)
    assert.equal((day as { count: number }).count, 3)
    const counts = (minutes as { count: number }[]).map((one) => one.count)
    assert.deepEqual(counts, [1, 2])
  })
})
