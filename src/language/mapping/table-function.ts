/** The function `table`: what a table has for a code. */
import { type Json, type JsonObject, typeName } from '../../core/json.ts'
import type { LintSink } from '../../core/lint.ts'
import { nearest } from '../../core/nearest.ts'
import { type TableReader, translate } from '../../core/tables/table-reads.ts'
import type { TableUse } from '../../core/tables/table-set.ts'

/**
 * In: the value at a path; `context`: of the message, for the engine. Out: the value to write; null to write nothing; undefined if there is no
 * value, or one that cannot be converted.
 */
export type Convert = (value: Json | undefined, context?: unknown) => Json | undefined

/** The tables of a message, by its context. */
export type MappingTables = Readonly<{
  reader(context: unknown): TableReader
  /** Fails the mapping with CODE_UNMAPPED once its other entries were applied. */
  miss(context: unknown, use: TableUse, code: string): void
}>

/** What becomes of a code that the table has not, beside any other value in its place. */
const MISSING = { fail: 'fail', keep: 'keep' } as const

/** A parameter for who writes a mapping. A name in angle brackets is any name, as in the list of fields of documents. */
export type FunctionParameter = Readonly<{
  name: string
  kind: 'text' | 'json'
  means: string
  isRequired?: true
}>

export const TABLE_PARAMETERS: readonly FunctionParameter[] = [
  { name: 'table', kind: 'text', means: 'The name of the table.', isRequired: true },
  { name: 'column', kind: 'text', means: 'The column to read; by default, the one after the key.' },
  {
    name: 'missing',
    kind: 'json',
    means:
      'For an unknown code: "fail" (the default) ends the message, "keep" writes the code, another value is written.',
  },
]

const NAMES = TABLE_PARAMETERS.map(({ name }) => name)

/** Whether there is such a table is checked where tables are known (findUseFault). */
export function checkTableParameters(parameters: JsonObject, lint: LintSink): boolean {
  let isSound = true
  const refuse = (sink: LintSink, message: string) => {
    sink.error(message)
    isSound = false
  }
  for (const name of Object.keys(parameters)) {
    if (NAMES.includes(name)) continue
    const near = nearest(name, NAMES)
    const hint = near === undefined ? 'it has table, column and missing.' : `did you mean "${near}"?`
    refuse(lint.at(name), `The function table has no parameter "${name}"; ${hint}`)
  }
  for (const name of ['table', 'column'] as const) {
    const value = parameters[name]
    if (value === undefined && name === 'column') continue
    if (typeof value !== 'string' || value === '')
      refuse(lint.at(name), `"${name}" is the name of a ${name}, a text; this is ${typeName(value ?? null)}.`)
  }
  const { missing } = parameters
  const meant = typeof missing === 'string' ? missing.toLowerCase() : ''
  if (Object.hasOwn(MISSING, meant) && meant !== missing) {
    lint.at('missing').warning(`This writes "${missing}" for a code that the table has not; did you mean "${meant}"?`)
  }
  return isSound
}

/** JSON Schema of what it gives for one code. */
export function describeTableResult({ missing = MISSING.fail }: JsonObject): JsonObject {
  if (missing === MISSING.keep) return { type: ['string', 'number', 'boolean'] }
  return missing === MISSING.fail || missing === null ? TEXT : { anyOf: [TEXT, { const: missing }] }
}

const TEXT = { type: 'string' } as const

/**
 * A code that the table has not, or has no text for, is missed at `path`, and nothing is written, unless `missing` says what.
 * A number or boolean is looked for as its text; no value stays none, and an empty text, which is no key, is none.
 */
export function compileTable(
  { table: name, column, missing = MISSING.fail }: JsonObject,
  tables: MappingTables,
  path: string,
): Convert {
  const use = { table: name as string, column: column as string | undefined, path }
  return (value, context) => {
    if (value === '') return null
    if (value === undefined || value === null || typeof value === 'object') return undefined
    const found = translate(tables.reader(context), use, String(value), false)
    if (found !== undefined) return found
    if (missing === MISSING.fail) {
      tables.miss(context, use, String(value))
      return null
    }
    return missing === MISSING.keep ? value : (missing as Json)
  }
}
