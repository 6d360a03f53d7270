/** The entries of `inputMapping`, read from the text of a document with their places in it. */
import { type Node, type ParseError, parseTree } from 'jsonc-parser'
import { nodeText } from '../../../draft/json-edits.ts'
import { listMembers, memberNamed } from '../../../draft/json-places.ts'

/** One target of an entry. */
export type EntryTarget = Readonly<{
  /** The target as written; undefined if there is none, or it is not one that this view shows. */
  key: string | undefined
  /** The name of the function. `isSimple`: it has no parameters. */
  transform: Readonly<{ name: string; isSimple: boolean; text: string }> | undefined
  /** As JSON text. */
  fill: string | undefined
  /** How many entries map each element of a list; undefined without `each`. */
  nested?: number
  /** The object with these entries. */
  each?: Node
  /** `each`: with entries of its own. */
  form: 'text' | 'object' | 'each' | 'short' | 'unknown'
  node: Node
  keyNode: Node | undefined
}>

export type MappingEntry = Readonly<{
  source: string
  /** The member of `inputMapping`. */
  member: Node
  keyNode: Node
  value: Node
  targets: readonly EntryTarget[]
  /** Another entry has the same source: the service would read the last one only, so none is changed here. */
  isRepeated: boolean
}>

/** An end of a connection at each side: one target of one entry. */
export type MappingLine = Readonly<{
  /** Stays the same while its source and target do. */
  id: string
  entry: MappingEntry
  target: EntryTarget
  /** Of the target among those of its entry. */
  at: number
  /** The path from the roots of the message on, such as `requestBody.rows[].id` for `item.id`; undefined for `index`. */
  readsAt: string | undefined
  /** The target from the output on. */
  writesAt: string | undefined
  /** The `each` that the entry is in; undefined for one of the mapping itself. */
  within: EachScope | undefined
  /** Its own `each`, with the lines of it. */
  scope?: EachScope
  inner: readonly MappingLine[]
}>

/** The entries of an `each`, in place of those of the mapping. */
export type EachScope = Readonly<{
  id: string
  object: Node
  entries: readonly MappingEntry[]
  /** The elements around, the outermost first: `requestBody.rows[]`. */
  items: readonly string[]
  /** The place of an element in the output. */
  place: string
}>

export type MappingText = Readonly<{
  text: string
  root: Node
  /** The value of `inputMapping`. */
  object: Node | undefined
  entries: readonly MappingEntry[]
  lines: readonly MappingLine[]
}>

/** In: the text of a document. Out: its entries, or a sentence on why they cannot be shown. */
export function readMapping(text: string): MappingText | string {
  const errors: ParseError[] = []
  const root = parseTree(text, errors, { disallowComments: true, allowTrailingComma: false })
  if (root === undefined || errors.length > 0) return `The text is not JSON${formatPosition(text, errors[0]?.offset)}.`
  if (root.type !== 'object') return 'The document is not an object.'
  const mappings = listMembers(root).filter(({ name }) => name === 'inputMapping')
  if (mappings.length > 1) return 'The document has "inputMapping" twice.'
  const object = mappings[0]?.value
  if (object !== undefined && object.type !== 'object') return '"inputMapping" is not an object.'
  const entries = listEntries(text, object)
  return { text, root, object, entries, lines: toMappingLines(text, entries, undefined) }
}

function listEntries(text: string, object: Node | undefined): readonly MappingEntry[] {
  const members = listMembers(object)
  const count = new Map<string, number>()
  for (const { name } of members) count.set(name, (count.get(name) ?? 0) + 1)
  return members.map(
    ({ name, key, value }): MappingEntry => ({
      source: name,
      member: key.parent ?? key,
      keyNode: key,
      value,
      targets: readTargets(text, value),
      isRepeated: (count.get(name) ?? 0) > 1,
    }),
  )
}

function formatPosition(text: string, offset: number | undefined): string {
  if (offset === undefined) return ''
  const lines = text.slice(0, offset).split('\n')
  return ` at line ${lines.length}, character ${(lines.at(-1)?.length ?? 0) + 1}`
}

