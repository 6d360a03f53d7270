/** Which tables a document reads: by the function `table` of its mappings, by `$table` of its expressions, and by lookups. */
import { isObject, type Json } from '../../core/json.ts'
import { documentPath } from '../../core/lint.ts'
import type { TableUse } from '../../core/tables/table-set.ts'
import { collectTextTables } from '../../language/jsonata/expression-engine.ts'
import { listNestedEntries } from '../../language/mapping/nested-entries.ts'
import { parsePath } from '../../language/paths/path.ts'
import { isElementName } from '../../language/paths/path-steps.ts'
import { targetOf } from '../../outbound/targets.ts'
import type { Endpoint } from '../schema/schema.ts'
import { listMappings } from './document-mappings.ts'
import { listReferences, pathsInExpression } from './document-reads.ts'

/** An expression may also read a table whose name it computes. */
export const mayReadTables = (expression: string): boolean => /\$(?:table|eval)\b/.test(expression)

export function listTableUses(endpoint: Endpoint): readonly TableUse[] {
  const tables = new Map<string, string>()
  const lookups = endpoint.requests.lookup.flatMap((lookup, index): readonly TableUse[] => {
    const table = targetOf(lookup).tableInUrl?.(lookup.config.url)
    if (table === undefined) return []
    tables.set(lookup.id, table)
    return [{ table, path: documentPath('requests', 'lookup', index, 'config', 'url') }]
  })
  const inReferences = listReferences(endpoint).flatMap(({ kind, text, at, items = [] }) => {
    const paths = kind === 'path' ? [text] : tables.size > 0 ? pathsInExpression(text, items) : []
    const called = kind === 'expression' && mayReadTables(text) ? collectTextTables(text) : []
    const uses = [...paths.flatMap((one) => findRowColumn(one, tables) ?? []), ...called]
    return uses.map((use) => ({ ...use, path: documentPath(...at) }))
  })
  return [...lookups, ...listFunctionUses(endpoint), ...inReferences]
}

/** What a path reads of the row of a lookup, also of one of several. `tables`: by the ids of lookups. */
function findRowColumn(path: string, tables: ReadonlyMap<string, string>): Omit<TableUse, 'path'> | undefined {
  if (tables.size === 0) return undefined
  const parsed = parsePath(path)
  const steps = parsed.ok && parsed.value.root === 'lookupRequests' ? parsed.value.steps : []
  const names = steps.flatMap((step) => (step.kind === 'name' && !isElementName(step.name) ? step.name : []))
  const [id = '', data, row, column] = names
  const table = data === 'data' && row === 'row' ? tables.get(id) : undefined
  return table === undefined || column === undefined ? undefined : { table, column }
}

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
