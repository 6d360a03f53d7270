/** Where a path of the API, such as `requests.lookup[0].config.url`, is in the text of a document, and the other way round. */
import { findNodeAtOffset, type Node, parseTree } from 'jsonc-parser'

/** A part of the text, in UTF-16 units. */
export type Span = Readonly<{ from: number; to: number }>

export type FoundValue = Readonly<{
  /** The value. */
  value: Node
  /** The value with its name, if it is a member. */
  span: Span
  /** False if the path continues beyond what the text has: the place is the deepest part that is there. */
  isWhole: boolean
}>

/** The tree of a text, as far as it can be read; undefined if there is nothing in it. */
export const readTree = (text: string): Node | undefined => parseTree(text)

export const toSpan = ({ offset, length }: Node): Span => ({ from: offset, to: offset + length })

/** The member `name: value` that a value is of; the value itself if it isn't a member. */
export const enclosingMember = (value: Node): Node => (value.parent?.type === 'property' ? value.parent : value)

export type Member = Readonly<{ name: string; key: Node; value: Node }>

/** The members of an object in the order of the text; one without a value yet is left out. */
export function listMembers(node: Node | undefined): readonly Member[] {
  if (node?.type !== 'object') return []
  return (node.children ?? []).flatMap(({ children: [key, value] = [] }) =>
    key === undefined || value === undefined ? [] : [{ name: String(key.value), key, value }],
  )
}

/** The value of the last member of a name, as the service would read it if names could be there twice. */
export const memberNamed = (node: Node | undefined, name: string): Node | undefined =>
  listMembers(node).findLast((member) => member.name === name)?.value

/** The way to a value: names of members, and indexes of elements. */
export type Place = readonly (string | number)[]

/** The deepest value on the way to a place, and how many steps lead to it. */
export function deepestNode(root: Node, place: Place): Readonly<{ node: Node; depth: number }> {
  let node = root
  for (const [depth, step] of place.entries()) {
    const next =
      typeof step === 'string' ? memberNamed(node, step) : node.type === 'array' ? node.children?.[step] : undefined
    if (next === undefined) return { node, depth }
    node = next
  }
  return { node, depth: place.length }
}

/** The value at a place; undefined if there is none. */
export function nodeAt(root: Node | undefined, place: Place): Node | undefined {
  const found = root && deepestNode(root, place)
  return found?.depth === place.length ? found.node : undefined
}

const listItems = (node: Node): readonly Node[] => (node.type === 'array' ? (node.children ?? []) : [])

/** A name as a path has it. */
export const pathName = (name: string): string => name.replaceAll('.', '\\.')

/**
 * In: the tree of a text and a path as faults and diffs have it; an element is given by its index or by its `id`. Out: the
 * deepest part of the text on this path.
 */
export function findValue(root: Node, path: string): FoundValue {
  let value = root
  let rest = path
  while (rest !== '') {
    const step = nextStep(value, rest)
    if (step === undefined) return toFoundPlace(value, false)
    value = step.value
    rest = step.rest
  }
  return toFoundPlace(value, true)
}

const toFoundPlace = (value: Node, isWhole: boolean): FoundValue => ({
  value,
  span: toSpan(enclosingMember(value)),
  isWhole,
})

type Step = Readonly<{ value: Node; rest: string }>

function nextStep(node: Node, path: string): Step | undefined {
  const element = /^\[([^\]]*)\]/.exec(path)
  if (element !== null && node.type === 'array') {
    const items = listItems(node)
    const value =
      items[Number(element[1])] ?? items.find((item) => memberNamed(item, 'id')?.value === (element[1] ?? ''))
    return value && { value, rest: withoutDot(path.slice(element[0].length)) }
  }
  // The longest name wins, since a name may have the signs of a path.
  const fits = listMembers(node)
    .map(({ name, value }) => ({ name: pathName(name), value }))
    .filter(({ name }) => path.startsWith(name) && /^(?:\.|\[|$)/.test(path.slice(name.length)))
    .toSorted((one, other) => one.name.length - other.name.length)
  const member = fits.at(-1)
  return member && { value: member.value, rest: withoutDot(path.slice(member.name.length)) }
}

const withoutDot = (path: string): string => (path.startsWith('.') ? path.slice(1) : path)

/** The path of the value, or of the member's name, at an offset; '' for the document itself. */
export function pathAt(root: Node, offset: number): string {
  const found = findNodeAtOffset(root, offset, true)
  return found === undefined ? '' : toPath(found)
}

/** The path of a node, with an index for each element. */
export function toPath(node: Node): string {
  let path = ''
  for (let now: Node | undefined = node; now?.parent !== undefined; now = now.parent) {
    const { parent }: Node = now
    if (parent.type === 'array') path = `[${listItems(parent).indexOf(now)}]${joined(path)}`
    else if (parent.type === 'property') {
      // The name of a member means its value.
      path = `${pathName(String(parent.children?.[0]?.value))}${joined(path)}`
      now = parent
    }
  }
  return path
}

const joined = (rest: string): string => (rest === '' || rest.startsWith('[') ? rest : `.${rest}`)
