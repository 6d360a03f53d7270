/** Tables in memory: they find what a Map finds, survive as bytes, and let others run while they are built. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { crc32 } from 'node:zlib'
import { TABLE_LIMITS } from '../../../src/core/tables/table.ts'
import { loadTable } from '../../../src/tables/compact-table.ts'
import { changeRows, TableBuilder } from '../../../src/tables/table-builder.ts'
import { TABLE_FORMATS } from '../../../src/tables/table-formats.ts'
import fc from '../../support/fast-check.ts'
import { LONG } from '../../support/form.ts'
import { anyTable, faultsOf, listRows, makeTable, tableOf } from '../../support/tables/tables.ts'

const SEX = [
  ['code', 'fhir'],
  ['F', 'female'],
  ['M', 'male'],
]

test('a table finds what a Map finds', async () => {
  const anyKey = fc.string({ unit: fc.constantFrom(...'ab1ü😀\ud800\0'), maxLength: 4 })
  await fc.assert(
    fc.asyncProperty(anyTable, fc.array(anyKey), async ([columns = [], ...rows], others) => {
      const table = await makeTable([columns, ...rows])
      const map = new Map(rows.map((row, index) => [row[0], index]))
      for (const key of [...others, ...rows.map(([first = '']) => first)])
        assert.equal(table.find(key), map.get(key) ?? -1)
      const same = await loadTable(table.packed)
      assert.deepEqual(listRows(same), [columns, ...rows])
      for (const [row, [key = '']] of rows.entries()) assert.equal(same.find(key), row)
    }),
    { numRuns: LONG ? 5_000 : 300 },
  )
})

test('it finds each of many keys, and no other', async () => {
  const count = 100_000
  const csv = `code,target\n${Array.from({ length: count }, (_, row) => `c${row},${row}`).join('\n')}`
  const table = tableOf(await TABLE_FORMATS.csv.read(Buffer.from(csv)))
  for (let row = 0; row < count; row += 1) {
    assert.equal(table.find(`c${row}`), row)
    assert.equal(table.find(`d${row}`), -1)
  }
  assert.ok(table.bytes < csv.length + count * 10 + 100, `${table.bytes} bytes`)
})

describe('what a table has not', () => {
  const cases: readonly (readonly [name: string, row: number, column: number])[] = [
    ['a row behind the last', 2, 0],
    ['a row before the first', -1, 0],
    ['a column behind the last', 0, 2],
    ['a column before the first', 0, -1],
  ]
  for (const [name, row, column] of cases) {
    test(name, async () => assert.equal((await makeTable(SEX)).cell(row, column), ''))
  }
  test('a key that is longer than cells', async () => {
    assert.equal((await makeTable(SEX)).find('F'.repeat(TABLE_LIMITS.cellBytes + 1)), -1)
  })
  test('a key in a table without rows', async () => assert.equal((await makeTable([['code', 'fhir']])).find('F'), -1))
})

describe('bytes of tables', () => {
  test('at any place of their buffer', async () => {
    const bytes = (await makeTable(SEX)).packed
    for (const shift of [1, 2, 3, 4]) {
      const moved = Buffer.alloc(bytes.length + shift)
      bytes.copy(moved, shift)
      assert.deepEqual(listRows(await loadTable(moved.subarray(shift))), SEX)
    }
  })
  test('of an earlier version', async () => {
    const earlier = Buffer.from((await makeTable(SEX)).packed)
    earlier.write('XWT1')
    earlier.writeUInt32LE(crc32(earlier.subarray(12), crc32(earlier.subarray(0, 8))), 8)
    assert.deepEqual(listRows(await loadTable(earlier)), SEX)
  })
  test('none that are damaged', async () => {
    const bytes = (await makeTable(SEX)).packed
    for (let at = 0; at < bytes.length; at += 1) {
      const damaged = Buffer.from(bytes)
      damaged.writeUInt8((damaged.readUInt8(at) + 1) % 256, at)
      await assert.rejects(loadTable(damaged), /another version|damaged/)
    }
    for (let length = 0; length < bytes.length; length += 1) await assert.rejects(loadTable(bytes.subarray(0, length)))
  })
})

test('cells of all lengths', async () => {
  const rows = [0, 1, 23, 24, 25, 127, 128, 254, 255, 256, 257, 300, 65_534, 65_535].flatMap((length) => [
    [`a${length}`, 'x'.repeat(length)],
    [`b${length}`, `ü${'x'.repeat(Math.max(0, length - 2))}`],
  ])
  const table = await makeTable([['code', 'text'], ...rows])
  assert.deepEqual(listRows(table).slice(1), rows)
})

test('a builder takes more than was expected', async () => {
  const builder = new TableBuilder(['code', 'text'], { pathTo: String, expectedBytes: 0 })
  const rows = Array.from({ length: 5_000 }, (_, row) => [`${row}`, 'ü'.repeat(row % 50)])
  for (const [place, row] of rows.entries()) builder.add(row, place)
  assert.deepEqual(listRows(tableOf(await builder.finish())).slice(1), rows)
})

test('others run while a table is read, changed, written as bytes and loaded', async () => {
  let turns = 0
  let isOver = false
  const take = (): void => {
    turns += 1
    if (!isOver) setImmediate(take)
  }
  take()
  const csv = `code,target\n${Array.from({ length: 200_000 }, (_, row) => `c${row},${row}`).join('\n')}`
  const seen: number[] = []
  const count = (): void => void seen.push(turns)
  const table = tableOf(await TABLE_FORMATS.csv.read(Buffer.from(csv)))
  count()
  await changeRows(table, new Map())
  count()
  isOver = true
  assert.ok((seen[0] ?? 0) > 4 && (seen[1] ?? 0) > (seen[0] ?? 0) + 2, seen.join())
})

describe('changed rows', () => {
  const cases: readonly (readonly [
    name: string,
    changes: readonly (readonly [string, readonly string[] | undefined])[],
    rows: readonly (readonly string[])[],
  ])[] = [
    ['none', [], SEX],
    [
      'a value',
      [['F', ['F', 'f']]],
      [
        ['code', 'fhir'],
        ['F', 'f'],
        ['M', 'male'],
      ],
    ],
    [
      'a key',
      [['F', ['W', 'female']]],
      [
        ['code', 'fhir'],
        ['W', 'female'],
        ['M', 'male'],
      ],
    ],
    ['a new row', [['X', ['X', 'x']]], [...SEX, ['X', 'x']]],
    [
      'a removed row',
      [['F', undefined]],
      [
        ['code', 'fhir'],
        ['M', 'male'],
      ],
    ],
    [
      'keys that change places',
      [
        ['F', ['M', 'male']],
        ['M', ['F', 'female']],
      ],
      [
        ['code', 'fhir'],
        ['M', 'male'],
        ['F', 'female'],
      ],
    ],
  ]
  for (const [name, changes, rows] of cases) {
    test(name, async () =>
      assert.deepEqual(listRows(tableOf(await changeRows(await makeTable(SEX), new Map(changes)))), rows),
    )
  }
  test('faults name the change, or the row of the table', async () => {
    const changes = new Map([
      ['X', ['X']],
      ['Y', ['', 'y']],
      ['F', ['M', 'm']],
    ])
    const faults = faultsOf(await changeRows(await makeTable(SEX), changes))
    assert.deepEqual(
      faults.map(({ path }) => path),
      ['rows[0]', 'rows[1]', 'row 2 of the table'],
    )
    assert.match(faults[2]?.message ?? '', /"M" is the same as in rows\[2\]/)
  })
})
