/** What one message reads of tables: of each table one version, by the function `table` and by `$table`. */
import { Failure, type FailureDetail } from '../failure.ts'
import type { Awaitable } from '../json.ts'
import { shown } from '../lint.ts'
import { rowObject } from './table.ts'
import { type ActiveTable, findUseFault, shapesOf, type TableSet, type TableUse } from './table-set.ts'

export type MissedCode = Readonly<{ table: string; column: string; code: string }>

/** `row`: its cells by column; undefined for a code that the table has not. `path`: in the document. */
export type TableLookup = MissedCode &
  Readonly<{ version: number; path: string; row: Readonly<Record<string, string>> | undefined }>

export type TableReads = Readonly<{
  /** Of the tables that were read, by name. */
  versions: Map<string, number>
  /** What they had nothing for, each once. */
  missed: Map<string, MissedCode>
  /** Each once; undefined if they are not kept. */
  lookups: Map<string, TableLookup> | undefined
}>

/** A message, as far as it reads tables. */
export type TableReader = Readonly<{ tables: TableSet; trace: { tableReads: TableReads | undefined } }>

/** As `translate`, for one message and one place in its document. */
export type TranslateNow = (
  table: string,
  column: string | undefined,
  code: string,
  mustFind: boolean,
) => string | undefined

/** The same where the tables may be in another process. */
export type Translate = (...asked: Parameters<TranslateNow>) => Awaitable<string | undefined>

/** Of one message. A longer text is no code that an author adds to a table. */
const MAX_MISSED = 100
const MAX_CODE_CHARACTERS = 200
const MAX_LOOKUPS = 1_000
/** Of the failure of one mapping. */
const MAX_NAMED = 20

export const newTableReads = (keepsLookups: boolean): TableReads => ({
  versions: new Map(),
  missed: new Map(),
  lookups: keepsLookups ? new Map() : undefined,
})

export const copyTableReads = ({ versions, missed, lookups }: TableReads): TableReads => ({
  versions: new Map(versions),
  missed: new Map(missed),
  lookups: lookups && new Map(lookups),
})

/**
 * What the column has for the code; undefined if that is nothing, which counts as missed. Fails with TABLE_MISSING for an
 * unknown table or column, and for a missed code, if it must be found, with CODE_UNMAPPED.
 */
export function translate(
  { tables, trace }: TableReader,
  use: TableUse,
  code: string,
  mustFind: boolean,
): string | undefined {
  const { table: name, column, path } = use
  const active = tables.get(name)
  const index = column === undefined ? 1 : (active?.table.columns.indexOf(column) ?? -1)
  const cellName = active?.table.columns[index]
  if (active === undefined || cellName === undefined) {
    const message = findUseFault(use, shapesOf(tables)) ?? ''
    throw new Failure('TABLE_MISSING', message, {
      path,
      unquoted: 'The document reads a table or column that is not there.',
    })
  }
  const { table, version } = active
  trace.tableReads ??= newTableReads(false)
  const reads = trace.tableReads
  reads.versions.set(name, version)
  const row = table.find(code)
  const found = row === -1 ? '' : table.cell(row, index)
  if (reads.lookups !== undefined && reads.lookups.size < MAX_LOOKUPS) {
    const cells = row === -1 ? undefined : rowObject(table, row)
    reads.lookups.set(JSON.stringify([path, name, cellName, code]), {
      path,
      table: name,
      version,
      column: cellName,
      code,
      row: cells,
    })
  }
  if (found !== '') return found
  if (reads.missed.size < MAX_MISSED && code.length <= MAX_CODE_CHARACTERS)
    reads.missed.set(JSON.stringify([name, cellName, code]), { table: name, column: cellName, code })
  if (mustFind) throw codeUnmapped(tables, use, code)
  return undefined
}

/** The failure of a code that `translate` has nothing for. */
function codeUnmapped(tables: TableSet, { table: name, column, path }: TableUse, code: string): Failure {
  const { version, table } = tables.get(name) as ActiveTable
  // The file of a project has no version.
  const shownTable = `The table "${name}"${version === 0 ? '' : ` (version ${version})`}`
  const what = table.find(code) === -1 ? 'no code' : `no "${column ?? table.columns[1]}" for`
  return new Failure(
    'CODE_UNMAPPED',
    `${shownTable} has ${what} ${JSON.stringify(shown(code))}. Add it to the table, or say what to use in its place.`,
    { path, unquoted: `${shownTable} has nothing for a code of the message.` },
  )
}

/** The codes that one mapping must find and misses: it goes on, so that its failure names them all. */
export class UnmappedOfMapping {
  readonly #failures = new Map<string, Failure>()

  add(tables: TableSet, use: TableUse, code: string): void {
    if (this.#failures.size === MAX_NAMED) return
    const key = JSON.stringify([use.path, code])
    if (!this.#failures.has(key)) this.#failures.set(key, codeUnmapped(tables, use, code))
  }

  /** The first one; of several, the details name each. */
  get failure(): Failure {
    const all = [...this.#failures.values()]
    const [first] = all as [Failure]
    const details = all.map(
      ({ message, options: { path = '' } }): FailureDetail => ({ path, message, isSentence: true }),
    )
    return all.length === 1 ? first : new Failure(first.code, first.message, { ...first.options, details })
  }
}
