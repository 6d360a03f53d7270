/** The parts of a JSONata syntax tree that the service relies on (jsonata 2.2.2, processAST in its parser). */

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

/** `inner`: the engine evaluates the part once for each item of a list, so its names are no roots of the message. */
type Part = Readonly<{ node: Node; inner: boolean }>

export function partsOf(node: Node): Part[] {
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
export function namesBoundBy(node: Node): string[] {
  const names: unknown[] = [node.focus, node.index]
  if (node.type === 'bind' && !Array.isArray(node.lhs)) names.push(node.lhs?.value)
  if (node.type === 'lambda') names.push(...(node.arguments ?? []).map((parameter) => parameter.value))
  for (const stage of node.stages ?? []) if (stage.type === 'index') names.push(stage.value)
  return names.filter((name) => typeof name === 'string')
}

/** The variable that a call or a partial application calls; undefined if it calls something else. */
export function calledName(node: Node): string | undefined {
  if (node.type !== 'function' && node.type !== 'partial') return undefined
  const name = node.procedure?.type === 'variable' ? node.procedure.value : undefined
  return typeof name === 'string' ? name : undefined
}
