import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { MessageRecord } from '../../../src/core/records/message-record.ts'
import type { MessageFilter } from '../../../src/store/sql/messages.ts'
import {
  doneLineOf,
  messageId,
  recordAt,
  recordedAt,
  START,
  withBodies,
} from '../../support/contracts/message-records.ts'
import { describeStores } from '../../support/contracts/stores.ts'

/** Everything that a record can have, with what databases like to break. */
const FULL: MessageRecord = recordAt(0, {
  endpoint: 'a "b"\n\u0000 ü \ud800',
  endpointVersion: 3,
  source: 'replay',
  outcome: 'failed',
  status: 502,
  code: 'LOOKUP_UNREACHABLE',
  stage: 'lookup',
  path: 'requests.lookup[0]',
  error: 'no \u001f answer\u0000',
  calls: [
    { kind: 'lookup', id: 'a', method: 'GET', target: 'http://x/', startMs: 0.1, ms: 2.5, status: 200 },
    {
      kind: 'response',
      id: 'b\u001f',
      method: 'POST',
      target: 'kafka:t',
      item: 3,
      startMs: 1,
      ms: 0,
      fault: 'timeout',
    },
  ],
  keys: { patient: 'P\u0000\u001f1', orders: ['1', '2', '2'], 'a b': 'x'.repeat(200) },
  replayOf: messageId(-1),
})

/** None of the records is in it. */
const NO_MINUTES = { from: 0, count: 0 }

const E1 = '1'.repeat(24)
const E2 = '2'.repeat(24)

const AWAY = {
  outcome: 'failed',
  status: 502,
  code: 'LOOKUP_UNREACHABLE',
  stage: 'lookup',
  path: 'requests.lookup[0]',
} as const
const RECORDS: readonly MessageRecord[] = [
  recordAt(0, { endpointId: E1, keys: { patient: 'P1' } }),
  recordAt(1, { endpointId: E1, endpointVersion: 3, ...AWAY, error: 'The lookup "a" got no Answer (100 %).' }),
  recordAt(2, { endpointId: E2, endpointVersion: 3, source: 'broker', keys: { patient: ['P1', 'P2'], order: 'O1' } }),
  recordAt(3, { endpointId: E2, outcome: 'refused', status: 400, code: 'VALIDATION_FAILED', stage: 'validate' }),
  recordAt(4, { endpointId: E1, outcome: 'partial', keys: { order: 'P1' }, captured: true }),
  recordAt(5, { endpointId: E1, source: 'replay', replayOf: messageId(1) }),
  recordAt(6, { endpointId: E1, endpointVersion: 4, ...AWAY, error: 'no answer: ÄRZTE' }),
]

const FILTERS: readonly Readonly<{ filter: MessageFilter; finds: readonly number[] }>[] = [
  { filter: {}, finds: [6, 5, 4, 3, 2, 1, 0] },
  { filter: { endpointId: [E2] }, finds: [3, 2] },
  { filter: { endpointId: [] }, finds: [] },
  { filter: { outcome: ['failed', 'partial'] }, finds: [6, 4, 1] },
  { filter: { outcome: ['done', 'partial'] }, finds: [5, 4, 2, 0] },
  { filter: { code: ['VALIDATION_FAILED'] }, finds: [3] },
  { filter: { stage: ['lookup', 'validate'] }, finds: [6, 3, 1] },
  { filter: { source: ['broker', 'replay'] }, finds: [5, 2] },
  { filter: { status: [400, 502] }, finds: [6, 3, 1] },
  { filter: { key: [{ name: 'patient', value: 'P1' }] }, finds: [2, 0] },
  { filter: { key: [{ value: 'P1' }] }, finds: [4, 2, 0] },
  { filter: { key: [{ value: 'P2' }, { name: 'order', value: 'P1' }] }, finds: [4, 2] },
  { filter: { key: [{ value: "P1' or 1=1 --" }] }, finds: [] },
  { filter: { key: [] }, finds: [] },
  { filter: { from: START + 5 }, finds: [6, 5] },
  { filter: { to: START + 2 }, finds: [1, 0] },
  { filter: { from: START + 2, to: START + 4, endpointId: [E2] }, finds: [3, 2] },
  { filter: { replayOf: [messageId(1)] }, finds: [5] },
  { filter: { captured: true }, finds: [4] },
  { filter: { captured: false }, finds: [6, 5, 3, 2, 1, 0] },
  { filter: { replayed: true }, finds: [1] },
  { filter: { replayed: false }, finds: [6, 4, 3] },
  { filter: { replayed: false, outcome: ['failed'] }, finds: [6] },
  { filter: { outcome: ['failed'], endpointId: [E2] }, finds: [] },
  { filter: { id: [messageId(6), messageId(0), messageId(9)] }, finds: [6, 0] },
  { filter: { id: [messageId(6), messageId(0)], outcome: ['failed'] }, finds: [6] },
  { filter: { id: [] }, finds: [] },
  { filter: { version: [3] }, finds: [2, 1] },
  { filter: { version: [3, 4], endpointId: [E1] }, finds: [6, 1] },
  { filter: { path: ['requests.lookup[0]'] }, finds: [6, 1] },
  { filter: { path: ['requests.lookup'] }, finds: [] },
  { filter: { path: [], version: [3] }, finds: [] },
  { filter: { error: ['ANSWER'] }, finds: [6, 1] },
  { filter: { error: ['ÄRZTE'] }, finds: [6] },
  { filter: { error: ['Ärzte'] }, finds: [6] },
  { filter: { error: ['100 %', 'nothing'] }, finds: [1] },
  { filter: { error: ['10% %', '1_0'] }, finds: [] },
  { filter: { error: ['lookup "a"'] }, finds: [1] },
  { filter: { error: ["' or 1=1 --"] }, finds: [] },
]

