/** What each source of events makes of two readings. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Table } from '../../../../src/core/tables/table.ts'
import type { TableSet } from '../../../../src/core/tables/table-set.ts'
import type { CompiledEndpoint } from '../../../../src/endpoints/compiled-endpoint.ts'
import { createEndpointRegistry } from '../../../../src/endpoints/endpoint-registry.ts'
import type { ConsumerStatus } from '../../../../src/inbound/kafka/endpoint-consumers.ts'
import {
  createEndpointEvents,
  createMessageEvents,
  createReplayEvents,
  createStatusEvents,
  createTableEvents,
} from '../../../../src/observe/events/event-sources.ts'
import type { MessageCount, ProcessCounts } from '../../../../src/observe/metrics/message-metrics.ts'

describe('counts of messages', () => {
  const done = (count: number, endpoint = 'a'): MessageCount => ({ endpoint, outcome: 'done', code: '', count })
  const failed = (count: number, code: string): MessageCount => ({ endpoint: 'a', outcome: 'failed', code, count })
  const of = (process: string, ...counts: MessageCount[]): ProcessCounts => ({ process, counts })

  type Case = readonly [
    name: string,
    first: readonly ProcessCounts[],
    later: readonly ProcessCounts[],
    done: number,
    failures: readonly (readonly [code: string, count: number, isNew: boolean])[],
  ]
  const cases: readonly Case[] = [
    ['are those since the reading before', [of('p', done(5))], [of('p', done(8))], 3, []],
    ['are added up over processes', [of('p', done(1)), of('q', done(2))], [of('q', done(3)), of('p', done(4))], 4, []],
    [
      'leave out what a new process had counted before',
      [of('p', done(1))],
      [of('p', done(2)), of('q', done(100))],
      1,
      [],
    ],
    ['start again with a counter that started again', [of('p', done(50))], [of('p', done(2))], 2, []],
    [
      'have the failures, new ones marked, the largest first',
      [of('p', failed(1, 'OLD'))],
      [of('p', failed(2, 'OLD'), failed(3, 'NEW'))],
      0,
      [
        ['NEW', 3, true],
        ['OLD', 1, false],
      ],
    ],
    [
      'mark no failure as new that one process knew',
      [of('p', failed(1, 'X')), of('q')],
      [of('p', failed(2, 'X')), of('q', failed(1, 'X'))],
      0,
      [['X', 2, false]],
    ],
  ]
  for (const [name, first, later, expected, failures] of cases) {
    test(name, async () => {
      const readings = [first, later, later]
      const source = createMessageEvents({
        readCounts: async () => readings.shift() ?? [],
        findEndpointId: (endpoint) => `id of ${endpoint}`,
        clock: () => 0,
      })
      await source.start()
      const events = (await source.poll()) as readonly { type: string; data: Record<string, unknown> }[]
      assert.equal(events[0]?.data.done, expected)
      const groups = (events[1]?.data.groups ?? []) as { code: string; count: number; isNew: boolean }[]
      assert.deepEqual(
        groups.map(({ code, count, isNew }) => [code, count, isNew]),
        failures,
      )
      assert.deepEqual(await source.poll(), [], 'nothing has changed')
    })
  }

  test('of a process that did not answer once are in the next event', async () => {
    const readings = [[of('p', done(1))], [], [of('p', done(7))]]
    const source = createMessageEvents({
      readCounts: async () => readings.shift() ?? [],
      findEndpointId: () => undefined,
      clock: () => 0,
    })
    await source.start()
    assert.deepEqual(await source.poll(), [])
    const [event] = (await source.poll()) as readonly { data: { done: number } }[]
    assert.equal(event?.data.done, 6)
  })
})

test('an endpoint whose document is refused is inactive, not deleted, and changed when it is active again', async () => {
  const registry = createEndpointRegistry()
  const compiled = (version: number) =>
    ({
      version,
      document: { _id: 'a', name: 'n' },
      endpoint: { endpoint: { method: 'POST', pattern: '/a' } },
      claims: [{ key: 'http POST /a' }],
    }) as unknown as CompiledEndpoint
  let inactive: readonly string[] = []
  const source = createEndpointEvents(registry, () => inactive)
  const changes = async () =>
    ((await source.poll()) as readonly { data: { changes: { change: string }[] } }[]).flatMap(({ data }) =>
      data.changes.map(({ change }) => change),
    )
  await source.start()
  registry.put(compiled(1))
  assert.deepEqual(await changes(), ['created'])
  assert.deepEqual(await changes(), [])
  inactive = ['a']
  registry.remove('a')
  assert.deepEqual(await changes(), ['inactive'])
  inactive = []
  registry.put(compiled(2))
  assert.deepEqual(await changes(), ['changed'])
  registry.remove('a')
  assert.deepEqual(await changes(), ['deleted'])
})

test('a table is created, changed and deleted', async () => {
  const table = { columns: ['code', 'text'], size: 0, bytes: 0 } as unknown as Table
  const of = (...versions: readonly number[]): TableSet =>
    new Map(versions.map((version, index) => [`t${index}`, { name: `t${index}`, version, table }]))
  const active = { current: of(1) }
  const source = createTableEvents(active)
  const poll = async (next: TableSet) => {
    active.current = next
    return (await source.poll()).map(({ data }) => data)
  }
  await source.start()
  assert.deepEqual(await poll(of(1)), [])
  assert.deepEqual(await poll(of(2, 1)), [
    {
      changes: [
        { change: 'changed', name: 't0', version: 2 },
        { change: 'created', name: 't1', version: 1 },
      ],
      tables: 2,
    },
  ])
  assert.deepEqual(await poll(of(2)), [{ changes: [{ change: 'deleted', name: 't1' }], tables: 1 }])
})

test('the status is an event when it changes, with the consumers that have changed', async () => {
  const consumer = (endpointId: string, lag: number) =>
    ({ endpointId, lag, partitions: [{ partition: 0 }] }) as unknown as ConsumerStatus
  const readings = [
    { ready: true, consumers: [consumer('a', 0), consumer('b', 0)] },
    { ready: true, consumers: [consumer('a', 0), consumer('b', 7)] },
    { ready: true, consumers: [consumer('a', 0), consumer('b', 7)] },
    { ready: false, consumers: [consumer('a', 0), consumer('b', 7)] },
    { ready: false, consumers: [consumer('a', 0)] },
  ]
  const source = createStatusEvents(async () => readings.shift() ?? { consumers: [] })
  await source.start()
  const data = async () => (await source.poll()).map((event) => event.data)
  assert.deepEqual(await data(), [{ ready: true, consumers: [{ endpointId: 'b', lag: 7 }] }])
  assert.deepEqual(await data(), [])
  assert.deepEqual(await data(), [{ ready: false, consumers: [] }])
  assert.deepEqual(await data(), [{ ready: false, consumers: [] }])
})

test('a replay plan is an event when it changes', async () => {
  const plan = (id: string, done: number) => ({
    id,
    state: 'running',
    count: 9,
    done,
    failed: 0,
    skipped: 0,
    left: 9 - done,
  })
  const readings = [[plan('a', 0)], [plan('a', 0)], [plan('a', 1), plan('b', 0)], [plan('b', 0)]]
  const source = createReplayEvents(() => readings.shift() ?? [])
  await source.start()
  const data = async () => (await source.poll()).map((event) => event.data)
  assert.deepEqual(await data(), [])
  assert.deepEqual(await data(), [plan('a', 1), plan('b', 0)])
  assert.deepEqual(await data(), [])
})
