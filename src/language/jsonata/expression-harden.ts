/** Makes a parsed tree safe to run, in place, where the engine has no option for it. */
import { compilePattern, type Pattern } from '../re2-pattern.ts'
import { walk } from './expression-analysis.ts'
import { ORDER_BY } from './expression-functions.ts'
import type { Node } from './expression-tree.ts'

/** Facts about hardened trees, by node. The sets are weak, since `$eval` adds trees that live for one call. */
export type Marks = Readonly<{
  /** Nodes whose results may be larger than their inputs; the engine's exit hook weighs these results. */
  growing: WeakSet<object>
  patterns: WeakMap<RegExp, Pattern>
}>

/** Steps of a path that read parts of their input and build nothing. */
const READING = new Set(['name', 'wildcard', 'number'])

/**
 * Hardens the tree and adds its marks. Out: one sentence for the first regular expression or function signature that
 * cannot run in bounded time; undefined if there is none.
 */
export function harden(tree: Node, { growing, patterns }: Marks): string | undefined {
  let wrong: string | undefined
  walk(tree, (node) => {
    wrong ??= addPattern(node, patterns) ?? wrongSignature(node)
    // Before the walk reads the parts of the node, which this replaces.
    replaceSort(node)
    if (mayGrow(node)) growing.add(node)
  })
  return wrong
}

function mayGrow(node: Node): boolean {
  if (node.group !== undefined) return true
  if (node.type === 'path') return node.steps?.some((step) => !READING.has(step.type) || step.tuple === true) ?? false
  return ['unary', 'function', 'apply', 'descendant', 'sort'].includes(node.type)
}

function addPattern(node: Node, patterns: Marks['patterns']): string | undefined {
  if (node.type !== 'regex') return undefined
  const place = `near character ${node.position}`
  // The engine copies the left side of `?:` and `??` as JSON, which has no regular expressions.
  if (!(node.value instanceof RegExp)) {
    return `A regular expression on the left of "?:" or "??" is lost (${place}); bind it to a variable first.`
  }
  const pattern = compilePattern(node.value.source, node.value.flags)
  if (!pattern.ok) return `${pattern.message.replace(/^t/, 'T').replace(/\.$/, '')} (${place}).`
  patterns.set(node.value, pattern.value)
  return undefined
}

/** The engine matches arguments with a backtracking expression made from the signature. */
function wrongSignature(node: Node): string | undefined {
  const definition = node.signature?.definition ?? ''
  const repeats = definition.match(/\+/g)?.length ?? 0
  const optional = definition.match(/[-?]/g)?.length ?? 0
  if (repeats <= 2 && optional <= 8) return undefined
  return `The function signature ${definition.slice(0, 100)} has too many optional or repeated parameters; leave it out.`
}

/**
 * Turns `list^(terms)` into a call of `$orderBy`: `($ordered := $orderBy(list, …); $ordered)`, followed by the rest of the
 * path. Tuple paths (`@`, `#`, `%`) keep the engine's ordering, whose terms see their bindings.
 */
function replaceSort(node: Node): void {
  const at = node.type === 'path' ? (node.steps ?? []).findLastIndex((step) => step.type === 'sort') : -1
  const steps = node.steps ?? []
  const sort = steps[at]
  if (at < 1 || sort?.terms === undefined || steps.some((step) => step.tuple === true)) return
  const list: Node = { type: 'path', steps: steps.slice(0, at) }
  const variable = '\0ordered'
  const order: Node = {
    type: 'function',
    value: '(',
    procedure: { type: 'variable', value: ORDER_BY },
    arguments: [list, ...sort.terms.flatMap(termArguments)],
    ...(sort.position === undefined ? {} : { position: sort.position }),
  }
  const head: Node = { type: 'variable', value: variable, ...(sort.stages ? { stages: sort.stages } : {}) }
  const rest: Node = { ...node, steps: [head, ...steps.slice(at + 1)] }
  for (const key of Object.keys(node)) if (key !== 'position' && key !== 'keepArray') delete node[key as keyof Node]
  node.type = 'block'
  node.expressions = [{ type: 'bind', value: ':=', lhs: { type: 'variable', value: variable }, rhs: order }, rest]
}

function termArguments({ expression, descending }: { expression: Node; descending: boolean }): Node[] {
  const item: Node = { type: 'variable', value: '\0item' }
  const body: Node = { type: 'path', steps: [item, expression] }
  return [
    { type: 'lambda', arguments: [item], body },
    { type: 'value', value: descending },
  ]
}

/**
 * Whether parsing the text would take exponential time. The engine copies the left side of `?:` and `??`, so a chain
 * nested to the left, `((a ?? b) ?? c) ?? d`, doubles with every level.
 */
export function doublesTooOften(text: string): boolean {
  const tokens = text.matchAll(/"(?:[^"\\]|\\[\s\S])*"|'(?:[^'\\]|\\[\s\S])*'|`[^`]*`|\/\*[\s\S]*?\*\/|\?[?:]|[^\s]/g)
  const groups = [{ whole: 0, left: 0 }]
  for (const [token] of tokens) {
    const group = groups.at(-1) ?? { whole: 0, left: 0 }
    if ('([{'.includes(token)) groups.push({ whole: 0, left: 0 })
    else if (')]}'.includes(token) && groups.length > 1) {
      groups.pop()
      const outer = groups.at(-1)
      if (outer !== undefined) outer.left += group.whole + group.left
    } else if (token === '??' || token === '?:') {
      group.whole += 2 * group.left
      group.left = 0
    } else group.left += 1
  }
  return groups.reduce((sum, { whole, left }) => sum + whole + left, 0) > 16 * text.length + 1000
}
