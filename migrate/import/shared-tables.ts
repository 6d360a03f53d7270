/** Lists of codes that several documents repeat in `mapCodes`: each can be one table. */
import { nameFiles } from '../../src/cli/deployment/document-files.ts'
import { isObject, type Json, type JsonObject } from '../../src/core/json.ts'
import { documentPath } from '../../src/core/lint.ts'
import type { ConvertedDocument } from './convert-documents.ts'
import type { DocumentChange } from './draft.ts'

/** Longer lists alone: a short one is easier to read in its document. */
const MIN_CODES = 21

export type SharedTable = Readonly<{ name: string; codes: readonly (readonly [code: string, text: string])[] }>

type Use = Readonly<{ document: number; path: string; target: JsonObject }>

/** `isUsed`: the documents read the tables; else their changes only name what would become one. `stays`: documents that are not changed. */
export function shareTables(
  documents: readonly ConvertedDocument[],
  isUsed: boolean,
  stays: (document: ConvertedDocument) => boolean,
): Readonly<{ documents: readonly ConvertedDocument[]; tables: readonly SharedTable[] }> {
  const uses = documents.flatMap((one, document) =>
    stays(one) ? [] : listTargets(one.document).map((found): Use => ({ document, ...found })),
  )
  const groups = [...Map.groupBy(uses, ({ target }) => codesKey(target))].filter(
    ([key, group]) => key !== undefined && new Set(group.map(({ document }) => document)).size > 1,
  )
  const names = nameFiles(groups.map(([, [use]]) => ({ name: lastName(use?.target.key), earlier: undefined })))
  const tables = groups.map(
    ([key], index): SharedTable => ({ name: names[index] ?? '', codes: JSON.parse(key ?? '[]') }),
  )
  const nameByPlace = new Map(
    groups.flatMap(([, group], index) =>
      group.map((use) => [`${use.document} ${use.path}`, names[index] ?? ''] as const),
    ),
  )
  const shared = documents.map((one, document): ConvertedDocument => {
    const notes: DocumentChange[] = []
    const replace = (value: Json, path: string): Json => {
      const name = nameByPlace.get(`${document} ${path}`)
      if (name !== undefined) {
        const { transform: before, ...target } = value as JsonObject
        const after = toTableTarget(value as JsonObject, name)
        if (!isUsed)
          notes.push({ level: 'carried', path, reason: `${COUNTED} With --tables, they read one table, "${name}".` })
        else {
          notes.push({
            level: 'differs',
            path,
            before: { ...target, transform: before } as Json,
            after,
            reason: TABLE_REASON,
          })
          return after
        }
      }
      return mapMembers(value, path, replace)
    }
    const changed = replace(one.document, '') as JsonObject
    return notes.length === 0 ? one : { ...one, document: changed, changes: [...one.changes, ...notes] }
  })
  return { documents: shared, tables }
}

const COUNTED = 'Other documents of this import repeat these codes.'
const TABLE_REASON =
  'The codes are in a table now, which several documents read. A code that the table has not is counted, and without a value for it the message fails with CODE_UNMAPPED; a null in a list stays null.'

/** The CSV of a table. */
export const tableText = ({ codes }: SharedTable): string =>
  ['code,target', ...codes.map((row) => row.map(quoted).join())].map((line) => `${line}\r\n`).join('')

const quoted = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

function mapMembers(value: Json, path: string, map: (value: Json, path: string) => Json): Json {
  if (Array.isArray(value)) return value.map((item: Json, index) => map(item, documentPath(path, index)))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, map(item, documentPath(path, name))]))
}

/** Targets of mappings that can read a table. */
function listTargets(document: JsonObject): readonly Omit<Use, 'document'>[] {
  const found: Omit<Use, 'document'>[] = []
  const visit = (value: Json, path: string): Json => {
    if (isObject(value) && codesKey(value) !== undefined) found.push({ path, target: value })
    return mapMembers(value, path, visit)
  }
  visit(document, '')
  return found
}

const parametersOf = ({ transform }: JsonObject): JsonObject =>
  isObject(transform) && transform.function === 'mapCodes' && isObject(transform.parameters) ? transform.parameters : {}

/** The same for the same codes, in any order; undefined for codes that no table can have. */
function codesKey(target: JsonObject): string | undefined {
  const { default: unknown, null: _, ...codes } = parametersOf(target)
  const rows = Object.entries(codes).sort(([one], [other]) => (one < other ? -1 : 1))
  const areTexts = rows.every(([code, text]) => code !== '' && typeof text === 'string' && text !== '')
  // As "missing", these two have a meaning of their own.
  const isAmbiguous = [unknown, target.default].some((value) => value === 'fail' || value === 'keep')
  return rows.length >= MIN_CODES && areTexts && !isAmbiguous ? JSON.stringify(rows) : undefined
}

/** In place of no value, `mapCodes` writes "null" or "default" of its parameters; a table nothing, or the default of the target. */
function toTableTarget(target: JsonObject, table: string): JsonObject {
  const parameters = parametersOf(target)
  const { default: own, transform: _, ...rest } = target
  const missing = parameters.default === undefined ? own : parameters.default
  const none = 'null' in parameters ? parameters.null : parameters.default
  const fallback = none === undefined ? own : none
  return {
    ...rest,
    transform: { function: 'table', parameters: { table, ...(missing === undefined ? {} : { missing }) } },
    ...(fallback === undefined || fallback === null ? {} : { default: fallback }),
  }
}

/** Of a target's key: `gender` of `patient.list[].gender`. */
const lastName = (key: Json | undefined): string =>
  /([^.[\]]+)[.[\]]*$/.exec(typeof key === 'string' ? key : '')?.[1] ?? 'codes'
