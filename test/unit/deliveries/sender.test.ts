import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ClaimedDelivery } from '../../../src/core/deliveries/delivery.ts'
import type { AttemptResult } from '../../../src/deliveries/next-step.ts'
import { DeliverySender, type SenderOptions } from '../../../src/deliveries/sender.ts'
import { StoreUnavailable } from '../../../src/store/store-access.ts'
import { deliveryRequest } from '../../support/deliveries/claimed-delivery.ts'
import { type ManualTimers, manualTimers } from '../../support/deliveries/manual-timers.ts'
import { type MemoryDeliveryStore, memoryDeliveryStore } from '../../support/deliveries/memory-delivery-store.ts'
import { silent } from '../../support/silent.ts'

const NOTED = { at: '2026-01-01T00:00:00.000Z', ms: 1 }
const DELIVERED: AttemptResult = { attempt: { ...NOTED, status: 200 }, state: 'delivered', target: 'answers' }
const AWAY: AttemptResult = { attempt: { ...NOTED, fault: 'unreachable' }, state: 'pending', target: 'away' }

type Send = (claimed: ClaimedDelivery) => AttemptResult | Promise<AttemptResult>

/** A sender over a store in memory, both on a clock of the test. */
class Bench {
  readonly timers: ManualTimers = manualTimers()
  readonly store: MemoryDeliveryStore = memoryDeliveryStore(() => this.timers.now())
  /** In the order of their attempts. */
  readonly sent: string[] = []
  readonly lines: string[] = []
  most = 0
  #underWay = 0

