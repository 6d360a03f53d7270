/** Batches against the same changes made one by one, and changes of others while a batch runs its tests. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Failure } from '../../../src/core/failure.ts'
import type { Json } from '../../../src/core/json.ts'
import { computeEtag } from '../../../src/endpoints/precondition.ts'
import { openEndpointService } from '../../support/endpoints/open-endpoint-service.ts'
import fc from '../../support/fast-check.ts'
import { LONG } from '../../support/form.ts'

const documentOf = (name: string, route: string) => ({
  name,
  endpoint: { pattern: `/${route}` },
  transformation: { input: 'JSON', output: 'JSON' },
})

/** A change of the endpoint at a place among those that were there at first; a creation at no place. */
type Change = Readonly<{ place?: number; name: string; route: string; removes: boolean }>

const START = ['a', 'b', 'c']

async function openFilled() {
  const opened = await openEndpointService()
  const ids: string[] = []
  for (const name of START) {
    const { document } = await opened.endpointService.create(JSON.stringify(documentOf(name, name)))
    ids.push(document._id)
  }
  /** Name, route and number of versions of all, and that the active ones are the stored ones. */
  const contents = async () => {
    const documents = (await Array.fromAsync(opened.endpointService.list([])))
      .flat()
      .map(({ bytes }) => JSON.parse(Buffer.from(bytes).toString()))
    const shown = opened.registry.all().map(({ document }) => document)
    assert.deepEqual(shown, documents)
    const newest = await opened.store.endpoints.newestVersions()
    for (const { document, version } of opened.registry.all()) assert.equal(version, newest.get(document._id))
    for (const { name, endpoint } of documents) {
      const { pattern } = endpoint as { pattern: string }
      const match = opened.routes.match('POST', pattern)
      assert.equal(match.kind === 'endpoint' && match.compiled.document.name, name)
    }
    return documents
      .map(({ _id, name, endpoint }) => `${name} ${(endpoint as { pattern: string }).pattern} ${newest.get(_id)}`)
      .sort()
  }
  return { ...opened, ids, contents }
}

type Filled = Awaited<ReturnType<typeof openFilled>>

async function applyAlone({ endpointService, ids }: Filled, { place, name, route, removes }: Change): Promise<void> {
  const id = place === undefined ? undefined : (ids[place] as string)
  const text = JSON.stringify(documentOf(name, route))
  if (id === undefined) await endpointService.create(text)
  else if (removes) await endpointService.remove(id, undefined)
  else await endpointService.replace(id, text, undefined)
}

function operationOf(ids: readonly string[], { place, name, route, removes }: Change): Json {
  const id = place === undefined ? undefined : (ids[place] as string)
  if (id === undefined) return { op: 'create', document: documentOf(name, route) }
  return removes ? { op: 'delete', id } : { op: 'replace', id, document: documentOf(name, route) }
}

/** What is left if all changes succeed one by one, in this order. */
async function applyInOrder(changes: readonly Change[]): Promise<readonly string[] | undefined> {
  const filled = await openFilled()
  try {
    for (const change of changes) await applyAlone(filled, change)
    return await filled.contents()
  } catch (thrown) {
    assert.ok(thrown instanceof Failure && thrown.code === 'CONFIGURATION_CLASH', String(thrown))
    return undefined
  } finally {
    await filled.store.close()
  }
}

const orders = <T>(items: readonly T[]): readonly (readonly T[])[] =>
  items.length < 2
    ? [items]
    : items.flatMap((first, at) => orders(items.filter((_, other) => other !== at)).map((rest) => [first, ...rest]))

const key = fc.constantFrom('a', 'b', 'c', 'd')
const keys = { name: key, route: key }
const existing = fc.record({ place: fc.nat(START.length - 1), ...keys, removes: fc.boolean() })
const created = fc.record({ ...keys, removes: fc.constant(false) })
const changes = fc
  .tuple(
    fc.uniqueArray(existing, { selector: ({ place }) => place, maxLength: 3 }),
    fc.array(created, { maxLength: 1 }),
  )
  .map(([some, more]): readonly Change[] => [...some, ...more].slice(0, 3))

test('a batch gives what its changes give one by one, wherever an order of them succeeds', async () => {
  let succeeded = 0
  await fc.assert(
    fc.asyncProperty(changes, async (some) => {
      const results: (readonly string[])[] = []
      for (const order of orders(some)) {
        const result = await applyInOrder(order)
        if (result !== undefined) results.push(result)
      }
      const filled = await openFilled()
      const operations = some.map((change) => operationOf(filled.ids, change))
      const before = await filled.contents()
      const refused = await filled.endpointService.batch(JSON.stringify({ operations })).then(
        () => undefined,
        (thrown: unknown) => thrown,
      )
      const left = await filled.contents()
      if (results.length > 0) assert.equal(refused, undefined)
      for (const result of results) assert.deepEqual(left, result)
      if (refused !== undefined) assert.deepEqual(left, before)
      else succeeded += 1
      await filled.store.close()
    }),
    { numRuns: LONG ? 60 : 20 },
  )
  assert.ok(succeeded > 1, `only ${succeeded} batches succeeded`)
})

