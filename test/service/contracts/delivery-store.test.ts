/** Deliveries, the same over every store. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import {
  type ClaimedDelivery,
  type DeliveryAttempt,
  MAX_KEPT_ATTEMPTS,
  type NewDelivery,
} from '../../../src/core/deliveries/delivery.ts'
import { newDelivery as of, TARGET } from '../../support/contracts/deliveries.ts'
import { endpointOf, idOf, insertEndpoint } from '../../support/contracts/records.ts'
import { describeStores, SHARED_SQLITE, STORES } from '../../support/contracts/stores.ts'
import fc from '../../support/fast-check.ts'
import { until } from '../../support/until.ts'

const LEASE_MS = 60_000
const MAX = 1_000_000_000

const attempt: DeliveryAttempt = { at: '2027-01-01T00:00:00.000Z', ms: 5, status: 503, message: 'no\u0000t\ud800' }
const idsOf = (all: readonly (ClaimedDelivery | Readonly<{ id: string }>)[]) =>
  all.map((one) => ('delivery' in one ? one.delivery.id : one.id))

describeStores(
  'deliveries',
  (stage) => {
    const store = () => stage.store.deliveries
    const claim = (owner = 'a', limit = 100, leaseMs = LEASE_MS, target = TARGET) =>
      store().claim(owner, target, limit, leaseMs)
    const accept = async (...all: readonly NewDelivery[]) => assert.equal(await store().accept(all, MAX), 'accepted')
    const end = (id: string, state: 'pending' | 'delivered' | 'undeliverable', dueInMs = 0, owner = 'a') =>
      store().end(owner, [{ id, attempt, state, dueInMs }])
    const depths = async () =>
      (await store().totals()).counts.map(({ state, count, bytes }) => [state, count, bytes > 0])

    it('are kept as they were accepted', async () => {
      const text = of({ orderKey: 'k\u0000\ud800', item: 3, target: 't\u0000\ud800' })
      const bytes = of({ body: Uint8Array.from([0, 255, 1]), target: 'long '.repeat(400), orderKey: 'x'.repeat(5_000) })
      const none = of({ body: undefined })
      await accept(text, bytes, none)
      await stage.reopen()
      if (!stage.kind.durable) return
      for (const one of [text, bytes, none]) {
        const { request, body, ...names } = one
        const stored = await store().get(one.id)
        assert.ok(stored !== undefined)
        const { acceptedAt, dueAt, bytes: size, ...rest } = stored
        assert.deepEqual(rest, { ...names, state: 'pending', attempts: 0, lastAttempts: [] })
        for (const time of [acceptedAt, dueAt ?? '']) assert.ok(Math.abs(Date.parse(time) - Date.now()) < 60_000)
        assert.ok(size > 0)
        const content = await store().content(one.id)
        assert.deepEqual(content?.request, JSON.parse(JSON.stringify(request)))
        assert.deepEqual(content?.body && Buffer.from(content.body), body === undefined ? undefined : Buffer.from(body))
        assert.deepEqual((await store().dueTargets(10)).targets.includes(one.target), true)
        assert.deepEqual(idsOf(await claim('a', 10, LEASE_MS, one.target)), [one.id])
        assert.deepEqual(idsOf(await store().list({ target: one.target }, 10)), [one.id])
      }
      assert.deepEqual(idsOf(await store().list({ orderKey: 'k\u0000\ud800' }, 10)), [text.id])
      assert.equal(await store().get('none'), undefined)
      assert.equal(await store().content('none'), undefined)
    })

    it('of one key are claimed in order, one at a time', async () => {
      const all = Array.from({ length: 100 }, () => of({ orderKey: 'k' }))
      await Promise.all(all.map((one) => accept(one)))
      const sent: string[] = []
      for (let left = all.length; left > 0; left -= 1) {
        const claims = await Promise.all(['a', 'b'].map((owner) => claim(owner)))
        const claimed = claims.flat()
        assert.equal(claimed.length, 1)
        sent.push(...idsOf(claimed))
        const owner = claims[0]?.length === 1 ? 'a' : 'b'
        assert.equal((await end(sent.at(-1) ?? '', 'delivered', 0, owner)).length, 1)
      }
      assert.deepEqual(
        sent,
        all.map(({ id }) => id),
      )
      assert.deepEqual(await claim(), [])
      assert.deepEqual(await depths(), [['delivered', 100, false]])
      assert.deepEqual(await store().dueTargets(10), { targets: [], nextInMs: undefined })
    })

    it('of one key wait under the target of the first', async () => {
      const [one, two] = [of({ orderKey: 'k' }), of({ orderKey: 'k', target: 'b' })]
      await accept(one, two)
      assert.deepEqual((await store().dueTargets(10)).targets, [TARGET])
      assert.deepEqual(idsOf(await claim()), [one.id])
      await end(one.id, 'undeliverable')
      assert.deepEqual((await store().dueTargets(10)).targets, ['b'])
      assert.deepEqual(await store().retry([one.id, two.id]), [one.id, two.id])
      assert.deepEqual(idsOf(await claim('a', 10, LEASE_MS, 'b')), [two.id])
      await end(two.id, 'delivered')
      assert.deepEqual(idsOf(await claim()), [one.id])
    })

    it('without a key are claimed by one owner each', async () => {
      const all = Array.from({ length: 150 }, () => of())
      await accept(...all)
      const claims = await Promise.all(['a', 'b', 'c', 'd'].map((owner) => claim(owner, 40)))
      const ids = claims.flatMap(idsOf)
      assert.equal(new Set(ids).size, ids.length)
      assert.ok(claims.every(({ length }) => length <= 40) && ids.length >= 100)
    })

    it('are due again when the attempt says, or sooner if they were tried before a time', async () => {
      const one = of()
      await accept(one)
      await claim()
      assert.equal((await store().get(one.id))?.dueAt, undefined)
      const owned = await store().renew('a', [one.id, 'none'], LEASE_MS)
      assert.deepEqual([owned, await store().renew('b', [one.id], LEASE_MS)], [[one.id], []])
      await end(one.id, 'pending', 50_000)
      assert.deepEqual(await store().renew('a', [one.id], LEASE_MS), [])
      assert.deepEqual(await claim(), [])
      const { targets, nextInMs } = await store().dueTargets(10)
      assert.ok(targets.length === 0 && nextInMs !== undefined && nextInMs > 40_000 && nextInMs <= 50_000)
      assert.deepEqual(await store().claim('a', TARGET, 9, LEASE_MS, Date.now() - 60_000), [])
      const [claimed] = await store().claim('a', TARGET, 9, LEASE_MS, Date.now() + 60_000)
      assert.deepEqual([claimed?.delivery.attempts, claimed?.delivery.lastAttempts], [1, [attempt]])
      // It is leased now.
      assert.deepEqual(await store().claim('b', TARGET, 9, LEASE_MS, Date.now() + 60_000), [])
      await store().end('a', [{ id: one.id, attempt: undefined, state: 'pending', dueInMs: 0 }])
      assert.equal((await claim())[0]?.delivery.attempts, 1)
    })

    it('are taken over when a lease has expired, and an end of before is stored once', async () => {
      const [one, two] = [of({ orderKey: 'k' }), of({ orderKey: 'k' })]
      await accept(one, two)
      assert.deepEqual(idsOf(await claim('a', 9, 1)), [one.id])
      await until(
        () => claim('b'),
        ({ length }) => length === 1,
      )
      assert.deepEqual(await store().renew('a', [one.id], LEASE_MS), [])
      assert.deepEqual(await end(one.id, 'delivered', 0, 'a'), [one.id])
      // The other owner still sends the first one.
      assert.deepEqual(await claim('c'), [])
      assert.deepEqual(await end(one.id, 'undeliverable', 0, 'b'), [])
      assert.equal((await store().get(one.id))?.state, 'delivered')
      assert.deepEqual(idsOf(await claim('c')), [two.id])
      // A late end of the first one does not touch the lease of the second.
      assert.deepEqual(await end(one.id, 'delivered', 0, 'c'), [])
      assert.deepEqual(await claim('d'), [])
    })

    it('keep what is sent until they have arrived, and the latest attempts', async () => {
      const one = of()
      await accept(one)
      for (let count = 0; count < MAX_KEPT_ATTEMPTS + 5; count += 1) {
        await claim()
        await end(one.id, 'pending')
      }
      const stored = await store().get(one.id)
      assert.deepEqual([stored?.attempts, stored?.lastAttempts.length], [MAX_KEPT_ATTEMPTS + 5, MAX_KEPT_ATTEMPTS])
      await claim()
      await end(one.id, 'undeliverable')
      assert.ok((await store().content(one.id)) !== undefined)
      assert.deepEqual(await store().retry([one.id], { body: 'another' }), [one.id])
      const [claimed] = await claim()
      assert.equal(new TextDecoder().decode(claimed?.body), 'another')
      assert.deepEqual([claimed?.delivery.attempts, claimed?.delivery.bytes], [0, (stored?.bytes ?? 0) + 3])
      await end(one.id, 'delivered')
      assert.equal(await store().content(one.id), undefined)
      assert.deepEqual(await store().retry([one.id]), [])
      assert.deepEqual(await store().cancel([one.id]), [])
    })

    it('that are sent again go behind what is pending of their key, and cancelled ones let it go on', async () => {
      const [one, two, three] = [of({ orderKey: 'k' }), of({ orderKey: 'k' }), of({ orderKey: 'k' })]
      await accept(one, two, three)
      await claim()
      await end(one.id, 'undeliverable')
      assert.deepEqual(await store().retry([one.id, 'none']), [one.id])
      assert.deepEqual(idsOf(await claim()), [two.id])
      await end(two.id, 'pending', 50_000)
      assert.deepEqual(await store().cancel([two.id, 'none']), [two.id])
      assert.deepEqual(idsOf(await claim()), [three.id])
      await end(three.id, 'pending', 50_000)
      assert.deepEqual(await store().retry([three.id]), [three.id])
      assert.deepEqual(idsOf(await claim()), [three.id])
      await end(three.id, 'delivered')
      assert.deepEqual(idsOf(await claim()), [one.id])
      await end(one.id, 'delivered')
      assert.deepEqual(await depths(), [
        ['cancelled', 1, true],
        ['delivered', 2, false],
      ])
    })

    it('are refused, each call by itself, when they would take too much', async () => {
      const [one, two, big] = [of(), of(), of({ body: 'x'.repeat(10_000) })]
      const results = await Promise.all([one, big, two].map((each) => store().accept([each], 5_000)))
      assert.deepEqual(results, ['accepted', 'full', 'accepted'])
      assert.equal(await store().get(big.id), undefined)
      await claim()
      await end(one.id, 'delivered')
      await end(two.id, 'delivered')
      assert.equal(await store().accept([of({ body: 'x'.repeat(4_000) })], 5_000), 'accepted')
    })

    it('are stored with the state, or neither', async () => {
      await insertEndpoint(stage.store.endpoints, endpointOf(1))
      const state = { values: { n: 1 }, lookupStatus: 200, networkError: false }
      const one = of()
      const newest = () => stage.store.states.newest(idOf(1), FILTER)
      assert.equal(await store().accept([one], MAX, state), 'accepted')
      assert.deepEqual((await newest())?.values, { n: 1 })
      // In one batch: the id is taken, and the other call is not at fault.
      const results = await Promise.allSettled([
        store().accept([of(), { ...one }], MAX, { ...state, values: { n: 2 }, lookupStatus: 201 }),
        store().accept([of()], MAX, { ...state, values: { n: 3 } }),
      ])
      assert.deepEqual(
        results.map(({ status }) => status),
        ['rejected', 'fulfilled'],
      )
      assert.deepEqual((await newest())?.values, { n: 3 })
      assert.equal(await store().accept([of()], 1, { ...state, values: { n: 4 } }), 'full')
      assert.deepEqual((await newest())?.values, { n: 3 })
      assert.deepEqual(await depths(), [['pending', 2, true]])
    })

    it('are listed by each filter, newest first, in pages', async () => {
      const all = [
        of(),
        of({ endpointId: idOf(2) }),
        of({ requestId: 'other' }),
        of({ messageId: idOf(8) }),
        of({ target: 'b' }),
        of({ orderKey: 'k' }),
      ]
      for (const one of all) await accept(one)
      const [plain, endpoint, request, message, target, key] = all.map(({ id }) => id)
      await store().cancel([plain ?? ''])
      for (const [filter, found] of [
        [{ id: plain ?? '' }, [plain]],
        [{ state: 'cancelled' }, [plain]],
        [{ endpointId: idOf(2) }, [endpoint]],
        [{ requestId: 'other' }, [request]],
        [{ messageId: idOf(8) }, [message]],
        [{ target: 'b' }, [target]],
        [{ orderKey: 'k' }, [key]],
        [{ fromMs: Date.now() - 60_000, toMs: Date.now() + 60_000 }, all.map(({ id }) => id).reverse()],
        [{ fromMs: Date.now() + 60_000 }, []],
        [{ toMs: Date.now() - 60_000, state: 'pending' }, []],
      ] as const)
        assert.deepEqual(idsOf(await store().list(filter, 10)), found, JSON.stringify(filter))
      assert.deepEqual(idsOf(await store().list({}, 2, target)), [message, request])
    })

    it('are purged when they ended before a time, with their counts', async () => {
      const all = Array.from({ length: 5 }, () => of())
      await accept(...all)
      const [one, two, three] = all.map(({ id }) => id)
      await claim()
      await end(one ?? '', 'delivered')
      await end(two ?? '', 'undeliverable')
      await store().cancel([three ?? ''])
      assert.equal(await store().purge(Date.now() - 60_000, 10), 0)
      assert.equal(await store().purge(Date.now() + 60_000, 1), 1)
      assert.equal(await store().purge(Date.now() + 60_000, 10), 1)
      const left = await store().totals()
      assert.deepEqual(
        left.counts.map(({ bytes, ...rest }) => rest),
        (['pending', 'undeliverable'] as const).map((state) => ({
          endpointId: idOf(1),
          endpoint: 'One',
          requestId: 'send',
          target: TARGET,
          state,
          count: state === 'pending' ? 2 : 1,
        })),
      )
      assert.equal(left.oldestAt, (await store().get(all[3]?.id ?? ''))?.acceptedAt)
      assert.equal((await store().content(one ?? '')) ?? (await store().get(one ?? '')), undefined)
    })

    it('hold the order and the counts whatever is done at the same time', async () => {
      const keys = ['k1', 'k2', undefined]
      const accepted: string[] = []
      const random = fc.sample(fc.nat(1_000_000), { numRuns: 600, seed: 5 })
      let at = 0
      const draw = (below: number) => (random[at++ % random.length] ?? 0) % below
      const work = async (owner: string) => {
        for (let round = 0; round < 25; round += 1) {
          const batch = Array.from({ length: 3 }, () => {
            const orderKey = keys[draw(3)]
            return of(orderKey === undefined ? {} : { orderKey })
          })
          accepted.push(...batch.map(({ id }) => id))
          await accept(...batch)
          const claimed = idsOf(await claim(owner, 4))
          const some = Array.from({ length: 3 }, () => accepted[draw(accepted.length)] ?? '')
          await Promise.all([
            store().end(
              owner,
              claimed.map((id) => ({
                id,
                attempt,
                state: (['delivered', 'pending', 'undeliverable'] as const)[draw(3)] ?? 'pending',
              })),
            ),
            store().cancel(some.slice(0, 1)),
            store().retry(some),
            store().purge(Date.now() + 60_000, 2),
          ])
        }
      }
      await Promise.all(['a', 'b', 'c'].map(work))
      const listed = await store().list({}, 10_000)
      for (const { state, count } of (await store().totals()).counts)
        assert.equal(listed.filter((one) => one.state === state).length, count)
      // All that is pending can be sent, each key in its order.
      for (let left = listed.filter(({ state }) => state === 'pending').length; left > 0; ) {
        const claimed = await claim('z')
        assert.ok(claimed.length > 0)
        const withKey = claimed.flatMap(({ delivery }) => delivery.orderKey ?? [])
        assert.equal(new Set(withKey).size, withKey.length)
        const ended = await store().end(
          'z',
          idsOf(claimed).map((id) => ({ id, attempt, state: 'delivered' })),
        )
        left -= ended.length
      }
      assert.deepEqual(await claim('z'), [])
      assert.deepEqual(await store().dueTargets(9), { targets: [], nextInMs: undefined })
    })
  },
  [...STORES, SHARED_SQLITE],
)

const FILTER = { networkErrors: 'no-filter', statuses: { any: true, ranges: [] } } as const
