/** The formats of tables, one row each. */
import type { Table, TableReading } from '../core/tables/table.ts'

/** `read` and `write` work in slices, between which messages run. */
export type TableFormat = Readonly<{
  /** Of `Accept` and `Content-Type`. */
  mediaType: string
  /** Of a file of a project. */
  fileEnding: string
  /** In: UTF-8. */
  read(bytes: Uint8Array): Promise<TableReading>
  /** The text, in parts. `name`: of the table. */
  write(table: Table, name: string): AsyncIterable<string>
}>
