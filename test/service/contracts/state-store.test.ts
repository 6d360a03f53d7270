import assert from 'node:assert/strict'
import { beforeEach, it } from 'node:test'
import type { StateFilter, StateRecord } from '../../../src/store/sql/states.ts'
import {
  EVERYTHING,
  endpointOf,
  filterOf,
  idOf,
  insertEndpoint,
  removeEndpoint,
  stateOf,
} from '../../support/contracts/records.ts'
import { describeStores } from '../../support/contracts/stores.ts'
import fc from '../../support/fast-check.ts'
import { LONG } from '../../support/form.ts'

const MANY = LONG ? 1_000 : 200

/** What `newest` must give, said in plain code over all that was ever appended. */
function newestOf(appended: readonly StateRecord[], { networkErrors, statuses }: StateFilter): StateRecord | undefined {
  return appended.findLast(({ lookupStatus, networkError }) => {
    if (networkErrors !== 'no-filter' && networkError !== (networkErrors === 'include')) return false
    if (statuses.any) return true
    return (
      lookupStatus !== undefined && statuses.ranges.some(([from, to]) => from <= lookupStatus && lookupStatus <= to)
    )
  })
}

describeStores('states', (stage) => {
  const states = () => stage.store.states
  beforeEach(async () => {
    await insertEndpoint(stage.store.endpoints, endpointOf(1))
    await insertEndpoint(stage.store.endpoints, endpointOf(2))
  })

  it('finds nothing at first, and nothing of another endpoint', async () => {
    assert.equal(await states().newest(idOf(1), EVERYTHING), undefined)
    await states().append(idOf(1), stateOf('one', 200))
    assert.equal(await states().newest(idOf(2), EVERYTHING), undefined)
    assert.equal(await states().newest(idOf(3), EVERYTHING), undefined)
  })

  it('gives back what was stored', async () => {
    const record: StateRecord = {
      values: { requestBody: { '2': [1, null], a: '\u0000 ü \ud800' }, system: { timestamps: {} } },
      lookupStatus: undefined,
      networkError: true,
    }
    await states().append(idOf(1), record)
    assert.deepEqual(await states().newest(idOf(1), EVERYTHING), record)
  })

  const appended = [
    stateOf('ok', 200),
    stateOf('none, failed', undefined, true),
    stateOf('missing', 404),
    stateOf('missing, failed', 404, true),
    stateOf('created', 201),
    stateOf('none', undefined),
  ]
  const cases: readonly (readonly [name: string, filter: StateFilter, expect: string | undefined])[] = [
    ['no filter', EVERYTHING, 'none'],
    ['only network errors', filterOf('any', 'include'), 'missing, failed'],
    ['no network errors', filterOf('any', 'exclude'), 'none'],
    ['a range', filterOf([[200, 299]]), 'created'],
    ['one status', filterOf([[200, 200]]), 'ok'],
    ['several ranges', filterOf([200, 404].map((status) => [status, status])), 'missing, failed'],
    ['a range without network errors', filterOf([[400, 499]], 'exclude'), 'missing'],
    ['a range with network errors only', filterOf([[200, 299]], 'include'), undefined],
    ['a range that no status is in', filterOf([[500, 599]]), undefined],
    ['a range over everything, but no status', filterOf([[-10, 999]]), 'created'],
    ['no range', filterOf([]), undefined],
    ['no range with network errors', filterOf([], 'include'), undefined],
  ]
  it('gives the newest that passes a filter', async () => {
    for (const record of appended) await states().append(idOf(1), record)
    for (const [name, filter, expect] of cases) {
      const newest = await states().newest(idOf(1), filter)
      assert.deepEqual(newest, expect && appended.find((record) => markOf(record) === expect), name)
    }
  })

  it('agrees with a list of everything that was ever appended', async () => {
    const status = fc.option(fc.constantFrom(100, 200, 201, 299, 404, 500, 599), { nil: undefined })
    const range = fc.tuple(fc.integer({ min: -1, max: 600 }), fc.integer({ min: -1, max: 600 }))
    const filter = fc.record({
      networkErrors: fc.constantFrom('no-filter' as const, 'include' as const, 'exclude' as const),
      statuses: fc.record({ any: fc.boolean(), ranges: fc.array(range, { maxLength: 3 }) }),
    })
    const history: StateRecord[] = []
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(status, fc.boolean()), { maxLength: 5 }),
        fc.array(filter),
        async (outcomes, filters) => {
          const records = outcomes.map(([lookupStatus, networkError], index) =>
            stateOf(`${history.length + index}`, lookupStatus, networkError),
          )
          history.push(...records)
          await Promise.all(records.map((record) => states().append(idOf(1), record)))
          for (const each of filters) assert.deepEqual(await states().newest(idOf(1), each), newestOf(history, each))
        },
      ),
      { numRuns: LONG ? 100 : 30 },
    )
  })

  it('loses none of many concurrent states', async () => {
    const records = Array.from({ length: MANY }, (_, n) => stateOf(`${n}`, n))
    await Promise.all(records.map((record, n) => states().append(idOf(1 + (n % 2)), record)))
    for (const [n, record] of records.entries())
      assert.deepEqual(await states().newest(idOf(1 + (n % 2)), filterOf([[n, n]])), record)
    assert.equal(markOf(await states().newest(idOf(1), EVERYTHING)), `${MANY - 2}`)
    assert.equal(markOf(await states().newest(idOf(2), EVERYTHING)), `${MANY - 1}`)
  })

  it('takes a state of an endpoint that is gone, and keeps nothing of it', async () => {
    await states().append(idOf(7), stateOf('never there', 200))
    const removed = removeEndpoint(stage.store.endpoints, endpointOf(1).document)
    const late = states().append(idOf(1), stateOf('late', 200))
    assert.deepEqual(await Promise.all([removed, late]), ['stored', undefined])
    for (const number of [1, 7]) {
      await insertEndpoint(stage.store.endpoints, endpointOf(number))
      assert.equal(await states().newest(idOf(number), EVERYTHING), undefined)
    }
  })

  it('fails a record that cannot be stored, and none beside it', async () => {
    const written = await Promise.allSettled([
      states().append(idOf(1), stateOf('before', 200)),
      states().append(idOf(1), stateOf('no status', 200.5)),
      states().append(idOf(1), stateOf('after', 201)),
    ])
    const statuses = written.map(({ status }) => status)
    assert.deepEqual(statuses, ['fulfilled', 'rejected', 'fulfilled'])
    assert.equal(markOf(await states().newest(idOf(1), filterOf([[200, 200]]))), 'before')
    assert.equal(markOf(await states().newest(idOf(1), EVERYTHING)), 'after')
  })

  it('is not seen before it is durable', async () => {
    const written = states().append(idOf(1), stateOf('soon', 200))
    const early = markOf(await states().newest(idOf(1), EVERYTHING))
    if (stage.kind.readsAtOnce) assert.equal(early, undefined)
    if (early !== undefined) {
      await stage.reopen()
      assert.equal(markOf(await states().newest(idOf(1), EVERYTHING)), early)
    }
    await written
    assert.equal(markOf(await states().newest(idOf(1), EVERYTHING)), 'soon')
  })
})

function markOf(record: StateRecord | undefined): unknown {
  const body = record?.values.requestBody
  return typeof body === 'object' && body !== null && 'mark' in body ? body.mark : undefined
}
