/** The tables as messages read them, and what documents read of them. */
import { nearest } from '../nearest.ts'
import type { Table } from './table.ts'

export type ActiveTable = Readonly<{ name: string; version: number; table: Table }>

/** The active tables of one moment, by name: a change makes another set. */
export type TableSet = ReadonlyMap<string, ActiveTable>

/** Where a document reads a table. `column`: undefined for the first one after the key. `path`: in the document. */
export type TableUse = Readonly<{ table: string; column?: string | undefined; path: string }>

/** The columns of tables, by name. */
export type TableShapes = Readonly<{ get(name: string): readonly string[] | undefined; keys(): Iterable<string> }>

export const shapesOf = (tables: TableSet): ReadonlyMap<string, readonly string[]> =>
  new Map([...tables].map(([name, { table }]) => [name, table.columns]))

/** Why a use finds nothing in these tables; undefined if it finds its column. */
export function findUseFault({ table, column }: TableUse, shapes: TableShapes): string | undefined {
  const columns = shapes.get(table)
  if (columns === undefined) {
    const near = nearest(table, [...shapes.keys()])
    const hint =
      near === undefined
        ? `store it with PUT /tables/${table} first; in a project, add tables/${table}.csv, or run crosswalk pull`
        : `"${near}" is close to it`
    return `There is no table "${table}"; ${hint}.`
  }
  if (column === undefined)
    return columns.length > 1 ? undefined : `The table "${table}" has no column but its key; name one that it has.`
  if (columns.includes(column)) return undefined
  return `The table "${table}" has no column "${column}"; it has ${columns.map((one) => `"${one}"`).join(', ')}.`
}
