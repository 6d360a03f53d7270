/** Deliveries, the same over every store. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { ClaimedDelivery, NewDelivery } from '../../../src/core/deliveries/delivery.ts'
import { MAX_KEPT_ATTEMPTS } from '../../../src/core/deliveries/delivery.ts'
import { attemptWith, deliveryOf, endOf, TARGET } from '../../support/contracts/deliveries.ts'
import { EVERYTHING, endpointOf, idOf, insertEndpoint, stateOf } from '../../support/contracts/records.ts'
import { describeStores, SHARED_SQLITE, STORES } from '../../support/contracts/stores.ts'
import fc from '../../support/fast-check.ts'
import { until } from '../../support/until.ts'

const LEASE_MS = 60_000
const ROOM = 1_000_000

describeStores(
  'deliveries',
  (stage) => {
    const store = () => stage.store.deliveries
    const accept = (deliveries: readonly NewDelivery[], maxBytes = ROOM) => store().accept(deliveries, maxBytes)
    const claim = (owner: string, limit = 100, target = TARGET, leaseMs = LEASE_MS) =>
      store().claim(owner, target, limit, leaseMs)
    const claimedIds = async (owner: string, limit = 100) =>
      (await claim(owner, limit)).map(({ delivery }) => delivery.id)
    const one = async (owner: string): Promise<ClaimedDelivery> => {
      const [claimed] = await claim(owner, 1)
      assert.ok(claimed !== undefined)
      return claimed
    }
    const stateOfId = async (id: string) => (await store().get(id))?.state
    const countOf = async (state: string) =>
      (await store().totals()).counts
        .filter((count) => count.state === state)
        .reduce((sum, { count }) => sum + count, 0)

    it('are claimed as they were accepted, once', async () => {
      const body = new Uint8Array([0, 255, 7])
      const first = deliveryOf(1, { item: 3, orderKey: 'pat\0ient', body })
      assert.equal(await accept([first, deliveryOf(2, { body: undefined })]), 'accepted')
      assert.deepEqual(await store().dueTargets(10), { targets: [TARGET], nextInMs: undefined })
      const claimed = await claim('a')
      assert.deepEqual(
        claimed.map(({ delivery, request, body: sent }) => [delivery.id, request.url, sent && [...sent]]),
        [
          [idOf(1), 'http://sink.example/1', [0, 255, 7]],
          [idOf(2), 'http://sink.example/2', undefined],
        ],
      )
      const [{ delivery, request } = assert.fail()] = claimed
      const { request: _, body: __, ...names } = first
      const { acceptedAt, since, bytes, ...shown } = delivery
      assert.deepEqual(shown, { ...names, state: 'pending', attempts: 0, lastAttempts: [] })
      assert.equal(acceptedAt, since)
      assert.equal(bytes, JSON.stringify(request).length + 3)
      assert.deepEqual(request, first.request)
      assert.deepEqual(await claimedIds('b'), [])
      const next = await store().dueTargets(10)
      assert.ok(next.targets.length === 0 && next.nextInMs !== undefined && next.nextInMs <= LEASE_MS)
    })

    it('with one key are sent one after the other, beside those of other keys and targets', async () => {
      await accept([
        deliveryOf(1, { orderKey: 'a' }),
        deliveryOf(2, { orderKey: 'a' }),
        deliveryOf(3, { orderKey: 'b' }),
      ])
      await accept([deliveryOf(4), deliveryOf(5, { orderKey: 'a', requestId: 'other' })])
      await accept([deliveryOf(6, { target: 'http://away.example' })])
      const claimed = await claim('a')
      assert.deepEqual(
        claimed.map(({ delivery }) => delivery.id),
        [1, 3, 4, 5].map(idOf),
      )
      const [head = assert.fail()] = claimed
      assert.deepEqual(await store().end([endOf(head, 'pending', 0)]), [head.delivery.id])
      const again = await one('b')
      assert.deepEqual([again.delivery.id, again.delivery.attempts], [idOf(1), 1])
      await store().end([endOf(again, 'delivered')])
      assert.deepEqual(await claimedIds('c'), [idOf(2)])
      assert.deepEqual(await store().content(idOf(1)), undefined)
      assert.equal((await store().get(idOf(1)))?.bytes, 0)
    })

    it('with one key wait under the target of the first one', async () => {
      const keyed = [1, 2].map((number) =>
        deliveryOf(number, { orderKey: 'k', target: number === 1 ? TARGET : 'http://other.example' }),
      )
      const others = [3, 4, 5, 6, 7, 8].map((number) => deliveryOf(number))
      for (const each of keyed) await accept([each])
      await accept(others)
      const ids = [...keyed, ...others].map(({ id }) => id)
      assert.deepEqual(await store().retry(ids), ids)
      const claimed = await claim('a')
      assert.deepEqual(
        claimed.map(({ delivery }) => delivery.id),
        ids.filter((id) => id !== idOf(2)),
      )
      await store().end(claimed.map((each) => endOf(each, 'delivered')))
      assert.deepEqual((await store().dueTargets(9)).targets, ['http://other.example'])
    })

    it('wait for their next attempt, unless the target is back', async () => {
      await accept([deliveryOf(1), deliveryOf(2, { orderKey: 'k' })])
      const claimed = await claim('a')
      await store().end(claimed.map((each) => endOf(each, 'pending', 600_000)))
      assert.deepEqual(await claimedIds('a'), [])
      assert.match((await store().get(idOf(2)))?.dueAt ?? '', /^20/)
      const back = (await until(store().now, (now) => now > 0)) + 1
      await until(store().now, (now) => now > back)
      const early = await store().claim('b', TARGET, 1, LEASE_MS, back)
      assert.equal(early.length, 1)
      await store().end(early.map((each) => endOf(each, 'pending', 600_000)))
      assert.equal((await store().claim('b', TARGET, 9, LEASE_MS, back)).length, 1)
      assert.equal((await store().claim('b', TARGET, 9, LEASE_MS, back)).length, 0)
    })

    it('are taken over when a lease has expired, and the former owner changes no lease', async () => {
      await accept([deliveryOf(1, { orderKey: 'k' }), deliveryOf(2, { orderKey: 'k' })])
      const [late = assert.fail()] = await claim('a', 1, TARGET, 1)
      const own = await until(
        () => claim('b', 1),
        (claimed) => claimed.length === 1,
      )
      const [taken = assert.fail()] = own
      assert.equal(taken.delivery.id, idOf(1))
      assert.deepEqual(await store().renew([{ id: idOf(1), lease: late.lease }], LEASE_MS), [])
      assert.deepEqual(await store().renew([{ id: idOf(1), lease: taken.lease }], LEASE_MS), [idOf(1)])
      assert.deepEqual(await store().end([endOf(late, 'delivered')]), [idOf(1)])
      assert.deepEqual(await claimedIds('c'), [])
      assert.deepEqual(await store().end([endOf(taken, 'undeliverable')]), [])
      assert.equal(await stateOfId(idOf(1)), 'delivered')
      assert.deepEqual(await claimedIds('c'), [idOf(2)])
    })

    it('go back without an attempt', async () => {
      await accept([deliveryOf(1)])
      const { delivery, lease } = await one('a')
      await store().end([{ id: delivery.id, lease, attempt: undefined, state: 'pending', dueInMs: 0 }])
      const after = await one('a')
      assert.deepEqual([after.delivery.attempts, after.delivery.lastAttempts], [0, []])
    })

    it('keep their latest attempts', async () => {
      await accept([deliveryOf(1)])
      for (let made = 0; made <= MAX_KEPT_ATTEMPTS; made += 1) await store().end([endOf(await one('a'), 'pending', 0)])
      const after = await store().get(idOf(1))
      assert.deepEqual([after?.attempts, after?.lastAttempts.length], [MAX_KEPT_ATTEMPTS + 1, MAX_KEPT_ATTEMPTS])
    })

    it('do not fill the store beyond its room although many are accepted at once', async () => {
      await accept([deliveryOf(1)])
      const size = (await store().get(idOf(1)))?.bytes ?? 0
      const results = await Promise.all(
        Array.from({ length: 8 }, (_, index) => accept([deliveryOf(2 + index)], 4 * size)),
      )
      assert.deepEqual(results.toSorted(), [...Array(3).fill('accepted'), ...Array(5).fill('full')])
    })

    it('are refused when the store is full, all of a message, until there is room', async () => {
      const size = JSON.stringify(deliveryOf(1).request).length + 12
      assert.equal(await accept([deliveryOf(1)], 2 * size), 'accepted')
      assert.equal(await accept([deliveryOf(2), deliveryOf(3)], 2 * size), 'full')
      assert.equal(await stateOfId(idOf(2)), undefined)
      await store().end([endOf(await one('a'), 'delivered')])
      assert.equal(await accept([deliveryOf(2), deliveryOf(3)], 2 * size), 'accepted')
    })

    it('are stored with the state of their message, or neither is', async () => {
      await insertEndpoint(stage.store.endpoints, endpointOf(1))
      assert.equal(await store().accept([deliveryOf(1)], ROOM, stateOf('new', 200)), 'accepted')
      const stored = await stage.store.states.newest(idOf(1), EVERYTHING)
      assert.deepEqual(stored, stateOf('new', 200))
      const [first, second] = await Promise.allSettled([
        store().accept([deliveryOf(1)], ROOM, stateOf('twice', 200)),
        store().accept([deliveryOf(2)], ROOM),
      ])
      assert.deepEqual([first.status, second.status], ['rejected', 'fulfilled'])
      assert.deepEqual(await stage.store.states.newest(idOf(1), EVERYTHING), stateOf('new', 200))
    })

    it('are sent again when somebody retries them, in their order', async () => {
      const keyed = [1, 2, 3].map((number) => deliveryOf(number, { orderKey: 'k' }))
      await accept(keyed)
      await store().end([endOf(await one('a'), 'undeliverable')])
      const { delivery, lease } = await one('a')
      assert.equal(delivery.id, idOf(2))
      assert.deepEqual(await store().retry([idOf(1), idOf(7)], { body: 'ed\u00eft' }), [idOf(1)])
      assert.deepEqual(await claimedIds('b'), [])
      await store().end([{ id: delivery.id, lease, attempt: attemptWith(200), state: 'delivered' }])
      const again = await one('b')
      assert.deepEqual(
        [again.delivery.id, again.delivery.attempts, Buffer.from(again.body ?? []).toString()],
        [idOf(1), 0, 'ed\u00eft'],
      )
      assert.equal(again.delivery.bytes, JSON.stringify(again.request).length + 5)
      assert.deepEqual(await store().retry([idOf(2)]), [])
      await store().end([endOf(again, 'pending', 600_000)])
      assert.deepEqual(await claimedIds('b'), [])
      assert.deepEqual(await store().retry([idOf(1)]), [idOf(1)])
      assert.deepEqual(await claimedIds('b'), [idOf(1)])
    })

    it('are cancelled, also while they are sent', async () => {
      await accept([deliveryOf(1, { orderKey: 'k' }), deliveryOf(2, { orderKey: 'k' }), deliveryOf(3)])
      const claimed = await claim('a')
      assert.deepEqual([...(await store().cancel([idOf(1), idOf(3)]))].sort(), [idOf(1), idOf(3)])
      assert.deepEqual(await claimedIds('b'), [])
      assert.deepEqual(await store().end(claimed.map((each) => endOf(each, 'delivered'))), [])
      assert.deepEqual(await claimedIds('b'), [idOf(2)])
      assert.deepEqual([await countOf('cancelled'), await countOf('pending')], [2, 1])
      assert.notEqual(await store().content(idOf(1)), undefined)
    })

    it('let the next of their key go when they are cancelled while they wait', async () => {
      await accept([deliveryOf(1, { orderKey: 'k' }), deliveryOf(2, { orderKey: 'k' })])
      await store().end([endOf(await one('a'), 'pending', 600_000)])
      await store().cancel([idOf(1)])
      assert.deepEqual(await claimedIds('b'), [idOf(2)])
    })

    it('are counted whatever a purge deletes beside retries', async () => {
      for (let round = 0; round < 20; round += 1) {
        const batch = Array.from({ length: 10 }, (_, index) => deliveryOf(round * 10 + index + 1))
        const ids = batch.map(({ id }) => id)
        await accept(batch)
        await store().cancel(ids)
        await Promise.all([store().retry(ids.slice(0, 5)), store().purge(-60_000, 7), store().retry(ids.slice(5))])
      }
      for (const state of ['pending', 'cancelled'] as const)
        assert.equal(await countOf(state), (await store().list({ state }, 10_000)).length)
      for (let left = await countOf('pending'); left > 0; left = await countOf('pending')) {
        const ended = await store().end((await claim('z')).map((each) => endOf(each, 'delivered')))
        assert.ok(ended.length > 0)
      }
      assert.deepEqual(await store().dueTargets(9), { targets: [], nextInMs: undefined })
    })

    it('are listed, newest first, by each filter, and deleted some time after their end', async () => {
      await accept([deliveryOf(1, { orderKey: 'long '.repeat(900) }), deliveryOf(2, { target: 'topic x' })])
      await accept([deliveryOf(3, { endpointId: idOf(2), requestId: 'b' })])
      const listed = async (filter: Parameters<ReturnType<typeof store>['list']>[0], before?: string) =>
        (await store().list(filter, 2, before)).map(({ id }) => Number.parseInt(id, 16))
      const accepted = Date.parse((await store().get(idOf(1)))?.acceptedAt ?? '')
      for (const [filter, found] of [
        [{}, [3, 2]],
        [{ state: 'pending', target: 'topic x' }, [2]],
        [{ state: 'delivered' }, []],
        [{ endpointId: idOf(1) }, [2, 1]],
        [{ requestId: 'b' }, [3]],
        [{ messageId: idOf(9_002) }, [2]],
        [{ orderKey: 'long '.repeat(900) }, [1]],
        [{ fromMs: accepted + 600_000 }, []],
        [{ fromMs: accepted, toMs: accepted + 600_000 }, [3, 2]],
      ] as const) {
        assert.deepEqual(await listed(filter), found)
      }
      assert.deepEqual(await listed({}, idOf(2)), [1])
      await store().end([endOf(await one('a'), 'delivered')])
      assert.equal(await store().purge(600_000, 10), 0)
      assert.equal(
        await until(
          () => store().purge(0, 10),
          (deleted) => deleted > 0,
        ),
        1,
      )
      assert.deepEqual(
        [await stateOfId(idOf(1)), await countOf('delivered'), await countOf('pending')],
        [undefined, 0, 2],
      )
      const { oldestAt } = await store().totals()
      assert.ok(oldestAt !== undefined && Date.parse(oldestAt) >= accepted)
    })

    it('keep the order of their keys and their counts, whatever happens', async () => {
      type Step = Readonly<{ do: 'accept' | 'claim' | 'end' | 'cancel' | 'retry'; number: number; key: string }>
      const steps = fc.array(
        fc.record<Step>({
          do: fc.constantFrom('accept', 'accept', 'claim', 'end', 'end', 'cancel', 'retry'),
          number: fc.nat(7),
          key: fc.constantFrom('a', 'b', 'c'),
        }),
        { maxLength: 40 },
      )
      let next = 100
      await fc.assert(
        fc.asyncProperty(steps, async (taken) => {
          const target = `http://t${next}.example`
          const own: string[] = []
          let held: readonly ClaimedDelivery[] = []
          await Promise.all(
            taken.map(async (step, at) => {
              if (step.do === 'accept') {
                next += 1
                own.push(idOf(next))
                await accept([deliveryOf(next, { target, orderKey: step.key })])
              } else if (step.do === 'claim') {
                held = [...held, ...(await store().claim(`p${at}`, target, step.number + 1, LEASE_MS))]
              } else if (step.do === 'end') {
                const [ended, ...rest] = held
                held = rest
                const state = (['delivered', 'pending', 'undeliverable'] as const)[step.number % 3]
                if (ended !== undefined && state !== undefined) await store().end([endOf(ended, state, 0)])
              } else {
                const id = own[step.number]
                if (id !== undefined) await store()[step.do]([id])
              }
            }),
          )
          // All leases are given back: what is left arrives in the order in which it was accepted, key by key.
          await store().end(held.map((each) => endOf(each, 'pending', 0)))
          const left = (await store().list({ state: 'pending', target }, 100)).map(({ id, orderKey }) => [orderKey, id])
          const arrived: (readonly (string | undefined)[])[] = []
          for (let claimed = await store().claim('z', target, 100, LEASE_MS); claimed.length > 0; ) {
            assert.equal(new Set(claimed.map(({ delivery }) => delivery.orderKey)).size, claimed.length)
            arrived.push(...claimed.map(({ delivery }) => [delivery.orderKey, delivery.id]))
            await store().end(claimed.map((each) => endOf(each, 'delivered')))
            claimed = await store().claim('z', target, 100, LEASE_MS)
          }
          const byKey = (pairs: readonly (readonly (string | undefined)[])[]) =>
            ['a', 'b', 'c'].map((key) => pairs.filter(([orderKey]) => orderKey === key))
          assert.deepEqual(byKey(arrived), byKey(left.toReversed()))
          const { counts } = await store().totals()
          for (const { count, state, ...kind } of counts.filter((each) => each.target === target)) {
            assert.equal(count, (await store().list({ state, target: kind.target }, 100)).length)
            assert.equal(state === 'pending', false)
          }
          assert.deepEqual((await store().claim('z', target, 100, LEASE_MS)).length, 0)
        }),
        { numRuns: 25 },
      )
    })
  },
  [...STORES, SHARED_SQLITE],
)
