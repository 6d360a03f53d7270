/** Builds tables row by row and collects what is wrong with them. */
import { createPause } from '../core/slice.ts'
import { findColumnFaults, quote, readRow, TABLE_LIMITS, type Table, type TableFault } from '../core/tables/table.ts'
import { packTable } from './compact-table.ts'
import { indexRow, readCell, slotCount, type TableParts, writeCell } from './table-layout.ts'
import type { TableReading } from './table-reading.ts'

type Options = Readonly<{
  /** Where row `place` is, for faults: `line 7`. */
  pathTo: (place: number) => string
  /** Where the names of the columns are; by default, the table as a whole. */
  columnsPath?: string
  /** Of the text that the rows are read from: the memory that is reserved. */
  expectedBytes: number
}>

export class TableBuilder {
  readonly #columns: readonly string[]
  readonly #pathTo: (place: number) => string
  readonly #faults: TableFault[] = []
  readonly #warnings: TableFault[] = []
  #cells: Buffer
  /** Where the last whole row ends, and the last cell of the one that is being written. */
  #end = 0
  #next = 0
  #starts = new Uint32Array(1_024)
  #places = new Uint32Array(1_024)
  #size = 0
  /** Between slices of work, for readers too: `await builder.pause()`. */
  readonly pause = createPause()

  constructor(columns: readonly string[], { pathTo, columnsPath = '', expectedBytes }: Options) {
    this.#columns = columns
    this.#pathTo = pathTo
    // A cell takes as many bytes as in most texts: its length is where the delimiter was. Unused pages take no memory.
    this.#cells = Buffer.alloc(Math.ceil(expectedBytes * 1.01) + 1_024)
    for (const message of findColumnFaults(columns)) this.fault(columnsPath, message)
  }

