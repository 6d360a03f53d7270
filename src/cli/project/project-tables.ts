/** The tables of a project: the files of its folder `tables`, each with the name of its table. */
import { globSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import type { Json } from '../../core/json.ts'
import { isError, type Lint } from '../../core/lint.ts'
import { nearest } from '../../core/nearest.ts'
import { TABLE_NAME_PATTERN } from '../../core/tables/table.ts'
import { type ActiveTable, shapesOf, type TableSet, type TableUse } from '../../core/tables/table-set.ts'
import { lintUses } from '../../endpoints/table-changes.ts'
import type { CompactTable } from '../../tables/compact-table.ts'
import { TABLE_FORMATS, type TableFormat } from '../../tables/table-formats.ts'
import { CommandFault, readBytes, shownPath } from '../command.ts'
import { formatLint, type LocatedLint } from './located-lint.ts'
import type { Project } from './project-file.ts'

export const TABLES_FOLDER = 'tables'
/** A page that explains the tables may stand beside them. */
const LOOKS_LIKE_TABLE = /^[^.].*\.(csv|tsv|json|xlsx?|ods)$/i
const ENDINGS = Object.values(TABLE_FORMATS).map(({ fileEnding }) => `*${fileEnding}`)

export type ProjectTable = ActiveTable &
  Readonly<{
    /** Absolute. */
    path: string
    /** As shown to people. */
    file: string
    format: TableFormat
    content: Buffer
    table: CompactTable
  }>

/** `tables`: those without faults. `names`: of all files. */
export type ReadTables = Readonly<{
  tables: readonly ProjectTable[]
  names: ReadonlySet<string>
  lints: readonly LocatedLint[]
}>

/** In the order of the files. Throws CommandFault for a file that cannot be read. */
export async function readTables(project: Pick<Project, 'folder'> | undefined): Promise<ReadTables> {
  const tables: ProjectTable[] = []
  const names = new Set<string>()
  const lints: LocatedLint[] = []
  const folder = join(project?.folder ?? '', TABLES_FOLDER)
  const entries = project === undefined ? [] : globSync('**', { cwd: folder, withFileTypes: true })
  const files = entries.filter((one) => !one.isDirectory() && LOOKS_LIKE_TABLE.test(one.name))
  for (const path of files.map(({ parentPath, name }) => join(parentPath, name)).sort()) {
    const entry = relative(folder, path)
    const file = shownPath(path)
    const add = (message: string, severity: LocatedLint['severity'] = 'error', place = '') => {
      const [, line] = /^line (\d+)$/.exec(place) ?? []
      const shown = line === undefined ? place : ''
      lints.push({ file, line: Number(line ?? 1), column: 1, path: shown, message, severity })
    }
    // The longest ending is the last one.
    const format = Object.values(TABLE_FORMATS).findLast(({ fileEnding }) => entry.endsWith(fileEnding))
    if (format === undefined || entry !== basename(entry)) {
      add(`It is no table: only ${ENDINGS.join(', ')} in ${TABLES_FOLDER} itself, in lower case, are read.`, 'warning')
      continue
    }
    const name = basename(entry, format.fileEnding)
    names.add(name)
    const twin = tables.find((one) => one.name === name)
    if (twin !== undefined) add(`${twin.file} is the table "${name}" too; remove one of both.`)
    if (!new RegExp(TABLE_NAME_PATTERN).test(name)) {
      add(`"${name}" is no name of a table: 1 to 64 letters, digits, - and _, the first a letter or digit.`)
    }
    const content = readBytes(path)
    const reading = await format.read(content)
    for (const fault of reading.ok ? [] : reading.faults) add(fault.message, 'error', fault.path)
    for (const { message, path: place } of reading.ok ? reading.warnings : []) add(message, 'warning', place)
    if (reading.ok) tables.push({ name, version: 0, table: reading.table, path, file, format, content })
  }
  const order = (one: LocatedLint, other: LocatedLint) => (one.file === other.file ? one.line - other.line : 0)
  return { tables, names, lints: lints.toSorted(order) }
}

/** Throws CommandFault with every fault of the files. */
export async function demandTables(project: Pick<Project, 'folder'> | undefined): Promise<readonly ProjectTable[]> {
  const { tables, lints } = await readTables(project)
  const errors = lints.filter(isError)
  if (errors.length > 0) throw new CommandFault(errors.map(formatLint), 'findings')
  return tables
}

/** The tables of the project, if one of the documents may read any: a large one takes seconds. Throws CommandFault. */
export async function readTablesFor(documents: readonly (Json | undefined)[], project: Project | undefined) {
  return documents.some((one) => JSON.stringify(one)?.includes('table')) ? demandTables(project) : []
}

export const toTableSet = (tables: readonly ProjectTable[]): TableSet =>
  new Map(tables.map(({ name, version, table }) => [name, { name, version, table }]))

/** What a document reads that the files have not. A table without a file may be at the target, where others store it. */
export function lintProjectUse(use: TableUse, { tables, names }: ReadTables): readonly Lint[] {
  const shapes = shapesOf(toTableSet(tables))
  if (!shapes.has(use.table)) {
    // The faults of the file are reported.
    if (names.has(use.table)) return []
    const near = nearest(use.table, [...names])
    const hint = near === undefined ? '' : `; "${near}" is close to it`
    const message = `The project has no file ${TABLES_FOLDER}/${use.table}.csv, so the service must have this table${hint}.`
    return [{ path: use.path, message, severity: 'warning' }]
  }
  return lintUses([use], shapes)
}
