/**
 * The endpoints in force, by route and by id. Compiled endpoints are immutable; a change builds a new table and
 * swaps it in by one assignment, so that each message sees one configuration from beginning to end.
 */
import createRouter, { type HTTPMethod } from 'find-my-way'
import type { Endpoint } from '../config/schema.ts'
import type { JsonObject } from '../domain/json.ts'
import type { StoredDocument } from '../domain/ports.ts'
import type { Handle } from '../pipeline/compile.ts'

/** An endpoint in force. */
export type Compiled = Readonly<{
  /** Counts the changes of this endpoint, from 1. */
  version: number
  document: StoredDocument
  endpoint: Endpoint
  /** Normalised method and pattern, parameter names aside. */
  routeKey: string
  handle: Handle
}>

export type Match =
  | Readonly<{ kind: 'endpoint'; compiled: Compiled; urlParams: JsonObject }>
  | Readonly<{ kind: 'method'; allow: readonly string[] }>
  | Readonly<{ kind: 'unknown' }>

export interface Registry {
  /** Finds the endpoint for a method and the path of a URL, still percent-encoded, with or without its query. */
  match(method: string, url: string): Match
  get(id: string): Compiled | undefined
  /** Oldest first. */
  all(): readonly Compiled[]
  /** Puts an endpoint in force, in place of the one with its id if there is one; from now on every match sees it. */
  put(compiled: Compiled): void
  remove(id: string): void
  /** Replaces everything at once. */
  load(compiled: readonly Compiled[]): void
  /** Tells a listener, from now on, after each change. */
  watch(listener: () => void): void
}

type Table = Readonly<{
  byId: ReadonlyMap<string, Compiled>
  router: ReturnType<typeof createRouter>
}>

const METHODS = ['GET', 'POST', 'PUT', 'DELETE'] as const satisfies readonly HTTPMethod[]

export function createRegistry(): Registry {
  let table = buildTable(new Map())
  const listeners: (() => void)[] = []
  const setTable = (next: Table) => {
    table = next
    for (const listener of listeners) listener()
  }
  const swap = (change: (byId: Map<string, Compiled>) => void) => {
    const byId = new Map(table.byId)
    change(byId)
    setTable(buildTable(byId))
  }
  return {
    match: (method, url) => match(table, method, url),
    get: (id) => table.byId.get(id),
    all: () => [...table.byId.values()],
    put: (compiled) => swap((byId) => byId.set(compiled.document._id, compiled)),
    remove: (id) => swap((byId) => byId.delete(id)),
    load: (compiled) => setTable(buildTable(new Map(compiled.map((one) => [one.document._id, one])))),
    watch: (listener) => void listeners.push(listener),
  }
}

function match({ router }: Table, method: string, url: string): Match {
  const found = find(router, method, url)
  if (found !== undefined) return found
  const allow = METHODS.filter((other) => find(router, other, url) !== undefined)
  return allow.length === 0 ? { kind: 'unknown' } : { kind: 'method', allow }
}

function find(router: Table['router'], method: string, url: string): Extract<Match, { kind: 'endpoint' }> | undefined {
  const found = router.find(method as HTTPMethod, url)
  if (found === null) return undefined
  const urlParams = found.params as JsonObject
  // The router lets a parameter match an empty segment, and `/patients/` would be a patient without an id.
  for (const name in urlParams) if (urlParams[name] === '') return undefined
  return { kind: 'endpoint', compiled: found.store as Compiled, urlParams }
}

/** Parameters may be as long as the URL, which the HTTP server bounds. */
function buildTable(byId: ReadonlyMap<string, Compiled>): Table {
  const router = createRouter({ maxParamLength: 65_536 })
  for (const compiled of byId.values()) {
    const { method, pattern } = compiled.endpoint.endpoint
    router.on(method, pattern, () => undefined, compiled)
  }
  return { byId, router }
}
