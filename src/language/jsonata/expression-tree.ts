/**
 * The parts of a JSONata syntax tree that the service relies on (jsonata 2.2.2, processAST in its parser), and what the
 * tree alone shows of an expression: what it reads of the message, which unknown names it has, and whether it may write to
 * its input (JSONata 2.2.2 does in places).
 */
import { nearest } from '../../core/nearest.ts'

export type Node = {
  type: string
  value?: unknown
  position?: number
  keepArray?: boolean
  keepSingletonArray?: boolean
  steps?: Node[]
  /** Filters of a step in a path. */
  stages?: Node[]
  /** Filters of a node outside a path. */
  predicate?: Node[]
  /** The expression of a filter. */
  expr?: Node
  group?: { lhs: [Node, Node][]; position?: number }
  terms?: SortTerm[]
  lhs?: Node | [Node, Node][]
  rhs?: Node
  expression?: Node
  expressions?: Node[]
  procedure?: Node
  arguments?: Node[]
  body?: Node
  signature?: { definition?: string }
  condition?: Node
  then?: Node
  else?: Node
  pattern?: Node
  update?: Node
  delete?: Node
  tuple?: boolean
  focus?: string
  index?: string
}

type SortTerm = { descending: boolean; expression: Node }

/** `inner`: the engine evaluates the part once for each item of a list, so its names aren't roots of the message. */
type Part = Readonly<{ node: Node; inner: boolean }>

function listParts(node: Node): Part[] {
  const parts: Part[] = []
  const add = (inner: boolean, ...nodes: readonly (Node | undefined)[]) => {
    for (const part of nodes) if (part !== undefined) parts.push({ node: part, inner })
  }
  node.steps?.forEach((step, index) => {
    add(index > 0, step)
  })
  if (Array.isArray(node.lhs)) for (const pair of node.lhs) add(false, ...pair)
  // The left of `:=` is a name, no expression.
  else if (node.type !== 'bind') add(false, node.lhs)
  add(false, node.rhs, node.expression, ...(node.expressions ?? []))
  add(false, node.procedure)
  // The arguments of a lambda are names.
  if (node.type !== 'lambda') add(false, ...(node.arguments ?? []))
  add(false, node.body, node.condition, node.then, node.else)
  add(true, node.pattern, node.update, node.delete)
  for (const filter of [...(node.predicate ?? []), ...(node.stages ?? [])]) add(true, filter.expr)
  for (const term of node.terms ?? []) add(true, term.expression)
  for (const pair of node.group?.lhs ?? []) add(true, ...pair)
  return parts
}

/** Names that a node binds: variables of `:=`, parameters, and those of `@` and `#`. */
function namesBoundBy(node: Node): string[] {
  const names: unknown[] = [node.focus, node.index]
  if (node.type === 'bind' && !Array.isArray(node.lhs)) names.push(node.lhs?.value)
  if (node.type === 'lambda') names.push(...(node.arguments ?? []).map((parameter) => parameter.value))
  for (const stage of node.stages ?? []) if (stage.type === 'index') names.push(stage.value)
  return names.filter((name) => typeof name === 'string')
}

/** The variable that a call or a partial application calls; undefined if it calls something else. */
function calledName(node: Node): string | undefined {
  if (node.type !== 'function' && node.type !== 'partial') return undefined
  const name = node.procedure?.type === 'variable' ? node.procedure.value : undefined
  return typeof name === 'string' ? name : undefined
}

export type ExpressionReads = Readonly<{
  roots: ReadonlySet<string> | undefined
  references: readonly (readonly string[])[]
}>

/** Built-ins that read the context if called with fewer arguments than this. */
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

/**
 * Calls `visit` for each node before its parts, in the order written. `inner`: whether the node or one above it is an inner
 * part (`Part`). `depth`: 1 for the root.
 */
export function walk(node: Node, visit: (node: Node, inner: boolean, depth: number) => void, inner = false, depth = 1) {
  visit(node, inner, depth)
  for (const part of listParts(node)) walk(part.node, visit, inner || part.inner, depth + 1)
}

/** True if an object of the expression has a key that may find nothing. */
export function hasComputedKey(tree: Node): boolean {
  let found = false
  walk(tree, ({ lhs, group }) => {
    const pairs = [...(Array.isArray(lhs) ? lhs : []), ...(group?.lhs ?? [])]
    found ||= pairs.some(([key]) => !givesText(key))
  })
  return found
}

