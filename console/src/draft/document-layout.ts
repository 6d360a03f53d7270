/** The text of a document as the editor shows it: what the API gave, on lines, without what the service keeps itself. */
import type { Node } from 'jsonc-parser'
import { listMembers, readTree } from './json-places.ts'

/** A PUT ignores these. */
const KEPT_BY_THE_SERVICE: ReadonlySet<string> = new Set(['_id', 'createdAt', 'updatedAt', '__v'])
/** Entries of these are written and compared one by one. */
const ONE_A_LINE: ReadonlySet<string> = new Set(['inputMapping', 'inputTransforms', 'requests'])
const LINE_WIDTH = 80

/** In: JSON text. Out: its tokens untouched, short arrays and objects on one line; the text itself if it isn't an object. */
export function layOutDocument(raw: string): string {
  const root = readTree(raw)
  if (root?.type !== 'object') return raw
  const members = listMembers(root).filter(({ name }) => !KEPT_BY_THE_SERVICE.has(name))
  if (members.length === 0) return '{}\n'
  const lines = members.map(({ name, key, value }) => {
    const isOpen = ONE_A_LINE.has(name) && (value.children?.length ?? 0) > 0
    return `  ${source(raw, key)}: ${layOut(raw, value, '  ', `  ${source(raw, key)}: `.length, isOpen)}`
  })
  return `{\n${lines.join(',\n')}\n}\n`
}

const source = (raw: string, { offset, length }: Node): string => raw.slice(offset, offset + length)

function layOut(raw: string, node: Node, indent: string, column: number, isOpen = false): string {
  const children = node.children ?? []
  if (children.length === 0) return node.type === 'object' ? '{}' : node.type === 'array' ? '[]' : source(raw, node)
  const inLine = isOpen ? undefined : onOneLine(raw, node, LINE_WIDTH - column)
  if (inLine !== undefined) return inLine
  const inner = `${indent}  `
  const lines = children.map((child) => {
    const [key, value] = child.type === 'property' ? (child.children ?? []) : [undefined, child]
    const name = key === undefined ? '' : `${source(raw, key)}: `
    return value === undefined
      ? `${inner}${name}`
      : `${inner}${name}${layOut(raw, value, inner, inner.length + name.length)}`
  })
  const [open, close] = node.type === 'array' ? '[]' : '{}'
  return `${open}\n${lines.join(',\n')}\n${indent}${close}`
}

/** Gives up beyond `room` characters. */
function onOneLine(raw: string, node: Node, room: number): string | undefined {
  const children = node.children ?? []
  if (children.length === 0) {
    const text = node.type === 'object' ? '{}' : node.type === 'array' ? '[]' : source(raw, node)
    return text.length <= room ? text : undefined
  }
  let text = node.type === 'array' ? '[' : '{ '
  for (const [index, child] of children.entries()) {
    const [key, value] = child.type === 'property' ? (child.children ?? []) : [undefined, child]
    const name = key === undefined ? '' : `${source(raw, key)}: `
    const rest = value && onOneLine(raw, value, room - text.length - name.length)
    if (rest === undefined) return undefined
    text += `${index === 0 ? '' : ', '}${name}${rest}`
  }
  text += node.type === 'array' ? ']' : ' }'
  return text.length <= room ? text : undefined
}
