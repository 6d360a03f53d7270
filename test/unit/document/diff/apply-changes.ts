/** Makes the second document of the first and the changes between them: what a reader of a diff can do. */

import { isObject, type Json } from '../../../../src/core/json.ts'
import type { LocatedChange } from '../../../../src/document/diff/document-diff.ts'

type Node = { own: LocatedChange[]; readonly below: Map<string, Node> }

const keyOf = (segment: LocatedChange['location'][number]): string =>
  typeof segment === 'object' ? segment.id : String(segment)

export function applyChanges(before: Json, changes: readonly LocatedChange[]): Json {
  const root: Node = { own: [], below: new Map() }
  for (const change of changes) {
    let node = root
    for (const segment of change.location) {
      const next = node.below.get(keyOf(segment)) ?? { own: [], below: new Map() }
      node.below.set(keyOf(segment), next)
      node = next
    }
    node.own.push(change)
  }
  return apply(before, root)
}

function apply(value: Json, node: Node): Json {
  const whole = node.own.find(({ kind }) => kind === 'changed')
  if (whole !== undefined) return whole.to as Json
  if (node.below.size === 0) return value
  if (isObject(value)) return Object.fromEntries(named(Object.entries(value), node))
  const elements = value as readonly Json[]
  const [some] = [...node.below.values()].flatMap(function all({ own, below }: Node): LocatedChange[] {
    return [...own, ...[...below.values()].flatMap(all)]
  })
  const depth = (some as LocatedChange).location.findIndex((segment) => typeof segment === 'object')
  const isById = depth !== -1 && elements.every((element) => isObject(element) && typeof element.id === 'string')
  return isById
    ? named(
        elements.map((element) => [String((element as { id: Json }).id), element]),
        node,
      ).map(([, element]) => element)
    : indexed(elements, node)
}

function named(before: readonly (readonly [string, Json])[], { below }: Node): readonly (readonly [string, Json])[] {
  const values = new Map<string, Json>()
  const staying: (readonly [string, Json])[] = []
  for (const [name, value] of before) {
    const node = below.get(name)
    const has = (kind: string) => node?.own.some((change) => change.kind === kind) === true
    if (has('removed')) continue
    const next = node === undefined ? value : apply(value, node)
    values.set(name, next)
    if (!has('moved')) staying.push([name, next])
  }
  for (const [name, { own }] of below) {
    const change = own.find(({ kind }) => kind === 'added' || kind === 'moved')
    if (change === undefined) continue
    const value = change.kind === 'added' ? (change.to as Json) : (values.get(name) as Json)
    if (change.after === undefined) staying.push([name, value])
    else staying.splice(staying.findIndex(([other]) => other === change.after) + 1, 0, [name, value])
  }
  return staying
}

function indexed(before: readonly Json[], { below }: Node): readonly Json[] {
  const isOf = (node: Node | undefined, kind: string) => node?.own.some((change) => change.kind === kind) === true
  const after = before.flatMap((element, index) => {
    const node = below.get(String(index))
    if (isOf(node, 'removed')) return []
    return [node === undefined || isOf(node, 'added') ? element : apply(element, node)]
  })
  for (const [index, { own }] of below) {
    for (const { kind, to } of own) if (kind === 'added') after.splice(Number(index), 0, to as Json)
  }
  return after
}