/** True if the expression always gives a text, or fails. `guarded`: what exists where it is evaluated. */
function givesText(node: Node, guarded?: Node): boolean {
  if (node.type === 'string' || (node.type === 'binary' && node.value === '&')) return true
  if (guarded !== undefined && isSame(node, guarded)) return true
  if (node.type === 'block') {
    const last = node.expressions?.at(-1)
    return last !== undefined && givesText(last, guarded)
  }
  if (node.type === 'condition') {
    const { condition, then, else: otherwise } = node
    if (then === undefined || otherwise === undefined) return false
    const exists = condition !== undefined && calledName(condition) === 'exists' ? condition.arguments?.[0] : undefined
    return givesText(then, exists) && givesText(otherwise)
  }
  const called = calledName(node)
  if (called === 'error') return true
  // Both give nothing for nothing.
  const [first] = node.arguments ?? []
  if ((called !== 'string' && called !== 'join') || first === undefined) return false
  return givesText(first) || (first.type === 'unary' && first.value === '[')
}

const isSame = (one: Node, other: Node): boolean => withoutPositions(one) === withoutPositions(other)

const withoutPositions = (node: Node): string =>
  JSON.stringify(node, (name, value: unknown) => (name === 'position' ? undefined : value))

/** What the fields `roots` and `references` of an Expression hold. */
export function collectReads(tree: Node): ExpressionReads {
  const { paths, isWhole } = collectPaths(tree)
  const references = paths.map(leadingNames)
  return { roots: isWhole ? undefined : new Set(references.flatMap(([root = '']) => root)), references }
}

/**
 * The paths that start at a root of the message, as their steps from that root on. `isWhole`: the expression reads the
 * whole message besides, so that what it reads of it cannot be known.
 */
export function collectPaths(tree: Node): Readonly<{ paths: readonly (readonly Node[])[]; isWhole: boolean }> {
  const paths: (readonly Node[])[] = []
  const heads = new Set<Node>()
  let isWhole = false
  walk(tree, (node, inner) => {
    const [first, second] = node.steps ?? []
    if (first?.type === 'name' && !inner) paths.push(node.steps ?? [])
    else if (first !== undefined && namesMessage(first, inner) && second?.type === 'name' && !isFiltered(first)) {
      heads.add(first)
      paths.push(node.steps?.slice(1) ?? [])
    }
    if (readsWhole(node, inner) && !heads.has(node)) isWhole = true
  })
  return { paths: paths.filter((steps) => leadingNames(steps).length > 0), isWhole }
}

const isFiltered = (step: Node) => step.predicate !== undefined || step.stages !== undefined

/** `$$` anywhere, `$` outside of inner parts. */
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

/** One sentence for the first name that the expression calls or reads and that does not exist; undefined if all exist. */
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
  const advice = site.call ? '.' : '; bind it with ":=", or read a field of the message without "$".'
  const hint = meant === undefined || meant === '' ? advice : `; did you mean "$${meant}"?`
  return `There is no ${site.call ? 'function' : 'variable'} "$${site.name}"${near(site.position)}${hint}`
}

const near = (position: number | undefined) => (position === undefined ? '' : ` (near character ${position})`)

/**
 * True if the expression may write to its input, so that it must get a copy.
 *
 * JSONata marks arrays that `[]` keeps, pushes to empty arrays that it groups or that are the context of an object
 * constructor, marks a value that is called and isn't a function, and relies on `$clone` even if the expression binds it.
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

type TableCall = Readonly<{ given: readonly Node[]; position: number | undefined }>

/** The calls of `$table`, unless the expression binds a variable of that name. */
function listTableCalls(tree: Node): readonly TableCall[] {
  const calls: TableCall[] = []
  const applied = new Map<Node | undefined, Node>()
  let isBound = false
  walk(tree, (node) => {
    isBound ||= namesBoundBy(node).includes('table')
    if (node.type === 'apply' && node.lhs !== undefined && !Array.isArray(node.lhs)) applied.set(node.rhs, node.lhs)
    if (calledName(node) !== 'table') return
    const first = applied.get(node)
    const given = node.arguments ?? []
    calls.push({ given: first === undefined ? given : [first, ...given], position: node.procedure?.position })
  })
  return isBound ? [] : calls
}

/** One sentence for the first call of `$table` with too few or too many arguments. */
export function wrongTableCall(tree: Node): string | undefined {
  const wrong = listTableCalls(tree).find(({ given }) => given.length < 2 || given.length > 4)
  if (wrong === undefined) return undefined
  return `$table takes a table and a code, and if you like a column and what to use for an unknown code, not ${wrong.given.length} arguments${near(wrong.position)}.`
}

/** The tables, and their columns, that the expression names; a name that it computes is left out. */
export const collectTables = (tree: Node): readonly Readonly<{ table: string; column: string | undefined }>[] =>
  listTableCalls(tree).flatMap(({ given: [table, , column] }) =>
    table?.type === 'string'
      ? [{ table: String(table.value), column: column?.type === 'string' ? String(column.value) : undefined }]
      : [],
  )
