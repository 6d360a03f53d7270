/**
 * The endpoints in force, by route and by id. Compiled endpoints are immutable, and a change is made between two messages,
 * so that each message sees one configuration from beginning to end.
 */
import type { Endpoint } from '../config/schema.ts'
import type { JsonObject } from '../domain/json.ts'
import type { StoredDocument } from '../domain/ports.ts'
import type { EndpointAuth } from '../pipeline/auth.ts'
import type { Handle } from '../pipeline/compile.ts'
import type { Once } from '../pipeline/once.ts'
import { createRouteTable, type RouteTable } from './route-table.ts'

/** An endpoint in force. */
export type Compiled = Readonly<{
  /** Counts the changes of this endpoint, from 1. */
  version: number
  document: StoredDocument
  endpoint: Endpoint
  /** Normalised method and pattern, parameter names aside. */
  routeKey: string
  handle: Handle
  /** In the place of `handle` for requests, where those with an `Idempotency-Key` are worked on once. */
  once?: Once | undefined
  /** Who may send it messages; undefined where anybody may. */
  auth?: EndpointAuth | undefined
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
  /** Puts those out of force and these in force, at once; the routes of all others stay as they are. */
  update(removed: readonly string[], compiled: readonly Compiled[]): void
  /** Replaces everything at once. */
  load(compiled: readonly Compiled[]): void
  /** Tells a listener, from now on, after each change. */
  watch(listener: () => void): void
}

const METHODS = ['GET', 'POST', 'PUT', 'DELETE'] as const

export function createRegistry(): Registry {
  let byId = new Map<string, Compiled>()
  let routes = createRouteTable<Compiled>()
  const listeners: (() => void)[] = []
  const tell = () => {
    for (const listener of listeners) listener()
  }
  const unroute = (id: string) => {
    const before = byId.get(id)?.endpoint.endpoint
    if (before !== undefined) routes.remove(before.method, before.pattern)
  }
  return {
    match: (method, url) => match(routes, method, url),
    get: (id) => byId.get(id),
    all: () => [...byId.values()],
    put: (compiled) => {
      unroute(compiled.document._id)
      byId.set(compiled.document._id, compiled)
      route(routes, compiled)
      tell()
    },
    remove: (id) => {
      unroute(id)
      byId.delete(id)
      tell()
    },
    update: (removed, compiled) => {
      // All of them first: one may take the route that another gives up.
      for (const id of [...removed, ...compiled.map(({ document }) => document._id)]) unroute(id)
      for (const id of removed) byId.delete(id)
      const hasNew = compiled.some(({ document }) => !byId.has(document._id))
      for (const one of compiled) {
        byId.set(one.document._id, one)
        route(routes, one)
      }
      if (hasNew) byId = new Map([...byId].sort(([one], [other]) => (one < other ? -1 : 1)))
      tell()
    },
    load: (compiled) => {
      byId = new Map(compiled.map((one) => [one.document._id, one]))
      routes = createRouteTable()
      for (const one of compiled) route(routes, one)
      tell()
    },
    watch: (listener) => void listeners.push(listener),
  }
}

function route(routes: RouteTable<Compiled>, compiled: Compiled): void {
  const { method, pattern } = compiled.endpoint.endpoint
  routes.add(method, pattern, compiled)
}

function match(routes: RouteTable<Compiled>, method: string, url: string): Match {
  const found = routes.find(method, url)
  if (found !== undefined) return { kind: 'endpoint', compiled: found.target, urlParams: found.urlParams }
  const allow = METHODS.filter((other) => routes.find(other, url) !== undefined)
  return allow.length === 0 ? { kind: 'unknown' } : { kind: 'method', allow }
}
