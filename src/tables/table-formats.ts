/** The formats of tables, one row each. */
import { createPause } from '../core/slice.ts'
import type { Table } from '../core/tables/table.ts'
import { readConceptMap, writeConceptMap } from './concept-map-table.ts'
import { readCsvTable, writeCsvTable } from './csv-table.ts'
import { readJsonTable, writeJsonTable } from './json-table.ts'
import type { TableReading } from './table-reading.ts'

export type TableFormat = Readonly<{
  mediaType: string
  /** Of a file of a project. */
  fileEnding: string
  /** In: UTF-8. Works in slices, between which others run. */
  read(bytes: Uint8Array): Promise<TableReading>
  /** The text in pieces of a row at most, some of them empty. `name`: of the table. */
  write(table: Table, name: string): Iterable<string>
}>

export const TABLE_FORMATS = {
  csv: { mediaType: 'text/csv', fileEnding: '.csv', read: readCsvTable, write: writeCsvTable },
  json: { mediaType: 'application/json', fileEnding: '.json', read: readJsonTable, write: writeJsonTable },
  conceptMap: {
    mediaType: 'application/fhir+json',
    fileEnding: '.fhir.json',
    read: readConceptMap,
    write: writeConceptMap,
  },
} as const satisfies Readonly<Record<string, TableFormat>>

const PART_CHARACTERS = 65_536

/** The text of a table in parts of about 64 KB, between which others run. */
export async function* writeTable(format: TableFormat, table: Table, name: string): AsyncGenerator<string> {
  const pause = createPause()
  let part = ''
  for (const piece of format.write(table, name)) {
    part += piece
    const due = pause()
    if (due !== undefined) await due
    if (part.length < PART_CHARACTERS) continue
    yield part
    part = ''
  }
  yield part
}
