/**
 * A set of endpoints, no two of which share a name or the paths that they answer on. To ask for one, to add one and to
 * look for what it clashes with takes a time that does not depend on how many there are.
 */
import type { CompiledEndpoint } from './compiled-endpoint.ts'

export interface ActiveEndpoints {
  readonly size: number
  get(id: string): CompiledEndpoint | undefined
  /** In the order in which their ids were added first. */
  all(): readonly CompiledEndpoint[]
  /** Those of other ids that have its name, or answer its paths. */
  rivalsOf(compiled: CompiledEndpoint): readonly CompiledEndpoint[]
  /** Those that consume a topic. */
  consuming(): readonly CompiledEndpoint[]
  /** In place of the one with its id, if there is one. */
  add(compiled: CompiledEndpoint): void
  remove(id: string): void
}

export function createActiveEndpoints(compiled: readonly CompiledEndpoint[] = []): ActiveEndpoints {
  const byId = new Map<string, CompiledEndpoint>()
  const byName = new Map<string, CompiledEndpoint>()
  const byRoute = new Map<string, CompiledEndpoint>()
  const consuming = new Map<string, CompiledEndpoint>()

  /** Of several that change at once, another may have taken what this one gives up. */
  const release = (taken: Map<string, CompiledEndpoint>, key: string, by: CompiledEndpoint): void => {
    if (taken.get(key) === by) taken.delete(key)
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
