/**
 * All active endpoints as one graph: which topics and systems they send to, which topics and tables they read, and so who feeds
 * whom. A service may have ten thousand endpoints, so the graph shows the busiest of those that are asked for, and counts the rest.
 */
import type { JsonObject } from '../../core/json.ts'
import { createPause } from '../../core/slice.ts'
import { listEntrances } from '../../document/doors.ts'
import { type Thing, type ThingKind, thingOf } from '../../document/graph/request-targets.ts'
import type { CompiledEndpoint } from '../../endpoints/compiled-endpoint.ts'
import type { Registry } from '../../endpoints/endpoint-registry.ts'

export const MAX_SHOWN = 200
export const SHOWN = 40

/** `id`: `topic:orders`, or that of the endpoint. Endpoints alone have counts, of the last hour. */
export type ServiceNode = Readonly<{
  id: string
  kind: 'endpoint' | ThingKind
  name: string
  /** How messages arrive at an endpoint: its routes, topics, ports and times. */
  entrances?: readonly string[]
  count?: number
  failures?: number
  /** How many active endpoints have to do with it, also those that are not shown. */
  endpoints?: number
}>

/** `reads`: nothing is sent; the endpoint asks. */
export type ServiceEdge = Readonly<{ from: string; to: string; reads?: true }>

export type ServiceGraph = Readonly<{
  nodes: readonly ServiceNode[]
  edges: readonly ServiceEdge[]
  /** Endpoints that match, and how many of them are shown. */
  total: number
  shown: number
}>

export type ServiceGraphQuery = Readonly<{ q?: string; focus?: string; limit?: number }>

/** Fails with STORE_UNAVAILABLE. */
export type ReadServiceGraph = (query: ServiceGraphQuery) => Promise<ServiceGraph>

type ServiceGraphOptions = Readonly<{
  registry: Pick<Registry, 'all'>
  /** `count` and `failures` of the last hour. */
  readStats: (endpointIds: readonly string[]) => Promise<ReadonlyMap<string, JsonObject>>
}>

/** The thing feeds the endpoint, is sent messages, or is asked. */
type Link = Readonly<{ id: string; thing: Thing; way: 'feeds' | 'sent' | 'read' }>
type Row = Readonly<{
  id: string
  name: string
  entrances: readonly string[]
  links: readonly Link[]
  /** In lower case. */
  searched: string
}>

export function createReadServiceGraph({ registry, readStats }: ServiceGraphOptions): ReadServiceGraph {
  // Compiled endpoints never change.
  const known = new WeakMap<CompiledEndpoint, Row>()
  const rowFor = (one: CompiledEndpoint): Row => {
    const row = known.get(one) ?? describe(one)
    known.set(one, row)
    return row
  }
  return async ({ q = '', focus, limit = SHOWN }) => {
    const rows: Row[] = []
    const pause = createPause()
    for (const one of registry.all()) {
      rows.push(rowFor(one))
      await pause()
    }
    const words = q.toLowerCase().split(/\s+/).filter(Boolean)
    const matching = rows.filter(({ searched }) => words.every((word) => searched.includes(word)))
    const wanted = focus === undefined ? matching : neighbours(matching, focus)
    const stats = await readStats(wanted.map(({ id }) => id))
    const counted = wanted.map((row) => ({ row, count: countIn(stats, row, 'count') }))
    await pause()
    const isFocus = (row: Row): number => (row.id === focus ? 1 : 0)
    counted.sort((one, other) => isFocus(other.row) - isFocus(one.row) || other.count - one.count)
    const shown = counted.slice(0, limit)
    const things = new Map(
      shown.flatMap(({ row }) =>
        row.links.map(({ id, thing }) => [id, { thing, uses: 0 }] as [string, { thing: Thing; uses: number }]),
      ),
    )
    for (const { links } of rows) {
      for (const id of new Set(links.map((link) => link.id))) {
        const known = things.get(id)
        if (known !== undefined) known.uses += 1
      }
    }
    return {
      nodes: [
        ...shown.map(({ row, count }): ServiceNode => {
          const { id, name, entrances } = row
          return { id, kind: 'endpoint', name, entrances, count, failures: countIn(stats, row, 'failures') }
        }),
        ...[...things].map(([id, { thing, uses }]): ServiceNode => ({ id, ...thing, endpoints: uses })),
      ],
      edges: shown.flatMap(({ row }) => edgesOf(row)),
      total: wanted.length,
      shown: shown.length,
    }
  }
}

const countIn = (stats: ReadonlyMap<string, JsonObject>, { id }: Row, what: 'count' | 'failures'): number =>
  Number(stats.get(id)?.[what] ?? 0)

/** The endpoints at a topic, system or table; of an endpoint, those before and behind it at its topics. */
function neighbours(rows: readonly Row[], focus: string): readonly Row[] {
  const own = rows.find(({ id }) => id === focus)
  const ids = new Set(
    own === undefined ? [focus] : own.links.filter(({ thing }) => thing.kind === 'topic').map(({ id }) => id),
  )
  return rows.filter((row) => row === own || row.links.some(({ id }) => ids.has(id)))
}

function describe({ document: { _id: id, name, labels }, endpoint, tableUses = [] }: CompiledEndpoint): Row {
  const { lookup, response } = endpoint.requests
  const entrances = listEntrances(endpoint)
  const toLink = (thing: Thing, way: Link['way']): Link => ({ id: `${thing.kind}:${thing.name}`, thing, way })
  const all = [
    ...entrances.flatMap((one) => (one.isTopic ? [toLink({ kind: 'topic', name: one.name }, 'feeds')] : [])),
    ...lookup.map((request) => toLink(thingOf(request), 'read')),
    ...tableUses.map(({ table }) => toLink({ kind: 'table', name: table }, 'read')),
    ...response.map((request) => toLink(thingOf(request), 'sent')),
  ]
  const links = [...new Map(all.map((link) => [`${link.way} ${link.id}`, link])).values()]
  const names = entrances.map((one) => one.name)
  const searchable = [
    name,
    id,
    ...names,
    ...Object.entries(labels ?? {}).flat(),
    ...links.map(({ thing }) => thing.name),
  ]
  return { id, name, entrances: names, links, searched: searchable.join('\n').toLowerCase() }
}

const edgesOf = ({ id, links }: Row): readonly ServiceEdge[] =>
  links.map(({ id: thing, way }) =>
    way === 'sent'
      ? { from: id, to: thing }
      : { from: thing, to: id, ...(way === 'read' ? { reads: true as const } : {}) },
  )
