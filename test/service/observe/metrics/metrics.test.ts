/** What /metrics reports: which names and labels there are, the numbers, and that what is gone is forgotten. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { JsonObject } from '../../../../src/core/json.ts'
import { OUTCOMES } from '../../../../src/core/records/message-record.ts'
import { DeliveryCounts } from '../../../../src/deliveries/delivery-counts.ts'
import { ScheduleCounts } from '../../../../src/inbound/schedule/schedule-counts.ts'
import { BOUNDS_MS, createMessageMetrics } from '../../../../src/observe/metrics/message-metrics.ts'
import { describeMetrics } from '../../../../src/observe/metrics/metric-families.ts'
import { describeServices } from '../../../support/databases.ts'
import { call } from '../../../support/inbound/http/management/call.ts'
import { readExposition, type Series } from '../../../support/observe/metrics/exposition.ts'
import { json, startUpstream, type Upstream } from '../../../support/service.ts'
import { until } from '../../../support/until.ts'

let upstream: Upstream
before(async () => {
  upstream = await startUpstream(({ url }, response) => {
    if (url.startsWith('/resets')) {
      response.destroy()
      return undefined
    }
    response.statusCode = Number(url.slice(1, 4))
    return { url }
  })
})
after(() => upstream.stop())

const valuesOf = (series: readonly Series[], name: string, labels: JsonObject): [JsonObject, number][] =>
  series
    .filter((one) => one.name === name && Object.entries(labels).every(([label, value]) => one.labels[label] === value))
    .map((one) => [one.labels, one.value])

const own: Record<string, readonly string[]> = {
  crosswalk_build_info: ['node', 'version'],
  crosswalk_connections: ['port'],
  crosswalk_connections_refused_total: ['port'],
  crosswalk_consumer_lag: ['endpoint', 'topic'],
  crosswalk_consumers: ['endpoint', 'state', 'topic'],
  crosswalk_consumer_records: ['endpoint', 'state', 'topic'],
  crosswalk_consumer_holes: ['endpoint', 'topic'],
  crosswalk_consumer_oldest_seconds: ['endpoint', 'topic'],
  crosswalk_mllp_ports: ['port', 'state'],
  crosswalk_mllp_connections: ['port'],
  crosswalk_schedule_last_run_age_seconds: ['endpoint'],
  crosswalk_schedule_missed_total: ['endpoint'],
  crosswalk_schedule_next_run_seconds: ['endpoint'],
  crosswalk_schedule_overruns_total: ['endpoint'],
  crosswalk_schedule_runs_total: ['endpoint', 'outcome'],
  crosswalk_isolation_ended_total: ['cause', 'lane'],
  crosswalk_isolation_processes: ['lane'],
  crosswalk_isolation_waiting: ['lane'],
  crosswalk_message_duration_seconds: ['endpoint'],
  crosswalk_message_log_dropped_total: ['outcome'],
  crosswalk_message_log_written_total: [],
  crosswalk_messages_in_flight: [],
  crosswalk_messages_waiting: [],
  crosswalk_messages_total: ['code', 'endpoint', 'outcome'],
  crosswalk_circuit_open: ['origin'],
  crosswalk_circuit_opened_total: [],
  crosswalk_circuit_refused_calls_total: [],
  crosswalk_outbound_retries_total: ['outcome'],
  crosswalk_deliveries: ['endpoint', 'state'],
  crosswalk_deliveries_bytes: ['endpoint', 'state'],
  crosswalk_deliveries_oldest_seconds: [],
  crosswalk_deliveries_under_way: [],
  crosswalk_delivery_paused_targets: [],
  crosswalk_delivery_attempts_total: ['endpoint', 'result', 'target'],
  crosswalk_table_rows: ['table'],
  crosswalk_table_bytes: ['table'],
  crosswalk_missed_codes_total: ['table'],
  crosswalk_outbound_calls_total: ['endpoint', 'fault', 'kind', 'request', 'status'],
  crosswalk_stage_duration_seconds: ['endpoint', 'stage'],
}

/** Of the exposition itself. */
const written: Record<string, readonly string[]> = { crosswalk_metrics_omitted_samples: [] }

