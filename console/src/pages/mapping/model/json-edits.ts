/** Edits of JSON text that leave every byte outside of them unchanged, and write as the text around them is written. */
import type { Node } from 'jsonc-parser'
import type { Edit } from '../../../draft/draft.ts'

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
  const around = spaceBefore(text, (object.parent ?? object).offset)
  const inside = { from: object.offset + 1, to: endOffset(object) - 1 }
  if (!around.includes('\n')) {
    const space = around === '' ? '' : ' '
    return { ...inside, insert: `${space}${member}${space}` }
  }
  const line = around.slice(around.lastIndexOf('\n') - (around.includes('\r\n') ? 1 : 0))
  // Members of the document are indented by one unit.
  const unit = line.replace(/[\r\n]/g, '') || '  '
  return { ...inside, insert: `${line}${unit}${member}${line}` }
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

/** Adds an element as the last one. */
export function insertElement(text: string, array: Node, value: string): Edit {
  const last = array.children?.at(-1)
  if (last === undefined) return { from: array.offset + 1, to: endOffset(array) - 1, insert: value }
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