/** The lines with those of every `each` after theirs. */
export const withInner = (lines: readonly MappingLine[]): readonly MappingLine[] =>
  lines.flatMap((line) => [line, ...withInner(line.inner)])

/** `scope`: the id of the `each` that the entry is in. */
export const lineId = (scope: string | undefined, source: string, key: string): string =>
  `${scope === undefined ? '' : `${scope}\n`}${source}\n${key}`

function toMappingLines(
  text: string,
  entries: readonly MappingEntry[],
  within: EachScope | undefined,
): readonly MappingLine[] {
  const seen = new Map<string, number>()
  return entries.flatMap((entry) =>
    entry.targets.map((target, at) => {
      const name = lineId(within?.id, entry.source, target.key ?? '')
      const before = seen.get(name) ?? 0
      seen.set(name, before + 1)
      const id = before === 0 ? name : `${name}\n${before}`
      const readsAt = messagePath(entry.source, within?.items ?? [])
      const writesAt = within === undefined || target.key === undefined ? target.key : `${within.place}.${target.key}`
      const line = { id, entry, target, at, readsAt, writesAt, within, inner: [] }
      if (target.each === undefined) return line
      const items = [...(within?.items ?? []), `${(readsAt ?? entry.source).replace(/\[\]$/, '')}[]`]
      const place = (writesAt ?? '').replace(/\+?\??$/, '')
      const scope = { id, object: target.each, entries: listEntries(text, target.each), items, place }
      return { ...line, scope, inner: toMappingLines(text, scope.entries, scope) }
    }),
  )
}

/** In: a path within the elements. Out: the same from the message on. */
function messagePath(source: string, items: readonly string[]): string | undefined {
  const [root = ''] = /^[^.[]*/.exec(source) ?? []
  if (items.length === 0 || !['item', 'outer', 'index'].includes(root)) return source
  const item = root === 'index' ? undefined : items.at(root === 'item' ? -1 : -2)
  return item === undefined ? undefined : `${item}${source.slice(root.length)}`
}

const readTargets = (text: string, value: Node): readonly EntryTarget[] =>
  value.type === 'array'
    ? (value.children ?? []).map((item) => readTarget(text, item, true))
    : [readTarget(text, value, false)]

function readTarget(text: string, node: Node, inArray: boolean): EntryTarget {
  if (node.type === 'string') return { ...NOTHING, key: String(node.value), form: 'text', node, keyNode: node }
  if (node.type === 'object') {
    const key = memberNamed(node, 'key')
    const transform = readTransform(text, memberNamed(node, 'transform'))
    const fill = memberNamed(node, 'default')
    const each = memberNamed(node, 'each')
    if (each !== undefined && key !== undefined) {
      return {
        ...NOTHING,
        ...readParts(text, key, undefined),
        nested: listMembers(each).length,
        each,
        form: 'each',
        node,
      }
    }
    return {
      ...readParts(text, key, fill),
      transform,
      form: key === undefined && transform?.name !== 'passThroughObject' ? 'unknown' : 'object',
      node,
    }
  }
  if (node.type === 'array' && inArray) {
    const [key, transform, fill] = node.children ?? []
    return { ...readParts(text, key, fill), transform: readTransform(text, transform), form: 'short', node }
  }
  return { ...NOTHING, form: 'unknown', node }
}

const NOTHING = { key: undefined, transform: undefined, fill: undefined, keyNode: undefined }

function readParts(text: string, key: Node | undefined, fill: Node | undefined) {
  const isText = key?.type === 'string'
  return {
    key: isText ? String(key.value) : undefined,
    keyNode: isText ? key : undefined,
    fill: fill && nodeText(text, fill),
  }
}

function readTransform(text: string, node: Node | undefined): EntryTarget['transform'] {
  if (node === undefined || node.type === 'null') return undefined
  if (node.type === 'string') return { name: String(node.value), isSimple: true, text: nodeText(text, node) }
  const name = memberNamed(node, 'function')?.value
  return {
    name: typeof name === 'string' ? name : '?',
    isSimple: typeof name === 'string' && listMembers(node).length === 1,
    text: nodeText(text, node),
  }
}
