/**
 * Counts of messages and of failures as events: the differences between two readings of the counters that metrics keep anyway,
 * so that events cost a message nothing.
 */
import type { Awaitable } from '../../core/json.ts'
import type { TableSet } from '../../core/tables/table-set.ts'
import type { Registry } from '../../endpoints/endpoint-registry.ts'
import type { ConsumerStatus } from '../../inbound/kafka/endpoint-consumers.ts'
import type { MessageCount, ProcessCounts } from '../metrics/message-metrics.ts'
import type { EventSource } from './event-hub.ts'

/** Endpoints and groups in one event: the largest ones. */
const MAX_LISTED = 200

const EVERY_MS = 1_000

/** More readings than that are of processes that ended. */
const MAX_PROCESSES = 256

type MessageEventsOptions = Readonly<{
  /** The counters of all processes that answer. */
  readCounts: () => Promise<readonly ProcessCounts[]>
  /** The id of the active endpoint of a name. */
  findEndpointId: (endpoint: string) => string | undefined
  clock: () => number
}>

type Outcomes = { done: number; partial: number; refused: number; failed: number }

export function createMessageEvents({ readCounts, findEndpointId, clock }: MessageEventsOptions): EventSource {
  /** By process, the count of each counter at the last reading. */
  let before = new Map<string, ReadonlyMap<string, number>>()
  let readAt = 0

  const read = async () => {
    const processes = await readCounts()
    const grown = new Map<string, MessageCount & Readonly<{ isNew: boolean }>>()
    // A process that does not answer in time keeps its last reading; its next one then counts for both.
    const now = before.size > MAX_PROCESSES ? new Map() : new Map(before)
    for (const { process, counts } of processes) {
      const last = before.get(process)
      now.set(process, new Map(counts.map((one) => [toKey(one), one.count])))
      // What a process counted before its first reading isn't an event.
      if (last === undefined) continue
      for (const one of counts) {
        const key = toKey(one)
        const known = last.get(key)
        // A counter starts again at 0 after its endpoint was renamed.
        const count = one.count - (known === undefined || known > one.count ? 0 : known)
        const other = grown.get(key)
        if (count === 0) continue
        grown.set(key, {
          ...one,
          count: count + (other?.count ?? 0),
          isNew: (other?.isNew ?? true) && known === undefined,
        })
      }
    }
    before = now
    return [...grown.values()]
  }
  const named = (endpoint: string) => {
    const endpointId = findEndpointId(endpoint)
    return { ...(endpoint === '' ? {} : { endpoint }), ...(endpointId === undefined ? {} : { endpointId }) }
  }

  return {
    types: ['messages', 'failures'],
    everyMs: EVERY_MS,
    start: async () => {
      before = new Map()
      await read()
      readAt = clock()
    },
    poll: async () => {
      const grown = await read()
      const at = clock()
      const ms = at - readAt
      readAt = at
      if (grown.length === 0) return []
      const groups = grown
        .filter(({ outcome }) => outcome !== 'done')
        .toSorted((one, other) => other.count - one.count)
        .slice(0, MAX_LISTED)
        .map(({ endpoint, outcome, code, count, isNew }) => ({ ...named(endpoint), outcome, code, count, isNew }))
      const times = { at: new Date(at).toISOString(), ms }
      const messages = { type: 'messages' as const, data: { ...times, ...countsFor(grown, named) } }
      return groups.length === 0 ? [messages] : [messages, { type: 'failures' as const, data: { ...times, groups } }]
    },
  }
}

const toKey = ({ endpoint, outcome, code }: MessageCount): string => `${outcome} ${code} ${endpoint}`

function countsFor(grown: readonly MessageCount[], named: (endpoint: string) => object) {
  const all = noOutcomes()
  const byEndpoint = new Map<string, Outcomes>()
  for (const { endpoint, outcome, count } of grown) {
    const own = byEndpoint.get(endpoint) ?? noOutcomes()
    byEndpoint.set(endpoint, own)
    own[outcome] += count
    all[outcome] += count
  }
  const sumOutcomes = ({ done, partial, refused, failed }: Outcomes) => done + partial + refused + failed
  const endpoints = [...byEndpoint]
    .toSorted(([, one], [, other]) => sumOutcomes(other) - sumOutcomes(one))
    .slice(0, MAX_LISTED)
    .map(([endpoint, counts]) => ({ ...named(endpoint), ...counts }))
  return { ...all, endpoints }
}

const noOutcomes = (): Outcomes => ({ done: 0, partial: 0, refused: 0, failed: 0 })

// Changes of endpoints as events, whatever their origin: this process, another one, or another instance.

