/** Edits of JSON text that leave every byte outside of them unchanged, and write as the text around them is written. */
import type { Node } from 'jsonc-parser'
import type { Edit } from './draft.ts'
import { deepestNode, enclosingMember, type Place, readTree } from './json-places.ts'

const endOffset = ({ offset, length }: Node): number => offset + length

/** The white space directly before a place. */
function spaceBefore(text: string, at: number): string {
  let from = at
  while (from > 0 && /[ \t\r\n]/.test(text[from - 1] ?? '')) from -= 1
  return text.slice(from, at)
}

/** The text between the name and the value of members here: `:` or `: `. */
function colonStyle(text: string, member: Node | undefined): string {
  const [key, value] = member?.children ?? []
  return key === undefined || value === undefined ? ': ' : text.slice(endOffset(key), value.offset)
}

/** A member of the object or the object's own, from which the way of writing is taken. */
const findStyleModel = (object: Node): Node | undefined =>
  object.children?.at(-1) ?? (object.parent?.type === 'property' ? object.parent : undefined)

/** True if texts here have white space after commas and colons. */
export const isSpaced = (text: string, object: Node): boolean => /\s/.test(colonStyle(text, findStyleModel(object)))

/** In: names with values as JSON text. Out: an object on one line. */
export function objectText(members: readonly (readonly [name: string, value: string])[], spaced: boolean): string {
  const written = members.map(([name, value]) => `${JSON.stringify(name)}:${spaced ? ' ' : ''}${value}`)
  return spaced ? `{ ${written.join(', ')} }` : `{${written.join(',')}}`
}

/** Adds a member as the last one. `value`: JSON text. */
export function insertMember(text: string, object: Node, name: string, value: string): Edit {
  const last = object.children?.at(-1)
  const member = `${JSON.stringify(name)}${colonStyle(text, findStyleModel(object))}${value}`
  if (last !== undefined) return { from: endOffset(last), insert: `${commaAfter(text, object)}${member}` }
  return {
    from: object.offset + 1,
    to: endOffset(object) - 1,
    insert: within(text, object, member, isSpaced(text, object)),
  }
}

/** The first child of an empty container, with the white space around it. */
function within(text: string, container: Node, child: string, isPadded: boolean): string {
  const outer = lineStart(text, container)
  const space = isPadded && outer === undefined ? ' ' : ''
  return outer === undefined ? `${space}${child}${space}` : `${childLine(text, container)}${child}${outer}`
}

/** The line break and the indent of the line that a container starts on; undefined if it is within a line. */
function lineStart(text: string, container: Node): string | undefined {
  const around = spaceBefore(text, enclosingMember(container).offset)
  return around.includes('\n') ? lastLine(around) : undefined
}

const lastLine = (space: string): string => space.slice(space.lastIndexOf('\n') - (space.includes('\r\n') ? 1 : 0))

/** The line break and the indent before children of a container; undefined if they are within its line. */
function childLine(text: string, container: Node): string | undefined {
  const last = container.children?.at(-1)
  if (last !== undefined) {
    const space = spaceBefore(text, last.offset)
    return space.includes('\n') ? lastLine(space) : undefined
  }
  const outer = lineStart(text, container)
  return outer === undefined ? undefined : `${outer}${indentUnit(text, container)}`
}

/** Members of the document are indented by one unit. */
function indentUnit(text: string, node: Node): string {
  let root = node
  while (root.parent !== undefined) root = root.parent
  const first = root.children?.[0]
  return (first && spaceBefore(text, first.offset).replace(/[\r\n]/g, '')) || '  '
}

/** In: the container that the value goes into. Out: JSON as it is written there, objects on lines of their own if it has lines. */
function valueText(text: string, container: Node, value: unknown): string {
  const line = childLine(text, container)
  const isOpen = line !== undefined
  const spaced = isOpen || isSpaced(text, nearestObject(container))
  const unit = indentUnit(text, container)
  const write = (now: unknown, indent: string): string => {
    if (typeof now !== 'object' || now === null) return JSON.stringify(now)
    const inner = `${indent}${unit}`
    const parts = Array.isArray(now)
      ? now.map((one) => write(one, inner))
      : Object.entries(now).map(([name, one]) => `${JSON.stringify(name)}:${spaced ? ' ' : ''}${write(one, inner)}`)
    const [open, close] = Array.isArray(now) ? '[]' : '{}'
    if (parts.length === 0) return `${open}${close}`
    const isShort = Array.isArray(now) && now.every((one) => typeof one !== 'object')
    if (isOpen && !isShort) return `${open}${inner}${parts.join(`,${inner}`)}${indent}${close}`
    const space = spaced && !Array.isArray(now) ? ' ' : ''
    return `${open}${space}${parts.join(spaced ? ', ' : ',')}${space}${close}`
  }
  return write(value, line ?? '')
}

