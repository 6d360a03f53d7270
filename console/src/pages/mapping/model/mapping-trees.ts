/** The two trees of the mapping view: what can be read, and what is written. */
import { deepestNode, type FieldPath, type FieldTree, growTree, type SampleField, toFieldPath } from './field-tree.ts'
import { asTarget, type Segment, sourceSegments, targetSegments } from './path-names.ts'

/** What people look for first. */
const ORDER = ['requestBody', 'lookupRequests', 'transforms', 'urlParams', 'query', 'constants', 'state']
const rank = (name: string): number => (ORDER.includes(name) ? ORDER.indexOf(name) : ORDER.length)

/** In: fields of messages, the first names that paths can have, and the sources of entries. */
export function sourceTree(
  fields: readonly SampleField[],
  roots: readonly string[],
  sources: readonly string[],
): FieldTree {
  const grower = growTree()
  for (const name of roots.toSorted((one, other) => rank(one) - rank(other))) grower.grow([{ name, lists: 0 }])
  for (const field of fields) {
    const segments = sourceSegments(field.path)
    if (segments !== undefined) grower.add(segments, field)
  }
  for (const source of sources) {
    const segments = sourceSegments(source)
    if (segments !== undefined) grower.grow(toFieldPath(withoutElements(segments, grower.listDepth)))
  }
  return grower.tree()
}

/** A number as a name is an element where there is a list, and no node of its own. */
function withoutElements(
  segments: readonly Segment[],
  listDepth: (fieldPath: FieldPath) => number | undefined,
): readonly Segment[] {
  const kept: Segment[] = []
  for (const segment of segments) {
    const isElement = /^\d+$/.test(segment.name) && (listDepth(toFieldPath(kept)) ?? 0) > 0
    if (!isElement || listDepth(toFieldPath([...kept, segment])) !== undefined) kept.push(segment)
  }
  return kept
}

/** In: what runs wrote, what the output is meant to be, and the targets of entries. */
export function targetTree(
  output: readonly SampleField[],
  wanted: readonly SampleField[],
  keys: readonly string[],
): FieldTree {
  const grower = growTree(asTarget)
  const fieldPaths = keys.flatMap((key) => {
    const segments = targetSegments(key)
    return segments === undefined ? [] : [toTargetPath(segments)]
  })
  const indexed = listsByIndexOnly(fieldPaths)
  for (const field of wanted) {
    const segments = sourceSegments(field.path)
    if (segments !== undefined) grower.add(segments, field)
  }
  for (const field of output) {
    const segments = sourceSegments(field.path)
    // Elements that entries name one by one are not shown once more as those of a list.
    if (segments !== undefined && !listPrefixes(segments).some((prefix) => indexed.has(prefix)))
      grower.add(segments, field)
  }
  for (const fieldPath of fieldPaths) grower.grow(fieldPath)
  return grower.tree()
}

const toTargetPath = (segments: readonly Segment[]): FieldPath =>
  segments.map(({ name, brackets: [first, ...others] }) =>
    first?.kind === 'index'
      ? { name, index: first.index, lists: 0 }
      : { name, lists: first === undefined ? 0 : others.length + 1 },
  )

const listPrefixes = (fieldPath: readonly Readonly<{ name: string }>[]): readonly string[] =>
  fieldPath.map((_, at) => JSON.stringify(fieldPath.slice(0, at + 1).map(({ name }) => name)))

/** Lists, by the names on the way to them, of which entries only write elements by their index. */
function listsByIndexOnly(fieldPaths: readonly FieldPath[]): ReadonlySet<string> {
  const [byIndex, others] = [new Set<string>(), new Set<string>()]
  for (const fieldPath of fieldPaths) {
    for (const [at, prefix] of listPrefixes(fieldPath).entries()) {
      if (fieldPath[at]?.index === undefined) others.add(prefix)
      else byIndex.add(prefix)
    }
  }
  return byIndex.difference(others)
}

/** The node that a source reads, or the deepest above it that is there. */
export function findSourceNode(tree: FieldTree, source: string): string | undefined {
  const segments = sourceSegments(source)
  const listDepth = (fieldPath: FieldPath) => {
    const id = deepestNode(tree, fieldPath)
    const node = id === undefined ? undefined : tree.nodes.get(id)
    return node?.name === fieldPath.at(-1)?.name ? node?.lists : undefined
  }
  return segments && deepestNode(tree, toFieldPath(withoutElements(segments, listDepth)))
}

export function findTargetNode(tree: FieldTree, key: string): string | undefined {
  const segments = targetSegments(key)
  return segments && deepestNode(tree, toTargetPath(segments))
}
