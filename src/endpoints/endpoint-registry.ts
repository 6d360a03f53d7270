/**
 * The active endpoints, by route and by id. Compiled endpoints are immutable, and a change is made between two messages,
 * so that each message runs with one configuration from start to finish.
 */
import { ENDPOINT_METHODS } from '../core/http.ts'
import type { JsonObject } from '../core/json.ts'
import { collectInto, type Lint } from '../core/lint.ts'
import type { CompiledEndpoint } from './compiled-endpoint.ts'
import { createRouteTable, type RouteTable } from './route-table.ts'

/**
 * A set of endpoints, no two of which share a name or a route. Finding one, adding one and finding its rivals takes
 * constant time, so that ten thousand endpoints cost a change no more than ten.
 */
export class ActiveEndpoints {
  readonly #byId = new Map<string, CompiledEndpoint>()
  readonly #byName = new Map<string, CompiledEndpoint>()
  readonly #byRoute = new Map<string, CompiledEndpoint>()
  readonly #consuming = new Map<string, CompiledEndpoint>()

  constructor(compiled: readonly CompiledEndpoint[] = []) {
    for (const one of compiled) this.add(one)
  }

  get size(): number {
    return this.#byId.size
  }

  get(id: string): CompiledEndpoint | undefined {
    return this.#byId.get(id)
  }

  byName(name: string): CompiledEndpoint | undefined {
    return this.#byName.get(name)
  }

  /** In the order in which their ids were first added. */
  all(): readonly CompiledEndpoint[] {
    return [...this.#byId.values()]
  }

  /** The endpoints with other ids that have its name or its route. */
  findRivals({ document, routeKey }: CompiledEndpoint): readonly CompiledEndpoint[] {
    const rivals = new Set([this.#byName.get(document.name), this.#byRoute.get(routeKey)])
    return [...rivals].filter(
      (rival) => rival !== undefined && rival.document._id !== document._id,
    ) as CompiledEndpoint[]
  }

  /** The endpoints that consume a topic. */
  consuming(): readonly CompiledEndpoint[] {
    return [...this.#consuming.values()]
  }

  /** Replaces the endpoint with its id, if there is one. */
  add(one: CompiledEndpoint): void {
    const { _id, name } = one.document
    this.#release(this.#byId.get(_id))
    this.#byId.set(_id, one)
    this.#byName.set(name, one)
    this.#byRoute.set(one.routeKey, one)
    if (one.endpoint.kafkaConsumerTopic !== undefined) this.#consuming.set(_id, one)
  }

  remove(id: string): void {
    this.#release(this.#byId.get(id))
    this.#byId.delete(id)
  }

  /** When several endpoints change at once, another one may already have the name or route that this one gives up. */
  #release(before: CompiledEndpoint | undefined): void {
    if (before === undefined) return
    const { name, _id } = before.document
    if (this.#byName.get(name) === before) this.#byName.delete(name)
    if (this.#byRoute.get(before.routeKey) === before) this.#byRoute.delete(before.routeKey)
    this.#consuming.delete(_id)
  }
}

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
  /** Calls the listener after each change. */
  watch(listener: () => void): void
}

export function createEndpointRegistry(): Registry {
  let active = new ActiveEndpoints()
  const routes = createRouteTable<CompiledEndpoint>()
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
      active = new ActiveEndpoints(
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
    findRivals: (compiled) => active.findRivals(compiled),
    consuming: () => active.consuming(),
    put: (compiled) => {
      unroute(compiled.document._id)
      active.add(compiled)
      route(routes, compiled)
      notify()
    },
    remove: (id) => update([id], []),
    update,
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
  const allow = ENDPOINT_METHODS.filter((other) => routes.find(other, url) !== undefined)
  return allow.length === 0 ? { kind: 'unknown' } : { kind: 'method', allow }
}

/**
 * Finds endpoints with the same name, or with a route that matches the same paths. `describeEndpoint`: how a lint names the
 * other one if its name is taken. The unique keys of the store decide in the end.
 */
export function findClashes(
  compiled: CompiledEndpoint,
  active: Pick<ActiveEndpoints, 'findRivals'>,
  describeEndpoint = ({ document }: CompiledEndpoint): string => `The endpoint ${document._id}`,
): readonly Lint[] {
  const { document, routeKey } = compiled
  const lints: Lint[] = []
  const lint = collectInto(lints)
  for (const other of active.findRivals(compiled)) {
    if (other.document.name === document.name) {
      lint.at('name').error(`${describeEndpoint(other)} has this name already; choose another one.`)
    }
    if (other.routeKey === routeKey) {
      const { method, pattern } = other.endpoint.endpoint
      lint
        .at('endpoint', 'pattern')
        .error(
          `"${other.document.name}" (${method} ${pattern}) answers the same paths already; change the pattern or the method.`,
        )
    }
  }
  return lints
}

/** A document without a sound name or route has stand-ins for them, which clash with nothing. */
export const hasNameAndRoute = (lints: readonly Lint[]): boolean =>
  !lints.some(({ path, severity }) => severity === 'error' && (path === '' || /^(name|endpoint)\b/.test(path)))
