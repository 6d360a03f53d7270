/** The index of the HTTP door: which active endpoint takes a request. */
import { ENDPOINT_METHODS } from '../../core/http.ts'
import type { JsonObject } from '../../core/json.ts'
import type { CompiledEndpoint } from '../../endpoints/compiled-endpoint.ts'
import type { Registry } from '../../endpoints/endpoint-registry.ts'
import { createRouteTable } from '../../language/route-table.ts'

export type Match =
  | Readonly<{ kind: 'endpoint'; compiled: CompiledEndpoint; urlParams: JsonObject }>
  | Readonly<{ kind: 'method'; allow: readonly string[] }>
  | Readonly<{ kind: 'unknown' }>

export type Routes = Readonly<{
  /** Finds the endpoint for a method and the path of a URL, still percent-encoded, with or without its query. */
  match(method: string, url: string): Match
}>

/** Follows the registry: a change is in force for the next request, whole. */
export function createRoutes(registry: Pick<Registry, 'all' | 'watch'>): Routes {
  const table = createRouteTable<CompiledEndpoint>()
  const add = (compiled: CompiledEndpoint): void => {
    const { method, pattern } = compiled.endpoint.endpoint
    if (pattern !== undefined) table.add(method, pattern, compiled)
  }
  const remove = (compiled: CompiledEndpoint): void => {
    const { method, pattern } = compiled.endpoint.endpoint
    if (pattern !== undefined) table.remove(method, pattern)
  }
  registry.all().forEach(add)
  registry.watch(({ removed, added }) => {
    // All routes are removed first: one endpoint may take the route that another gives up.
    removed.forEach(remove)
    added.forEach(add)
  })
  return {
    match: (method, url) => {
      const found = table.find(method, url)
      if (found !== undefined) return { kind: 'endpoint', compiled: found.target, urlParams: found.urlParams }
      const allow = ENDPOINT_METHODS.filter((other) => table.find(other, url) !== undefined)
      return allow.length === 0 ? { kind: 'unknown' } : { kind: 'method', allow }
    },
  }
}
