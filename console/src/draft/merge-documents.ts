/** Merges two changes of one document by their places: what only one of them changed is taken, and the rest is asked. */
import type { Node } from 'jsonc-parser'
import { listMembers, memberNamed, readTree } from './json-places.ts'

/** A place that both changed in different ways; undefined: it was removed. Values are JSON texts. */
export type MergeConflict = Readonly<{
  path: string
  base: string | undefined
  mine: string | undefined
  theirs: string | undefined
}>

export type MergeChoice = 'mine' | 'theirs'

export type Merged = Readonly<{
  /** JSON, to be laid out; its conflicts are decided as given, else as mine. */
  text: string
  conflicts: readonly MergeConflict[]
  /** Places that were taken from theirs without a question. */
  taken: readonly string[]
}>

/** In: three texts. Out: undefined if one of them isn't a JSON object. */
export function mergeDocuments(
  base: string,
  mine: string,
  theirs: string,
  choices: ReadonlyMap<string, MergeChoice> = new Map(),
): Merged | undefined {
  const roots = [base, mine, theirs].map(parsePart)
  const [ofBase, ofMine, ofTheirs] = roots
  if (ofBase?.node?.type !== 'object' || ofMine?.node?.type !== 'object' || ofTheirs?.node?.type !== 'object') {
    return undefined
  }
  const merge: Merge = { choices, conflicts: [], taken: [] }
  const text = mergeParts('', ofBase, ofMine, ofTheirs, merge)
  return { text: text ?? '{}', conflicts: merge.conflicts, taken: merge.taken }
}

type Merge = Readonly<{
  choices: ReadonlyMap<string, MergeChoice>
  conflicts: MergeConflict[]
  taken: string[]
}>

/** A value with the text that it is part of. */
type Part = Readonly<{ text: string; node: Node | undefined }>

const parsePart = (text: string): Part => ({ text, node: readTree(text) })

/** The tokens of the value. Blanks between tokens make no difference. */
function joinTokens({ text, node }: Part): string | undefined {
  if (node === undefined) return undefined
  const { children } = node
  if (children === undefined) return text.slice(node.offset, node.offset + node.length)
  const inner = children.map((child) => joinTokens({ text, node: child }) ?? '')
  if (node.type === 'property') return inner.join(':')
  return node.type === 'array' ? `[${inner.join(',')}]` : `{${inner.join(',')}}`
}

/** Out: JSON of the merged value; undefined if it is not there. */
function mergeParts(path: string, base: Part, mine: Part, theirs: Part, merge: Merge): string | undefined {
  const [wasBase, isMine, isTheirs] = [joinTokens(base), joinTokens(mine), joinTokens(theirs)]
  if (isMine === isTheirs || isTheirs === wasBase) return isMine
  if (isMine === wasBase) {
    merge.taken.push(path)
    return isTheirs
  }
  if (mine.node?.type === 'object' && theirs.node?.type === 'object' && areUnique(mine, theirs)) {
    return mergeMembers(path, base, mine, theirs, merge)
  }
  const byId = elementsById(base, mine, theirs)
  if (byId !== undefined) return mergeElements(path, byId, merge)
  merge.conflicts.push({ path, base: wasBase, mine: isMine, theirs: isTheirs })
  return merge.choices.get(path) === 'theirs' ? isTheirs : isMine
}

const areUnique = (...parts: readonly Part[]): boolean =>
  parts.every(({ node }) => {
    const names = listMembers(node).map(({ name }) => name)
    return new Set(names).size === names.length
  })

const escaped = (name: string): string => name.replaceAll('.', '\\.')

function mergeMembers(path: string, base: Part, mine: Part, theirs: Part, merge: Merge): string {
  const names = mergedNames(path, memberNames(base), memberNames(mine), memberNames(theirs), merge)
  const member = (part: Part, name: string): Part => ({ text: part.text, node: memberNamed(part.node, name) })
  const written = names.flatMap((name) => {
    const at = path === '' ? escaped(name) : `${path}.${escaped(name)}`
    const value = mergeParts(at, member(base, name), member(mine, name), member(theirs, name), merge)
    return value === undefined ? [] : [`${JSON.stringify(name)}:${value}`]
  })
  return `{${written.join(',')}}`
}

/** The order of entries counts: where both changed it, that is asked at the object, with its names in place of its value. */
function mergedNames(
  path: string,
  base: readonly string[],
  mine: readonly string[],
  theirs: readonly string[],
  { choices, conflicts, taken }: Merge,
): readonly string[] {
  const inAll = (names: readonly string[]) =>
    JSON.stringify(names.filter((name) => base.includes(name) && mine.includes(name) && theirs.includes(name)))
  const [wasBase, isMine, isTheirs] = [inAll(base), inAll(mine), inAll(theirs)]
  if (isTheirs === wasBase || isTheirs === isMine) return mergeOrder(mine, theirs)
  const at = `${path} (order)`
  if (isMine === wasBase) {
    taken.push(at)
    return mergeOrder(theirs, mine)
  }
  conflicts.push({ path: at, base: wasBase, mine: isMine, theirs: isTheirs })
  return choices.get(at) === 'theirs' ? mergeOrder(theirs, mine) : mergeOrder(mine, theirs)
}

const memberNames = ({ node }: Part): readonly string[] => listMembers(node).map(({ name }) => name)

/** The order of mine, with what only theirs has after what is before it there. */
export function mergeOrder(mine: readonly string[], theirs: readonly string[]): readonly string[] {
  const order = [...mine]
  for (const [index, name] of theirs.entries()) {
    if (order.includes(name)) continue
    const before = theirs[index - 1]
    order.splice(before === undefined ? 0 : order.indexOf(before) + 1, 0, name)
  }
  return order
}

type ById = Readonly<{ base: Elements; mine: Elements; theirs: Elements }>
type Elements = ReadonlyMap<string, Part>

/** Requests are known by their id: two people may each add one. Undefined if not all elements have one of their own. */
function elementsById(base: Part, mine: Part, theirs: Part): ById | undefined {
  const [ofBase, ofMine, ofTheirs] = [indexElements(base), indexElements(mine), indexElements(theirs)]
  if (ofMine === undefined || ofTheirs === undefined) return undefined
  return { base: ofBase ?? new Map(), mine: ofMine, theirs: ofTheirs }
}

function indexElements({ text, node }: Part): Elements | undefined {
  if (node?.type !== 'array') return undefined
  const found = (node.children ?? []).map((child) => [memberNamed(child, 'id')?.value as unknown, child] as const)
  if (found.some(([id]) => typeof id !== 'string')) return undefined
  const elements = new Map(found.map(([id, child]) => [String(id), { text, node: child }]))
  return elements.size === found.length ? elements : undefined
}

function mergeElements(path: string, { base, mine, theirs }: ById, merge: Merge): string {
  const none: Part = { text: '', node: undefined }
  const written = mergeOrder([...mine.keys()], [...theirs.keys()]).flatMap((id) => {
    const parts = [base, mine, theirs].map((one) => one.get(id) ?? none)
    const value = mergeParts(`${path}[${id}]`, parts[0] ?? none, parts[1] ?? none, parts[2] ?? none, merge)
    return value === undefined ? [] : [value]
  })
  return `[${written.join(',')}]`
}