test('/metrics has these names and labels and no others', () => {
  const families = describeMetrics({
    version: '0.0.0',
    messageMetrics: createMessageMetrics(),
    inFlight: () => 0,
    waiting: () => 0,
    connections: () => ({}),
    consumers: () => [],
    mllpPorts: () => [],
    schedules: { status: () => [], counts: new ScheduleCounts() },
    deliveries: { sender: { underWay: 0, pausedTargets: [] }, counts: new DeliveryCounts(), upkeep: undefined },
    tables: { current: new Map() },
    misses: { totals: new Map() },
    isolation: () => ({}),
    messageLog: () => ({ written: 0, dropped: { done: 0, partial: 0, refused: 0, failed: 0 } }),
    httpClient: () => ({ open: [], opened: 0, refused: 0, retries: 0, retriesWithheld: 0 }),
  })
  assert.deepEqual(Object.fromEntries(families.map(({ name, labels }) => [name, [...labels].sort()])), own)
})

describeServices('/metrics', { METRICS_MAX_ENDPOINTS: '5' }, (stage) => {
  const scrape = async () => readExposition((await call(stage.service.adminUrl, 'GET', '/metrics')).text)
  const send = (path: string, body: JsonObject = {}) => stage.service.fetch(path, json('POST', body))

  test('gives each series exactly the labels of its name, and none a path, an id or a value of a message', async () => {
    const lookup = (id: string, path: string) => ({ id, config: { url: `${upstream.url}${path}?token=s3cret` } })
    const { _id } = await stage.service.register({
      name: 'looked up',
      endpoint: { pattern: '/looked/:who' },
      requests: { lookup: [lookup('fine', '/200')], response: [lookup('first', '/404'), lookup('second', '/resets')] },
      state: { extract: { requestBody: { last: 'diagnosis' } } },
    })
    const reply = await send('/looked/Mandela?name=Nelson', { diagnosis: 'plague' })
    assert.equal(reply.headers.get('x-crosswalk-status'), 'partial')
    await send('/unknown/Mandela')
    const { types, series, text } = await scrape()
    assert.deepEqual(
      Object.keys(own).filter((name) => types[name] === undefined),
      [],
    )
    for (const { family, labels } of series.filter(({ name }) => name.startsWith('crosswalk_'))) {
      const names = Object.keys(labels).filter((label) => label !== 'le')
      assert.deepEqual(names.sort(), own[family] ?? written[family], family)
    }
    const id = reply.headers.get('x-crosswalk-message-id') as string
    for (const secret of ['Mandela', 'Nelson', 'plague', 's3cret', upstream.url, '/looked', _id, id])
      assert.ok(!text.includes(secret), secret)
  })

  test('reports every call by its status or its fault', async () => {
    const { series } = await scrape()
    const calls = valuesOf(series, 'crosswalk_outbound_calls_total', { endpoint: 'looked up' })
    assert.deepEqual(
      calls.map(([{ kind, request, status, fault }, count]) => [kind, request, status, fault, count]),
      [
        ['lookup', 'fine', '200', '', 1],
        ['response', 'first', '404', '', 1],
        ['response', 'second', '', 'unreachable', 1],
      ],
    )
  })

  test('reports how long messages and their stages took', async () => {
    const { series, types } = await scrape()
    assert.equal(types.crosswalk_stage_duration_seconds, 'histogram')
    assert.equal(types.nodejs_eventloop_lag_seconds, 'gauge')
    const { versions } = process
    assert.deepEqual(valuesOf(series, 'crosswalk_build_info', {}), [[{ version: '0.0.0', node: versions.node }, 1]])
    const labels = { endpoint: 'looked up' }
    const buckets = valuesOf(series, 'crosswalk_message_duration_seconds_bucket', labels)
    const shown = buckets.map(([{ le }]) => le)
    assert.deepEqual(shown, [...BOUNDS_MS.map((bound) => String(bound / 1000)), '+Inf'])
    assert.equal(buckets.at(-1)?.[1], 1)
    assert.ok(buckets.every(([, count], index) => count >= (buckets[index - 1]?.[1] ?? 0)))
    const [[, sum] = assert.fail()] = valuesOf(series, 'crosswalk_message_duration_seconds_sum', labels)
    assert.ok(sum > 0 && sum < 60)
    assert.deepEqual(
      valuesOf(series, 'crosswalk_stage_duration_seconds_count', labels).map(([{ stage }, count]) => [stage, count]),
      ['recall', 'parse', 'lookup', 'map', 'extract', 'serialise', 'respond'].map((stage) => [stage, 1]),
    )
  })

  test('reports how many records were written, when they are, and that none was given up', async () => {
    const written = async () =>
      valuesOf((await scrape()).series, 'crosswalk_message_log_written_total', {})[0]?.[1] ?? 0
    const before = await written()
    for (let n = 0; n < 3; n += 1) await send('/unknown')
    await send('/looked/Mandela')
    await until(written, (count) => count >= before + 4)
    const { series } = await scrape()
    const dropped = valuesOf(series, 'crosswalk_message_log_dropped_total', {})
    assert.deepEqual(
      dropped.map(([{ outcome }, count]) => [outcome, count]),
      OUTCOMES.map((outcome) => [outcome, 0]),
    )
  })

  test('forgets requests that a change took away, and endpoints that are renamed or deleted', async () => {
    const url = `${upstream.url}/200`
    const withLookups = (ids: readonly string[]) => ({ lookup: ids.map((id) => ({ id, config: { url } })) })
    const base = { endpoint: { pattern: '/changing' }, transformation: { input: 'JSON', output: 'JSON' } }
    const { _id } = await stage.service.register({ ...base, name: 'changing', requests: withLookups(['a', 'b']) })
    const put = (document: JsonObject) =>
      stage.service.fetch(`/endpoints/${_id}`, json('PUT', { ...base, ...document }))
    const requests = async () =>
      valuesOf((await scrape()).series, 'crosswalk_outbound_calls_total', { endpoint: 'changing' }).map(
        ([{ request }]) => request,
      )
    await send('/changing')
    assert.deepEqual(await requests(), ['a', 'b'])
    await put({ name: 'changing', requests: withLookups(['b']) })
    assert.deepEqual(await requests(), ['b'])
    await put({ name: 'changed' })
    await send('/changing')
    const of = async (endpoint: string) => (await scrape()).series.filter(({ labels }) => labels.endpoint === endpoint)
    assert.deepEqual(await of('changing'), [])
    assert.notDeepEqual(await of('changed'), [])
    await stage.service.fetch(`/endpoints/${_id}`, json('DELETE', undefined))
    assert.deepEqual(await of('changed'), [])
  })

  test('reports only so many endpoints one by one', async () => {
    for (let n = 0; n < 9; n += 1) {
      await stage.service.register({ name: `one of many ${n}`, endpoint: { pattern: `/many/${n}` } })
      await send(`/many/${n}`)
    }
    const { series } = await scrape()
    const counted = valuesOf(series, 'crosswalk_messages_total', {}).map(([{ endpoint }, count]) => [endpoint, count])
    const many = counted.filter(([endpoint]) => String(endpoint).startsWith('one of many'))
    const others = counted.filter(([endpoint]) => endpoint === '(others)')
    assert.equal(new Set(counted.map(([endpoint]) => endpoint)).size, 6)
    assert.deepEqual(others, [['(others)', 9 - many.length]])
  })
})
