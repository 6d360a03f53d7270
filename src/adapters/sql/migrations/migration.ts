/** What a migration is. Types and an error only: the thread of the message log imports it and must not load Kysely. */
import type { ColumnDataType, Compilable, RawBuilder, SchemaModule } from 'kysely'

/** The differences between the tables of the databases. */
export type TableOptions = Readonly<{
  /** Added to the end of every `create table`. */
  table: RawBuilder<unknown>
  /** The type of a number that grows without limit. */
  counter: ColumnDataType
  /** Whether several instances work on the tables at once and must be notified of each other's changes. */
  shared: boolean
}>

export type Migration = Readonly<{
  name: string
  /** The statements in their order. They run in one transaction with the other migrations that are due. */
  statements(schema: SchemaModule, options: TableOptions): Iterable<Compilable>
}>

/** The schema was written by a newer version of the service; there is no downgrade. */
export class SchemaTooNew extends Error {
  override readonly name = 'SchemaTooNew'

  constructor(version: number, known: number) {
    super(`its schema has version ${version}, and this service knows up to ${known}`)
  }
}
