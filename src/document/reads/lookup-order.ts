/** What lookups read of each other, which decides the order in which they are made. */
import { collectTextReads, parseTree } from '../../language/jsonata/expression-engine.ts'
import { collectPaths, type Node, walk } from '../../language/jsonata/expression-tree.ts'
import { parsePath } from '../../language/paths/path.ts'
import type { Endpoint } from '../schema/schema.ts'
import { type DocumentReference, listReferences, pathsInExpression } from './document-reads.ts'

/** For each lookup, the indexes of those that are made before it: the lookups that it reads or names in `after`. */
export type LookupOrder = readonly (readonly number[])[]

/** Undefined if no lookup waits for another one, as in most documents. */
export function lookupOrder(endpoint: Endpoint): LookupOrder | undefined {
  const { lookup } = endpoint.requests
  const indexes = new Map(lookup.map(({ id }, index) => [id, index]).reverse() as [string, number][])
  const before = lookup.map(({ after = [] }) => new Set<string>(after))
  for (const { reader, id } of listLookupReads(endpoint)) if (id !== undefined) before[reader]?.add(id)
  if (before.every(({ size }) => size === 0)) return undefined
  return before.map((ids) => [...ids].flatMap((id) => indexes.get(id) ?? []))
}

/** `reader`: the index of the lookup that reads; `id`: of the lookup that is read, undefined if all are read. */
type LookupRead = Readonly<{ reader: number; id: string | undefined; at: DocumentReference['at'] }>

/** What the lookups of a document read of each other. */
export function listLookupReads(endpoint: Endpoint): readonly LookupRead[] {
  const { length } = endpoint.requests.lookup
  if (length === 0) return []
  return listReferences(endpoint).flatMap(({ kind, text, at }) => {
    const [part, group, reader] = at
    if (part !== 'requests' || group !== 'lookup' || typeof reader !== 'number') return []
    return namesRead(kind, text, length > 1).flatMap(([root, id]) =>
      root === 'lookupRequests' ? [{ reader, id, at }] : [],
    )
  })
}

/**
 * The names that the paths of a text start with, root first. With `hasOthers`, an expression that may read anything reads
 * the other lookups too.
 */
export function namesRead(
  kind: DocumentReference['kind'],
  text: string,
  hasOthers = false,
): readonly (readonly string[])[] {
  if (kind === 'expression') {
    const { roots, references } = collectTextReads(text)
    return roots === undefined && hasOthers ? [...references, ['lookupRequests']] : references
  }
  const path = parsePath(text)
  return path.ok ? [path.value.names] : []
}

/**
 * In: what `lookupOrder` gave. `sorted`: all lookups, each after those that it waits for. `circles`: the lookups that wait for
 * each other, from the first in the document on; a circle is broken up in `sorted`.
 */
export function sortLookups(order: LookupOrder): Readonly<{ sorted: readonly number[]; circles: readonly number[][] }> {
  const waiting = order.map((before) => new Set(before))
  const followers = order.map((): number[] => [])
  for (const [index, before] of order.entries()) for (const one of before) followers[one]?.push(index)
  const sorted: number[] = []
  const circles: number[][] = []
  const isDone = order.map(() => false)
  const finish = (first: number): void => {
    const ready = [first]
    for (let index = ready.pop(); index !== undefined; index = ready.pop()) {
      isDone[index] = true
      sorted.push(index)
      for (const follower of followers[index] ?? []) {
        const left = waiting[follower]
        if (left?.delete(index) && left.size === 0 && !isDone[follower]) ready.push(follower)
      }
    }
  }
  for (const [index, before] of order.entries()) if (before.length === 0) finish(index)
  for (const index of order.keys()) {
    while (!isDone[index]) {
      const circle = circleFrom(index, waiting)
      circles.push(circle)
      finish(circle[0] as number)
    }
  }
  return { sorted, circles }
}

/** In: a lookup that waits for others, all of which wait. */
function circleFrom(start: number, waiting: readonly ReadonlySet<number>[]): number[] {
  const places = new Map<number, number>()
  let index = start
  while (!places.has(index)) {
    places.set(index, places.size)
    index = waiting[index]?.values().next().value as number
  }
  const circle = [...places.keys()].slice(places.get(index))
  const first = circle.indexOf(Math.min(...circle))
  return [...circle.slice(first), ...circle.slice(0, first)]
}

/** The ids of the lookups whose `status` the document reads: the results of all others hold data and headers alone. */
export function lookupsWithStatus(endpoint: Endpoint): ReadonlySet<string> {
  const ids = endpoint.requests.lookup.map(({ id }) => id)
  if (ids.length === 0) return new Set()
  const read = listReferences(endpoint).flatMap(({ kind, text, items }) => {
    if (!text.includes('status')) return []
    if (kind === 'expression' && items !== undefined) {
      const ofElements = pathsInExpression(text, items).flatMap(statusesInPath)
      return [...ofElements, ...statusesInExpression(text, ids)]
    }
    if (!text.includes('lookupRequests')) return []
    return kind === 'expression' ? statusesInExpression(text, ids) : statusesInPath(text)
  })
  return new Set(read)
}

/** Indexes and brackets may stand between the id and the name. */
function statusesInPath(text: string): readonly string[] {
  const path = parsePath(text)
  if (!path.ok || path.value.root !== 'lookupRequests') return []
  const [id, ...rest] = path.value.steps
  const part = rest.find((step) => step.kind === 'name' && !/^\d+$/.test(step.name))
  return id?.kind === 'name' && part?.kind === 'name' && part.name === 'status' ? [id.name] : []
}

/** Also those that an expression takes whole and asks for their status somewhere else in it. */
function statusesInExpression(text: string, ids: readonly string[]): readonly string[] {
  let tree: Node
  try {
    tree = parseTree(text)
  } catch {
    return []
  }
  const isAsked = asksForStatus(tree)
  return collectPaths(tree).paths.flatMap(([root, id, part]) => {
    if (nameOf(root) !== 'lookupRequests') return []
    const read = nameOf(id) ?? ids
    if (nameOf(part) === 'status') return read
    const isWhole = nameOf(id) === undefined || nameOf(part) === undefined || id?.stages !== undefined
    return isWhole && isAsked ? read : []
  })
}

const nameOf = (node: Node | undefined): string | undefined =>
  node?.type === 'name' && typeof node.value === 'string' ? node.value : undefined

/** Whether the expression asks a value that is no field of another for its `status`: `$one.status`, `*.status`, `[status = 404]`. */
function asksForStatus(tree: Node): boolean {
  let found = false
  walk(tree, ({ steps = [] }, inner) => {
    const at = steps.findIndex((step) => nameOf(step) === 'status')
    found ||= at === 0 ? inner : at > 0 && nameOf(steps[at - 1]) === undefined
  })
  return found
}