/**
 * In: JSON text, the place of a value, and the value; undefined removes it. Out: the text with that value, and with what leads
 * to it; what was written around it stays, byte for byte.
 */
export function setValue(text: string, place: Place, value: unknown): string {
  const root = readTree(text)
  if (root === undefined) return text
  const { node, depth } = deepestNode(root, place)
  if (depth === place.length) {
    const child = enclosingMember(node)
    const parent = child.parent
    if (value === undefined) return parent === undefined ? text : applyEdit(text, removeChild(parent, child))
    const container = nearestContainer(child)
    return applyEdit(text, replaceNode(node, valueText(text, container, value)))
  }
  if (value === undefined) return text
  const [step = '', ...rest] = place.slice(depth)
  const inner = rest.reduceRight<unknown>((now, name) => (typeof name === 'number' ? [now] : { [name]: now }), value)
  if (node.type === 'object')
    return applyEdit(text, insertMember(text, node, String(step), valueText(text, node, inner)))
  if (node.type === 'array') return applyEdit(text, insertElement(text, node, valueText(text, node, inner), true))
  const whole = typeof step === 'number' ? [inner] : { [step]: inner }
  return applyEdit(text, replaceNode(node, valueText(text, nearestContainer(enclosingMember(node)), whole)))
}

const nearestContainer = (child: Node): Node => child.parent ?? child

/** In: edits in places of the text; they do not overlap. */
export function applyToText(text: string, edits: readonly Edit[]): string {
  const parts: string[] = []
  let at = 0
  for (const { from, to = from, insert = '' } of edits.toSorted((one, other) => one.from - other.from)) {
    parts.push(text.slice(at, from), insert)
    at = to
  }
  return parts.join('') + text.slice(at)
}

const applyEdit = (text: string, edit: Edit): string => applyToText(text, [edit])

/** Puts a text in place of the one of a value or a name. */
export const replaceText = (text: string, node: Node, next: string): string =>
  applyEdit(text, replaceNode(node, JSON.stringify(next)))

/** A value alone becomes the only element of an array. */
export const wrapInArray = (text: string, node: Node): string =>
  applyEdit(text, replaceNode(node, `[${nodeText(text, node)}]`))

/** Changes two elements of an array round. */
export function swapElements(text: string, array: Node, one: number, other: number): string {
  const [first, second] = [array.children?.[Math.min(one, other)], array.children?.[Math.max(one, other)]]
  if (first === undefined || second === undefined) return text
  const withSecond = applyEdit(text, replaceNode(second, nodeText(text, first)))
  return applyEdit(withSecond, replaceNode(first, nodeText(text, second)))
}

/** Adds a member with an object of one member as its value, as the last one of the document. */
export function insertObject(text: string, root: Node, name: string, inner: string, value: string): Edit {
  const last = root.children?.at(-1)
  const line = last === undefined ? '' : spaceBefore(text, last.offset)
  const colon = colonStyle(text, last)
  const member = `${JSON.stringify(inner)}${colon}${value}`
  const space = line.includes('\n') ? `${line}${line.slice(line.lastIndexOf('\n') + 1) || '  '}` : line
  return insertMember(text, root, name, `{${space}${member}${line}}`)
}

/** Adds an element as the last one. `onLine`: the first one may have lines of its own, as objects have. */
export function insertElement(text: string, array: Node, value: string, onLine = false): Edit {
  const last = array.children?.at(-1)
  if (last === undefined) {
    const insert = onLine && value.includes('\n') ? within(text, array, value, false) : value
    return { from: array.offset + 1, to: endOffset(array) - 1, insert }
  }
  return { from: endOffset(last), insert: `${commaAfter(text, array)}${value}` }
}

/** The comma after the last child, with the white space before the next one. */
function commaAfter(text: string, parent: Node): string {
  const children = parent.children ?? []
  const space = spaceBefore(text, children.at(-1)?.offset ?? 0)
  // White space after a bracket says nothing of that after a comma.
  const isKnown = children.length > 1 || space !== ''
  return `,${isKnown || !isSpaced(text, nearestObject(parent)) ? space : ' '}`
}

function nearestObject(node: Node): Node {
  let now = node
  while (now.type !== 'object' && now.parent !== undefined) now = now.parent
  return now
}

/** Removes a member or an element, with one of the commas beside it. */
export function removeChild(parent: Node, child: Node): Edit {
  const children = parent.children ?? []
  const at = children.indexOf(child)
  const next = children[at + 1]
  const before = children[at - 1]
  if (next !== undefined) return { from: child.offset, to: next.offset }
  if (before !== undefined) return { from: endOffset(before), to: endOffset(child) }
  return { from: parent.offset + 1, to: endOffset(parent) - 1 }
}

export const replaceNode = (node: Node, insert: string): Edit => ({ from: node.offset, to: endOffset(node), insert })

export const nodeText = (text: string, { offset, length }: Node): string => text.slice(offset, offset + length)
