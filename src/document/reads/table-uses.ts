/** Which tables a document reads: by the function `table` of its mappings, by `$table` of its expressions, and by lookups. */
import { isObject, type Json } from '../../core/json.ts'
import { documentPath } from '../../core/lint.ts'
import type { TableUse } from '../../core/tables/table-set.ts'
import { collectTextTables } from '../../language/jsonata/expression-engine.ts'
import { listNestedEntries } from '../../language/mapping/nested-entries.ts'
import { targetOf } from '../../outbound/targets.ts'
import type { Endpoint } from '../schema/schema.ts'
import { listMappings } from './document-mappings.ts'
import { listReferences } from './document-reads.ts'

/** An expression may also read a table whose name it computes. */
export const mayReadTables = (expression: string): boolean => /\$(?:table|eval)\b/.test(expression)

export const listTableUses = (endpoint: Endpoint): readonly TableUse[] => [
  ...endpoint.requests.lookup.flatMap((lookup, index): readonly TableUse[] => {
    const table = targetOf(lookup).tableInUrl?.(lookup.config.url)
    return table === undefined ? [] : [{ table, path: documentPath('requests', 'lookup', index, 'config', 'url') }]
  }),
  ...listFunctionUses(endpoint),
  ...listReferences(endpoint).flatMap(({ kind, text, at }) =>
    kind === 'expression' && mayReadTables(text)
      ? collectTextTables(text).map((use) => ({ ...use, path: documentPath(...at) }))
      : [],
  ),
]

const listFunctionUses = (endpoint: Endpoint): readonly TableUse[] =>
  listMappings(endpoint).flatMap(({ entries, at }) =>
    listNestedEntries(entries).flatMap(({ declared, at: inner }) =>
      (Array.isArray(declared) ? declared : [declared]).flatMap((target: Json, index): TableUse[] => {
        const { function: name, parameters } = isObject(target) && isObject(target.transform) ? target.transform : {}
        if (name !== 'table' || !isObject(parameters) || typeof parameters.table !== 'string') return []
        const { table, column } = parameters
        const place = [...at, ...inner, ...(Array.isArray(declared) ? [index] : []), 'transform', 'parameters'] as const
        return [{ table, column: typeof column === 'string' ? column : undefined, path: documentPath(...place) }]
      }),
    ),
  )
