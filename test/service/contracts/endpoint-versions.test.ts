import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { StoredDocument } from '../../../src/core/stored-document.ts'
import { DELETED_ENDPOINTS, VERSIONS_OF_AN_ENDPOINT } from '../../../src/core/stored-document.ts'
import { endpointOf, idOf, insertEndpoint, removeEndpoint, replaceEndpoint } from '../../support/contracts/records.ts'
import { describeStores } from '../../support/contracts/stores.ts'

const minute = (number: number): string => new Date(Date.UTC(2024, 0, 1, 0, number)).toISOString()

describeStores('versions of endpoints', (stage) => {
  const endpoints = () => stage.store.endpoints
  const numbers = async (id: string) => (await endpoints().versions(id)).map(({ version }) => version)

  it('are none at first', async () => {
    assert.deepEqual(await endpoints().versions(idOf(1)), [])
    assert.equal(await endpoints().version(idOf(1), 1), undefined)
    assert.deepEqual(await endpoints().newestVersions(), new Map())
  })

  it('report every change with what is known of it, newest first', async () => {
    const [first, second, third] = [1, 2, 3].map((n) => endpointOf(1, { description: `${n}`, updatedAt: minute(n) }))
    assert.ok(first && second && third)
    const origin = { address: '127.0.0.1', note: 'für 漢 "\u0000" \ud800' }
    assert.equal(await insertEndpoint(endpoints(), first), 'stored')
    assert.equal(await replaceEndpoint(endpoints(), second, first.document, { method: 'patch', origin }), 'stored')
    assert.equal(
      await replaceEndpoint(endpoints(), third, second.document, { method: 'restore', restored: 1 }),
      'stored',
    )
    assert.equal(await removeEndpoint(endpoints(), third.document, { at: minute(9), origin }), 'stored')
    assert.deepEqual(await endpoints().versions(idOf(1)), [
      { version: 4, at: minute(9), method: 'delete', origin },
      { version: 3, at: minute(3), method: 'restore', restored: 1, origin: {} },
      { version: 2, at: minute(2), method: 'patch', origin },
      { version: 1, at: minute(1), method: 'create', origin: {} },
    ])
    assert.deepEqual(await endpoints().version(idOf(1), 2), {
      version: 2,
      at: minute(2),
      method: 'patch',
      origin,
      document: second.document,
    })
    assert.equal((await endpoints().version(idOf(1), 4))?.document, null)
    assert.equal(await endpoints().version(idOf(1), 5), undefined)
    assert.equal(await endpoints().version(idOf(2), 1), undefined)
  })

  it('have their documents as they were, key for key', async () => {
    const { document, claims } = endpointOf(1, { z: 1, a: { '10': 'x' }, text: '" \\ \u0000 ü 漢 \ud800' })
    await insertEndpoint(endpoints(), { document, claims })
    assert.equal(JSON.stringify((await endpoints().version(idOf(1), 1))?.document), JSON.stringify(document))
  })

  it('are not made by a write that was refused', async () => {
    const [one, two] = [endpointOf(1), endpointOf(2)]
    await insertEndpoint(endpoints(), one)
    await insertEndpoint(endpoints(), two)
    const stale = endpointOf(1, { description: 'never stored' }).document
    assert.equal(await insertEndpoint(endpoints(), endpointOf(3, { name: 'endpoint 1' })), 'name')
    assert.equal(await replaceEndpoint(endpoints(), endpointOf(1, { name: 'endpoint 2' }), one.document), 'name')
    assert.equal(await replaceEndpoint(endpoints(), one, stale), 'stale')
    assert.equal(await replaceEndpoint(endpoints(), endpointOf(4), endpointOf(4).document), 'gone')
    assert.equal(await removeEndpoint(endpoints(), stale), 'stale')
    assert.equal(await removeEndpoint(endpoints(), endpointOf(4).document), 'gone')
    assert.equal(await insertEndpoint(endpoints(), endpointOf(1, { name: 'same id' }, 'PUT /same-id')), 'stale')
    for (const [number, expected] of [
      [1, [1]],
      [2, [1]],
      [3, []],
      [4, []],
    ] as const)
      assert.deepEqual(await numbers(idOf(number)), expected)
  })

  it(`are the last ${VERSIONS_OF_AN_ENDPOINT} of an endpoint, and all of the others`, async () => {
    await insertEndpoint(endpoints(), endpointOf(2))
    let current: StoredDocument = endpointOf(1).document
    await insertEndpoint(endpoints(), endpointOf(1))
    for (let number = 2; number <= VERSIONS_OF_AN_ENDPOINT + 3; number += 1) {
      const next = endpointOf(1, { description: `${number}` })
      assert.equal(await replaceEndpoint(endpoints(), next, current), 'stored')
      current = next.document
    }
    assert.deepEqual(
      await numbers(idOf(1)),
      Array.from({ length: VERSIONS_OF_AN_ENDPOINT }, (_, n) => VERSIONS_OF_AN_ENDPOINT + 3 - n),
    )
    assert.equal((await endpoints().version(idOf(1), 4))?.document?.description, '4')
    assert.deepEqual(await numbers(idOf(2)), [1])
    assert.deepEqual(
      await endpoints().newestVersions(),
      new Map([
        [idOf(1), VERSIONS_OF_AN_ENDPOINT + 3],
        [idOf(2), 1],
      ]),
    )
  })

  it('go on where an endpoint comes back under its id', async () => {
    await insertEndpoint(endpoints(), endpointOf(1))
    await removeEndpoint(endpoints(), endpointOf(1).document)
    assert.deepEqual(await endpoints().newestVersions(), new Map())
    await insertEndpoint(endpoints(), endpointOf(1), { method: 'restore', restored: 1 })
    assert.deepEqual(await numbers(idOf(1)), [3, 2, 1])
    assert.deepEqual(await endpoints().newestVersions(), new Map([[idOf(1), 3]]))
  })

  it(`stay for the ${DELETED_ENDPOINTS} endpoints that were deleted last`, async () => {
    await insertEndpoint(endpoints(), endpointOf(0))
    const last = DELETED_ENDPOINTS + 2
    for (let number = 1; number <= last; number += 1) {
      await insertEndpoint(endpoints(), endpointOf(number))
      await removeEndpoint(endpoints(), endpointOf(number).document, { at: minute(number) })
    }
    const kept = await Promise.all(Array.from({ length: last + 1 }, (_, number) => numbers(idOf(number))))
    assert.deepEqual(kept, [[1], [], [], ...Array(DELETED_ENDPOINTS).fill([2, 1])])
  })

  it('are one for each of many concurrent writers that wins', async () => {
    await insertEndpoint(endpoints(), endpointOf(1))
    const changes = Array.from({ length: 20 }, (_, change) => endpointOf(1, { change }))
    await Promise.all(changes.map((record) => replaceEndpoint(endpoints(), record, endpointOf(1).document)))
    const [newest] = await endpoints().versions(idOf(1))
    assert.equal(newest?.version, 2)
    assert.deepEqual((await endpoints().version(idOf(1), 2))?.document, await endpoints().get(idOf(1)))
  })

  it('are there again after closing', async () => {
    if (!stage.kind.durable) return
    await insertEndpoint(endpoints(), endpointOf(1), { origin: { address: '::1' } })
    const before = await endpoints().versions(idOf(1))
    await stage.reopen()
    assert.deepEqual(await endpoints().versions(idOf(1)), before)
  })
})