test('messages go on while a large batch is read and compiled', async () => {
  const { store, endpointService } = await openEndpointService()
  const constants = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`c${n}`, 'x'.repeat(20)]))
  const inputMapping = Object.fromEntries(Object.keys(constants).map((name) => [`constants.${name}`, name]))
  const operations = Array.from({ length: 60 }, (_, n) => ({
    op: 'create',
    document: { ...documentOf(`n${n}`, `n${n}`), constants, inputMapping },
  }))
  let isDone = false
  let turns = 0
  const count = () => {
    turns += 1
    if (!isDone) setImmediate(count)
  }
  count()
  const { results } = await endpointService.batch(JSON.stringify({ operations }))
  isDone = true
  assert.equal(results.length, operations.length)
  assert.ok(turns > operations.length, `the event loop turned ${turns} times`)
  await store.close()
})

describe('changes of others while a batch runs its tests', () => {
  const openHeld = async () => {
    const held = Promise.withResolvers<void>()
    const started = Promise.withResolvers<void>()
    let runs = 0
    let version: string | undefined
    const run = async () => {
      runs += 1
      const read = version
      if (runs === 1) {
        started.resolve()
        await held.promise
      }
      return read === 'failing' ? [{ path: 'tests[0]', message: 'It fails.', severity: 'error' as const }] : []
    }
    const opened = await openEndpointService({ changeTests: () => ({ run, readVersion: async () => version }) })
    const storeTests = (text: string) => {
      version = text
    }
    const { document } = await opened.endpointService.create(JSON.stringify(documentOf('a', 'a')))
    const toBatch = (more: object, dryRun = false) =>
      opened.endpointService.batch(
        JSON.stringify({
          operations: [
            { op: 'replace', id: document._id, document: documentOf('a', 'moved'), ...more },
            { op: 'create', document: documentOf('n', 'n') },
          ],
          dryRun,
        }),
      )
    return { ...opened, id: document._id, toBatch, storeTests, started: started.promise, letGo: held.resolve }
  }
  const limits = { timeout: 30_000 }

  for (const dryRun of [true, false]) {
    test(`are made at once${dryRun ? ', in a dry run too' : ''}`, limits, async () => {
      const { endpointService, registry, toBatch, started, letGo } = await openHeld()
      const batch = toBatch({}, dryRun)
      await started
      await endpointService.create(JSON.stringify(documentOf('other', 'other')))
      letGo()
      const { results } = await batch
      assert.deepEqual(
        results.map(({ name, version }) => [name, version]),
        [
          ['a', 2],
          ['n', 1],
        ],
      )
      assert.equal(registry.byName('a')?.endpoint.endpoint.pattern, dryRun ? '/a' : '/moved')
      assert.equal(registry.size, dryRun ? 2 : 3)
    })
  }

  test('count for the batch: what it replaces, and names that are taken', limits, async () => {
    const { endpointService, registry, store, id, toBatch, started, letGo } = await openHeld()
    const batch = toBatch({})
    await started
    await endpointService.patch(id, '{"description":"between"}', undefined)
    letGo()
    const { results } = await batch
    assert.deepEqual(results[0]?.version, 3)
    assert.deepEqual(registry.get(id)?.document, await store.endpoints.get(id))
    assert.equal(registry.get(id)?.document.description, undefined)
    const versions = (await store.endpoints.versions(id)).map(({ version }) => version)
    assert.deepEqual(versions, [3, 2, 1])
  })

  for (const dryRun of [true, false]) {
    test(`refuse a batch whose tests are others now${dryRun ? ', in a dry run too' : ''}`, limits, async () => {
      const { toBatch, storeTests, started, letGo } = await openHeld()
      const refused = assert.rejects(toBatch({}, dryRun), (thrown) => {
        assert.ok(thrown instanceof Failure)
        const shown = thrown.options.details?.map((detail) => Object(detail).code)
        assert.deepEqual(shown, ['TESTS_FAILED'])
        return true
      })
      await started
      storeTests('failing')
      letGo()
      await refused
    })
  }

  test('leave a batch of one its turn before a larger one ends', limits, async () => {
    const { endpointService, id, toBatch, started, letGo } = await openHeld()
    const ended: string[] = []
    const large = Array.from({ length: 20 }, (_, nr) => ({ op: 'create', document: documentOf(`l${nr}`, `l${nr}`) }))
    const first = { op: 'replace', id, document: documentOf('a', 'a') }
    const all = [
      endpointService
        .batch(JSON.stringify({ operations: [first, ...large], dryRun: true }))
        .then(() => ended.push('large')),
    ]
    await started
    all.push(toBatch({}).then(() => ended.push('small')))
    letGo()
    await Promise.all(all)
    assert.deepEqual(ended, ['small', 'large'])
  })

  test('refuse a batch that names the version before, or a name that is taken since', limits, async () => {
    const { endpointService, registry, id, toBatch, started, letGo } = await openHeld()
    const before = computeEtag(registry.get(id)?.document ?? null)
    const refused = assert.rejects(toBatch({ ifMatch: before }), (thrown) => {
      assert.ok(thrown instanceof Failure)
      const codes = thrown.options.details?.map((detail) => Object(detail).code)
      assert.deepEqual(codes, ['PRECONDITION_FAILED', 'CONFIGURATION_CLASH'])
      return true
    })
    await started
    await endpointService.patch(id, '{"description":"between"}', undefined)
    await endpointService.create(JSON.stringify(documentOf('n', 'elsewhere')))
    letGo()
    await refused
    assert.equal(registry.size, 2)
  })
})
