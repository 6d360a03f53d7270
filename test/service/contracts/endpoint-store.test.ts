import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { it } from 'node:test'
import type { JsonObject } from '../../../src/core/json.ts'
import { type StoredDocument, VERSIONS_OF_AN_ENDPOINT } from '../../../src/core/stored-document.ts'
import { StoreUnavailable } from '../../../src/store/store-access.ts'
import {
  EVERYTHING,
  endpointOf,
  idOf,
  insertEndpoint,
  removeEndpoint,
  replaceEndpoint,
  routeOf,
  stateOf,
} from '../../support/contracts/records.ts'
import { describeStores } from '../../support/contracts/stores.ts'
import fc from '../../support/fast-check.ts'
import { LONG } from '../../support/form.ts'

/** More than databases put into an index as it is, however well they compress it. */
const LONG_TEXT = Array.from({ length: 300 }, (_, n) => createHash('sha256').update(`${n}`).digest('hex')).join('')

describeStores('endpoints', (stage) => {
  const endpoints = () => stage.store.endpoints

  it('lists nothing and gets nothing at first', async () => {
    assert.deepEqual(await endpoints().list(), [])
    assert.equal(await endpoints().get(idOf(1)), undefined)
    await endpoints().ping()
  })

  it('gives all documents by pages of bounded size, oldest first, as they were stored', async () => {
    const sizes = [...Array<number>(150).fill(10), 300_000, 100_000, 100_000, 100_000, 700_000, 5]
    for (const [index, size] of sizes.entries()) {
      const { document, claims } = endpointOf(index)
      const text = { document: { ...document, description: 'ü'.repeat(size / 2) }, claims }
      assert.equal(await insertEndpoint(endpoints(), text), 'stored')
    }
    const pages: string[][] = []
    for (let after = ''; ; ) {
      const page = await endpoints().page(after)
      const last = page.at(-1)
      if (last === undefined) break
      after = last.id
      pages.push(page.map(({ bytes }) => Buffer.from(bytes).toString()))
    }
    assert.equal(pages.flat().join(), (await endpoints().list()).map((document) => JSON.stringify(document)).join())
    const counts = pages.map(({ length }) => length)
    assert.deepEqual([counts[0], counts.slice(2)], [100, [3, 1, 1]])
  })

  it('gives documents as a page had them, whatever changed since, as long as their versions are stored', async () => {
    for (const number of [1, 2, 3, 4]) await insertEndpoint(endpoints(), endpointOf(number))
    const replace = (number: number, before: string, after: string) =>
      replaceEndpoint(endpoints(), endpointOf(number, { name: after }), endpointOf(number, { name: before }).document)
    assert.equal(await replace(3, 'endpoint 3', 'three'), 'stored')
    const page = await endpoints().page('')
    const texts = page.map(({ bytes }) => Buffer.from(bytes).toString())
    assert.equal(await replace(1, 'endpoint 1', 'one'), 'stored')
    assert.equal(await removeEndpoint(endpoints(), endpointOf(2).document), 'stored')
    for (let n = 0; n < VERSIONS_OF_AN_ENDPOINT; n += 1) {
      assert.equal(await replace(4, n === 0 ? 'endpoint 4' : `four ${n - 1}`, `four ${n}`), 'stored')
    }
    const read = await endpoints().readVersions(page.toReversed())
    assert.deepEqual(
      read.map((bytes) => bytes && Buffer.from(bytes).toString()),
      [undefined, ...texts.slice(0, 3).reverse()],
    )
  })

  it('lists oldest first, whatever the order of writing', async () => {
    for (const number of [3, 1, 0xffff, 2])
      assert.equal(await insertEndpoint(endpoints(), endpointOf(number)), 'stored')
    const ids = (await endpoints().list()).map((document) => document._id)
    assert.deepEqual(ids, [1, 2, 3, 0xffff].map(idOf))
  })

  it('gives back what was stored, key for key', async () => {
    const record = endpointOf(1, {
      z: 1,
      a: { '10': 'x', nested: [null, true, 1.5, ''] },
      text: '" \\ \u0000 ü 漢 \ud800',
    })
    await insertEndpoint(endpoints(), record)
    const got = await endpoints().get(idOf(1))
    assert.deepEqual(got, record.document)
    assert.equal(JSON.stringify(got), JSON.stringify(record.document))
  })

  it('finds clashes over names and routes, at insert and at replace', async () => {
    await insertEndpoint(endpoints(), endpointOf(1))
    await insertEndpoint(endpoints(), endpointOf(2))
    const mine = endpointOf(9)
    const clashes = [
      ['name', { name: 'endpoint 1' }, routeOf(mine)],
      ['claim', {}, 'POST /route-1'],
      ['name', { name: 'endpoint 1' }, 'POST /route-1'],
      ['name', { name: 'endpoint 2' }, 'POST /route-1'],
    ] as const
    for (const [clash, fields, route] of clashes) {
      assert.equal(await insertEndpoint(endpoints(), endpointOf(9, fields, route)), clash)
      assert.equal(await endpoints().get(idOf(9)), undefined)
    }
    assert.equal(await insertEndpoint(endpoints(), mine), 'stored')
    for (const [clash, fields, route] of clashes) {
      assert.equal(await replaceEndpoint(endpoints(), endpointOf(9, fields, route), mine.document), clash)
      assert.deepEqual(await endpoints().get(idOf(9)), mine.document)
    }
    assert.equal(await insertEndpoint(endpoints(), endpointOf(7, {}, `POST /${LONG_TEXT}`)), 'stored')
    assert.equal(await insertEndpoint(endpoints(), endpointOf(8, { name: 'Endpoint 1' }, 'PUT /route-1')), 'stored')
  })

  it('replaces what is as expected, and lets it keep its own name and route', async () => {
    const before = endpointOf(1)
    const after = endpointOf(1, { description: 'new' })
    await insertEndpoint(endpoints(), before)
    assert.equal(await replaceEndpoint(endpoints(), after, before.document), 'stored')
    assert.deepEqual(await endpoints().get(idOf(1)), after.document)
    assert.equal(
      await replaceEndpoint(endpoints(), endpointOf(1, { name: 'other' }, 'PUT /other'), after.document),
      'stored',
    )
    assert.equal(await insertEndpoint(endpoints(), endpointOf(2, { name: 'endpoint 1' }, 'POST /route-1')), 'stored')
  })

  it('replaces and removes nothing that is gone or has changed', async () => {
    const first = endpointOf(1)
    assert.equal(await replaceEndpoint(endpoints(), first, first.document), 'gone')
    assert.equal(await removeEndpoint(endpoints(), first.document), 'gone')
    const second = endpointOf(1, { description: 'second' })
    await insertEndpoint(endpoints(), second)
    assert.equal(await replaceEndpoint(endpoints(), endpointOf(1, { description: 'third' }), first.document), 'stale')
    assert.equal(await removeEndpoint(endpoints(), first.document), 'stale')
    assert.deepEqual(await endpoints().list(), [second.document])
  })

  it('removes, and frees name and route', async () => {
    const { document } = endpointOf(1)
    await insertEndpoint(endpoints(), endpointOf(1))
    assert.equal(await removeEndpoint(endpoints(), document), 'stored')
    assert.equal(await endpoints().get(idOf(1)), undefined)
    assert.equal(await insertEndpoint(endpoints(), endpointOf(2, { name: document.name }, 'POST /route-1')), 'stored')
  })

  it('removes the states of an endpoint with it, and no others', async () => {
    await insertEndpoint(endpoints(), endpointOf(1))
    await insertEndpoint(endpoints(), endpointOf(2))
    await stage.store.states.append(idOf(1), stateOf('one', 200))
    await stage.store.states.append(idOf(2), stateOf('two', 200))
    await removeEndpoint(endpoints(), endpointOf(1).document)
    await insertEndpoint(endpoints(), endpointOf(1))
    assert.equal(await stage.store.states.newest(idOf(1), EVERYTHING), undefined)
    assert.deepEqual(await stage.store.states.newest(idOf(2), EVERYTHING), stateOf('two', 200))
  })

  it('lets one of many concurrent writers win', async () => {
    const inserted = await Promise.all(
      Array.from({ length: 20 }, (_, n) => insertEndpoint(endpoints(), endpointOf(n, { name: 'one' }))),
    )
    assert.deepEqual(inserted.toSorted(), [...Array(19).fill('name'), 'stored'])
    const [current] = await endpoints().list()
    assert.ok(current)
    const changes = Array.from({ length: 20 }, (_, change) => ({
      document: { ...current, change } as StoredDocument,
      claims: [{ key: 'POST /route-1' }],
    }))
    const replaced = await Promise.all(changes.map((record) => replaceEndpoint(endpoints(), record, current)))
    assert.deepEqual(replaced.toSorted(), [...Array(19).fill('stale'), 'stored'])
  })

  it('refuses the second of two inserts with one id', async () => {
    await insertEndpoint(endpoints(), endpointOf(1))
    assert.equal(await insertEndpoint(endpoints(), endpointOf(1, { name: 'other' }, 'PUT /other')), 'stale')
    assert.deepEqual(await endpoints().list(), [endpointOf(1).document])
  })

  it('keeps any document as it is', async () => {
    const constants = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue(), { noNullPrototype: true })
    let number = 0
    const keep = async (fields: JsonObject) => {
      number += 1
      const record = endpointOf(number, fields)
      assert.equal(await insertEndpoint(endpoints(), record), 'stored')
      const got = await endpoints().get(record.document._id)
      assert.ok(got)
      assert.equal(JSON.stringify(got), JSON.stringify(record.document))
      assert.equal(await replaceEndpoint(endpoints(), record, got), 'stored')
    }
    await fc.assert(
      fc.asyncProperty(fc.array(constants), async (documents) => {
        await Promise.all(documents.map((each) => keep(JSON.parse(JSON.stringify({ constants: each })))))
      }),
      { numRuns: LONG ? 25 : 8 },
    )
    assert.equal(Object.keys(Object.prototype).length, 0)
  })

  it('takes two names for the same only where they are', async () => {
    const wild = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('', '\ud800', '\ud801', '\\ud800', '\ufffd', 'a\0b', 'a'),
      fc.constantFrom(`${LONG_TEXT}a`, `${LONG_TEXT}b`, `${LONG_TEXT}😀`),
    )
    await fc.assert(
      fc.asyncProperty(wild, wild, async (one, other) => {
        const records = [endpointOf(1, { name: one }), endpointOf(2, { name: other })]
        const stored = await Promise.all(records.map((record) => insertEndpoint(endpoints(), record)))
        assert.deepEqual(stored.toSorted(), [one === other ? 'name' : 'stored', 'stored'])
        await Promise.all(records.map(({ document }) => removeEndpoint(endpoints(), document)))
      }),
      { numRuns: LONG ? 60 : 20 },
    )
  })

  const itLasts = stage.kind.durable ? it : () => undefined
  itLasts('is there again after closing and opening', async () => {
    await insertEndpoint(endpoints(), endpointOf(1))
    await stage.store.states.append(idOf(1), stateOf('kept', 404, true))
    await stage.reopen()
    assert.deepEqual(await endpoints().list(), [endpointOf(1).document])
    assert.deepEqual(await stage.store.states.newest(idOf(1), EVERYTHING), stateOf('kept', 404, true))
  })

  it('rejects with StoreUnavailable once it is closed, and closes twice', async () => {
    await stage.store.close()
    await stage.store.close()
    const { document } = endpointOf(1)
    const calls = [
      () => endpoints().list(),
      () => endpoints().get(idOf(1)),
      () => endpoints().ping(),
      () => insertEndpoint(endpoints(), endpointOf(1)),
      () => replaceEndpoint(endpoints(), endpointOf(1), document),
      () => removeEndpoint(endpoints(), document),
      () => stage.store.states.append(idOf(1), stateOf('late', 200)),
      async () => stage.store.states.newest(idOf(1), EVERYTHING),
    ]
    for (const call of calls) await assert.rejects(call, StoreUnavailable)
  })

  it('finishes the writes that wait before it closes', async () => {
    const inserted = Array.from({ length: 50 }, (_, number) => insertEndpoint(endpoints(), endpointOf(number)))
    const closed = stage.store.close()
    assert.deepEqual(await Promise.all(inserted), Array(50).fill('stored'))
    await closed
    if (!stage.kind.durable) return
    await stage.reopen()
    assert.equal((await endpoints().list()).length, 50)
  })
})
