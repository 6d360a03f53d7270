import assert from 'node:assert/strict'
import { beforeEach, it } from 'node:test'
import { endpointOf, idOf, insertEndpoint, removeEndpoint, replaceEndpoint } from '../../support/contracts/records.ts'
import { describeStores, SHARED_SQLITE, STORES } from '../../support/contracts/stores.ts'

describeStores(
  'tests of endpoints',
  (stage) => {
    const tests = () => stage.store.tests
    beforeEach(async () => {
      await insertEndpoint(stage.store.endpoints, endpointOf(1))
      await insertEndpoint(stage.store.endpoints, endpointOf(2))
    })

    it('are none at first', async () => {
      assert.equal(await tests().get(idOf(1)), undefined)
      assert.equal(await tests().get(idOf(9)), undefined)
      assert.deepEqual(await tests().endpoints(), new Set())
    })

    it('are stored as they came, durably, and replaced', async () => {
      const text = JSON.stringify({ tests: [{ name: '" \\ \u0000 ü 漢 \ud800', given: { '10': 1, a: 2 } }] })
      assert.equal(await tests().write(idOf(1), text, undefined), 'stored')
      if (stage.kind.durable) await stage.reopen()
      assert.equal(await tests().get(idOf(1)), text)
      assert.equal(await tests().get(idOf(2)), undefined)
      assert.deepEqual(await tests().endpoints(), new Set([idOf(1)]))
      assert.equal(await tests().write(idOf(1), '{}', text), 'stored')
      assert.equal(await tests().get(idOf(1)), '{}')
    })

    it('hold a mebibyte', async () => {
      const text = JSON.stringify({ tests: ['x'.repeat(1_048_550)] })
      assert.equal(await tests().write(idOf(1), text, undefined), 'stored')
      assert.equal(await tests().get(idOf(1)), text)
    })

    it('are written only over those that were read', async () => {
      assert.equal(await tests().write(idOf(1), 'b', 'a'), 'stale')
      assert.equal(await tests().write(idOf(1), 'a', undefined), 'stored')
      assert.equal(await tests().write(idOf(1), 'b', undefined), 'stale')
      assert.equal(await tests().write(idOf(1), undefined, undefined), 'stale')
      assert.equal(await tests().get(idOf(1)), 'a')
    })

    it('are not stored for an endpoint that does not exist', async () => {
      assert.equal(await tests().write(idOf(9), 'a', undefined), 'gone')
      assert.equal(await tests().get(idOf(9)), undefined)
    })

    it('are removed', async () => {
      await tests().write(idOf(1), 'a', undefined)
      assert.equal(await tests().write(idOf(1), undefined, 'a'), 'stored')
      assert.equal(await tests().get(idOf(1)), undefined)
      assert.equal(await tests().write(idOf(1), undefined, undefined), 'stored')
    })

    it('stay when the document is replaced, and are deleted with it', async () => {
      await tests().write(idOf(1), 'a', undefined)
      await tests().write(idOf(2), 'b', undefined)
      const replaced = endpointOf(1, { description: 'other' })
      assert.equal(await replaceEndpoint(stage.store.endpoints, replaced, endpointOf(1).document), 'stored')
      assert.equal(await tests().get(idOf(1)), 'a')
      assert.equal(await removeEndpoint(stage.store.endpoints, replaced.document), 'stored')
      assert.equal(await tests().get(idOf(1)), undefined)
      assert.equal(await insertEndpoint(stage.store.endpoints, replaced), 'stored')
      assert.equal(await tests().get(idOf(1)), undefined)
      assert.equal(await tests().get(idOf(2)), 'b')
    })

    it('of many writers at once are those of one', async () => {
      const results = await Promise.all(
        Array.from({ length: 20 }, (_, n) => tests().write(idOf(1), `tests ${n}`, undefined)),
      )
      assert.equal(results.filter((result) => result === 'stored').length, 1)
      assert.equal(await tests().get(idOf(1)), `tests ${results.indexOf('stored')}`)
    })
  },
  [...STORES, SHARED_SQLITE],
)
