/** What the trees show: marks of their fields, the fields that a filter leaves, and which of them are open. */
import { toPath } from '../../../draft/json-places.ts'
import type { FieldNode, FieldTree } from './field-tree.ts'
import type { MappingLine } from './mapping-entries.ts'
import { findSourceNode, findTargetNode } from './mapping-trees.ts'
import { type Coverage, type LineResult, lineName } from './run-coverage.ts'

/** What is said of a field beside its name. */
export type FieldMark = Readonly<{
  /** Entries that read or write it. */
  lines: number
  /** Values that no run read. */
  unread: number
  /** Entries of a target that wrote nothing. */
  unwritten: number
  /** It is required, and nothing writes it. */
  isMissing?: boolean
}>

/** A line with both of its fields and what the runs did with it. */
export type ConnectedLine = Readonly<{
  line: MappingLine
  from: string | undefined
  to: string | undefined
  result: LineResult | undefined
}>

export type Marks = ReadonlyMap<string, FieldMark>

const NO_MARK: FieldMark = { lines: 0, unread: 0, unwritten: 0 }

export function connectLines(
  lines: readonly MappingLine[],
  source: FieldTree,
  target: FieldTree,
  coverage: Coverage,
): readonly ConnectedLine[] {
  return lines.map((line) => ({
    line,
    from: line.readsAt === undefined ? undefined : findSourceNode(source, line.readsAt),
    to: line.writesAt === undefined ? undefined : findTargetNode(target, line.writesAt),
    result: findResult(line, coverage),
  }))
}

export const findResult = (
  { entry, target: { key = '' }, within }: MappingLine,
  { lines, nested }: Coverage,
): LineResult | undefined =>
  within === undefined ? lines.get(lineName(entry.source, key)) : nested.get(lineName(toPath(entry.value), key))

export const isNothing = ({ result }: ConnectedLine): boolean => result !== undefined && result.found === 0
export const isUnwritten = ({ result }: ConnectedLine): boolean => result !== undefined && result.written === 0

export function sourceMarks(tree: FieldTree, lines: readonly ConnectedLine[], { unread }: Coverage): Marks {
  const marks = new Map<string, FieldMark>()
  for (const { from } of lines) add(marks, from, { lines: 1 })
  for (const [path, count] of unread) add(marks, findSourceNode(tree, path), { unread: count })
  return marks
}

/** The required fields of an output, and those of them that neither an entry nor a run writes. */
export function requiredFields({ nodes, parents }: FieldTree, lines: readonly ConnectedLine[]) {
  const written = new Set(lines.map(({ to }) => to))
  const isWritten = (id: string | undefined): boolean =>
    id !== undefined && (written.has(id) || isWritten(parents.get(id)))
  const isWrittenIn = (id = '') => [...written].some((one) => one?.startsWith(`${id}/`))
  const required = [...nodes.values()].filter(
    ({ id, isRequired }) => isRequired === true || (isRequired === 'within' && isWrittenIn(parents.get(id))),
  )
  const missing = required.filter(({ id, count = 0 }) => count === 0 && !isWritten(id) && !isWrittenIn(id))
  return { required: required.length, missing: new Set(missing.map(({ id }) => id)) }
}

export function targetMarks(lines: readonly ConnectedLine[], missing: ReadonlySet<string>): Marks {
  const marks = new Map<string, FieldMark>([...missing].map((id) => [id, { ...NO_MARK, isMissing: true }]))
  for (const line of lines) add(marks, line.to, { lines: 1, unwritten: isUnwritten(line) ? 1 : 0 })
  return marks
}

function add(marks: Map<string, FieldMark>, id: string | undefined, more: Partial<FieldMark>): void {
  if (id === undefined) return
  const before = marks.get(id) ?? NO_MARK
  marks.set(id, {
    ...before,
    lines: before.lines + (more.lines ?? 0),
    unread: before.unread + (more.unread ?? 0),
    unwritten: before.unwritten + (more.unwritten ?? 0),
  })
}

/**
 * The tree with the fields that are kept, those that they are in, and those in `opened` nodes. `keep`: undefined keeps all. An
 * object without any of its fields is closed: opening it shows them.
 */
export function filterTree(
  tree: FieldTree,
  keep: ((node: FieldNode) => boolean) | undefined,
  opened: ReadonlySet<string>,
): FieldTree {
  if (keep === undefined) return tree
  const nodes = new Map<string, FieldNode>()
  const filtered = (all: readonly FieldNode[], isOpened: boolean): readonly FieldNode[] =>
    all.flatMap((node) => {
      const children = filtered(node.children, opened.has(node.id))
      if (children.length === 0 && !isOpened && !opened.has(node.id) && !keep(node)) return []
      const isWhole = children.length === node.children.length && children.every((one, at) => one === node.children[at])
      const kept = isWhole ? node : { ...node, children, ...(children.length === 0 && { isClosed: true }) }
      nodes.set(node.id, kept)
      return [kept]
    })
  return { roots: filtered(tree.roots, false), nodes, parents: tree.parents }
}

/** Each word must be in the path. */
export function matchWords(words: string): ((node: FieldNode) => boolean) | undefined {
  const wanted = words
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
  if (wanted.length === 0) return undefined
  return ({ path }) => {
    const text = path.toLowerCase()
    return wanted.every((word) => text.includes(word))
  }
}

/** Parts of every message that few mappings read. */
const CLOSED_ROOTS = new Set(['requestHeaders', 'timestamps'])

const isOpenAtFirst = (node: FieldNode, { nodes, parents }: FieldTree): boolean => {
  const parent = nodes.get(parents.get(node.id) ?? '')
  if (parent === undefined) return !CLOSED_ROOTS.has(node.path)
  return !(node.name === 'headers' && parent.path.startsWith('lookupRequests.'))
}

/** In: the nodes that the user opened or closed. Out: the open ones. */
export function openNodes(tree: FieldTree, toggled: ReadonlySet<string>, isFiltered: boolean): ReadonlySet<string> {
  const open = new Set<string>()
  for (const node of tree.nodes.values()) {
    if (node.children.length === 0) continue
    if ((isFiltered || isOpenAtFirst(node, tree)) !== toggled.has(node.id)) open.add(node.id)
  }
  return open
}
