/** Any sequence of calls of the store of deliveries, beside the same calls of a model, on a clock that moves between them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AttemptEnd, DeliveryLease, DeliveryState, NewDelivery } from '../../../src/core/deliveries/delivery.ts'
import { deliveryOf } from '../../support/contracts/deliveries.ts'
import fc from '../../support/fast-check.ts'
import { LONG } from '../../support/form.ts'
import { postgresMissing } from '../../support/services/postgres.ts'
import { type ClockedDatabase, clockedPostgres, clockedSqlite } from '../../support/store/database-clock.ts'

const START_MS = Date.parse('2027-01-01T00:00:00.000Z')
const LEASE_MS = 30_000
const ATTEMPT = { at: '2027-01-01T00:00:00.000Z', ms: 3, status: 500 }

type Kept = { id: string; lane: string; target: string; state: DeliveryState; attempts: number; endedAt: number }
type Lane = { lease: string; due: number; tried: number }

/** Deliveries in the order in which they were accepted, and a lane for each key that has a pending one. */
class Model {
  kept: Kept[] = []
  readonly lanes = new Map<string, Lane>()
  now = START_MS

  head(lane: string): Kept | undefined {
    return this.kept.find((one) => one.lane === lane && one.state === 'pending')
  }

  accept({ id, orderKey, target }: NewDelivery): void {
    this.kept.push({ id, lane: orderKey ?? id, target, state: 'pending', attempts: 0, endedAt: 0 })
    this.#open(orderKey ?? id)
  }

  /** `lease`: what the store has called it; undefined if it has claimed nothing. */
  claim(target: string, lease: string | undefined, triedBefore: number | undefined): readonly string[] {
    return [...this.lanes].flatMap(([name, lane]) => {
      const head = this.head(name)
      const isWanted = triedBefore === undefined ? lane.due <= this.now : lane.lease === '' && lane.tried < triedBefore
      if (head?.target !== target || !isWanted) return []
      Object.assign(lane, { lease, due: this.now + LEASE_MS, tried: this.now })
      return head.id
    })
  }

  renew({ id, lease }: DeliveryLease): readonly string[] {
    const lane = this.#laneOf(id)
    if (lane?.lease !== lease) return []
    lane.due = this.now + LEASE_MS
    return [id]
  }

  end({ id, lease, attempt, state, dueInMs = 0 }: AttemptEnd): readonly string[] {
    const one = this.#find(id)
    if (one === undefined) return []
    this.#release(one, lease, state === 'pending' ? dueInMs : 0)
    if (one.state !== 'pending') return []
    if (attempt !== undefined) one.attempts += 1
    this.#change(one, state)
    return [id]
  }

  cancel(id: string): readonly string[] {
    const one = this.#find(id)
    if (one?.state !== 'pending' && one?.state !== 'undeliverable') return []
    if (one.state === 'pending') this.#release(one, '', 0)
    this.#change(one, 'cancelled')
    return [id]
  }

  retry(id: string): readonly string[] {
    const one = this.#find(id)
    if (one === undefined || one.state === 'delivered') return []
    if (one.state !== 'pending') Object.assign(one, { state: 'pending', attempts: 0, endedAt: 0 })
    this.#open(one.lane)
    this.#release(one, '', 0)
    return [id]
  }

  purge(ageMs: number): void {
    this.kept = this.kept.filter(
      ({ state, endedAt }) => !['delivered', 'cancelled'].includes(state) || endedAt >= this.now - ageMs,
    )
  }

  #find(id: string): Kept | undefined {
    return this.kept.find((one) => one.id === id)
  }

  #laneOf(id: string): Lane | undefined {
    return this.lanes.get(this.#find(id)?.lane ?? '')
  }

  #open(lane: string): void {
    if (!this.lanes.has(lane)) this.lanes.set(lane, { lease: '', due: this.now, tried: 0 })
  }

  /** A lease that another claim has taken over goes on. */
  #release({ lane: name }: Kept, lease: string, dueInMs: number): void {
    const lane = this.lanes.get(name)
    if (lane?.lease === lease) Object.assign(lane, { lease: '', due: this.now + dueInMs })
  }

  #change(one: Kept, state: DeliveryState): void {
    one.state = state
    if (state !== 'pending') one.endedAt = this.now
    if (this.head(one.lane) === undefined) this.lanes.delete(one.lane)
  }
}

const picks = fc.array(fc.nat(8), { minLength: 1, maxLength: 4 })
const target = fc.constantFrom('a', 'b')
const call = fc.oneof(
  fc.record({
    kind: fc.constant('accept' as const),
    keys: fc.array(fc.constantFrom(undefined, '', 'k', 'k', 'l\u0000\ud800'), { minLength: 1, maxLength: 4 }),
    target,
  }),
  fc.record({ kind: fc.constant('claim' as const), target, isBack: fc.boolean() }),
  fc.record({
    kind: fc.constant('end' as const),
    picks,
    state: fc.constantFrom('pending' as const, 'delivered' as const, 'undeliverable' as const),
    dueInMs: fc.constantFrom(0, 5_000, 300_000),
    isTried: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('renew' as const), picks }),
  fc.record({ kind: fc.constantFrom('cancel' as const, 'retry' as const), picks }),
  fc.record({ kind: fc.constant('purge' as const), ageMs: fc.constantFrom(0, 60_000) }),
  fc.record({ kind: fc.constant('pass' as const), ms: fc.constantFrom(1, 5_000, LEASE_MS, LEASE_MS, 300_000) }),
)

const sorted = (ids: readonly string[]) => ids.toSorted()

