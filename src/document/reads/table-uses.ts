/** Which tables a document reads: by the function `table` of its mappings, and by lookups. */
import { isObject, type Json } from '../../core/json.ts'
import { documentPath } from '../../core/lint.ts'
import type { TableUse } from '../../core/tables/table-set.ts'
import { listNestedEntries } from '../../language/mapping/nested-entries.ts'
import { targetOf } from '../../outbound/targets.ts'
import type { Endpoint } from '../schema/schema.ts'
import { listMappings } from './document-mappings.ts'

export const listTableUses = (endpoint: Endpoint): readonly TableUse[] => [
  ...endpoint.requests.lookup.flatMap((lookup, index): readonly TableUse[] => {
    const table = targetOf(lookup).tableInUrl?.(lookup.config.url)
    return table === undefined ? [] : [{ table, path: documentPath('requests', 'lookup', index, 'config', 'url') }]
  }),
  ...listMappings(endpoint).flatMap(({ entries, at }) =>
    listNestedEntries(entries).flatMap(({ declared, at: inner }) =>
      (Array.isArray(declared) ? declared : [declared]).flatMap((target: Json, index): TableUse[] => {
        const { function: name, parameters } = isObject(target) && isObject(target.transform) ? target.transform : {}
        if (name !== 'table' || !isObject(parameters) || typeof parameters.table !== 'string') return []
        const { table, column } = parameters
        const place = [...at, ...inner, ...(Array.isArray(declared) ? [index] : []), 'transform', 'parameters'] as const
        return [{ table, column: typeof column === 'string' ? column : undefined, path: documentPath(...place) }]
      }),
    ),
  ),
]
