/** What was derived as one JSONata expression: for lists that a mapping cannot write, such as of elements that may be missing. */
import type { Json } from '../../../core/json.ts'
import type { AppendNode, EntryNode, ListNode, Node } from './nodes.ts'
import { expressionPath, type Rule } from './rules.ts'
import type { Place } from './source-values.ts'

type Read = (place: Place) => string
type Tree = Map<string | number, Tree | string>

/**
 * Out: an object or list constructor; undefined if a part of it can only be written by a mapping. `isGated`: it is only made
 * where the value is there that its constants go with.
 */
export function construct(nodes: readonly Node[], read: Read, isGated = false): string | undefined {
  const root: Tree = new Map()
  for (const node of nodes) {
    if (node.kind === 'unknown') continue
    const text =
      node.kind === 'entry'
        ? ruleText(node, read, isGated)
        : node.kind === 'list'
          ? listText(node, read)
          : appendText(node, read)
    if (text === undefined) return undefined
    if (node.steps.length === 0) return text
    let tree = root
    for (const [at, step] of node.steps.entries()) {
      const key = step.kind === 'name' ? step.name : step.kind === 'index' ? step.index : 0
      if (at === node.steps.length - 1) tree.set(key, text)
      else {
        const below = tree.get(key)
        // What others are written into is empty, as it is here without them.
        if (typeof below === 'string' && below !== '{}' && below !== '[]') return undefined
        const next: Tree = typeof below === 'string' || below === undefined ? new Map() : below
        tree.set(key, next)
        tree = next
      }
    }
  }
  return treeText(root)
}

function treeText(tree: Tree): string {
  const members = [...tree].map(([key, below]) => [key, typeof below === 'string' ? below : treeText(below)] as const)
  if (members.some(([key]) => typeof key === 'number')) return `[${members.map(([, text]) => text).join(', ')}]`
  return `{ ${members.map(([key, text]) => `${JSON.stringify(key)}: ${text}`).join(', ')} }`
}

function listText(node: ListNode, read: Read): string | undefined {
  const variable = `$item${node.level}`
  const inner = construct(node.inner, (place) =>
    place.level === node.level ? expressionPath(variable, place.steps) : read(place),
  )
  if (inner === undefined || node.when !== undefined || node.parents !== undefined) return undefined
  const elements = `[${read(node.list)}.(${variable} := $; ${inner})]`
  return node.isAlways ? elements : `$count(${read(node.list)}) > 0 ? ${elements}`
}

function appendText({ parts, isAlways }: AppendNode, read: Read): string {
  const list = `[${parts.map(({ place }) => read(place)).join(', ')}]`
  return isAlways ? list : `($count(${list}) > 0 ? ${list})`
}

const ruleText = ({ choice }: EntryNode, read: Read, isGated: boolean): string | undefined => {
  const { rule } = choice.candidate
  if (rule.kind === 'constant') return JSON.stringify(rule.value)
  if (isGated && rule.kind === 'path' && rule.parameters?.default !== undefined)
    return JSON.stringify(rule.parameters.default)
  return rule.kind === 'expression' ? `(${rule.write(read)})` : pathText(rule, read(rule.place))
}

function pathText(
  { transform, parameters, ...rule }: Extract<Rule, { kind: 'path' }>,
  path: string,
): string | undefined {
  const convert: Readonly<Record<string, string>> = {
    stringify: `$string(${path})`,
    numberify: `$number(${path})`,
    dateTimeToDate: `$split(${path}, "T")[0]`,
    booleanFlip: `($exists(${path}) ? $not(${path}))`,
  }
  if (transform === undefined) return rule.default === undefined ? path : `(${path} ?? ${JSON.stringify(rule.default)})`
  if (transform !== 'mapCodes') return convert[transform]
  const { default: constant, null: _null, ...codes } = parameters ?? {}
  return constant === undefined
    ? `$lookup(${JSON.stringify(codes)}, $string(${path}))`
    : `($exists(${path}) ? ${JSON.stringify(constant as Json)})`
}

/** The value without which there is nothing of what was derived. */
export function gateOf(nodes: readonly Node[], read: Read): string | undefined {
  for (const node of nodes) {
    if (node.kind !== 'entry') continue
    const { rule } = node.choice.candidate
    if (rule.kind === 'path' && rule.default === undefined) return read(rule.place)
    if (rule.kind === 'expression') return rule.write(read)
  }
  return undefined
}
