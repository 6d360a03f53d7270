/** Any sequence of calls of the store of deliveries, beside the same calls of a model. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { AttemptEnd, DeliveryState } from '../../../src/core/deliveries/delivery.ts'
import { newDelivery } from '../../support/contracts/deliveries.ts'
import { describeStores } from '../../support/contracts/stores.ts'
import fc from '../../support/fast-check.ts'

const LEASE_MS = 600_000
const LATER_MS = 600_000

type Kept = { id: string; lane: string; state: DeliveryState; attempts: number; sequence: number }
type Lane = { owner: string; claimed: number; isDue: boolean }

/** No lease of it ever expires, and nothing that is due later becomes due. */
function createModel() {
  const kept: Kept[] = []
  const lanes = new Map<string, Lane>()
  let sequence = 0

  const find = (id: string) => kept.find((one) => one.id === id)
  const pendingOf = (lane: string) =>
    kept.filter((one) => one.lane === lane && one.state === 'pending').sort((a, b) => a.sequence - b.sequence)

  function enter(one: Kept): void {
    one.sequence = ++sequence
    one.state = 'pending'
    if (!lanes.has(one.lane)) lanes.set(one.lane, { owner: '', claimed: 0, isDue: true })
  }

  function leave(one: Kept, state: DeliveryState): void {
    one.state = state
    if (pendingOf(one.lane).length === 0) lanes.delete(one.lane)
  }

  return {
    kept,
    find,
    accept(id: string, orderKey: string | undefined): void {
      const one: Kept = { id, lane: orderKey ?? id, state: 'pending', attempts: 0, sequence: 0 }
      kept.push(one)
      enter(one)
    },
    claim: (owner: string, alsoLater: boolean): readonly string[] =>
      [...lanes].flatMap(([name, lane]) => {
        const [first] = pendingOf(name)
        if (first === undefined || lane.owner !== '' || !(lane.isDue || alsoLater)) return []
        lane.owner = owner
        lane.claimed = first.sequence
        return first.id
      }),
    owns(owner: string, id: string): boolean {
      const one = find(id)
      const lane = one && lanes.get(one.lane)
      return one?.state === 'pending' && lane?.owner === owner && lane.claimed === one.sequence
    },
    end(owner: string, { id, attempt, state, dueInMs = 0 }: AttemptEnd): readonly string[] {
      const one = find(id)
      const lane = one && lanes.get(one.lane)
      if (one === undefined) return []
      const wasPending = one.state === 'pending'
      if (lane?.owner === owner && lane.claimed === one.sequence) {
        lane.owner = ''
        lane.isDue = !(wasPending && state === 'pending' && dueInMs > 0)
      }
      if (!wasPending) return []
      if (attempt !== undefined) one.attempts += 1
      if (state !== 'pending') leave(one, state)
      return [id]
    },
    cancel(id: string): readonly string[] {
      const one = find(id)
      if (one?.state !== 'pending' && one?.state !== 'undeliverable') return []
      const lane = lanes.get(one.lane)
      if (one.state === 'pending' && lane?.claimed === one.sequence) Object.assign(lane, { owner: '', isDue: true })
      leave(one, 'cancelled')
      return [id]
    },
    retry(id: string): readonly string[] {
      const one = find(id)
      if (one === undefined || one.state === 'delivered') return []
      const lane = lanes.get(one.lane)
      one.attempts = 0
      if (one.state !== 'pending') enter(one)
      else if (lane?.owner === '') lane.isDue = true
      return [id]
    },
    purge(): void {
      const left = kept.filter(({ state }) => state === 'pending' || state === 'undeliverable')
      kept.splice(0, kept.length, ...left)
    },
  }
}

const owner = fc.constantFrom('a', 'b')
const picks = fc.array(fc.nat(30), { minLength: 1, maxLength: 4 })
const call = fc.oneof(
  fc.record({
    kind: fc.constant('accept' as const),
    keys: fc.array(fc.constantFrom(undefined, '', 'k', 'l\u0000\ud800'), { minLength: 1, maxLength: 4 }),
  }),
  fc.record({ kind: fc.constant('claim' as const), owner, alsoLater: fc.boolean() }),
  fc.record({
    kind: fc.constant('end' as const),
    owner,
    picks,
    state: fc.constantFrom('pending' as const, 'delivered' as const, 'undeliverable' as const),
    isLater: fc.boolean(),
    isTried: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('renew' as const), owner, picks }),
  fc.record({ kind: fc.constantFrom('cancel' as const, 'retry' as const), picks }),
  fc.record({ kind: fc.constant('purge' as const) }),
)

