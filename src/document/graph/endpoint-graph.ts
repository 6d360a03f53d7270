/** An endpoint as a graph: what brings its messages, its stages and requests in the order in which they run, and what they read. */
import { documentPath } from '../../core/lint.ts'
import { DOORS } from '../../core/origin.ts'
import type { TableUse } from '../../core/tables/table-set.ts'
import type { StageName } from '../../core/tracing/stages.ts'
import { hasBody, hasCaller, listEntrances } from '../doors.ts'
import { readsRoot } from '../reads/document-reads.ts'
import { lookupOrder } from '../reads/lookup-order.ts'
import { listTableUses } from '../reads/table-uses.ts'
import { type Endpoint, isDurable, mapsAnswer, mayBeUnrouted, possibleSoles } from '../schema/schema.ts'
import { showRequest, type Thing, thingOf } from './request-targets.ts'

export const NODE_KINDS = [
  'source',
  'state',
  'parse',
  'table',
  'lookup',
  'validation',
  'transform',
  'mapping',
  'choice',
  'target',
  'answer',
] as const

export type GraphNode = Readonly<{
  /** Stable while the parts of the document keep their places. */
  id: string
  kind: (typeof NODE_KINDS)[number]
  name: string
  /** One sentence. */
  text: string
  /** The place in the document, as faults have it. */
  path: string
  /** Its failures name this stage. */
  stage?: StageName
  /** JSONata that decides whether the request is made. */
  when?: string
  /** Of a request: what it calls. */
  calls?: Thing
}>

/** `label`: which messages take it, if not all do. `reads`: no message goes this way. */
export type GraphEdge = Readonly<{ from: string; to: string; label?: string; reads?: true }>

/** Nodes in the order in which they run; tables stand before what reads them. */
export type EndpointGraph = Readonly<{ nodes: readonly GraphNode[]; edges: readonly GraphEdge[] }>

class GraphBuilder {
  readonly nodes: GraphNode[] = []
  readonly edges: GraphEdge[] = []
  /** The ids that the next node follows. */
  last: readonly string[] = []

  /** Adds a node that all messages pass. */
  step(node: GraphNode): void {
    this.nodes.push(node)
    this.connect(this.last, node.id)
    this.last = [node.id]
  }

  connect(from: readonly string[], to: string, label?: string): void {
    for (const one of from) this.edges.push({ from: one, to, ...(label === undefined ? {} : { label }) })
  }
}

export function describeGraph(endpoint: Endpoint): EndpointGraph {
  const { requests, transformation, inputValidation, inputTransforms = {}, inputMapping } = endpoint
  const drawn = new GraphBuilder()
  for (const [index, { door, name, path }] of listEntrances(endpoint).entries()) {
    const text = `Messages arrive ${DOORS[door].arrival}.`
    drawn.nodes.push({ id: `source:${index}`, kind: 'source', name, text, path })
  }
  drawn.last = drawn.nodes.map(({ id }) => id)
  if (readsRoot(endpoint, 'state')) {
    const text = 'Reads what an earlier message left.'
    drawn.step({ id: 'recall', kind: 'state', name: 'State', text, path: 'state.config', stage: 'recall' })
  }
  if (hasBody(endpoint) && transformation.input !== undefined) {
    const name = `Read ${transformation.input}`
    const text = 'Reads the body of the message.'
    drawn.step({ id: 'parse', kind: 'parse', name, text, path: 'transformation.input', stage: 'parse' })
  }
  addLookups(endpoint, drawn)
  if (inputValidation !== undefined) {
    const text = 'Refuses a message that does not match its JSON Schema.'
    drawn.step({
      id: 'validate',
      kind: 'validation',
      name: 'Validate',
      text,
      path: 'inputValidation',
      stage: 'validate',
    })
  }
  const transforms = Object.keys(inputTransforms).length
  if (transforms > 0) {
    const text = `Evaluates ${counted(transforms, 'expression')}, in order.`
    drawn.step({
      id: 'transform',
      kind: 'transform',
      name: 'Transform',
      text,
      path: 'inputTransforms',
      stage: 'transform',
    })
  }
  const entries = Object.keys(inputMapping).length
  drawn.step({
    id: 'map',
    kind: 'mapping',
    name: `Map to ${transformation.output}`,
    text: entries === 0 ? 'Passes the body on.' : `Makes the output from ${counted(entries, 'entry', 'entries')}.`,
    path: 'inputMapping',
    stage: 'map',
  })
  if (endpoint.state.extract !== undefined) {
    const text = 'Keeps values for the next message.'
    drawn.step({ id: 'keep', kind: 'state', name: 'Keep state', text, path: 'state.extract', stage: 'extract' })
  }
  const isAnswered = hasCaller(endpoint)
  if (requests.response.length > 0) addTargets(endpoint, drawn)
  if (isAnswered) {
    drawn.step({
      id: 'answer',
      kind: 'answer',
      name: 'Answer',
      text: answerSentence(endpoint),
      path: endpoint.answer === undefined ? 'transformation.output' : 'answer',
      stage: 'answer',
    })
    if (mayBeUnrouted(endpoint) && endpoint.unrouted === 'answer') {
      drawn.edges.push({ from: 'choice', to: 'answer', label: 'if none is made' })
    }
  }
  return withTables(drawn, listTableUses(endpoint))
}

