/** Replay plans and the marks of failure groups, the same over every store. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { PlanProgress, PlanState } from '../../../src/core/replays/replay-plan.ts'
import type { GroupMark } from '../../../src/store/sql/failure-group-store.ts'
import type { GroupKey } from '../../../src/store/sql/messages.ts'
import type { NewPlan } from '../../../src/store/sql/replay-plan-store.ts'
import { describeStores, SHARED_SQLITE, STORES } from '../../support/contracts/stores.ts'
import { until } from '../../support/until.ts'

const NONE: PlanProgress = { next: 0, open: [], done: 0, failed: 0, skipped: [], failures: [] }
const idOf = (n: number): string => n.toString(16).padStart(24, '0')
const planOf = (n: number, count = 2): NewPlan => ({
  id: idOf(n),
  content: {
    createdAt: '2027-01-01T00:00:00.000Z',
    filter: { endpoint: ['a \u0000 ü \ud800'] },
    count,
    groups: [],
    cannot: [],
  },
  progress: NONE,
})

describeStores(
  'replay plans',
  (stage) => {
    const plans = () => stage.store.replayPlans
    const ids = (count: number) => Array.from({ length: count }, (_, n) => idOf(n + 1_000))
    const put = async (...numbers: number[]) => {
      for (const n of numbers) assert.equal(await plans().insert(planOf(n), ids(2), 10), true)
    }
    const become = (n: number, state: PlanState, owner?: string) =>
      plans().change(idOf(n), ({ progress }) => ({
        state,
        progress,
        ...(owner === undefined ? {} : { lease: { owner, ms: 60_000 } }),
      }))
    const listed = async () => (await plans().list()).map(({ id }) => Number.parseInt(id, 16))

    it('are none at first', async () => {
      assert.deepEqual(await plans().list(), [])
      assert.equal(await plans().get(idOf(1)), undefined)
      assert.deepEqual(await plans().messageIds(idOf(1)), [])
      assert.deepEqual(await plans().abandoned(), [])
      assert.equal(await become(1, 'running'), undefined)
      assert.equal(await plans().save(idOf(1), 'me', NONE, 1_000), undefined)
    })

    it('are stored with their messages, and are there after a restart', async () => {
      const many = ids(2_345)
      assert.equal(await plans().insert(planOf(1, 2_345), many, 10), true)
      await put(2)
      const stored = { ...planOf(1, 2_345), state: 'planned', owner: undefined }
      assert.deepEqual(await plans().get(idOf(1)), stored)
      assert.deepEqual(await plans().messageIds(idOf(1)), many)
      assert.deepEqual(await listed(), [2, 1])
      await stage.reopen()
      assert.deepEqual(await plans().get(idOf(1)), stage.kind.durable ? stored : undefined)
      assert.deepEqual(await plans().messageIds(idOf(1)), stage.kind.durable ? many : [])
    })

    it('make room for a new one: the ended first, then those that wait, never one that runs', async () => {
      await put(1, 2, 3, 4)
      await become(1, 'running', 'me')
      await become(3, 'finished')
      // It has messages in flight still.
      await become(4, 'cancelled', 'me')
      for (const [n, left] of [
        [5, [5, 4, 2, 1]],
        [6, [6, 5, 4, 1]],
        [7, [7, 6, 4, 1]],
      ] as const) {
        assert.equal(await plans().insert(planOf(n), ids(2), 4), true)
        assert.deepEqual(await listed(), left)
      }
      for (const n of [6, 7]) await become(n, 'running', 'me')
      assert.equal(await plans().insert(planOf(8), ids(2), 4), false)
      assert.deepEqual(await listed(), [7, 6, 4, 1])
      assert.deepEqual(await plans().messageIds(idOf(2)), [])
    })

    it('are changed by one call at a time', async () => {
      await put(1)
      const claim = (owner: string) =>
        plans().change(idOf(1), ({ state, progress }) =>
          state === 'planned' ? { state: 'running', progress, lease: { owner, ms: 60_000 } } : undefined,
        )
      const results = await Promise.all(['a', 'b', 'c', 'd'].map(claim))
      const [owner] = results.map((plan) => plan?.owner)
      assert.ok(owner !== undefined)
      const owners = results.map((plan) => plan?.owner)
      assert.deepEqual(owners, Array(4).fill(owner))
    })

    it('are saved by their owner alone', async () => {
      await put(1)
      await become(1, 'running', 'me')
      const progress = { ...NONE, next: 2, open: [idOf(1)], done: 1 }
      assert.equal(await plans().save(idOf(1), 'another', progress, 60_000), undefined)
      assert.deepEqual((await plans().get(idOf(1)))?.progress, NONE)
      assert.equal(await plans().save(idOf(1), 'me', progress, 60_000), 'running')
      assert.deepEqual((await plans().get(idOf(1)))?.progress, progress)
      // Another caller cancels it; what is in flight is still counted.
      await become(1, 'cancelled')
      assert.equal(await plans().save(idOf(1), 'me', { ...progress, done: 2 }, 60_000), 'cancelled')
      await plans().change(idOf(1), ({ state, progress: last }) => ({ state, progress: last, lease: 'drop' }))
      assert.equal(await plans().save(idOf(1), 'me', NONE, 60_000), undefined)
      assert.deepEqual(
        [(await plans().get(idOf(1)))?.progress.done, (await plans().get(idOf(1)))?.owner],
        [2, undefined],
      )
    })

    it('are abandoned when a lease ends, expires or was never there', async () => {
      await put(1, 2, 3, 4)
      await become(1, 'running', 'me')
      await become(2, 'running')
      await become(3, 'paused')
      await plans().change(idOf(4), ({ progress }) => ({ state: 'running', progress, lease: { owner: 'me', ms: 50 } }))
      const abandoned = await until(
        () => plans().abandoned(),
        ({ length }) => length > 1,
      )
      assert.deepEqual(abandoned, [idOf(2), idOf(4)])
      assert.equal((await plans().get(idOf(4)))?.owner, undefined)
      // Nobody has taken it over, so its owner may go on.
      assert.equal(await plans().save(idOf(4), 'me', NONE, 60_000), 'running')
      assert.deepEqual(await plans().abandoned(), [idOf(2)])
    })

    it('end when they have not run for long, and are listed until they end', async () => {
      await put(1, 2, 3, 4, 5, 6)
      await become(1, 'finished')
      await become(2, 'running', 'me')
      await become(3, 'paused', 'me')
      await become(4, 'waiting')
      assert.deepEqual(await plans().unended(idOf(4)), [2, 3, 4, 5, 6].map(idOf))
      assert.deepEqual(await plans().unended(idOf(6)), [2, 3, 6].map(idOf))
      const states = (await plans().list()).map(({ state }) => state)
      assert.deepEqual(states, ['planned', 'cancelled', 'cancelled', 'paused', 'running', 'finished'])
    })
  },
  [...STORES, SHARED_SQLITE],
)

describeStores('marks of failure groups', (stage) => {
  const groups = () => stage.store.failureGroups
  const group = (path?: string): GroupKey => ({ endpointId: idOf(1), stage: 'map', code: undefined, path })
  const mark = (n: number, changes: Partial<GroupMark> = {}): GroupMark => ({
    state: 'acknowledged',
    by: 'key:1',
    at: new Date(1_800_000_000_000 + n).toISOString(),
    ...changes,
  })

  it('are none at first', async () => assert.deepEqual(await groups().list(), []))

  it('are replaced, listed with the newest first, and there after a restart', async () => {
    const wild = { note: '\u0000 ü \ud800 "x"', state: 'ignored' } as const
    await groups().put(group('a'), mark(1), 10)
    await groups().put(group('b\u0000'.repeat(1_000)), mark(2, wild), 10)
    await groups().put(group(), mark(3), 10)
    await groups().put(group('a'), mark(4, { state: 'open' }), 10)
    const all = [
      { group: group('a'), mark: mark(4, { state: 'open' }) },
      { group: group(), mark: mark(3) },
      { group: group('b\u0000'.repeat(1_000)), mark: mark(2, wild) },
    ]
    assert.deepEqual(await groups().list(), all)
    await stage.reopen()
    assert.deepEqual(await groups().list(), stage.kind.durable ? all : [])
  })

  it('are bounded: the oldest are removed', async () => {
    for (let n = 0; n < 6; n += 1) await groups().put(group(`p${n}`), mark(n), 4)
    const shown = (await groups().list()).map(({ group: { path } }) => path)
    assert.deepEqual(shown, ['p5', 'p4', 'p3', 'p2'])
  })
})