const ENDPOINTS_EVERY_MS = 250
/** Changes, and ids, in one event; a list of endpoints that is read again shows all. */
const MAX_CHANGES = 100

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
    everyMs: ENDPOINTS_EVERY_MS,
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
        changes: changes.slice(0, MAX_CHANGES),
        ...(changes.length > MAX_CHANGES ? { changesNotListed: changes.length - MAX_CHANGES } : {}),
        endpoints: now.size,
        endpointsNotInForce: ids.slice(0, MAX_CHANGES),
        ...(ids.length > MAX_CHANGES ? { endpointsNotListed: ids.length - MAX_CHANGES } : {}),
      }
      return [{ type: 'endpoints', data }]
    },
  }
}

/** Changes of tables, likewise. */
export function createTableEvents(tables: Readonly<{ current: TableSet }>): EventSource {
  let known = tables.current
  return {
    types: ['tables'],
    everyMs: ENDPOINTS_EVERY_MS,
    start: () => {
      known = tables.current
    },
    poll: () => {
      const before = known
      known = tables.current
      if (known === before) return []
      const changes = [
        ...[...known.values()].flatMap(({ name, version }) => {
          const was = before.get(name)
          return was?.version === version ? [] : [{ change: was === undefined ? 'created' : 'changed', name, version }]
        }),
        ...[...before.keys()].flatMap((name) => (known.has(name) ? [] : [{ change: 'deleted', name }])),
      ]
      if (changes.length === 0) return []
      const more = changes.length - MAX_CHANGES
      const data = { changes: changes.slice(0, MAX_CHANGES), ...(more > 0 ? { changesNotListed: more } : {}) }
      return [{ type: 'tables', data: { ...data, tables: known.size } }]
    },
  }
}

// Things that are read as a whole from time to time, and are events when they have changed: replay plans, deliveries, the service.

const PLANS_EVERY_MS = 1_000
const DELIVERIES_EVERY_MS = 1_000
const STATUS_EVERY_MS = 5_000
/** Consumers in one event; `GET /consumers` has all. */
const MAX_CONSUMERS = 100

/** Progress of a replay plan. */
type ReplayProgress = Readonly<{
  id: string
  state: string
  count: number
  done: number
  failed: number
  skipped: number
  left: number
}>

/** An event for each plan that has changed. */
export function createReplayEvents(readPlans: () => Awaitable<readonly ReplayProgress[]>): EventSource {
  let before = new Map<string, string>()
  const read = async () =>
    (await readPlans()).map(({ id, state, count, done, failed, skipped, left }) => ({
      id,
      state,
      count,
      done,
      failed,
      skipped,
      left,
    }))
  const keep = (plans: readonly ReplayProgress[]): void => {
    before = new Map(plans.map((plan) => [plan.id, JSON.stringify(plan)]))
  }
  return {
    types: ['replay'],
    everyMs: PLANS_EVERY_MS,
    start: async () => keep(await read()),
    poll: async () => {
      const plans = await read()
      const changed = plans.filter((plan) => before.get(plan.id) !== JSON.stringify(plan))
      keep(plans)
      return changed.map((data) => ({ type: 'replay', data }))
    },
  }
}

/** An event when the numbers of deliveries have changed. */
export function createDeliveryEvents(readSums: () => Promise<object>): EventSource {
  let before = ''
  const read = async () => {
    const data = await readSums()
    const text = JSON.stringify(data)
    const isOther = text !== before
    before = text
    return { isOther, data }
  }
  return {
    types: ['deliveries'],
    everyMs: DELIVERIES_EVERY_MS,
    start: async () => void (await read()),
    poll: async () => {
      const { isOther, data } = await read()
      return isOther ? [{ type: 'deliveries', data }] : []
    },
  }
}

/** The state of the service, of bounded size. */
type ServiceStatus = Readonly<{ consumers: readonly ConsumerStatus[] }>

/** An event with the whole status when it has changed, and with the consumers that have. */
export function createStatusEvents(readStatus: () => Promise<ServiceStatus>): EventSource {
  let before = ''
  let consumersBefore = new Map<string, string>()
  const read = async () => {
    const { consumers, ...status } = await readStatus()
    const shown = consumers.map(({ partitions, ...consumer }) => consumer)
    const texts = new Map(shown.map((consumer) => [consumer.endpointId, JSON.stringify(consumer)]))
    const changed = shown.filter(({ endpointId }) => texts.get(endpointId) !== consumersBefore.get(endpointId))
    const text = JSON.stringify(status)
    const isOther = text !== before || changed.length > 0 || texts.size !== consumersBefore.size
    before = text
    consumersBefore = texts
    return { isOther, data: { ...status, consumers: changed.slice(0, MAX_CONSUMERS) } }
  }
  return {
    types: ['status'],
    everyMs: STATUS_EVERY_MS,
    start: async () => void (await read()),
    poll: async () => {
      const { isOther, data } = await read()
      return isOther ? [{ type: 'status', data }] : []
    },
  }
}
