/** What the last hour says of the parts of an endpoint: where messages failed, and how long stages and calls took. */
import type { Json } from '../../core/json.ts'
import type { MessageRecord } from '../../core/records/message-record.ts'
import type { Clock } from '../../core/run.ts'
import type { StoredDocument } from '../../core/stored-document.ts'
import { roundMs } from '../../core/tracing/trace.ts'
import { checkDocument } from '../../document/checks/check-document.ts'
import { describeGraph, type EndpointGraph, type GraphNode, nodeAt } from '../../document/graph/endpoint-graph.ts'
import type { MessageStore } from '../../store/sql/messages.ts'
import { callMessageLog } from '../message-log/message-search.ts'
import type { MessageRecords } from '../replay/message-records.ts'

const HOUR_MS = 3_600_000
/** Newest messages whose durations count. */
const SAMPLED = 200

export type NodeCounts = Readonly<{
  /** Messages of the last hour that failed here. */
  failures: number
  /** The groups of failures that these are in, the largest first. */
  groups: readonly Readonly<{ key: string; code: string | undefined; count: number }>[]
  /** Of the sampled messages: how often the stage ran or the request was made. */
  runs: number
  /** Milliseconds; absent without a run. */
  p95?: number
}>

export type CountedGraph = Readonly<{
  endpointId: string
  name: string
  /** How many of the newest messages of the last hour `runs` and `p95` are of. */
  sampled: number
  nodes: readonly (GraphNode & NodeCounts)[]
  edges: EndpointGraph['edges']
}>

/** Fails with ID_MALFORMED, ENDPOINT_UNKNOWN, STORE_UNAVAILABLE. */
export type ReadEndpointGraph = (id: string) => Promise<CountedGraph>

type EndpointCountsOptions = Readonly<{
  readDocument: (id: string) => Promise<StoredDocument>
  messages: Pick<MessageStore, 'find'>
  groups: MessageRecords['groups']
  clock: Clock
}>

export function createReadEndpointGraph(options: EndpointCountsOptions): ReadEndpointGraph {
  const { readDocument, messages, groups, clock } = options
  return async (id) => {
    const stored = await readDocument(id)
    const { _id: endpointId, name } = stored
    // A stored document that this version refuses is shown as far as it can be read.
    const { nodes, edges } = describeGraph(checkDocument(stored as Json).endpoint)
    // It waits until earlier messages are stored.
    const failed = await groups.list({ endpoint: [endpointId], from: '-1h' })
    const recent = { endpointId: [endpointId], from: clock() - HOUR_MS }
    const records = await callMessageLog(() => messages.find(recent, SAMPLED))
    const groupsOf = Map.groupBy(failed.groups, ({ stage, path }) => blame(nodes, stage, path)?.id)
    const durations = durationsByNode(records)
    return {
      endpointId,
      name,
      sampled: records.length,
      nodes: nodes.map((node) => {
        const own = groupsOf.get(node.id) ?? []
        const took = durations.get(isCall(node) ? `${node.kind}:${node.name}` : (node.stage ?? '')) ?? []
        const p95 = slowest(took, 0.95)
        return {
          ...node,
          failures: own.reduce((sum, { count }) => sum + count, 0),
          groups: own.map(({ key, code, count }) => ({ key, code, count })),
          runs: took.length,
          ...(p95 === undefined ? {} : { p95 }),
        }
      }),
      edges,
    }
  }
}

const isCall = ({ kind }: GraphNode): boolean => kind === 'lookup' || kind === 'target'

/** A message may fail at a place that the document no longer has, or before its first stage. */
function blame(nodes: readonly GraphNode[], stage: string | undefined, path = ''): GraphNode | undefined {
  if (stage === undefined) return nodes[0]
  return nodeAt(nodes, path, stage) ?? nodes.find((node) => node.stage === stage) ?? nodes.at(-1)
}

/** By the kind of node and the id of a request, and by the name of a stage. */
function durationsByNode(records: readonly MessageRecord[]): ReadonlyMap<string, readonly number[]> {
  const durations = new Map<string, number[]>()
  const add = (key: string, ms: number): void => {
    const known = durations.get(key)
    if (known === undefined) durations.set(key, [ms])
    else known.push(ms)
  }
  for (const { stages, calls } of records) {
    for (const { stage, ms } of stages) add(stage, ms)
    for (const { kind, id, ms } of calls) add(`${kind === 'lookup' ? 'lookup' : 'target'}:${id}`, ms)
  }
  return durations
}

/** The duration that this share of them did not exceed. */
function slowest(durations: readonly number[], share: number): number | undefined {
  const inOrder = [...durations].sort((one, other) => one - other)
  const found = inOrder[Math.ceil(inOrder.length * share) - 1]
  return found === undefined ? undefined : roundMs(found)
}
