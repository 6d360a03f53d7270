/**
 * The active endpoints, by route and by id. Compiled endpoints are immutable, and a change is made between two messages,
 * so that each message runs with one configuration from start to finish.
 */
import type { JsonObject } from '../core/json.ts'
import { type ActiveEndpoints, createActiveEndpoints } from './active-endpoints.ts'
import type { CompiledEndpoint } from './compiled-endpoint.ts'
import { createRouteTable, type RouteTable } from './route-table.ts'

export type Match =
  | Readonly<{ kind: 'endpoint'; compiled: CompiledEndpoint; urlParams: JsonObject }>
  | Readonly<{ kind: 'method'; allow: readonly string[] }>
  | Readonly<{ kind: 'unknown' }>

export interface Registry extends Omit<ActiveEndpoints, 'add' | 'remove'> {
  /** Finds the endpoint for a method and the path of a URL, still percent-encoded, with or without its query. */
  match(method: string, url: string): Match
  /** Activates an endpoint in place of the one with its id, if there is one; from now on every match sees it. */
  put(compiled: CompiledEndpoint): void
  remove(id: string): void
  /** Removes and activates several endpoints at once; the routes of all others stay as they are. */
  update(removed: readonly string[], compiled: readonly CompiledEndpoint[]): void
  /** Replaces everything at once. */
  load(compiled: readonly CompiledEndpoint[]): void
  /** Calls the listener after each change. */
  watch(listener: () => void): void
}

const METHODS = ['GET', 'POST', 'PUT', 'DELETE'] as const

export function createEndpointRegistry(): Registry {
  let active = createActiveEndpoints()
  let routes = createRouteTable<CompiledEndpoint>()
  const listeners: (() => void)[] = []
  const notify = () => {
    for (const listener of listeners) listener()
  }
  const unroute = (id: string) => {
    const before = active.get(id)?.endpoint.endpoint
    if (before !== undefined) routes.remove(before.method, before.pattern)
  }
  const update: Registry['update'] = (removed, compiled) => {
    // All routes are removed first: one endpoint may take the route that another gives up.
    for (const id of [...removed, ...compiled.map(({ document }) => document._id)]) unroute(id)
    for (const id of removed) active.remove(id)
    const hasNew = compiled.some(({ document }) => active.get(document._id) === undefined)
    for (const one of compiled) {
      active.add(one)
      route(routes, one)
    }
    if (hasNew) {
      active = createActiveEndpoints(
        active.all().toSorted((one, other) => (one.document._id < other.document._id ? -1 : 1)),
      )
    }
    notify()
  }
  return {
    match: (method, url) => match(routes, method, url),
    get size() {
      return active.size
    },
    get: (id) => active.get(id),
    byName: (name) => active.byName(name),
    all: () => active.all(),
    rivalsOf: (compiled) => active.rivalsOf(compiled),
    consuming: () => active.consuming(),
    put: (compiled) => {
      unroute(compiled.document._id)
      active.add(compiled)
      route(routes, compiled)
      notify()
    },
    remove: (id) => update([id], []),
    update,
    load: (compiled) => {
      active = createActiveEndpoints(compiled)
      routes = createRouteTable()
      for (const one of compiled) route(routes, one)
      notify()
    },
    watch: (listener) => void listeners.push(listener),
  }
}

function route(routes: RouteTable<CompiledEndpoint>, compiled: CompiledEndpoint): void {
  const { method, pattern } = compiled.endpoint.endpoint
  routes.add(method, pattern, compiled)
}

function match(routes: RouteTable<CompiledEndpoint>, method: string, url: string): Match {
  const found = routes.find(method, url)
  if (found !== undefined) return { kind: 'endpoint', compiled: found.target, urlParams: found.urlParams }
  const allow = METHODS.filter((other) => routes.find(other, url) !== undefined)
  return allow.length === 0 ? { kind: 'unknown' } : { kind: 'method', allow }
}