let runs = 0

describeStores('calls of deliveries', (stage) => {
  it('do what a model of them does', async () => {
    const { deliveries } = stage.store
    const sorted = (ids: readonly string[]) => ids.toSorted()
    const property = fc.asyncProperty(fc.array(call, { minLength: 5, maxLength: 40 }), async (calls) => {
      runs += 1
      const names = { target: `t${runs}`, endpointId: `${runs}`.padStart(24, '0') }
      const model = createModel()
      const accepted: string[] = []
      const pick = (numbers: readonly number[]) => [
        ...new Set(numbers.flatMap((number) => accepted.at(-1 - (number % Math.max(accepted.length, 1))) ?? [])),
      ]
      for (const one of calls) {
        if (one.kind === 'accept') {
          const batch = one.keys.map((orderKey) =>
            newDelivery({ ...names, ...(orderKey === undefined ? {} : { orderKey }) }),
          )
          assert.equal(await deliveries.accept(batch, 1e12), 'accepted')
          for (const { id, orderKey } of batch) model.accept(id, orderKey)
          accepted.push(...batch.map(({ id }) => id))
        } else if (one.kind === 'claim') {
          const before = one.alsoLater ? [Date.now() + LEASE_MS] : []
          const claimed = await deliveries.claim(one.owner, names.target, 1_000, LEASE_MS, ...before)
          assert.deepEqual(
            sorted(claimed.map(({ delivery }) => delivery.id)),
            sorted(model.claim(one.owner, one.alsoLater)),
          )
        } else if (one.kind === 'end') {
          const attempt = one.isTried ? { at: '2027-01-01T00:00:00.000Z', ms: 1, status: 500 } : undefined
          const dueInMs = one.isLater ? LATER_MS : 0
          const ends = pick(one.picks).map((id): AttemptEnd => ({ id, attempt, state: one.state, dueInMs }))
          const stored = await deliveries.end(one.owner, ends)
          assert.deepEqual(
            stored,
            ends.flatMap((end) => model.end(one.owner, end)),
          )
        } else if (one.kind === 'renew') {
          const ids = pick(one.picks)
          const renewed = await deliveries.renew(one.owner, ids, LEASE_MS)
          assert.deepEqual(sorted(renewed), sorted(ids.filter((id) => model.owns(one.owner, id))))
        } else if (one.kind === 'purge') {
          await deliveries.purge(Date.now() + LEASE_MS, 10_000)
          model.purge()
        } else {
          const ids = pick(one.picks)
          assert.deepEqual(sorted(await deliveries[one.kind](ids)), sorted(ids.flatMap((id) => model[one.kind](id))))
        }
      }
      const listed = await deliveries.list(names, 1_000)
      assert.deepEqual(
        listed.map(({ id, state, attempts }) => ({ id, state, attempts })).reverse(),
        model.kept.map(({ id, state, attempts }) => ({ id, state, attempts })),
      )
      const { counts } = await deliveries.totals()
      for (const state of ['pending', 'delivered', 'undeliverable', 'cancelled'] as const) {
        const all = listed.filter((one) => one.state === state)
        const counted = counts.find((one) => one.target === names.target && one.state === state)
        const bytes = state === 'delivered' ? 0 : all.reduce((sum, one) => sum + one.bytes, 0)
        assert.deepEqual([counted?.count ?? 0, counted?.bytes ?? 0], [all.length, bytes])
      }
      for (const id of accepted) {
        const state = model.find(id)?.state ?? 'delivered'
        assert.equal((await deliveries.content(id)) !== undefined, state !== 'delivered')
      }
    })
    await fc.assert(property, { numRuns: stage.kind.durable ? 30 : 150 })
  })
})
