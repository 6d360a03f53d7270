/** Tables translate codes. What every part of the service knows of a table: its rows, its bounds, its names, its faults. */
import { REFUSED_NAMES } from '../json.ts'
import { type Lint, shown } from '../lint.ts'

/** One version of a table, immutable. Cells are texts; the first column is the key, whose texts are different from each other. */
export type Table = Readonly<{
  columns: readonly string[]
  /** Rows. */
  size: number
  /** About the memory that it takes. */
  bytes: number
  /** What a ConceptMap has that its rows have not, as bytes; empty for a table that comes from no ConceptMap. */
  frame: Buffer
  /** Index of the row with the key, or -1. */
  find(key: string): number
  /** Both from 0. `''` where the row has nothing, or there is no such row or column. */
  cell(row: number, column: number): string
}>

/** `path`: `line 7` of a CSV, `rows[3].code` of JSON, `group[0].element[3]` of a ConceptMap; empty for the table as a whole. */
export type TableFault = Pick<Lint, 'path' | 'message'>

export const TABLE_LIMITS = {
  rows: 10_000_000,
  columns: 100,
  /** Characters of a column's name. */
  nameLength: 100,
  /** Bytes of a cell as UTF-8. */
  cellBytes: 65_535,
  /** Of all cells together. */
  bytes: 2 ** 31,
  /** Faults, and warnings, that are reported. */
  faults: 100,
} as const

/** Of a table's name, which is also that of a file and a segment of a path. */
export const TABLE_NAME_PATTERN = '^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$'

/** The cells of a row. */
export const readRow = (table: Table, row: number): string[] =>
  table.columns.map((_, column) => table.cell(row, column))

/** The same by the names of the columns. */
export const rowObject = (table: Table, row: number): Record<string, string> =>
  Object.fromEntries(table.columns.map((name, column) => [name, table.cell(row, column)]))

/** What is wrong with the names of the columns, a sentence each. */
export function findColumnFaults(columns: readonly string[]): string[] {
  const { columns: max } = TABLE_LIMITS
  if (columns.length < 2) return ['The table needs at least two columns: the key, and what it is translated to.']
  if (columns.length > max) return [`The table has ${columns.length} columns; the maximum is ${max}.`]
  return columns.flatMap((name, index) => {
    const nth = `Column ${index + 1}`
    const earlier = columns.indexOf(name)
    if (name === '') return [`${nth} has no name; give it one.`]
    if (earlier < index) return [`${nth} has the name of column ${earlier + 1}, ${quote(name)}; give each its own.`]
    const problem = findNameProblem(name)
    return problem === undefined ? [] : [`The name of column ${index + 1}, ${quote(name)}, ${problem}.`]
  })
}

function findNameProblem(name: string): string | undefined {
  if (name.length > TABLE_LIMITS.nameLength) return `is longer than ${TABLE_LIMITS.nameLength} characters`
  if (name !== name.trim()) return 'begins or ends with white space; remove it'
  if (/\p{Cc}/u.test(name) || !name.isWellFormed()) return 'has a control character or a line break; remove it'
  if (REFUSED_NAMES.has(name)) return 'is not allowed; choose another'
  return undefined
}

/** A text in a sentence. */
export const quote = (text: string): string => JSON.stringify(shown(text))
