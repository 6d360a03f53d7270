/** The function `table`: what a table has for a code. */
import { Failure } from '../../core/failure.ts'
import { type Json, type JsonObject, typeName } from '../../core/json.ts'
import { type LintSink, shown } from '../../core/lint.ts'
import type { ActiveTable } from '../../core/tables/table-set.ts'
import type { Convert, TablesOf } from './mapping-functions.ts'

/** What becomes of a code that the table has not, beside any other value in its place. */
const MISSING = { fail: 'fail', keep: 'keep' } as const

const NAMES = ['table', 'column', 'missing']

/** Whether there is such a table is checked where tables are known (findUseFault). */
export function checkTableParameters(parameters: JsonObject, lint: LintSink): boolean {
  let isSound = true
  const refuse = (sink: LintSink, message: string) => {
    sink.error(message)
    isSound = false
  }
  for (const name of Object.keys(parameters)) {
    if (!NAMES.includes(name))
      refuse(lint.at(name), `The function table has no parameter "${name}", but table, column and missing.`)
  }
  for (const name of ['table', 'column'] as const) {
    const value = parameters[name]
    if (value === undefined && name === 'column') continue
    if (typeof value !== 'string' || value === '')
      refuse(lint.at(name), `"${name}" is the name of a ${name}, a text; this is ${typeName(value ?? null)}.`)
  }
  return isSound
}

/**
 * Fails with CODE_UNMAPPED at `path` for a code that the table has not, or has no text for, unless `missing` says what to write.
 * A number or boolean is looked for as its text; no value stays none.
 */
export function compileTable(
  { table: name, column, missing = MISSING.fail }: JsonObject,
  tablesOf: TablesOf,
  path: string,
): Convert {
  let known: ActiveTable | undefined
  let index = 1
  return (value, context) => {
    if (value === undefined || value === null) return undefined
    if (typeof value === 'object') return undefined
    const active = tablesOf(context).get(name as string)
    if (active === undefined) throw new Failure('TABLE_MISSING', `There is no table "${name}".`, { path })
    if (active !== known) {
      known = active
      index = column === undefined ? 1 : active.table.columns.indexOf(column as string)
    }
    const code = String(value)
    const row = active.table.find(code)
    const found = row === -1 ? '' : active.table.cell(row, index)
    if (found !== '') return found
    if (missing === MISSING.keep) return value
    if (missing !== MISSING.fail) return missing as Json
    throw unmapped(active, code, row === -1 ? undefined : active.table.columns[index], path)
  }
}

function unmapped({ name, version }: ActiveTable, code: string, column: string | undefined, path: string): Failure {
  const what =
    column === undefined
      ? `no code ${JSON.stringify(shown(code))}`
      : `no "${column}" for ${JSON.stringify(shown(code))}`
  const unquoted = `The table "${name}" (version ${version}) has not what the message needs.`
  return new Failure(
    'CODE_UNMAPPED',
    `The table "${name}" (version ${version}) has ${what}. Add it to the table, or say what to write in "missing".`,
    { path, unquoted },
  )
}
