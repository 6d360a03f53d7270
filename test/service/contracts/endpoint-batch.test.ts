/** Several writes of endpoints as one: all or none, compared with what is stored afterwards. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { EndpointWrite } from '../../../src/store/sql/endpoint-store.ts'
import {
  EVERYTHING,
  endpointOf,
  filterOf,
  idOf,
  insertEndpoint,
  routeOf,
  stateOf,
} from '../../support/contracts/records.ts'
import { describeStores, SHARED_SQLITE, STORES } from '../../support/contracts/stores.ts'
import fc from '../../support/fast-check.ts'
import { LONG } from '../../support/form.ts'

const MANY = LONG ? 1_000 : 150

type Endpoint = ReturnType<typeof endpointOf>

const insert = (record: Endpoint): EndpointWrite => ({ op: 'insert', record })
const replace = (record: Endpoint, expected: Endpoint): EndpointWrite => ({
  op: 'replace',
  record,
  expected: expected.document,
})
const remove = ({ document }: Endpoint): EndpointWrite => ({ op: 'remove', expected: document })

const [one, two, three] = [1, 2, 3].map((number) => endpointOf(number)) as [Endpoint, Endpoint, Endpoint]
/** The n-th endpoint with the name and the route of others. */
const as = (number: number, name: Endpoint, route: Endpoint): Endpoint =>
  endpointOf(number, { name: name.document.name }, routeOf(route))

