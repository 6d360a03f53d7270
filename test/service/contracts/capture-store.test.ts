import assert from 'node:assert/strict'
import { beforeEach, it } from 'node:test'
import type { NewCapture } from '../../../src/store/sql/capture-store.ts'
import { endpointOf, idOf, insertEndpoint, removeEndpoint, replaceEndpoint } from '../../support/contracts/records.ts'
import { describeStores, SHARED_SQLITE, STORES } from '../../support/contracts/stores.ts'
import { until } from '../../support/until.ts'

const captureOf = (n: number, changes: Partial<NewCapture> = {}): NewCapture => ({
  endpointId: idOf(n),
  id: `capture ${n}`,
  messages: 10,
  until: Date.now() + 60_000,
  startedAt: '2027-01-01T00:00:00.000Z',
  by: 'key:1 " ü \u0000 \ud800',
  ...changes,
})

describeStores(
  'captures',
  (stage) => {
    const captures = () => stage.store.captures
    const activeIds = async () => (await captures().active()).map(({ id }) => id).sort()
    const NONE = { claimed: 0, remaining: 0 }
    beforeEach(async () => {
      await insertEndpoint(stage.store.endpoints, endpointOf(1))
      await insertEndpoint(stage.store.endpoints, endpointOf(2))
    })

    it('are none at first', async () => {
      assert.equal(await captures().get(idOf(1)), undefined)
      assert.deepEqual(await captures().active(), [])
      assert.deepEqual(await captures().claim(captureOf(1), 1), NONE)
      assert.equal(await captures().remove(idOf(1)), false)
    })

    it('are stored as they came, durably', async () => {
      const capture = captureOf(1)
      assert.equal(await captures().put(capture), true)
      assert.deepEqual(await captures().claim(capture, 3), { claimed: 3, remaining: 7 })
      if (stage.kind.durable) await stage.reopen()
      const stored = { ...capture, remaining: 7, isActive: true }
      assert.deepEqual(await captures().get(idOf(1)), stored)
      assert.deepEqual(await captures().active(), [stored])
      assert.equal(await captures().get(idOf(2)), undefined)
    })

    it('are not stored for an endpoint that does not exist', async () => {
      assert.equal(await captures().put(captureOf(9)), false)
      assert.equal(await captures().get(idOf(9)), undefined)
    })

    it('give each place once, from any store', async () => {
      const capture = captureOf(1, { messages: 50 })
      await captures().put(capture)
      await captures().put(captureOf(2))
      const results = await Promise.all(Array.from({ length: 30 }, (_, n) => captures().claim(capture, (n % 4) + 1)))
      assert.equal(
        results.reduce((sum, { claimed }) => sum + claimed, 0),
        50,
      )
      assert.deepEqual(await captures().claim(capture, 1), NONE)
      const { remaining, isActive } = (await captures().get(idOf(1))) ?? assert.fail()
      assert.deepEqual([remaining, isActive], [0, false])
      assert.deepEqual(await activeIds(), ['capture 2'])
    })

    it('end at their time', async () => {
      const capture = captureOf(1, { until: Date.now() + 50 })
      await captures().put(capture)
      await until(activeIds, ({ length }) => length === 0)
      assert.deepEqual(await captures().claim(capture, 1), NONE)
      const { remaining, isActive } = (await captures().get(idOf(1))) ?? assert.fail()
      assert.deepEqual([remaining, isActive], [10, false])
    })

    it('are replaced, and places of the earlier one count no more', async () => {
      const [earlier, later] = [captureOf(1), captureOf(1, { id: 'later', messages: 5 })]
      await captures().put(earlier)
      await captures().put(later)
      assert.deepEqual(await captures().claim(earlier, 1), NONE)
      assert.deepEqual(await captures().claim(later, 1), { claimed: 1, remaining: 4 })
      assert.deepEqual(await activeIds(), ['later'])
    })

    it('are removed', async () => {
      await captures().put(captureOf(1))
      assert.equal(await captures().remove(idOf(1)), true)
      assert.equal(await captures().get(idOf(1)), undefined)
      assert.deepEqual(await captures().claim(captureOf(1), 1), NONE)
    })

    it('are removed and replaced while others take places', async () => {
      for (let round = 0; round < 10; round += 1) {
        const capture = captureOf(1, { id: `round ${round}`, messages: 20 })
        await captures().put(capture)
        const claims = Array.from({ length: 6 }, () => captures().claim(capture, 1))
        const [removed] = await Promise.all([captures().remove(idOf(1)), ...claims, captures().claim(capture, 2)])
        assert.equal(removed, true)
        assert.deepEqual(await captures().claim(capture, 1), NONE)
      }
    })

    it('stay when the document is replaced, and are deleted with it', async () => {
      await captures().put(captureOf(1))
      const replaced = endpointOf(1, { description: 'other' })
      assert.equal(await replaceEndpoint(stage.store.endpoints, replaced, endpointOf(1).document), 'stored')
      assert.deepEqual(await activeIds(), ['capture 1'])
      assert.equal(await removeEndpoint(stage.store.endpoints, replaced.document), 'stored')
      assert.deepEqual(await activeIds(), [])
      await insertEndpoint(stage.store.endpoints, replaced)
      assert.equal(await captures().get(idOf(1)), undefined)
    })
  },
  [...STORES, SHARED_SQLITE],
)

// Services that share a file are the workers of one, which notifies them.
describeStores(
  'captures',
  (stage) => {
    beforeEach(() => insertEndpoint(stage.store.endpoints, endpointOf(1)))

    it('are news for the instances that share the store when they start and end, and not at each place', async () => {
      const { changes } = stage.store
      assert.ok(changes)
      const version = async () => (await changes.since(0)).version
      const before = await version()
      await stage.store.captures.put(captureOf(1))
      const started = await version()
      assert.ok(started > before)
      await stage.store.captures.claim(captureOf(1), 1)
      assert.equal(await version(), started)
      await stage.store.captures.remove(idOf(1))
      assert.ok((await version()) > started)
      const since = await changes.since(before)
      assert.deepEqual(since.documents, [])
    })
  },
  STORES.filter(({ name }) => name === 'PostgreSQL'),
)
