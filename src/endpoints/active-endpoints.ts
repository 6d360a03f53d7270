/**
 * A set of endpoints, no two of which share a name or a route. Finding one, adding one and finding its rivals takes
 * constant time, so that ten thousand endpoints cost a change no more than ten.
 */
import { collectInto, type Lint } from '../core/lint.ts'
import type { CompiledEndpoint } from './compiled-endpoint.ts'

export interface ActiveEndpoints {
  readonly size: number
  get(id: string): CompiledEndpoint | undefined
  byName(name: string): CompiledEndpoint | undefined
  /** In the order in which their ids were first added. */
  all(): readonly CompiledEndpoint[]
  /** The endpoints with other ids that have its name or its route. */
  rivalsOf(compiled: CompiledEndpoint): readonly CompiledEndpoint[]
  /** The endpoints that consume a topic. */
  consuming(): readonly CompiledEndpoint[]
  /** Replaces the endpoint with its id, if there is one. */
  add(compiled: CompiledEndpoint): void
  remove(id: string): void
}

export function createActiveEndpoints(compiled: readonly CompiledEndpoint[] = []): ActiveEndpoints {
  const byId = new Map<string, CompiledEndpoint>()
  const byName = new Map<string, CompiledEndpoint>()
  const byRoute = new Map<string, CompiledEndpoint>()
  const consuming = new Map<string, CompiledEndpoint>()

  /** When several endpoints change at once, another one may already have the key that this one gives up. */
  const release = (owners: Map<string, CompiledEndpoint>, key: string, owner: CompiledEndpoint): void => {
    if (owners.get(key) === owner) owners.delete(key)
  }
  const forget = (before: CompiledEndpoint | undefined): void => {
    if (before === undefined) return
    release(byName, before.document.name, before)
    release(byRoute, before.routeKey, before)
    consuming.delete(before.document._id)
  }
  const add = (one: CompiledEndpoint): void => {
    const { _id, name } = one.document
    forget(byId.get(_id))
    byId.set(_id, one)
    byName.set(name, one)
    byRoute.set(one.routeKey, one)
    if (one.endpoint.kafkaConsumerTopic !== undefined) consuming.set(_id, one)
  }
  for (const one of compiled) add(one)

  return {
    get size() {
      return byId.size
    },
    get: (id) => byId.get(id),
    byName: (name) => byName.get(name),
    all: () => [...byId.values()],
    rivalsOf: ({ document, routeKey }) => {
      const rivals = new Set([byName.get(document.name), byRoute.get(routeKey)])
      return [...rivals].filter(
        (rival) => rival !== undefined && rival.document._id !== document._id,
      ) as CompiledEndpoint[]
    },
    consuming: () => [...consuming.values()],
    add,
    remove: (id) => {
      forget(byId.get(id))
      byId.delete(id)
    },
  }
}

/**
 * Finds endpoints with the same name, or with a route that matches the same paths. Each lint names the other endpoint, by `nameOf` where its name is taken. The unique keys of the store decide in the end.
 */
export function findClashes(
  compiled: CompiledEndpoint,
  active: Pick<ActiveEndpoints, 'rivalsOf'>,
  nameOf = ({ document }: CompiledEndpoint): string => `The endpoint ${document._id}`,
): readonly Lint[] {
  const { document, routeKey } = compiled
  const lints: Lint[] = []
  const lint = collectInto(lints)
  for (const other of active.rivalsOf(compiled)) {
    if (other.document.name === document.name) {
      lint.at('name').error(`${nameOf(other)} has this name already; choose another one.`)
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