async function doesWhatTheModelDoes({ open, setClock }: ClockedDatabase, numRuns: number): Promise<void> {
  const { deliveries } = await open()
  let runs = 0
  let made = 0
  const property = fc.asyncProperty(fc.array(call, { minLength: 5, maxLength: 40 }), async (calls) => {
    runs += 1
    const endpointId = `${runs}`.padStart(24, '0')
    const targets = { a: `a${runs}`, b: `b${runs}` }
    const model = new Model()
    await setClock(model.now)
    const accepted: string[] = []
    /** All leases that there were: those that have ended or expired too. */
    const leases: DeliveryLease[] = []
    const from = <T>(all: readonly T[], numbers: readonly number[]): T[] => [
      ...new Set(numbers.flatMap((number) => all.at(-1 - (number % Math.max(all.length, 1))) ?? [])),
    ]
    /** One of each lane: what a process has claimed. */
    const held = (numbers: readonly number[]) => {
      const lanes = new Map(
        from(leases, numbers).map((one) => [model.kept.find(({ id }) => id === one.id)?.lane ?? one.id, one]),
      )
      return [...lanes.values()]
    }
    const pass = async (ms: number) => {
      model.now += ms
      await setClock(model.now)
    }
    for (const one of calls) {
      if (one.kind === 'accept') {
        const batch = one.keys.map((orderKey) => {
          made += 1
          const names = { endpointId, target: targets[one.target] }
          return deliveryOf(made, { ...names, ...(orderKey === undefined ? {} : { orderKey }) })
        })
        assert.equal(await deliveries.accept(batch, 1e12), 'accepted')
        for (const delivery of batch) model.accept(delivery)
        accepted.push(...batch.map(({ id }) => id))
      } else if (one.kind === 'claim') {
        const before = one.isBack ? model.now : undefined
        const claimed = await deliveries.claim('a', targets[one.target], 1_000, LEASE_MS, before)
        const ids = claimed.map(({ delivery }) => delivery.id)
        assert.deepEqual(sorted(ids), sorted(model.claim(targets[one.target], claimed[0]?.lease, before)))
        leases.push(...claimed.map(({ delivery: { id }, lease }) => ({ id, lease })))
      } else if (one.kind === 'end') {
        const { state, dueInMs, isTried } = one
        const ends = held(one.picks).map(
          (lease): AttemptEnd => ({ ...lease, attempt: isTried ? ATTEMPT : undefined, state, dueInMs }),
        )
        const ended = await deliveries.end(ends)
        assert.deepEqual(sorted(ended), sorted(ends.flatMap((end) => model.end(end))))
      } else if (one.kind === 'renew') {
        const some = held(one.picks)
        const renewed = await deliveries.renew(some, LEASE_MS)
        assert.deepEqual(sorted(renewed), sorted(some.flatMap((lease) => model.renew(lease))))
      } else if (one.kind === 'purge') {
        await deliveries.purge(one.ageMs, 10_000)
        model.purge(one.ageMs)
      } else if (one.kind === 'pass') {
        await pass(one.ms)
      } else {
        const ids = from(accepted, one.picks)
        assert.deepEqual(sorted(await deliveries[one.kind](ids)), sorted(ids.flatMap((id) => model[one.kind](id))))
      }
    }
    const listed = (await deliveries.list({ endpointId }, 1_000)).toReversed()
    assert.deepEqual(
      listed.map(({ id, state, attempts }) => ({ id, state, attempts })),
      model.kept.map(({ id, state, attempts }) => ({ id, state, attempts })),
    )
    const { counts } = await deliveries.totals()
    for (const target of Object.values(targets)) {
      for (const state of ['pending', 'delivered', 'undeliverable', 'cancelled'] as const) {
        const all = listed.filter((each) => each.target === target && each.state === state)
        const counted = counts.find((each) => each.target === target && each.state === state)
        const bytes = all.reduce((sum, each) => sum + each.bytes, 0)
        assert.deepEqual([counted?.count ?? 0, counted?.bytes ?? 0], [all.length, bytes])
      }
    }
    for (const id of accepted) {
      const state = model.kept.find((each) => each.id === id)?.state ?? 'delivered'
      assert.equal((await deliveries.content(id)) !== undefined, state !== 'delivered')
    }
    await arrivesInOrder()

    /** No lane is lost: once all leases have expired, what is left arrives, key by key in its order. */
    async function arrivesInOrder(): Promise<void> {
      const left = model.kept.filter(({ state }) => state === 'pending')
      const arrived: string[] = []
      await pass(600_000)
      for (let isOver = false; !isOver; ) {
        isOver = true
        for (const target of Object.values(targets)) {
          const claimed = await deliveries.claim('z', target, 1_000, LEASE_MS)
          arrived.push(...claimed.map(({ delivery }) => delivery.id))
          if (claimed.length > 0) isOver = false
          await deliveries.end(
            claimed.map(({ delivery: { id }, lease }) => ({ id, lease, attempt: ATTEMPT, state: 'delivered' })),
          )
        }
      }
      const byLane = (ids: readonly string[]) =>
        Object.groupBy(ids, (id) => left.find((each) => each.id === id)?.lane ?? 'unknown')
      assert.deepEqual({ ...byLane(arrived) }, { ...byLane(left.map(({ id }) => id)) })
      assert.deepEqual(
        (await deliveries.dueTargets(1_000)).targets.filter((due) => Object.values(targets).includes(due)),
        [],
      )
    }
  })
  await fc.assert(property, { numRuns })
}

test('calls of the deliveries in SQLite do what a model does', (context) =>
  doesWhatTheModelDoes(clockedSqlite(context, START_MS), LONG ? 1_000 : 150))

if (LONG)
  test(
    'calls of the deliveries in PostgreSQL do what a model does',
    { skip: postgresMissing() ?? false },
    async (context) => doesWhatTheModelDoes(await clockedPostgres(context, START_MS), 40),
  )