function addLookups(endpoint: Endpoint, drawn: GraphBuilder): void {
  const { lookup } = endpoint.requests
  if (lookup.length === 0) return
  const before = drawn.last
  const order = lookupOrder(endpoint) ?? lookup.map(() => [])
  const idOf = (index: number): string => `lookup:${index}`
  for (const [index, { id, when, optional, forEach, ...request }] of lookup.entries()) {
    const called = { id, ...request }
    drawn.nodes.push({
      id: idOf(index),
      kind: 'lookup',
      name: id,
      text: `${showRequest(called)}${each(forEach)}${optional === true ? '; optional' : ''}.`,
      path: documentPath('requests', 'lookup', index),
      stage: 'lookup',
      ...(when === undefined ? {} : { when }),
      calls: thingOf(called),
    })
    const earlier = order[index] ?? []
    const from = earlier.length === 0 ? before : earlier.map(idOf)
    drawn.connect(from, idOf(index), when === undefined ? undefined : 'when')
  }
  const followed = new Set(order.flat())
  drawn.last = lookup.flatMap((_, index) => (followed.has(index) ? [] : [idOf(index)]))
}

function addTargets(endpoint: Endpoint, drawn: GraphBuilder): void {
  const { response } = endpoint.requests
  const conditional = response.filter(({ when }) => when !== undefined).length
  if (conditional > 0) {
    const otherwise = mayBeUnrouted(endpoint)
      ? endpoint.unrouted === 'answer'
        ? ' A message for which none is made is answered with the output.'
        : ' A message for which none is made fails.'
      : ''
    const text = `${conditional} of ${counted(response.length, 'request')} ${conditional === 1 ? 'is' : 'are'} made for some messages only.${otherwise}`
    drawn.step({ id: 'choice', kind: 'choice', name: 'Choose', text, path: 'requests.response', stage: 'respond' })
  }
  const before = drawn.last
  for (const [index, request] of response.entries()) {
    const { id, when, forEach, optional } = request
    const notes = [isDurable(request) && 'stored, then sent until it arrives', optional === true && 'optional']
    const more = notes.flatMap((note) => (note === false ? [] : `; ${note}`)).join('')
    drawn.nodes.push({
      id: `target:${index}`,
      kind: 'target',
      name: id,
      text: `${showRequest(request)}${each(forEach)}${more}.`,
      path: documentPath('requests', 'response', index),
      stage: 'respond',
      ...(when === undefined ? {} : { when }),
      calls: thingOf(request),
    })
    drawn.connect(before, `target:${index}`, conditional === 0 ? undefined : when === undefined ? 'always' : 'when')
  }
  drawn.last = response.map((_, index) => `target:${index}`)
}

function answerSentence(endpoint: Endpoint): string {
  if (mapsAnswer(endpoint)) return 'Answers the sender with a mapping of its own.'
  if (endpoint.answer !== undefined) return 'Answers the sender as the document says.'
  const [sole, ...others] = possibleSoles(endpoint)
  if (sole !== undefined && others.length === 0) return `Answers the sender with the answer of ${sole.id}.`
  const { length } = endpoint.requests.response
  return length === 0 ? 'Answers the sender with the output.' : 'Answers the sender with what the requests answered.'
}

/** Adds each table once, with an edge to every node that reads it. */
function withTables({ nodes, edges }: EndpointGraph, uses: readonly TableUse[]): EndpointGraph {
  const readers = new Map<string, Set<string>>()
  for (const { table, path } of uses) {
    const reader = nodeAt(nodes, path)
    if (reader === undefined) continue
    const known = readers.get(table) ?? new Set()
    readers.set(table, known.add(reader.id))
  }
  if (readers.size === 0) return { nodes, edges }
  const withThem = nodes.flatMap((node): GraphNode[] => {
    const first = [...readers].filter(([, ids]) => nodes.find(({ id }) => ids.has(id)) === node)
    return [...first.map(([table]) => tableNode(table, uses)), node]
  })
  const reads = [...readers].flatMap(([table, ids]) =>
    [...ids].map((to): GraphEdge => ({ from: `table:${table}`, to, reads: true })),
  )
  return { nodes: withThem, edges: [...edges, ...reads] }
}

const tableNode = (table: string, uses: readonly TableUse[]): GraphNode => ({
  id: `table:${table}`,
  kind: 'table',
  name: table,
  text: 'A table of codes.',
  path: uses.find((use) => use.table === table)?.path ?? '',
})

/** The node with the longest path at or above a place of the document; of `stage` alone, if it is given. */
export function nodeAt(nodes: readonly GraphNode[], path: string, stage?: string): GraphNode | undefined {
  const above = nodes.filter(
    (node) => node.kind !== 'table' && (stage === undefined || node.stage === stage) && isAtOrBelow(path, node.path),
  )
  return above.reduce<GraphNode | undefined>(
    (best, node) => (best === undefined || node.path.length > best.path.length ? node : best),
    undefined,
  )
}

const isAtOrBelow = (path: string, above: string): boolean =>
  path.startsWith(above) && /^(?:$|[.[])/.test(path.slice(above.length))

const each = (forEach: object | undefined): string => (forEach === undefined ? '' : ', once for each item')

const counted = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`
