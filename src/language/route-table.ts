/**
 * Finds the route of a path in a tree of segments for each method. Finding, adding and removing a route takes a time that
 * does not depend on the number of routes, so that ten thousand endpoints cost a message or a change no more than ten.
 */
import type { JsonObject } from '../core/json.ts'

import { isWildcard, splitPattern, variableName, withoutLastSlash } from './route-pattern.ts'

export type Found<Target> = Readonly<{ target: Target; urlParams: JsonObject }>

export interface RouteTable<Target> {
  /** In: a pattern that parseRoutePattern accepts. Replaces the target of the same route. */
  add(method: string, pattern: string, target: Target): void
  remove(method: string, pattern: string): void
  /**
   * In: a URL, still percent-encoded, with or without its query. Patterns match whole paths; a last "/" of either does not
   * count. If two patterns match, the first segment in which they differ decides: a literal wins over a parameter, and a
   * parameter over a wildcard. A parameter matches any segment that is not empty, a wildcard at least one character.
   */
  find(method: string, url: string): Found<Target> | undefined
}

type Node<Target> = {
  /** Made when the first is added: most nodes are leaves. */
  literals: Map<string, Node<Target>> | undefined
  parameter: Node<Target> | undefined
  wildcard: Node<Target> | undefined
  leaf: Leaf<Target> | undefined
}
type Leaf<Target> = Readonly<{ target: Target; parameters: readonly string[] }>

export function createRouteTable<Target>(): RouteTable<Target> {
  const roots = new Map<string, Node<Target>>()
  return {
    add: (method, pattern, target) => {
      const root = roots.get(method) ?? emptyNode<Target>()
      roots.set(method, root)
      const parameters: string[] = []
      let node = root
      for (const segment of splitPattern(pattern)) {
        const name = variableName(segment)
        if (name !== undefined) parameters.push(name)
        node = grow(node, segment)
      }
      node.leaf = { target, parameters }
    },
    remove: (method, pattern) => {
      const root = roots.get(method)
      if (root !== undefined) prune(root, splitPattern(pattern), 0)
    },
    find: (method, url) => {
      const root = roots.get(method)
      const path = pathFromUrl(url)
      if (root === undefined || path === undefined) return undefined
      const values: string[] = []
      const leaf = path === '/' ? root.leaf : findLeaf(root, withoutLastSlash(path), 1, values)
      return leaf && { target: leaf.target, urlParams: named(leaf.parameters, values) }
    },
  }
}

const emptyNode = <Target>(): Node<Target> => ({
  literals: undefined,
  parameter: undefined,
  wildcard: undefined,
  leaf: undefined,
})

function grow<Target>(node: Node<Target>, segment: string): Node<Target> {
  const grown = findChild(node, segment) ?? emptyNode<Target>()
  const kind = variableKind(segment)
  if (kind !== undefined) node[kind] = grown
  else {
    node.literals ??= new Map()
    node.literals.set(segment, grown)
  }
  return grown
}

function findChild<Target>(node: Node<Target>, segment: string): Node<Target> | undefined {
  const kind = variableKind(segment)
  return kind === undefined ? node.literals?.get(segment) : node[kind]
}

function variableKind(segment: string): 'parameter' | 'wildcard' | undefined {
  if (isWildcard(segment)) return 'wildcard'
  return variableName(segment) === undefined ? undefined : 'parameter'
}

/** Removes the leaf at the end of the segments, and every node that then leads nowhere. */
function prune<Target>(node: Node<Target>, segments: readonly string[], at: number): void {
  const segment = segments[at]
  if (segment === undefined) {
    node.leaf = undefined
    return
  }
  const child = findChild(node, segment)
  if (child === undefined) return
  prune(child, segments, at + 1)
  if (child.leaf !== undefined || child.parameter !== undefined || child.wildcard !== undefined) return
  if ((child.literals?.size ?? 0) > 0) return
  const kind = variableKind(segment)
  if (kind !== undefined) node[kind] = undefined
  else node.literals?.delete(segment)
}

/** The path of a URL with its segments still encoded; undefined if it does not start with a slash or is badly encoded. */
function pathFromUrl(url: string): string | undefined {
  const path = before(before(url, '?'), '#')
  return path.startsWith('/') && (!path.includes('%') || isDecodable(path)) ? path : undefined
}

function before(text: string, mark: string): string {
  const at = text.indexOf(mark)
  return at === -1 ? text : text.slice(0, at)
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path)
    return true
  } catch {
    return false
  }
}

/** Visits each node of the tree once at most, since a path has one segment for each depth. */
function findLeaf<Target>(node: Node<Target>, path: string, from: number, values: string[]): Leaf<Target> | undefined {
  const slash = path.indexOf('/', from)
  const segment = slash === -1 ? path.slice(from) : path.slice(from, slash)
  const encoded = segment.includes('%')
  // decodeURI keeps `%2F`, `%3B` and others: reserved characters differ from their encoded form (RFC 3986 §2.2).
  const literal = node.literals?.get(encoded ? decodeURI(segment) : segment)
  if (literal !== undefined) {
    const leaf = slash === -1 ? literal.leaf : findLeaf(literal, path, slash + 1, values)
    if (leaf !== undefined) return leaf
  }
  if (node.parameter !== undefined && segment !== '') {
    values.push(encoded ? decodeURIComponent(segment) : segment)
    const leaf = slash === -1 ? node.parameter.leaf : findLeaf(node.parameter, path, slash + 1, values)
    if (leaf !== undefined) return leaf
    values.pop()
  }
  if (node.wildcard === undefined || from === path.length) return undefined
  values.push(decodeURIComponent(path.slice(from)))
  return node.wildcard.leaf
}

function named(parameters: readonly string[], values: readonly string[]): JsonObject {
  const urlParams: Record<string, string> = {}
  for (let at = 0; at < parameters.length; at++) urlParams[parameters[at] as string] = values[at] as string
  return urlParams
}
