/** Changes of endpoints as events, from wherever they come: this process, another one, or another instance. */
import type { Registry } from '../../endpoints/endpoint-registry.ts'
import type { EventSource } from './event-hub.ts'

const EVERY_MS = 250
/** Changes, and ids, in one event; a list of endpoints that is read again shows all. */
const MOST_LISTED = 100

type Known = Readonly<{ version: number; name: string }>

/** `inactiveIds`: the stored endpoints that are not active now. */
export function createEndpointEvents(registry: Registry, inactiveIds: () => readonly string[]): EventSource {
  let known = new Map<string, Known>()
  let inactive: readonly string[] = []
  let isChanged = false
  registry.watch(() => {
    isChanged = true
  })
  const read = (): Map<string, Known> =>
    new Map(registry.all().map(({ document, version }) => [document._id, { version, name: document.name }]))

  return {
    types: ['endpoints'],
    everyMs: EVERY_MS,
    start: () => {
      known = read()
      inactive = inactiveIds()
      isChanged = false
    },
    poll: () => {
      const ids = inactiveIds()
      const isOther = ids.join() !== inactive.join()
      if (!isChanged && !isOther) return []
      isChanged = false
      const wasInactive = new Set(inactive)
      const isInactive = new Set(ids)
      inactive = ids
      const now = read()
      const changes = [
        ...[...now].flatMap(([id, one]) => {
          const before = known.get(id)
          if (before?.version === one.version) return []
          const isNew = before === undefined && !wasInactive.has(id)
          return [{ change: isNew ? 'created' : 'changed', id, ...one }]
        }),
        ...[...known].flatMap(([id, { name }]) =>
          now.has(id) ? [] : [{ change: isInactive.has(id) ? 'inactive' : 'deleted', id, name }],
        ),
      ]
      known = now
      if (changes.length === 0 && !isOther) return []
      const data = {
        changes: changes.slice(0, MOST_LISTED),
        ...(changes.length > MOST_LISTED ? { changesNotListed: changes.length - MOST_LISTED } : {}),
        endpoints: now.size,
        endpointsNotInForce: ids.slice(0, MOST_LISTED),
        ...(ids.length > MOST_LISTED ? { endpointsNotListed: ids.length - MOST_LISTED } : {}),
      }
      return [{ type: 'endpoints', data }]
    },
  }
}