describeStores(
  'writes made together',
  (stage) => {
    const endpoints = () => stage.store.endpoints
    const fill = () => Promise.all([one, two, three].map((record) => insertEndpoint(endpoints(), record)))
    const names = async () => (await endpoints().list()).map(({ _id, name }) => [Number.parseInt(_id, 16), name])

    const accepted: readonly (readonly [
      name: string,
      writes: readonly EndpointWrite[],
      left: Record<number, string>,
    ])[] = [
      ['nothing', [], { 1: 'endpoint 1', 2: 'endpoint 2', 3: 'endpoint 3' }],
      [
        'two names change places',
        [replace(as(1, two, one), one), replace(as(2, one, two), two)],
        { 1: 'endpoint 2', 2: 'endpoint 1', 3: 'endpoint 3' },
      ],
      [
        'three names and routes go around',
        [replace(as(1, two, three), one), replace(as(2, three, one), two), replace(as(3, one, two), three)],
        { 1: 'endpoint 2', 2: 'endpoint 3', 3: 'endpoint 1' },
      ],
      [
        'a name that is given up is inserted, whatever the order',
        [insert(as(9, one, two)), remove(one), replace(as(2, two, three), two), remove(three)],
        { 2: 'endpoint 2', 9: 'endpoint 1' },
      ],
      [
        'a chain',
        [replace(as(1, two, two), one), replace(as(2, three, three), two), remove(three)],
        { 1: 'endpoint 2', 2: 'endpoint 3' },
      ],
    ]
    for (const [name, writes, left] of accepted) {
      it(`stores all: ${name}`, async () => {
        await fill()
        assert.equal(await endpoints().writeAll(writes), 'stored')
        assert.deepEqual(Object.fromEntries(await names()), left)
        // The routes are those that were written, and no other.
        for (const write of writes) {
          if (write.op === 'remove') continue
          const route = routeOf(write.record)
          assert.equal(await insertEndpoint(endpoints(), endpointOf(99, { name: 'another' }, route)), 'claim')
        }
      })
    }

    const other = endpointOf(1, { description: 'other' })
    const refused: readonly (readonly [
      name: string,
      writes: readonly EndpointWrite[],
      index: number,
      reason: string,
    ])[] = [
      ['a name that is taken', [insert(endpointOf(8)), insert(as(9, one, endpointOf(9)))], 1, 'name'],
      ['a route that is taken', [insert(endpointOf(8)), insert(as(9, endpointOf(9), two))], 1, 'claim'],
      ['one name twice', [insert(endpointOf(8)), insert(as(9, endpointOf(8), endpointOf(9)))], 1, 'name'],
      [
        'one route twice',
        [remove(three), insert(endpointOf(8)), insert(as(9, endpointOf(9), endpointOf(8)))],
        2,
        'claim',
      ],
      ['what is gone', [insert(endpointOf(8)), replace(endpointOf(9), endpointOf(9))], 1, 'gone'],
      ['a removal of what has changed', [insert(endpointOf(8)), remove(other)], 1, 'stale'],
      ['a replacement of what has changed', [remove(two), replace(one, other)], 1, 'stale'],
      [
        'a name that another one keeps',
        [replace(as(1, two, one), one), replace(as(2, two, endpointOf(9)), two)],
        1,
        'name',
      ],
    ]
    it('stores none where one is refused', async () => {
      await fill()
      for (const [name, writes, index, reason] of refused) {
        const claim = reason === 'claim' ? { claim: 0 } : {}
        assert.deepEqual(await endpoints().writeAll(writes), { index, reason, ...claim }, name)
        assert.deepEqual(
          await endpoints().list(),
          [one, two, three].map(({ document }) => document),
          name,
        )
        assert.equal((await endpoints().versions(idOf(1))).length, 1, name)
        assert.deepEqual(await endpoints().versions(idOf(8)), [], name)
      }
    })

    it('adds a version for each', async () => {
      await fill()
      const change = { origin: { note: 'a batch' } }
      const writes = [
        insert(endpointOf(8)),
        replace(as(1, two, one), one),
        replace(as(2, one, two), two),
        remove(three),
      ]
      assert.equal(await endpoints().writeAll(writes.map((write) => ({ ...write, change }))), 'stored')
      const newest = await Promise.all(
        [8, 1, 2, 3].map(async (number) => (await endpoints().versions(idOf(number)))[0]),
      )
      assert.deepEqual(
        newest.map((summary) => [summary?.version, summary?.method, summary?.origin.note]),
        [
          [1, 'create', 'a batch'],
          [2, 'replace', 'a batch'],
          [2, 'replace', 'a batch'],
          [2, 'delete', 'a batch'],
        ],
      )
      assert.deepEqual((await endpoints().version(idOf(1), 2))?.document, as(1, two, one).document)
      assert.equal((await endpoints().version(idOf(3), 2))?.document, null)
    })

    it('stores states, each the newest of its endpoint', async () => {
      await fill()
      const { states } = stage.store
      await states.append(idOf(1), stateOf('old', 200))
      await states.append(idOf(1), stateOf('older kind', undefined, true))
      const writes = [
        { ...insert(endpointOf(8)), state: stateOf('first', undefined) },
        { ...replace(as(1, endpointOf(9), one), one), state: stateOf('given', 404) },
        replace(as(2, endpointOf(7), two), two),
      ] as const
      assert.equal(await endpoints().writeAll(writes), 'stored')
      assert.deepEqual(await states.newest(idOf(8), EVERYTHING), stateOf('first', undefined))
      assert.deepEqual(await states.newest(idOf(1), EVERYTHING), stateOf('given', 404))
      assert.deepEqual(await states.newest(idOf(1), filterOf([[200, 299]])), stateOf('old', 200))
      assert.equal(await states.newest(idOf(2), EVERYTHING), undefined)
      await states.append(idOf(8), stateOf('later', undefined))
      assert.deepEqual(await states.newest(idOf(8), EVERYTHING), stateOf('later', undefined))
    })

    it(`takes ${MANY} writes`, async () => {
      const records = Array.from({ length: MANY }, (_, number) => endpointOf(number, { text: 'x'.repeat(number) }))
      assert.equal(await endpoints().writeAll(records.map(insert)), 'stored')
      // Each takes the name of the next, the last one that of the first.
      const moved = records.map((_, number) => as(number, endpointOf((number + 1) % MANY), endpointOf(number)))
      const writes = moved.map((record, number) => replace(record, records[number] as Endpoint))
      assert.equal(await endpoints().writeAll(writes), 'stored')
      assert.deepEqual(
        await endpoints().list(),
        moved.map(({ document }) => document),
      )
      assert.equal((await endpoints().newestVersions()).get(idOf(MANY - 1)), 2)
      assert.equal(await endpoints().writeAll(moved.map(remove)), 'stored')
      assert.deepEqual(await endpoints().list(), [])
    })

    it('stores all of many that are made at once, or none of each', async () => {
      await fill()
      const contests = Array.from({ length: 10 }, (_, n) => [
        insert(endpointOf(100 + n)),
        replace(endpointOf(1, { n }), one),
        insert(endpointOf(200 + n)),
      ])
      const results = await Promise.all(contests.map((writes) => endpoints().writeAll(writes)))
      assert.equal(results.filter((result) => result === 'stored').length, 1)
      assert.equal((await endpoints().list()).length, 5)
    })

    it('leaves what the writes say, where names and routes stay unique', async () => {
      // Few names and routes, so that the writes get into each other's way.
      const key = fc.constantFrom('a', 'b', 'c', 'd')
      const write = fc.record({ number: fc.integer({ min: 0, max: 5 }), removes: fc.boolean(), name: key, route: key })
      const batch = fc.uniqueArray(write, { selector: ({ number }) => number, maxLength: 5 })
      await fc.assert(
        fc.asyncProperty(fc.array(batch, { minLength: 1, maxLength: 8 }), async (batches) => {
          let model = new Map<number, Endpoint>()
          for (const writes of batches) {
            const next = new Map(model)
            const made = writes.flatMap(({ number, removes, name, route }): EndpointWrite[] => {
              const current = model.get(number)
              if (removes) next.delete(number)
              if (removes) return current === undefined ? [] : [remove(current)]
              const record = endpointOf(number, { name }, route)
              next.set(number, record)
              return [current === undefined ? insert(record) : replace(record, current)]
            })
            const left = [...next.values()]
            const isUnique =
              new Set(left.map(({ document }) => document.name)).size === left.length &&
              new Set(left.map(routeOf)).size === left.length
            assert.equal((await endpoints().writeAll(made)) === 'stored', isUnique)
            if (isUnique) model = next
            assert.deepEqual(
              await endpoints().list(),
              [...model].toSorted(([a], [b]) => a - b).map(([, { document }]) => document),
            )
          }
          await endpoints().writeAll([...model.values()].map(remove))
        }),
        { numRuns: LONG ? 40 : 12 },
      )
    })
  },
  [...STORES, SHARED_SQLITE],
)
