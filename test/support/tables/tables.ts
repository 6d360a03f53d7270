/** Tables of tests: written and read as users do, or drawn at random. */
import assert from 'node:assert/strict'
import { REFUSED_NAMES } from '../../../src/core/json.ts'
import { readRow, type Table, type TableFault } from '../../../src/core/tables/table.ts'
import type { CompactTable } from '../../../src/tables/compact-table.ts'
import { TABLE_FORMATS, type TableFormat, writeTable } from '../../../src/tables/table-formats.ts'
import type { TableReading } from '../../../src/tables/table-reading.ts'
import fc, { type Arbitrary } from '../fast-check.ts'

/** A table as lists: the columns, then its rows. */
export const listRows = (table: Table): readonly (readonly string[])[] => [
  table.columns,
  ...Array.from({ length: table.size }, (_, row) => readRow(table, row)),
]

export function tableOf(reading: TableReading): CompactTable {
  assert.deepEqual(reading.ok ? [] : reading.faults, [])
  return (reading as Extract<TableReading, { ok: true }>).table
}

export const faultsOf = (reading: TableReading): readonly TableFault[] => (reading.ok ? [] : reading.faults)

export async function toText(format: TableFormat, table: Table): Promise<string> {
  return (await Array.fromAsync(writeTable(format, table, 'codes'))).join('')
}

/** The columns, then the rows, by way of the JSON of tables. */
export const makeTable = async ([columns, ...rows]: readonly (readonly string[])[]): Promise<CompactTable> =>
  tableOf(await TABLE_FORMATS.json.read(Buffer.from(JSON.stringify({ columns, rows }))))

const anyText = fc
  .oneof(fc.string({ unit: 'binary', maxLength: 12 }), fc.string({ unit: fc.constantFrom(...'"\r\n,;\t a1ü😀\ufeff') }))
  .map((text) => text.replaceAll('\0', ''))

const anyName = anyText
  .map((text) => text.replace(/\p{Cc}/gu, '').trim())
  .filter((name) => name !== '' && !REFUSED_NAMES.has(name))

/** Columns and rows that are a table. */
export const anyTable: Arbitrary<readonly (readonly string[])[]> = fc
  .uniqueArray(anyName, { minLength: 2, maxLength: 5 })
  .chain((columns) =>
    fc
      .uniqueArray(
        fc.tuple(
          anyText.filter((key) => key !== ''),
          fc.array(anyText, { minLength: columns.length - 1, maxLength: columns.length - 1 }),
        ),
        { selector: ([key]) => key, maxLength: 40 },
      )
      .map((rows) => [columns, ...rows.map(([key, cells]) => [key, ...cells])]),
  )
