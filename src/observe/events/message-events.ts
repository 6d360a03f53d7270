/**
 * Counts of messages and of failures as events: the differences between two readings of the counters that metrics keep anyway,
 * so that events cost a message nothing.
 */
import type { MessageCount, ProcessCounts } from '../metrics/message-metrics.ts'
import type { EventSource } from './event-hub.ts'

/** Endpoints and groups in one event: the largest ones. */
const MOST_LISTED = 200

const EVERY_MS = 1_000

/** More readings than that are of processes that ended. */
const MOST_PROCESSES = 256

export type MessageEventsOptions = Readonly<{
  /** The counters of all processes that answer. */
  readCounts: () => Promise<readonly ProcessCounts[]>
  /** The id of the active endpoint of a name. */
  idOf: (endpoint: string) => string | undefined
  clock: () => number
}>

type Outcomes = { done: number; partial: number; refused: number; failed: number }

export function createMessageEvents({ readCounts, idOf, clock }: MessageEventsOptions): EventSource {
  /** By process, the count of each counter at the last reading. */
  let before = new Map<string, ReadonlyMap<string, number>>()
  let readAt = 0

  const read = async () => {
    const processes = await readCounts()
    const grown = new Map<string, MessageCount & Readonly<{ isNew: boolean }>>()
    // A process that does not answer in time keeps its last reading; its next one then counts for both.
    const now = before.size > MOST_PROCESSES ? new Map() : new Map(before)
    for (const { process, counts } of processes) {
      const last = before.get(process)
      now.set(process, new Map(counts.map((one) => [keyOf(one), one.count])))
      // What a process counted before its first reading is no event.
      if (last === undefined) continue
      for (const one of counts) {
        const key = keyOf(one)
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
    const endpointId = idOf(endpoint)
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
        .slice(0, MOST_LISTED)
        .map(({ endpoint, outcome, code, count, isNew }) => ({ ...named(endpoint), outcome, code, count, isNew }))
      const times = { at: new Date(at).toISOString(), ms }
      const messages = { type: 'messages' as const, data: { ...times, ...countsOf(grown, named) } }
      return groups.length === 0 ? [messages] : [messages, { type: 'failures' as const, data: { ...times, groups } }]
    },
  }
}

const keyOf = ({ endpoint, outcome, code }: MessageCount): string => `${outcome} ${code} ${endpoint}`

function countsOf(grown: readonly MessageCount[], named: (endpoint: string) => object) {
  const all = noOutcomes()
  const byEndpoint = new Map<string, Outcomes>()
  for (const { endpoint, outcome, count } of grown) {
    const own = byEndpoint.get(endpoint) ?? noOutcomes()
    byEndpoint.set(endpoint, own)
    own[outcome] += count
    all[outcome] += count
  }
  const sumOf = ({ done, partial, refused, failed }: Outcomes) => done + partial + refused + failed
  const endpoints = [...byEndpoint]
    .toSorted(([, one], [, other]) => sumOf(other) - sumOf(one))
    .slice(0, MOST_LISTED)
    .map(([endpoint, counts]) => ({ ...named(endpoint), ...counts }))
  return { ...all, endpoints }
}

const noOutcomes = (): Outcomes => ({ done: 0, partial: 0, refused: 0, failed: 0 })