describeStores('messages', (stage) => {
  const store = () => stage.store.messages
  const append = (...records: MessageRecord[]) => store().append(records.map((record) => ({ record, bodies: [] })))

  it('finds nothing at first', async () => {
    assert.deepEqual(await store().find({}, 10), [])
    assert.equal(await store().get(messageId(0)), undefined)
    assert.equal(await store().body(messageId(0), 'incoming'), undefined)
    assert.equal(await store().count({}), 0)
    assert.deepEqual(await store().groups({}, NO_MINUTES), [])
    assert.equal(await store().purge(Number.MAX_SAFE_INTEGER, 0), 0)
    await store().append([])
  })

  it('gives back what was stored', async () => {
    const bare = recordAt(1, { ms: 0, stages: [], status: 404, outcome: 'refused', code: 'ROUTE_UNKNOWN' })
    const { endpoint, endpointId, ...unknown } = bare
    await append(FULL, unknown)
    assert.deepEqual(await store().get(FULL.id), FULL)
    assert.deepEqual(await store().get(unknown.id), unknown)
    assert.deepEqual(await store().find({}, 10), [unknown, FULL])
    for (const value of ['P\u0000\u001f1', '2', 'x'.repeat(200)]) {
      assert.deepEqual(await store().find({ key: [{ value }] }, 10), [FULL], JSON.stringify(value))
    }
  })

  it('takes what ended done as lines too', async () => {
    const records = [
      recordAt(0, { endpoint: 'a "b"\n\u001f ü' }),
      recordAt(1, { source: 'broker', status: 201, stages: [] }),
    ]
    const lines = Buffer.from(records.map(doneLineOf).join(''))
    await store().appendDone(lines)
    await store().appendDone(lines)
    await store().appendDone(new Uint8Array())
    assert.deepEqual(await store().find({}, 10), records.toReversed())
    assert.deepEqual(await store().get(messageId(1)), records[1])
    assert.deepEqual(await store().find({}, 10, messageId(1)), [records[0]])
    // Those that were written together may leave together, when the last of them is old.
    await store().purge(START + 1, 1e12)
    assert.deepEqual((await store().find({}, 10))[0], records[1])
    await store().purge(START + 2, 1e12)
    assert.deepEqual(await store().find({}, 10), [])
  })

  it('finds lines among records, in whatever order they were written', async () => {
    const recordOf = (ms: number) =>
      recordAt(ms, {
        endpointId: ms % 3 === 0 ? E1 : E2,
        // A name must not look like a version.
        endpoint: 'a\\",3,"',
        source: ms % 4 === 0 ? 'http' : 'broker',
        ...(ms % 2 === 0 ? { endpointVersion: 2 } : {}),
        status: 200 + (ms % 2),
      })
    const linesOf = (...times: number[]) => Buffer.from(times.map((ms) => doneLineOf(recordOf(ms))).join(''))
    // Each batch holds messages that started before and after those of another.
    await store().appendDone(linesOf(7, 1, 9))
    await store().appendDone(linesOf(2, 8))
    await store().appendDone(linesOf(11, 6, 5))
    await append(
      recordAt(0, { endpointId: E1, endpointVersion: 2 }),
      recordAt(3, { endpointId: E2, outcome: 'failed', status: 500, captured: true }),
    )
    await append(recordAt(10, { endpointId: E1, endpointVersion: 2, source: 'broker' }))
    const all = [11, 10, 9, 8, 7, 6, 5, 3, 2, 1, 0].map(messageId)
    const idsOf = async (filter: MessageFilter, limit = 20, before?: string) =>
      (await store().find(filter, limit, before)).map(({ id }) => id)

    assert.deepEqual(await idsOf({}), all)
    for (const limit of [1, 2, 3]) {
      const pages: string[] = []
      for (let page = await idsOf({}, limit); page.length > 0; page = await idsOf({}, limit, page.at(-1))) {
        pages.push(...page)
      }
      assert.deepEqual(pages, all, `${limit} a page`)
    }
    const table: readonly (readonly [MessageFilter, readonly number[]])[] = [
      [{ endpointId: [E1] }, [10, 9, 6, 0]],
      [{ endpointId: [E2] }, [11, 8, 7, 5, 3, 2, 1]],
      [{ endpointId: [] }, []],
      [{ outcome: ['done'] }, [11, 10, 9, 8, 7, 6, 5, 2, 1, 0]],
      [{ outcome: ['failed'] }, [3]],
      [{ code: ['INTERNAL'] }, []],
      [{ stage: ['map'] }, []],
      [{ source: ['http'] }, [8, 3, 0]],
      [{ status: [201] }, [11, 9, 7, 5, 1]],
      [{ id: [8, 3, 10, 1, 4].map(messageId) }, [10, 8, 3, 1]],
      [{ id: [8, 3, 10, 1].map(messageId), from: START + 2, to: START + 9 }, [8, 3]],
      [{ version: [2] }, [10, 8, 6, 2, 0]],
      [{ path: ['x'] }, []],
      [{ error: ['x'] }, []],
      [{ from: START + 5, to: START + 8 }, [7, 6, 5]],
      [{ key: [{ value: 'a' }] }, []],
      [{ replayOf: [messageId(1)] }, []],
      [{ captured: true }, [3]],
      [{ captured: false }, [11, 10, 9, 8, 7, 6, 5, 2, 1, 0]],
    ]
    for (const [filter, times] of table) {
      assert.deepEqual(await idsOf(filter), times.map(messageId), JSON.stringify(filter))
      assert.equal(await store().count(filter), times.length, JSON.stringify(filter))
    }
    for (const id of all) assert.equal((await store().get(id))?.id, id)
    assert.equal(await store().get(messageId(4)), undefined)
    while ((await store().purge(0, 0)) > 0) {}
    assert.deepEqual(await idsOf({}), [])
  })

  it('keeps bodies apart, byte for byte', async () => {
    const one = withBodies(recordedAt(0), {
      incoming: 'one \u0000 ü',
      'lookup.a\u001f\u0000': '',
      answer: 'x'.repeat(70_000),
    })
    const two = withBodies(recordedAt(1), { incoming: 'two' })
    await store().append([one, recordedAt(2), two])
    for (const { record, bodies } of [one, two]) {
      assert.deepEqual(await store().get(record.id), record)
      for (const body of bodies) {
        const stored = await store().body(record.id, body.summary.which)
        assert.deepEqual(stored?.summary, body.summary)
        assert.deepEqual(Buffer.from(stored?.content ?? []), Buffer.from(body.content))
      }
    }
    assert.equal(await store().body(two.record.id, 'answer'), undefined)
  })

  it('leaves what is there already as it is', async () => {
    const first = withBodies(recordedAt(0, { keys: { a: '1' } }), { incoming: 'first' })
    const second = withBodies(recordedAt(0, { status: 500 }), { incoming: 'second' })
    await store().append([first])
    await store().append([second, recordedAt(1)])
    assert.deepEqual(await store().find({}, 10), [recordAt(1), first.record])
    assert.equal(Buffer.from((await store().body(messageId(0), 'incoming'))?.content ?? []).toString(), 'first')
  })

  it('gives the newest first, page by page', async () => {
    await append(...[3, 1, 2, 0, 4].map((ms) => recordAt(ms)))
    const ids = async (limit: number, before?: string) =>
      (await store().find({ endpointId: ['0'.repeat(24)] }, limit, before)).map(({ id }) => id)
    assert.deepEqual(await ids(2), [messageId(4), messageId(3)])
    assert.deepEqual(await ids(2, messageId(3)), [messageId(2), messageId(1)])
    assert.deepEqual(await ids(2, messageId(1)), [messageId(0)])
    assert.deepEqual(await ids(2, messageId(0)), [])
  })

  it('finds the records of a filter, and counts them', async () => {
    await append(...RECORDS)
    for (const { filter, finds } of FILTERS) {
      const found = await store().find(filter, 10)
      const shown = found.map(({ id }) => id)
      assert.deepEqual(shown, finds.map(messageId), JSON.stringify(filter))
      assert.equal(await store().count(filter), finds.length)
      const failures = finds.filter((ms) => RECORDS[ms]?.outcome !== 'done')
      const groups = await store().groups(filter, NO_MINUTES)
      assert.equal(
        groups.reduce((sum, { count }) => sum + count, 0),
        failures.length,
      )
    }
  })

  it('counts a message as replayed where a replay of its replay ended done, and counts no replay', async () => {
    const failed = { outcome: 'failed', status: 502 } as const
    const replay = (ms: number, of: number, changes: Partial<MessageRecord> = {}) =>
      recordAt(ms, { source: 'replay', replayOf: messageId(of), ...changes })
    await append(
      ...[0, 1, 2, 3].map((ms) => recordAt(ms, failed)),
      replay(4, 0, failed),
      replay(5, 4, failed),
      replay(6, 5),
      replay(7, 1, failed),
      replay(8, 2, { outcome: 'partial' }),
      // Of a message whose record is gone.
      replay(9, -1),
    )
    const ids = async (replayed: boolean) => (await store().find({ replayed }, 20)).map(({ id }) => id)
    assert.deepEqual(await ids(true), [0].map(messageId))
    assert.deepEqual(await ids(false), [3, 2, 1].map(messageId))
    assert.equal(await store().count({ replayed: false }), 3)
  })

  it('groups failures that are alike, the most first', async () => {
    const invalid = { outcome: 'refused', status: 400, code: 'VALIDATION_FAILED', stage: 'validate' } as const
    const renamed = [7, 8].map((ms) => recordAt(ms, { endpointId: E2, endpoint: 'renamed', ...invalid }))
    await append(...RECORDS, ...renamed)
    const groupOf = (key: object, count: number, first: number, last: number) => ({
      endpointId: E1,
      endpoint: 'intake',
      stage: undefined,
      code: undefined,
      path: undefined,
      count,
      firstSeen: new Date(START + first).toISOString(),
      lastSeen: new Date(START + last).toISOString(),
      sampleId: messageId(last),
      minutes: [],
      ...key,
    })
    assert.deepEqual(await store().groups({}, NO_MINUTES), [
      groupOf({ endpointId: E2, endpoint: 'renamed', stage: 'validate', code: 'VALIDATION_FAILED' }, 3, 3, 8),
      groupOf({ stage: 'lookup', code: 'LOOKUP_UNREACHABLE', path: 'requests.lookup[0]' }, 2, 1, 6),
      groupOf({}, 1, 4, 4),
    ])
  })

  it('groups failures by their path, and counts them by minute', async () => {
    const minute = 60_000
    const from = Math.floor(START / minute) * minute
    const failed = (ms: number, path?: string) =>
      recordAt(from - START + ms, {
        endpointId: E1,
        outcome: 'failed',
        code: 'X',
        stage: 'map',
        ...(path === undefined ? {} : { path }),
      })
    const long = 'y'.repeat(3_000)
    await append(
      failed(-1, 'a'),
      failed(0, 'a'),
      failed(1, 'b\u0000'),
      failed(minute - 1, 'a'),
      failed(minute, 'a'),
      failed(2 * minute + 5, long),
      failed(3 * minute, 'a'),
      recordAt(5, { endpointId: E1 }),
    )
    const groups = await store().groups({ endpointId: [E1] }, { from, count: 3 })
    const within = await store().groups({ path: ['a'], to: from + 1 }, { from, count: 3 })
    const shown = [...groups, ...within].map(({ path, count, minutes }) => [path, count, minutes])
    assert.deepEqual(shown, [
      ['a', 5, [2, 1, 0]],
      [long, 1, [0, 0, 1]],
      ['b\u0000', 1, [1, 0, 0]],
      ['a', 2, [1, 0, 0]],
    ])
    assert.equal(await store().count({ path: [long] }), 1)
  })

  const purgeAll = async (before: number, maxBytes: number): Promise<number> => {
    let removed = 0
    for (;;) {
      const batch = await store().purge(before, maxBytes)
      if (batch === 0) return removed
      removed += batch
    }
  }

  it('purges what is too old, with its bodies and keys', async () => {
    const many = Array.from({ length: 1_200 }, (_, ms) => recordedAt(ms, { keys: { a: 'k' } }))
    await store().append(many.map((recorded) => withBodies(recorded, { incoming: 'x' })))
    assert.equal(await purgeAll(START + 1_199, 1e12), 1_199)
    const ids = (await store().find({}, 10)).map(({ id }) => id)
    assert.deepEqual(ids, [messageId(1_199)])
    assert.equal(await store().count({ key: [{ value: 'k' }] }), 1)
    assert.equal(await store().body(messageId(1), 'incoming'), undefined)
    assert.notEqual(await store().body(messageId(1_199), 'incoming'), undefined)
  })

  it('purges the oldest, and no more than it takes, where all take too much', async () => {
    const text = 'x'.repeat(20_000)
    await store().append(Array.from({ length: 400 }, (_, ms) => withBodies(recordedAt(ms), { incoming: text })))
    assert.equal(await purgeAll(0, 20_000_000), 0)
    await purgeAll(0, 4_000_000)
    const left = await store().find({}, 1_000)
    assert.ok(left.length > 130 && left.length < 200, `${left.length} messages are left`)
    assert.equal(left[0]?.id, messageId(399))
    assert.equal(left.at(-1)?.id, messageId(400 - left.length))
  })

  it('purges what takes more than its share, and leaves the records of the other endpoints', async () => {
    const [flood, few, quick] = ['f', 'a', 'b'].map((digit) => digit.repeat(24))
    assert.ok(flood && few && quick)
    const failed = (ms: number, endpointId: string, text: string) =>
      withBodies(recordedAt(ms, { endpointId, outcome: 'failed', status: 500 }), { incoming: text })
    const lines = (from: number, count: number, endpointId: string) =>
      Array.from({ length: count }, (_, ms) => doneLineOf(recordAt(from + ms, { endpointId }))).join('')
    const text = 'x'.repeat(20_000)
    const older = Array.from({ length: 50 }, (_, ms) => failed(ms, few, text))
    await store().append([...older, recordedAt(60), recordedAt(61, { endpointId: quick, outcome: 'refused' })])
    await store().appendDone(Buffer.from(lines(100, 3, quick) + lines(200, 2_000, flood)))
    for (let from = 10_000; from < 10_400; from += 100) {
      await store().append(Array.from({ length: 100 }, (_, ms) => failed(from + ms, flood, text)))
    }
    await purgeAll(0, 4_000_000)
    const counts = async () => {
      const count = (endpointId: string) => store().count({ endpointId: [endpointId] })
      return [await count(few), await count(quick), await count('0'.repeat(24))]
    }
    assert.deepEqual(await counts(), [50, 4, 1])
    const left = await store().find({ endpointId: [flood] }, 1_000)
    assert.ok(left.length > 80 && left.length < 150, `${left.length} of the flood are left`)
    assert.deepEqual([left[0]?.id, left.at(-1)?.id], [messageId(10_399), messageId(10_400 - left.length)])
    // Below the share of each, all are equal.
    await purgeAll(0, 800_000)
    const [fewLeft = 0, ...others] = await counts()
    const floodLeft = await store().count({ endpointId: [flood] })
    assert.deepEqual(others, [4, 1])
    assert.ok(Math.abs(fewLeft - floodLeft) <= 4 && fewLeft > 5, `${fewLeft} and ${floodLeft}`)
  })

  it('holds the messages of plans through every purge, until they are released', async () => {
    const text = 'x'.repeat(2_000)
    const failed = (ms: number) => withBodies(recordedAt(ms, { outcome: 'failed' }), { incoming: text })
    await store().append(Array.from({ length: 1_200 }, (_, ms) => failed(ms)))
    const ids = Array.from({ length: 1_100 }, (_, ms) => messageId(ms))
    const [one, other, third] = ['a', 'b', 'c'].map((digit) => digit.repeat(24))
    assert.ok(one && other && third)
    assert.equal(await store().hold(one, [...ids, messageId(99_999)], 1e12), true)
    assert.equal(await store().hold(other, ids.slice(0, 3), 1e12), true)
    assert.equal(await store().hold(third, [messageId(1_150)], 2_000_000), false, 'all held messages take more')
    assert.equal(await purgeAll(START + 10_000, 0), 100)
    assert.equal(await store().count({}), 1_100)
    await store().release([other], 'b'.repeat(24))
    assert.equal(await purgeAll(0, 0), 1_097)
    // One that has just been planned is not in the list of plans yet.
    await store().release([], other)
    assert.equal(await purgeAll(START + 10_000, 0), 0)
    await store().release([], 'f'.repeat(24))
    assert.equal(await purgeAll(START + 10_000, 1e12), 3)
  })

  it('has what was written after it was opened again', async () => {
    if (!stage.kind.durable) return
    await append(FULL)
    await stage.reopen()
    assert.deepEqual(await store().get(FULL.id), FULL)
  })
})