  sender(send: Send, owner = 'one', concurrency = 8, changes: Partial<SenderOptions> = {}): DeliverySender {
    const sender = new DeliverySender({
      store: this.store,
      attempt: async (claimed) => {
        this.sent.push(claimed.delivery.id)
        this.#underWay += 1
        this.most = Math.max(this.most, this.#underWay)
        const result = await send(claimed)
        this.#underWay -= 1
        return result
      },
      owner,
      clock: this.timers.now,
      concurrency,
      logger: { ...silent, warn: (_, message) => void this.lines.push(message) },
      random: () => 0,
      timers: this.timers,
      ...changes,
    })
    sender.start()
    return sender
  }

  add(id: string, orderKey?: string, target = 'a'): void {
    this.store.add({ id, target, ...(orderKey === undefined ? {} : { orderKey }) }, deliveryRequest())
  }

  addMany(count: number, target = 'a'): void {
    for (let index = 0; index < count; index += 1) this.add(`${target}${index}`, undefined, target)
  }
}

test('what is accepted is sent at once, and in the order of its key', async () => {
  const bench = new Bench()
  const sender = bench.sender(() => DELIVERED)
  await bench.timers.pass(100)
  bench.add('1', 'k')
  bench.add('2', 'k')
  bench.add('3', 'k')
  sender.wake()
  await bench.timers.pass(200)
  assert.deepEqual(bench.sent, ['1', '2', '3'])
  assert.equal(bench.store.inState('delivered'), 3)
})

test('a key that fails holds up neither another one nor another target', async () => {
  const bench = new Bench()
  bench.add('1', 'k')
  bench.add('2', 'k')
  bench.add('3', 'other')
  bench.add('4', 'there', 'b')
  bench.sender(({ delivery: { id } }) => (id === '1' ? AWAY : DELIVERED))
  await bench.timers.pass(1_000)
  assert.deepEqual(bench.sent, ['1', '3', '4'])
  assert.equal(bench.store.get('2').state, 'pending')
})

test('a target that does not answer holds up no other, and gets no more than its budget', async () => {
  const bench = new Bench()
  bench.addMany(20)
  bench.addMany(20, 'b')
  bench.sender(({ delivery: { target } }) => (target === 'a' ? new Promise(() => {}) : DELIVERED))
  await bench.timers.pass(5_000)
  assert.equal(bench.sent.filter((id) => id.startsWith('a')).length, 4)
  assert.equal(bench.store.inState('delivered'), 20)
})

test('looks that hold up the thread take at most a tenth of it', async () => {
  const bench = new Bench()
  bench.addMany(1_000)
  let [looks, heldUpMs] = [0, 0]
  const { store, timers } = bench
  const slow: SenderOptions['store'] = {
    ...store,
    dueTargets: (limit) => {
      looks += 1
      heldUpMs += 5
      return store.dueTargets(limit)
    },
  }
  bench.sender(() => DELIVERED, 'one', 8, { store: slow, timers: { ...timers, now: () => timers.now() + heldUpMs } })
  await timers.pass(1_000)
  assert.ok(looks > 10 && heldUpMs <= 105, `${looks} looks`)
})

test('no more are under way to a target than the setting allows', async () => {
  const bench = new Bench()
  bench.addMany(200)
  const { promise, resolve } = Promise.withResolvers<void>()
  let count = 0
  bench.sender(async () => {
    count += 1
    // The first ones end at once, so that the budget grows; then all wait.
    if (count > 40) await promise
    return DELIVERED
  })
  await bench.timers.pass(5_000)
  assert.equal(bench.most, 8)
  resolve()
  await bench.timers.pass(5_000)
  assert.equal(bench.store.inState('delivered'), 200)
})

test('a target that stops answering holds up no other, however many may be under way to it', async () => {
  const bench = new Bench()
  bench.addMany(1_000)
  let count = 0
  const slow = async () => {
    count += 1
    // The first ones end at once, so that the budget grows.
    if (count > 300) await new Promise(() => {})
    return DELIVERED
  }
  const sender = bench.sender(({ delivery: { target } }) => (target === 'a' ? slow() : DELIVERED), 'one', 1_000)
  await bench.timers.pass(5_000)
  bench.addMany(20, 'b')
  sender.wake()
  await bench.timers.pass(1_000)
  assert.deepEqual(bench.sent.filter((id) => id.startsWith('b')).length, 20, `${sender.underWay} are under way`)
})

test('an open circuit burns no attempt, and one delivery finds out whether the target is back', async () => {
  const bench = new Bench()
  bench.addMany(50)
  let isOpen = true
  bench.sender(() => (isOpen ? { circuitOpenMs: 10_000 } : DELIVERED))
  await bench.timers.pass(9_000)
  assert.equal(bench.sent.length, 4)
  await bench.timers.pass(10_000)
  assert.equal(bench.sent.length, 5)
  assert.equal(bench.store.get('a0').attempts, 0)
  isOpen = false
  await bench.timers.pass(15_000)
  assert.equal(bench.store.inState('delivered'), 50)
})

test('when a target is back, what waits for it is sent although it is not due, and not at once', async () => {
  const bench = new Bench()
  bench.addMany(100)
  let isAway = true
  bench.sender(() => (isAway ? AWAY : DELIVERED))
  // Each is tried twice, and then due in five minutes.
  await bench.timers.pass(60_000)
  assert.ok(bench.sent.length >= 100)
  isAway = false
  bench.most = 0
  await bench.timers.pass(5_000)
  bench.add('new')
  await bench.timers.pass(10_000)
  assert.equal(bench.store.inState('pending'), 0)
  assert.ok(bench.most <= 8)
})

test('what one process leaves is taken over when its lease ends, and not before', async () => {
  const bench = new Bench()
  bench.addMany(1)
  const first = bench.sender(() => new Promise(() => {}))
  await bench.timers.pass(100_000)
  assert.equal(first.underWay, 1)
  const stopped = first.stop(1_000)
  await bench.timers.pass(1_000)
  assert.equal(await stopped, 1)
  bench.sender(() => DELIVERED, 'two')
  await bench.timers.pass(15_000)
  assert.equal(bench.sent.length, 1)
  await bench.timers.pass(25_000)
  assert.equal(bench.store.inState('delivered'), 1)
})

test('stopping claims nothing more and stores what ends', async () => {
  const bench = new Bench()
  bench.addMany(20)
  const { promise, resolve } = Promise.withResolvers<AttemptResult>()
  const sender = bench.sender(() => promise)
  await bench.timers.pass(1_000)
  const stopped = sender.stop(30_000)
  resolve(DELIVERED)
  await bench.timers.pass(1_000)
  assert.equal(await stopped, 0)
  assert.equal(bench.store.inState('delivered'), 4)
  assert.equal(bench.store.inState('pending'), 16)
})

test('a store that is away is reported once, and what was sent meanwhile is not sent again', async () => {
  const bench = new Bench()
  bench.addMany(3)
  const { promise, resolve } = Promise.withResolvers<AttemptResult>()
  bench.sender(() => promise)
  await bench.timers.pass(1_000)
  bench.store.fault.error = new StoreUnavailable('It is away.')
  resolve(DELIVERED)
  await bench.timers.pass(8_000)
  assert.deepEqual(bench.lines, ['Deliveries wait for the store'])
  bench.store.fault.error = undefined
  await bench.timers.pass(20_000)
  assert.equal(bench.sent.length, 3)
  assert.equal(bench.store.inState('delivered'), 3)
})

test('an end that the store cannot take holds up no other', async () => {
  const bench = new Bench()
  bench.addMany(4)
  const { end } = bench.store
  const store = {
    ...bench.store,
    end: (ends: Parameters<typeof end>[0]) => {
      if (ends.some(({ id }) => id === 'a1')) return Promise.reject(new Error('It cannot be stored.'))
      return end(ends)
    },
  }
  const sender = new DeliverySender({
    store,
    attempt: async () => DELIVERED,
    owner: 'one',
    clock: bench.timers.now,
    concurrency: 8,
    logger: silent,
    timers: bench.timers,
  })
  sender.start()
  await bench.timers.pass(1_000)
  assert.equal(bench.store.inState('delivered'), 3)
})

test('leases are renewed while an attempt takes longer, so that no other process makes it too', async () => {
  const bench = new Bench()
  bench.addMany(1)
  const { promise, resolve } = Promise.withResolvers<AttemptResult>()
  bench.sender(() => promise)
  await bench.timers.pass(1_000)
  bench.sender(() => promise, 'two')
  await bench.timers.pass(300_000)
  resolve(DELIVERED)
  await bench.timers.pass(100)
  assert.deepEqual(bench.sent, ['a0'])
  assert.equal(bench.store.inState('delivered'), 1)
})
