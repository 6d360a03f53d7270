/**
 * The endpoints in force, by route and by id. Compiled endpoints are immutable, and a change is made between two messages,
 * so that each message sees one configuration from beginning to end.
 */
import type { JsonObject } from '../domain/json.ts'
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
  /** Puts an endpoint in force, in place of the one with its id if there is one; from now on every match sees it. */
  put(compiled: CompiledEndpoint): void
  remove(id: string): void
  /** Puts those out of force and these in force, at once; the routes of all others stay as they are. */
  update(removed: readonly string[], compiled: readonly CompiledEndpoint[]): void
  /** Replaces everything at once. */
  load(compiled: readonly CompiledEndpoint[]): void
  /** Tells a listener, from now on, after each change. */
  watch(listener: () => void): void
}

const METHODS = ['GET', 'POST', 'PUT', 'DELETE'] as const

export function createEndpointRegistry(): Registry {
  let inForce = createActiveEndpoints()
  let routes = createRouteTable<CompiledEndpoint>()
  const listeners: (() => void)[] = []
  const tell = () => {
    for (const listener of listeners) listener()
  }
  const unroute = (id: string) => {
    const before = inForce.get(id)?.endpoint.endpoint
    if (before !== undefined) routes.remove(before.method, before.pattern)
  }
  return {
    match: (method, url) => match(routes, method, url),
    get size() {
      return inForce.size
    },
    get: (id) => inForce.get(id),
    all: () => inForce.all(),
    rivalsOf: (compiled) => inForce.rivalsOf(compiled),
    consuming: () => inForce.consuming(),
    put: (compiled) => {
      unroute(compiled.document._id)
      inForce.add(compiled)
      route(routes, compiled)
      tell()
    },
    remove: (id) => {
      unroute(id)
      inForce.remove(id)
      tell()
    },
    update: (removed, compiled) => {
      // All of them first: one may take the route that another gives up.
      for (const id of [...removed, ...compiled.map(({ document }) => document._id)]) unroute(id)
      for (const id of removed) inForce.remove(id)
      const hasNew = compiled.some(({ document }) => inForce.get(document._id) === undefined)
      for (const one of compiled) {
        inForce.add(one)
        route(routes, one)
      }
      if (hasNew) {
        inForce = createActiveEndpoints(
          inForce.all().toSorted((one, other) => (one.document._id < other.document._id ? -1 : 1)),
        )
      }
      tell()
    },
    load: (compiled) => {
      inForce = createActiveEndpoints(compiled)
      routes = createRouteTable()
      for (const one of compiled) route(routes, one)
      tell()
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
