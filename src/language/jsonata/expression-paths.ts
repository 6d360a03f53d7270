/**
 * Paths of an expression that only walk down from the message, read before it runs. The engine takes a promise for each
 * step of a path, and most expressions are made of little else; as variables, such paths take one each.
 */
import { isObject, type Json, type JsonObject } from '../../domain/json.ts'
import { walk } from './expression-analysis.ts'
import { isFunction } from './expression-size.ts'
import type { Node } from './expression-tree.ts'

export type HoistedPath = Readonly<{ variable: string; names: readonly string[] }>

/** The parts of a path that is nothing but names. */
const PATH_PARTS = new Set(['type', 'steps', 'position'])
const NAME_PARTS = new Set(['type', 'value', 'position'])

/**
 * Replaces, in place, each path of names that begins at the message by a variable, which no expression can write; gives
 * which variable must hold what. For trees that call no path (`mayWrite`): what the engine says of those quotes their names.
 */
export function hoistPaths(tree: Node): readonly HoistedPath[] {
  const hoisted = new Map<string, HoistedPath>()
  walk(tree, (node, inner) => {
    const names = inner ? undefined : namesOf(node)
    if (names === undefined) return
    const key = JSON.stringify(names)
    const path = hoisted.get(key) ?? { variable: `\0path${hoisted.size}`, names }
    hoisted.set(key, path)
    delete node.steps
    node.type = 'variable'
    node.value = path.variable
  })
  return [...hoisted.values()]
}

function namesOf(node: Node): readonly string[] | undefined {
  if (node.type !== 'path' || node.steps === undefined || !hasOnly(node, PATH_PARTS)) return undefined
  const names: string[] = []
  for (const step of node.steps) {
    if (step.type !== 'name' || typeof step.value !== 'string' || !hasOnly(step, NAME_PARTS)) return undefined
    names.push(step.value)
  }
  return names
}

const hasOnly = (node: Node, parts: ReadonlySet<string>): boolean => Object.keys(node).every((part) => parts.has(part))

/** What the paths read; undefined where one meets an array, or what the engine takes for a function: it reads those itself. */
export function readPaths(
  paths: readonly HoistedPath[],
  message: JsonObject,
): readonly (Json | undefined)[] | undefined {
  const values: (Json | undefined)[] = []
  for (const { names } of paths) {
    let value: Json | undefined = message
    for (let at = 0; at < names.length && value !== undefined; at++) {
      const name = names[at] ?? ''
      value = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
      if (typeof value === 'object' && (Array.isArray(value) || isFunction(value))) return undefined
    }
    values.push(value)
  }
  return values
}
