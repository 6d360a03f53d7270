/** A tree of the fields of messages or outputs: a node for each name, whatever its lists have for elements. */
import { nameText, type Segment } from './path-names.ts'

export type FieldType = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null'

/** A field as the API has it; of a sample without counts. */
export type SampleField = Readonly<{
  path: string
  types: readonly FieldType[]
  count?: number
  sample?: unknown
  /** `within`: if anything is written in the object that it is in. */
  required?: boolean | 'within'
  /** The type of an object of FHIR. `asked`: its fields are there, too. */
  of?: string
  asked?: true
}>

export type FieldNode = Readonly<{
  /** Unique in its tree. */
  id: string
  name: string
  /** As an entry can have it, without the `[]` of the node itself. */
  path: string
  /** Levels of arrays at this place; their elements are one node. */
  lists: number
  /** The index that targets name: such an element is a node of its own. */
  index: number | undefined
  types: readonly FieldType[]
  /** Values there, of a list its elements; undefined if no message has it. */
  count: number | undefined
  sample: string | number | boolean | undefined
  /** Only an entry names it. */
  isUnknown: boolean
  /** The schema of the output requires it; `within`: if anything is written in the object that it is in. */
  isRequired?: true | 'within'
  of?: string | undefined
  /** The fields of its type are not asked for yet. */
  isClosed?: boolean
  children: readonly FieldNode[]
}>

export type FieldTree = Readonly<{
  roots: readonly FieldNode[]
  nodes: ReadonlyMap<string, FieldNode>
  /** Node → the node that it is in. */
  parents: ReadonlyMap<string, string>
}>

/** The names on the way to a node. `lists`: levels of arrays that follow a name. */
export type FieldPath = readonly Readonly<{ name: string; index?: number | undefined; lists: number }>[]

type Growing = {
  id: string
  name: string
  index: number | undefined
  lists: number
  /** By levels of arrays: a list, its elements, and theirs. */
  levels: Map<number, { types: Set<FieldType>; count?: number; sample?: FieldNode['sample'] }>
  isRequired?: true | 'within'
  of?: string
  isClosed?: boolean
  children: Growing[]
}

const childId = (parent: string, { name, index }: FieldPath[number]): string =>
  `${parent}/${JSON.stringify(name)}${index === undefined ? '' : `[${index}]`}`

export type TreeGrower = Readonly<{
  /** Makes the nodes on the way to a place that are not there yet. */
  grow(fieldPath: FieldPath): void
  /** Adds what is known of a field. In: the names of its path. */
  add(segments: readonly Segment[], field: SampleField): void
  /** The levels of arrays of a node that is there. */
  listDepth(fieldPath: FieldPath): number | undefined
  tree(): FieldTree
}>

/** `written`: changes the path of each node to what an entry must have. */
export function growTree(written: (path: string) => string = (path) => path): TreeGrower {
  const nodes = new Map<string, Growing>()
  const roots: Growing[] = []

  const grow = (fieldPath: FieldPath): Growing | undefined => {
    let parent: Growing | undefined
    for (const step of fieldPath) {
      const id = childId(parent?.id ?? '', step)
      const known = nodes.get(id)
      const { name, index } = step
      const node: Growing = known ?? { id, name, index, lists: 0, levels: new Map(), children: [] }
      if (known === undefined) {
        nodes.set(id, node)
        const siblings: Growing[] = parent?.children ?? roots
        siblings.push(node)
      }
      if (index === undefined) node.lists = Math.max(node.lists, step.lists)
      parent = node
    }
    return parent
  }
  return {
    grow,
    add: (segments, { types, count, sample, required, of, asked }) => {
      const node = grow(toFieldPath(segments))
      if (node === undefined) return
      if (required) node.isRequired = required
      if (of !== undefined) Object.assign(node, { of, isClosed: asked !== true })
      const depth = segments.at(-1)?.brackets.length ?? 0
      if (types.includes('array')) node.lists = Math.max(node.lists, depth + 1)
      const level = node.levels.get(depth) ?? { types: new Set() }
      node.levels.set(depth, level)
      for (const type of types) level.types.add(type)
      if (count !== undefined) level.count = (level.count ?? 0) + count
      if (sample !== undefined) level.sample ??= sample as FieldNode['sample']
    },
    listDepth: (fieldPath) => nodes.get(fieldPath.reduce((id, step) => childId(id, step), ''))?.lists,
    tree: () => finish(roots, written),
  }
}

function finish(growing: readonly Growing[], written: (path: string) => string): FieldTree {
  const nodes = new Map<string, FieldNode>()
  const parents = new Map<string, string>()
  const visit = (all: readonly Growing[], parent: string | undefined, before: string): readonly FieldNode[] =>
    all.map(({ id, name, index, lists, levels, isRequired, of, isClosed, children }) => {
      const path = `${before}${before === '' ? '' : '.'}${nameText(name)}${index === undefined ? '' : `[${index}]`}`
      const elements = levels.get(lists)
      const value = elements ?? levels.get(lists - 1)
      const node: FieldNode = {
        id,
        name,
        path: written(path),
        lists,
        index,
        types: [...(value?.types ?? [])],
        // A list without elements is there, too.
        count: elements?.count ?? (value?.count === undefined ? undefined : 0),
        sample: elements?.sample,
        isUnknown: levels.size === 0,
        ...(isRequired && { isRequired }),
        ...(of && { of, isClosed: isClosed === true }),
        children: visit(children, id, path + '[]'.repeat(lists)),
      }
      nodes.set(id, node)
      if (parent !== undefined) parents.set(id, parent)
      return node
    })
  return { roots: visit(growing, undefined, ''), nodes, parents }
}

/** Brackets of every kind mean the list as a whole. */
export const toFieldPath = (segments: readonly Segment[]): FieldPath =>
  segments.map(({ name, brackets }) => ({ name, lists: brackets.length }))

/** The deepest node on the way to a place. */
export function deepestNode({ nodes }: FieldTree, fieldPath: FieldPath): string | undefined {
  let found: string | undefined
  for (const step of fieldPath) {
    const id = childId(found ?? '', step)
    if (!nodes.has(id)) return found
    found = id
  }
  return found
}
