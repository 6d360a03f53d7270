/**
 * What can be known of an expression without running it: what it reads of the message, which names it calls that do not
 * exist, and whether running it may write to its input (JSONata 2.2.2 does, in places).
 */
import { nearest } from '../../domain/nearest.ts'
import { calledName, type Node, namesBoundBy, partsOf } from './expression-tree.ts'

export type ExpressionReads = Readonly<{
  roots: ReadonlySet<string> | undefined
  references: readonly (readonly string[])[]
}>

/** Built-ins that take the context for an argument left out, with the number of arguments from which they do not. */
const READS_CONTEXT: Readonly<Record<string, number>> = {
  boolean: 1,
  clone: 1,
  each: 2,
  keys: 1,
  lookup: 2,
  not: 1,
  sift: 2,
  spread: 1,
  string: 1,
}

/** Calls `visit` for the node and everything below it; `inner` as in partsOf, for all that is above. */
export function walk(node: Node, visit: (node: Node, inner: boolean, depth: number) => void, inner = false, depth = 1) {
  visit(node, inner, depth)
  for (const part of partsOf(node)) walk(part.node, visit, inner || part.inner, depth + 1)
}

/**
 * The root names that an expression reads, and its static head paths.
 * `roots` is undefined where some part reads the message as a whole, or climbs (`%`), or runs text (`$eval`).
 */
export function readsOf(tree: Node): ExpressionReads {
  const references: string[][] = []
  const roots = new Set<string>()
  const heads = new Set<Node>()
  let known = true
  const refer = (steps: readonly Node[]) => {
    const names = leadingNames(steps)
    const root = names[0]
    if (root === undefined) return
    roots.add(root)
    references.push(names)
  }
  walk(tree, (node, inner, _depth) => {
    const [first, second] = node.steps ?? []
    if (first?.type === 'name' && !inner) refer(node.steps ?? [])
    else if (first !== undefined && namesMessage(first, inner) && second?.type === 'name' && !isFiltered(first)) {
      heads.add(first)
      refer(node.steps?.slice(1) ?? [])
    }
    if (readsWhole(node, inner) && !heads.has(node)) known = false
  })
  return { roots: known ? roots : undefined, references }
}

const isFiltered = (step: Node) => step.predicate !== undefined || step.stages !== undefined

/** `$$` anywhere, `$` where the context is the message. */
const namesMessage = (node: Node, inner: boolean): boolean =>
  node.type === 'variable' && (node.value === '$' || (node.value === '' && !inner))

function readsWhole(node: Node, inner: boolean): boolean {
  if (namesMessage(node, inner) || node.type === 'parent') return true
  if (node.type === 'variable' && node.value === 'eval') return true
  if (inner) return false
  if (node.type === 'wildcard' || node.type === 'descendant') return true
  const enough = READS_CONTEXT[calledName(node) ?? '']
  return enough !== undefined && (node.arguments ?? []).length < enough
}

function leadingNames(steps: readonly Node[]): string[] {
  const names: string[] = []
  for (const step of steps) {
    if (step.type !== 'name' || typeof step.value !== 'string') break
    names.push(step.value)
    if (isFiltered(step)) break
  }
  return names
}

/** One sentence for the first name that is called or read and does not exist; undefined where all do. */
export function unknownName(tree: Node, builtIns: readonly string[]): string | undefined {
  const bound = new Set<string>(['', '$'])
  const sites: { name: string; position: number | undefined; call: boolean }[] = []
  let evaluates = false
  let bare: string | undefined
  walk(tree, (node, inner) => {
    for (const name of namesBoundBy(node)) bound.add(name)
    if (node.type === 'variable' && typeof node.value === 'string') {
      if (node.value === 'eval') evaluates = true
      sites.push({ name: node.value, position: node.position, call: false })
    }
    const called = calledName(node)
    if (called !== undefined) sites.push({ name: called, position: node.procedure?.position, call: true })
    const [head, next] = node.type === 'function' && !inner ? (node.procedure?.steps ?? []) : []
    if (next === undefined && typeof head?.value === 'string' && builtIns.includes(head.value)) {
      bare ??= `"${head.value}" is called without its "$"; write "$${head.value}"${near(head.position)}.`
    }
  })
  if (bare !== undefined) return bare
  const unknown = sites.filter(({ name }) => !bound.has(name) && !builtIns.includes(name))
  const site = unknown.find(({ call }) => call) ?? (evaluates ? undefined : unknown[0])
  if (site === undefined) return undefined
  const meant = nearest(site.name, [...builtIns, ...bound])
  const hint = meant === undefined || meant === '' ? '' : `; did you mean "$${meant}"?`
  const what = site.call ? 'There is no function' : 'There is no variable'
  const otherwise = site.call ? '.' : '; bind it with ":=", or read a field of the message without "$".'
  return `${what} "$${site.name}"${near(site.position)}${hint === '' ? otherwise : hint}`
}

const near = (position: number | undefined) => (position === undefined ? '' : ` (near character ${position})`)

/**
 * Whether running the expression may write to its input, which it must then get a copy of.
 *
 * JSONata marks arrays that `[]` keeps, pushes to empty arrays that it groups or that are the context of an object
 * constructor, marks what is called and is no function, and trusts `$clone` to copy even where the expression binds it.
 */
export function mayWrite(tree: Node, builtIns: readonly string[]): boolean {
  const lambdas = new Set<string>()
  const others = new Set<string>()
  walk(tree, (node) => {
    const isLambda = node.type === 'bind' && node.rhs?.type === 'lambda'
    for (const name of namesBoundBy(node)) (isLambda ? lambdas : others).add(name)
  })
  const isFunction = (name: string) => !others.has(name) && (lambdas.has(name) || builtIns.includes(name))
  let writes = lambdas.has('clone') || others.has('clone')
  walk(tree, (node, inner) => {
    if (node.keepArray || node.keepSingletonArray || node.group !== undefined) writes = true
    if (node.type === 'unary' && node.value === '{' && inner) writes = true
    if (node.type === 'variable' && node.value === 'eval') writes = true
    if (node.type !== 'function' && node.type !== 'partial') return
    const name = calledName(node)
    if (node.procedure?.type !== 'lambda' && (name === undefined || !isFunction(name))) writes = true
  })
  return writes
}