  /** A further row, from `place` of the text. Reports what is wrong with it. `isKnown`: warnings of it were reported before. */
  add(cells: readonly string[], place: number, isKnown = false): void {
    const problem = this.#write(cells)
    const [key = ''] = cells
    if (!isKnown && key !== key.trim())
      this.warning(
        this.#pathTo(place),
        `The key ${quote(key)} begins or ends with white space, so only such codes find it.`,
      )
    if (problem !== undefined) this.fault(this.#pathTo(place), problem)
    else this.#endRow(place)
  }

  fault(path: string, message: string): void {
    this.#report(this.#faults, path, message)
  }

  warning(path: string, message: string): void {
    this.#report(this.#warnings, path, message)
  }

  /** No more faults are reported, so that reading further is of no use. */
  get isFull(): boolean {
    return this.#faults.length > TABLE_LIMITS.faults
  }

  /** The table, if nothing is wrong. `frame`: what the rows do not have of the text that they were read from. */
  async finish(frame: Buffer = Buffer.alloc(0)): Promise<TableReading> {
    const parts: TableParts = {
      columns: this.#columns,
      starts: this.#starts.slice(0, this.#size),
      slots: new Uint32Array(slotCount(this.#size)),
      cells: this.#cells.subarray(0, this.#end),
      frame,
    }
    for (let row = 0; row < this.#size && !this.isFull; row += 1) {
      const earlier = indexRow(parts, row)
      if (earlier !== -1)
        this.fault(this.#pathTo(this.#places[row] as number), this.#describeRepetition(parts, earlier))
      if (row % 1_024 === 0) await this.pause()
    }
    if (this.#faults.length > 0) return { ok: false, faults: this.#faults }
    if (this.#size === 0) this.warning('', 'The table has no rows, so it has nothing for any code.')
    return { ok: true, table: await packTable(parts), warnings: this.#warnings }
  }

  #describeRepetition(parts: TableParts, earlier: number): string {
    const key = quote(readCell(parts.cells, parts.starts[earlier] as number))
    return `The key ${key} is the same as in ${this.#pathTo(this.#places[earlier] as number)}; remove one of both rows.`
  }

  #report(list: TableFault[], path: string, message: string): void {
    const { faults: max } = TABLE_LIMITS
    if (list.length < max) list.push({ path, message })
    else if (list.length === max)
      list.push({ path: '', message: `Only the first ${max} are reported; there are more.` })
  }

  /** Writes a row behind the others. Out: what is wrong with it. */
  #write(cells: readonly string[]): string | undefined {
    if (cells.length !== this.#columns.length) {
      const [has, needs] = [count(cells.length, 'value'), count(this.#columns.length, 'column')]
      return `The row has ${has}, but the table has ${needs}.`
    }
    if (cells[0] === '') return `The key, ${quote(this.#columns[0] ?? '')}, is empty; fill it in.`
    this.#next = this.#end
    for (const [column, text] of cells.entries()) {
      this.#reserve(text.length)
      const next = writeCell(this.#cells, this.#next, text, TABLE_LIMITS.cellBytes)
      if (next === -1) return `The value of ${quote(this.#columns[column] ?? '')} ${findProblem(text)}.`
      this.#next = next
    }
    if (this.#size === TABLE_LIMITS.rows) return `The table has more than ${TABLE_LIMITS.rows} rows; divide it.`
    if (this.#next > TABLE_LIMITS.bytes) return `The table has more than ${TABLE_LIMITS.bytes} bytes; divide it.`
    return undefined
  }

  #endRow(place: number): void {
    if (this.#size === this.#starts.length) {
      this.#starts = grow(this.#starts)
      this.#places = grow(this.#places)
    }
    this.#starts[this.#size] = this.#end
    this.#places[this.#size] = place
    this.#size += 1
    this.#end = this.#next
  }

  /** Space for a cell of so many characters. */
  #reserve(length: number): void {
    const needed = this.#next + length * 3 + 3
    if (needed <= this.#cells.length) return
    const grown = Buffer.alloc(Math.max(needed, Math.ceil(this.#cells.length * 1.5)))
    grown.set(this.#cells.subarray(0, this.#next))
    this.#cells = grown
  }
}

/** By the key of each row its cells, or undefined to remove it. */
export type RowChanges = ReadonlyMap<string, readonly string[] | undefined>

/**
 * The table with other rows. Those with new keys are behind the others. A fault is at `rows[3]`, the fourth of `changes` or the one that
 * `indexes` names for it, or at a row of the table.
 */
export async function changeRows(
  table: Table,
  changes: RowChanges,
  indexes?: readonly number[],
): Promise<TableReading> {
  const pathTo = (place: number): string =>
    place < changes.size ? `rows[${indexes?.[place] ?? place}]` : `row ${place - changes.size + 1} of the table`
  const builder = new TableBuilder(table.columns, { pathTo, expectedBytes: table.bytes })
  const places = new Map(Array.from(changes.keys(), (key, place) => [key, place]))
  for (let row = 0; row < table.size; row += 1) {
    const key = table.cell(row, 0)
    const cells = changes.has(key) ? changes.get(key) : readRow(table, row)
    if (cells !== undefined) builder.add(cells, places.get(key) ?? changes.size + row, !changes.has(key))
    const pause = builder.pause()
    if (pause !== undefined) await pause
  }
  for (const [key, cells] of changes) {
    if (cells !== undefined && table.find(key) === -1) builder.add(cells, places.get(key) ?? 0)
  }
  return builder.finish(table.frame)
}

function grow(numbers: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  const grown = new Uint32Array(numbers.length * 2)
  grown.set(numbers)
  return grown
}

export const count = (number: number, what: string): string => `${number} ${what}${number === 1 ? '' : 's'}`

function findProblem(text: string): string {
  if (text.includes('\0')) return 'has a NUL character; remove it'
  if (!text.isWellFormed()) return 'has half of a surrogate pair, which is not a character; remove it'
  return `is longer than ${TABLE_LIMITS.cellBytes} bytes; shorten it`
}
