/** What cannot be distinguished over HTTP: a store that does not answer, changes at once, and a clock that goes back. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Failure } from '../../../src/core/failure.ts'
import type { EndpointService } from '../../../src/endpoints/endpoint-service.ts'
import type { EndpointStore } from '../../../src/store/sql/endpoint-store.ts'
import type { ChangeFeed } from '../../../src/store/store.ts'
import { StoreUnavailable, waitForStore, withStoreAccess } from '../../../src/store/store-access.ts'
import { replaceEndpoint } from '../../support/contracts/records.ts'
import { openEndpointService } from '../../support/endpoints/open-endpoint-service.ts'
import { silent } from '../../support/silent.ts'

const text = (description: string) =>
  JSON.stringify({
    name: 'one',
    description,
    endpoint: { pattern: '/one' },
    transformation: { input: 'JSON', output: 'JSON' },
  })

test('a store that does not answer fails every call with 503, and changes nothing that is in force', async () => {
  const { store, registry, routes, endpointService: catalogue } = await openEndpointService()
  const { _id: id } = (await catalogue.create(text('first'))).document
  const before = registry.all()
  await store.close()
  const other = text('second').replace('one', 'two').replace('/one', '/two')
  const calls = [
    () => Array.fromAsync(catalogue.list([])),
    () => catalogue.get(id),
    () => catalogue.create(other),
    () => catalogue.replace(id, other, undefined),
    () => catalogue.patch(id, '{}', undefined),
    () => catalogue.remove(id, undefined),
  ]
  for (const call of calls) await assert.rejects(call, { code: 'STORE_UNAVAILABLE', status: 503 })
  assert.deepEqual(registry.all(), before)
  assert.equal(routes.match('POST', '/one').kind, 'endpoint')
  assert.equal(routes.match('POST', '/two').kind, 'unknown')
})

test('a change waits no longer for the store than one access, though the changes of others are read before it', async () => {
  const watchers: ((version: number) => void)[] = []
  const never = new Promise<never>(() => undefined)
  const { endpointService: catalogue } = await openEndpointService({
    changes: {
      watch: (onVersion) => void watchers.push(onVersion),
      // A store that does not answer: the access itself goes on for ever.
      since: () => waitForStore(50, () => never),
    } as ChangeFeed,
  })
  catalogue.follow()
  for (const onVersion of watchers) onVersion(1)
  await withStoreAccess({ lost: undefined, isOver: false }, async () => {
    await assert.rejects(catalogue.create(text('first')), { code: 'STORE_UNAVAILABLE' })
    // Such as that of the audit log, which follows.
    await assert.rejects(
      waitForStore(60_000, () => never),
      StoreUnavailable,
    )
  })
})

describe('a store that keeps a change and cannot confirm it', () => {
  type Disk = { confirms: boolean; reads: boolean; readsOn: boolean }

  function over(disk: Disk) {
    const fail = () => {
      throw new StoreUnavailable('the disk is broken')
    }
    return (store: EndpointStore): EndpointStore => ({
      ...store,
      writeAll: async (...given) => {
        const result = await store.writeAll(...given)
        if (disk.confirms) return result
        disk.reads = disk.readsOn
        return fail()
      },
      get: async (id) => (disk.reads ? store.get(id) : fail()),
    })
  }

  type Change = (catalogue: EndpointService, id: string) => Promise<unknown>
  const moved = text('moved').replace('/one', '/two')
  const other = text('other').replace('one', 'two').replace('/one', '/two')
  const putTable = { op: 'putTable', table: 'codes', content: 'code,v\nA,1\n' }
  const inputMapping = {
    'requestBody.code': { key: 'v', transform: { function: 'table', parameters: { table: 'codes' } } },
  }
  const REPORTED: Readonly<Record<string, number>> = { batch: 2, 'batch of an endpoint and its table': 2 }
  const cases: Record<string, readonly [change: Change, routes: readonly string[], prepare?: Change]> = {
    create: [(catalogue) => catalogue.create(other), ['/one', '/two']],
    replace: [(catalogue, id) => catalogue.replace(id, moved, undefined), ['/two']],
    patch: [(catalogue, id) => catalogue.patch(id, '{"endpoint":{"pattern":"/two"}}', undefined), ['/two']],
    remove: [(catalogue, id) => catalogue.remove(id, undefined), []],
    batch: [
      (catalogue, id) => {
        const operations = [
          { op: 'replace', id, document: JSON.parse(moved) },
          { op: 'create', document: { ...JSON.parse(text('third')), name: 'three' } },
        ]
        return catalogue.batch(JSON.stringify({ operations }))
      },
      ['/one', '/two'],
    ],
    'batch of a table': [(catalogue) => catalogue.batch(JSON.stringify({ operations: [putTable] })), ['/one']],
    'batch of an endpoint and its table': [
      (catalogue, id) => {
        const operations = [{ op: 'replace', id, document: { ...JSON.parse(moved), inputMapping } }, putTable]
        return catalogue.batch(JSON.stringify({ operations }))
      },
      ['/two'],
    ],
    'restore of a removed one': [
      (catalogue, id) => catalogue.restore(id, 1, undefined),
      ['/one'],
      (catalogue, id) => catalogue.remove(id, undefined),
    ],
  }
  for (const [name, [change, routes, prepare]] of Object.entries(cases)) {
    for (const readsOn of [true, false]) {
      test(`has that in force after ${name}, ${readsOn ? 'at once' : 'with the next change'}, and reports it`, async () => {
        const disk = { confirms: true, reads: true, readsOn }
        const warnings: object[] = []
        const logger = { ...silent, warn: (fields: object) => void warnings.push(fields) }
        const opened = await openEndpointService({ over: over(disk), logger })
        const { store, registry, endpointService: catalogue } = opened
        const inForce = () => ['/one', '/two'].filter((path) => opened.routes.match('POST', path).kind === 'endpoint')
        const { document } = await catalogue.create(text('first'))
        await prepare?.(catalogue, document._id)
        const before = inForce()
        disk.confirms = false
        await assert.rejects(change(catalogue, document._id), { code: 'STORE_UNAVAILABLE' })
        if (!readsOn) {
          assert.deepEqual(inForce(), before)
          disk.reads = true
          disk.confirms = true
          await assert.rejects(catalogue.create('{}'))
        }
        assert.deepEqual(inForce(), routes)
        const stored = await store.endpoints.list()
        const documents = registry.all().map((compiled) => compiled.document)
        assert.deepEqual(documents, stored)
        const newest = await store.endpoints.newestVersions()
        for (const compiled of registry.all()) assert.equal(compiled.version, newest.get(compiled.document._id))
        const versions = (list: Iterable<{ name: string; version: number }>) =>
          Array.from(list, ({ name: table, version }) => [table, version])
        assert.deepEqual(versions(opened.tables.current.values()), versions(await store.tables.list()))
        assert.equal(warnings.length, REPORTED[name] ?? 1)
        await store.close()
      })
    }
  }
})

test('a change that is stored without confirmation stays pending while no process compiles it', async () => {
  const state = { confirms: true, compiles: true }
  const run = () => assert.fail('a message ran')
  const program = {
    expressions: new Map(),
    values: new Map(),
    lints: new Map(),
    transform: run,
    evaluate: run,
    validate: run,
  }
  const {
    store,
    registry,
    endpointService: catalogue,
  } = await openEndpointService({
    over: (endpoints) => ({
      ...endpoints,
      writeAll: async (writes) => {
        const result = await endpoints.writeAll(writes)
        if (state.confirms) return result
        state.compiles = false
        throw new StoreUnavailable('the disk is broken')
      },
    }),
    sandbox: {
      compile: async () => {
        if (state.compiles) return program
        throw new Failure('OVERLOADED', 'No process is free.')
      },
    },
  })
  const of = (description: string) => JSON.stringify({ ...JSON.parse(text(description)), inputValidation: {} })
  const { document } = await catalogue.create(of('first'))
  state.confirms = false
  await assert.rejects(catalogue.replace(document._id, of('second'), undefined), { code: 'STORE_UNAVAILABLE' })
  const active = () => registry.get(document._id)?.document.description
  assert.deepEqual([active(), catalogue.inactive()], ['first', [document._id]])
  Object.assign(state, { confirms: true, compiles: true })
  // The next change tries again, though it is refused itself.
  await assert.rejects(catalogue.create('{}'))
  assert.deepEqual([active(), catalogue.inactive()], ['second', []])
  await store.close()
})

describe('changes at once', () => {
  test('without a condition are all made, one after the other', async () => {
    const { store, endpointService: catalogue } = await openEndpointService()
    const { document } = await catalogue.create(text('first'))
    const patches = Array.from({ length: 20 }, (_, n) => `{"constants":{"n${n}":${n}}}`)
    await Promise.all(patches.map((patch) => catalogue.patch(document._id, patch, undefined)))
    const { constants } = await catalogue.get(document._id)
    assert.deepEqual(constants, Object.fromEntries(patches.map((_, n) => [`n${n}`, n])))
    await store.close()
  })

  test('of which one can be made name it to the others', async () => {
    const { store, endpointService: catalogue } = await openEndpointService()
    const results = await Promise.allSettled(Array.from({ length: 20 }, () => catalogue.create(text('same'))))
    const [winner, ...others] = results.flatMap((one) => (one.status === 'fulfilled' ? [one.value.document._id] : []))
    assert.deepEqual(others, [])
    const refusals = results.flatMap((one) => (one.status === 'rejected' ? [one.reason as Failure] : []))
    assert.equal(refusals.length, 19)
    for (const { code, options } of refusals) {
      assert.equal(code, 'CONFIGURATION_CLASH')
      const [name, route] = options.details ?? []
      assert.ok(name?.path === 'name' && name.message.includes(String(winner)), name?.message)
      assert.ok(route?.path === 'endpoint.pattern' && route.message.includes('"one" (POST /one)'), route?.message)
    }
    await store.close()
  })

  test('go on after one that failed', async () => {
    const { store, endpointService: catalogue } = await openEndpointService()
    const [failed, made] = await Promise.allSettled([catalogue.create('{'), catalogue.create(text('made'))])
    assert.deepEqual([failed.status, made.status], ['rejected', 'fulfilled'])
    await store.close()
  })
})

test('updatedAt moves on even where the clock goes back', async () => {
  let now = Date.parse('2024-01-01T00:00:01.000Z')
  const { store, endpointService: catalogue } = await openEndpointService({ clock: () => now })
  const { document } = await catalogue.create(text('first'))
  now -= 1_000
  const { document: second } = await catalogue.replace(document._id, text('second'), undefined)
  const { document: third } = await catalogue.patch(document._id, '{"description":"third"}', undefined)
  const updatedAts = [document, second, third].map(({ updatedAt }) => updatedAt)
  assert.deepEqual(updatedAts, ['2024-01-01T00:00:01.000Z', '2024-01-01T00:00:01.001Z', '2024-01-01T00:00:01.002Z'])
  assert.equal(third.createdAt, '2024-01-01T00:00:01.000Z')
  await store.close()
})

test('a change that another process made meanwhile is not overwritten', async () => {
  const { store, registry, endpointService: catalogue } = await openEndpointService()
  const { document } = await catalogue.create(text('first'))
  const [compiled] = registry.all()
  assert.ok(compiled)
  // Both read the same document; the other process writes between our read and our write.
  const ours = catalogue.replace(document._id, text('ours'), undefined)
  const theirs = { document: { ...document, description: 'theirs' }, claims: compiled.claims }
  assert.equal(await replaceEndpoint(store.endpoints, theirs, document), 'stored')
  await assert.rejects(ours, (thrown) => thrown instanceof Failure && thrown.code === 'PRECONDITION_FAILED')
  assert.deepEqual(await catalogue.get(document._id), theirs.document)
  await store.close()
})
