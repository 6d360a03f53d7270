/** JSON as a tree of its tokens: reading it as values would change long numbers, and drop names that are there twice. */
import { isJson, TOKENS } from './json-layout.ts'

export type JsonNode = Readonly<{
  /** Its number in the text. */
  id: string
  parent: JsonNode | undefined
  /** A number in a list. */
  name: string | number
  kind: 'object' | 'list' | 'string' | 'other'
  /** Of a text: without quotes and escapes; of other values: as sent; empty of objects and lists. */
  value: string
  children: JsonNode[]
}>

/** Far more than a message may have; the rows of more would end the page. */
const MAX_DEPTH = 200

/** Out: the whole; undefined if the text is not an object or a list in JSON, or is nested deeper than a tree shows. */
export function readJsonTree(text: string): JsonNode | undefined {
  if (!/^\s*[[{]/.test(text) || !isJson(text)) return undefined
  let root: JsonNode | undefined
  let parent: JsonNode | undefined
  let name: string | undefined
  let count = 0
  let depth = 0
  const tokens = text.match(TOKENS) ?? []
  for (const [at, token] of tokens.entries()) {
    if (token === ':' || token === ',') continue
    if (token === '}' || token === ']') {
      parent = parent?.parent
      depth -= 1
      continue
    }
    if (parent?.kind === 'object' && name === undefined && tokens[at + 1] === ':') {
      name = JSON.parse(token) as string
      continue
    }
    const kind = token === '{' ? 'object' : token === '[' ? 'list' : token.startsWith('"') ? 'string' : 'other'
    const value = kind === 'string' ? (JSON.parse(token) as string) : kind === 'other' ? token : ''
    const node: JsonNode = {
      id: `${count}`,
      parent,
      name: name ?? parent?.children.length ?? '',
      kind,
      value,
      children: [],
    }
    count += 1
    parent?.children.push(node)
    root ??= node
    name = undefined
    if (kind !== 'object' && kind !== 'list') continue
    parent = node
    depth += 1
    if (depth > MAX_DEPTH) return undefined
  }
  return root
}

/** The path of a node as documents write it, from `root` on, such as `requestBody`. */
export function pathOf({ parent, name }: JsonNode, root: string): string {
  if (parent === undefined) return root
  const before = pathOf(parent, root)
  if (typeof name === 'number') return `${before}[${name}]`
  return `${before}${before === '' ? '' : '.'}${name === '*' ? '\\*' : name.replace(/[.[\]\\]/g, '\\$&')}`
}

/** Nodes whose name or value has the text in any case, in order; at most `max`. */
export function findNodes(root: JsonNode, text: string, max: number): readonly JsonNode[] {
  const wanted = text.trim().toLowerCase()
  const found: JsonNode[] = []
  if (wanted === '') return found
  const left = root.children.toReversed()
  for (let node = left.pop(); node !== undefined && found.length < max; node = left.pop()) {
    // The numbers of entries would be found in every list.
    const texts = typeof node.name === 'string' ? [node.name, node.value] : [node.value]
    if (texts.some((one) => one.toLowerCase().includes(wanted))) found.push(node)
    for (const child of node.children.toReversed()) left.push(child)
  }
  return found
}
