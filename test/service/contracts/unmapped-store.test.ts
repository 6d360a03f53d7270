/** The codes that messages missed in tables, the same over every store. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { MAX_CODES, type Misses } from '../../../src/store/sql/unmapped-store.ts'
import { idOf } from '../../support/contracts/records.ts'
import { describeStores } from '../../support/contracts/stores.ts'

const missOf = (code: string, endpoint = 1, fields: Partial<Misses> = {}): Misses => ({
  table: 'sex',
  column: 'fhir',
  code,
  endpointId: idOf(endpoint),
  count: 1,
  firstAt: 1_000,
  lastAt: 1_000,
  messages: [],
  ...fields,
})

describeStores('unmapped codes', (stage) => {
  const codes = () => stage.store.unmapped
  const listed = async (table = 'sex', limit = 100) =>
    (await codes().list(table, limit)).codes.map(({ code, count }) => [code, count])

  it('add up what all write, most often missed first, with the newest messages', async () => {
    const ids = Array.from({ length: 25 }, (_, index) => idOf(index + 1)).reverse()
    const odd = 'a"\\\u0001\ud800\n'
    await codes().add([
      missOf('M', 1, { messages: ids.slice(10, 25), count: 15, lastAt: 3_000 }),
      missOf('M', 2),
      missOf(odd, 1, { column: 'hl7' }),
      missOf('M', 1, { table: 'unit' }),
    ])
    await codes().add([missOf('M', 1, { messages: ids.slice(0, 10), count: 10, firstAt: 2_000, lastAt: 2_000 })])
    assert.deepEqual(await codes().list('sex', 10), {
      codes: [
        {
          code: 'M',
          column: 'fhir',
          count: 26,
          byEndpoint: [
            { endpointId: idOf(1), count: 25, firstAt: 1_000, lastAt: 3_000, messages: ids.slice(0, 20) },
            { endpointId: idOf(2), count: 1, firstAt: 1_000, lastAt: 1_000, messages: [] },
          ],
        },
        {
          code: odd,
          column: 'hl7',
          count: 1,
          byEndpoint: [{ endpointId: idOf(1), count: 1, firstAt: 1_000, lastAt: 1_000, messages: [] }],
        },
      ],
      codesInAll: 2,
      uncounted: 0,
    })
    assert.deepEqual(await listed('sex', 1), [['M', 26]])
    assert.deepEqual(await listed('none'), [])
    assert.equal((await codes().codes()).length, 3)
    assert.equal(await codes().count('sex', ['M', 'x']), 26)
  })

  it('have a bound, beyond which misses are a number', async () => {
    const many = Array.from({ length: MAX_CODES - 1 }, (_, index) => missOf(`${index}`))
    await codes().add(many)
    await codes().add([missOf('0', 1, { count: 5 }), missOf('new'), missOf('beyond', 1, { count: 3 })])
    await codes().add([missOf('new'), missOf('further'), missOf('', 0, { column: '', endpointId: '', count: 2 })])
    assert.deepEqual((await listed()).slice(0, 3), [
      ['0', 6],
      ['new', 2],
      ['1', 1],
    ])
    const { codesInAll, uncounted } = await codes().list('sex', 1)
    assert.deepEqual([codesInAll, uncounted], [MAX_CODES, 6])
    await codes().add([missOf('M', 1, { table: 'unit' })])
    assert.deepEqual(await listed('unit'), [['M', 1]])
    await codes().add([missOf('beyond', 2), missOf('new', 2, { count: 10 }), missOf('new', 1, { column: 'hl7' })])
    const { codes: listedFirst, uncounted: rest } = await codes().list('sex', 1)
    assert.deepEqual(
      listedFirst.map(({ code, byEndpoint }) => [code, byEndpoint.map(({ endpointId, count }) => [endpointId, count])]),
      [
        [
          'new',
          [
            [idOf(2), 10],
            [idOf(1), 2],
          ],
        ],
      ],
    )
    assert.equal(rest, 7)
  })

  it('are listed in pages', async () => {
    await codes().add(['M', 'F', 'X'].map((code, index) => missOf(code, 1, { count: 3 - index })))
    assert.deepEqual(
      (await codes().list('sex', 1, 1)).codes.map(({ code }) => code),
      ['F'],
    )
    assert.deepEqual(await codes().list('sex', 10, 3), { codes: [], codesInAll: 3, uncounted: 0 })
  })

  it('leave it by code, or all, and only what was not missed since', async () => {
    await codes().add([missOf('M'), missOf('F'), missOf('X', 1, { lastAt: 2_000 }), missOf('M', 1, { table: 'unit' })])
    await codes().remove('sex', ['M', 'X'], 1_500)
    assert.deepEqual(await listed(), [
      ['F', 1],
      ['X', 1],
    ])
    await codes().remove('sex')
    assert.deepEqual([await listed(), await listed('unit')], [[], [['M', 1]]])
  })

  it('leave it with their table', async () => {
    await codes().add([missOf('M'), missOf('M', 1, { table: 'unit' })])
    const change = { method: 'delete', at: '', origin: {} } as const
    await stage.store.endpoints.writeAll([], [{ name: 'sex', before: 0, table: undefined, change }])
    assert.deepEqual([await listed(), await listed('unit')], [[], [['M', 1]]])
  })
})
