/**
 * One instance of the JSONata engine for an expression. An instance holds the deadline, the limits and the bindings of its
 * evaluation, so the caller must not run it twice at once.
 */
import jsonata from 'jsonata'
import { fault, found, type Result } from '../../core/lint.ts'
import type { Translate } from '../../core/tables/table-reads.ts'
import { compilePattern, type Pattern } from '../re2-pattern.ts'
import {
  BUILT_INS,
  type BuiltIn,
  type CallLimits,
  type Environment,
  type Focus,
  ORDER_BY,
  OWN_BUILT_INS,
  orderByBuiltIn,
  TABLES,
  withLimits,
} from './expression-functions.ts'
import {
  type KnownSizes,
  LimitReached,
  measureSize,
  TEXT_LIMIT,
  TimeLimitReached,
  tooLong,
} from './expression-limits.ts'
import { collectReads, collectTables, type ExpressionReads, type Node, walk } from './expression-tree.ts'

export type ExpressionLimits = Readonly<{
  timeoutMs: number
  /**
   * Steps that may run at once: levels of calls and of nested parts, and parts side by side, which the engine counts too.
   */
  maxDepth: number
  /** Items of any list that an expression builds. */
  maxSequence: number
  /**
   * Runs each evaluation of the engine, with a limit of its own. Evaluations that start together alternate at every step,
   * so that each takes the time of all; by default nothing prevents that.
   */
  runExclusive?: (<T>(work: (timeoutMs: number) => Promise<T>) => Promise<T>) | undefined
}>

export type Instance = Readonly<{
  /** Rejects with what the engine throws; the caller then stops the instance and drops it. */
  run(input: unknown, timeoutMs: number, translate?: Translate): Promise<unknown>
  /** Ends the other branches of a failed evaluation at their next step: the engine lets them run on. */
  stop(): void
}>

/** The engine calls these hooks around every step with its node, input, environment and result. */
const ON_ENTRY = Symbol.for('jsonata.__evaluate_entry') as unknown as string
const ON_EXIT = Symbol.for('jsonata.__evaluate_exit') as unknown as string

const EXPRESSION_LIMIT = 65_536

/** Throws what the engine throws, or LimitReached for a text that would take too long to parse. */
export function parseTree(text: string): Node {
  if (text.length > EXPRESSION_LIMIT) {
    throw new LimitReached(`An expression may have at most ${EXPRESSION_LIMIT.toLocaleString('en')} characters`)
  }
  if (doublesTooOften(text)) {
    throw new LimitReached('The left side of "??" or "?:" nests too many of them; bind parts of it to variables')
  }
  return jsonata(text).ast() as Node
}

/** What an expression reads; nothing if it does not parse, which is a fault of its stage. */
export function collectTextReads(text: string): ExpressionReads {
  try {
    return collectReads(parseTree(text))
  } catch {
    return { roots: new Set(), references: [] }
  }
}

/** The tables that an expression names; none if it does not parse. */
export function collectTextTables(text: string): ReturnType<typeof collectTables> {
  try {
    return collectTables(parseTree(text))
  } catch {
    return []
  }
}

/**
 * In: a text that `parseTree` accepts; `ambient` if its evaluations take time and chance from there. Fails with one
 * sentence for an expression that `harden` refuses.
 */
export function openInstance(text: string, limits: ExpressionLimits, ambient?: () => Ambient): Result<Instance> {
  const state = { deadlineAt: 0, known: new WeakMap() as KnownSizes }
  const callLimits: CallLimits = {
    maxSequence: limits.maxSequence,
    checkTime: () => {
      if (Date.now() <= state.deadlineAt) return
      throw new TimeLimitReached(`The expression took longer than ${limits.timeoutMs} milliseconds`)
    },
  }
  const marks: Marks = { growing: new WeakSet(), patterns: new WeakMap() }
  const options = {
    // Each run sets its own. The functions are bound without one: the process may pause meanwhile.
    timeout: 0,
    stack: limits.maxDepth,
    sequence: limits.maxSequence,
    RegexEngine: regexEngine(marks, callLimits),
  }
  const engine = jsonata(text, options)
  const wrong = harden(engine.ast() as Node, marks)
  if (wrong !== undefined) return fault(wrong)
  bindFunctions(engine, callLimits, marks)
  const start = ambient && bindAmbient(engine, text, ambient, callLimits)
  engine.assign(ON_EXIT, (node: object, _input: unknown, _environment: unknown, result: unknown) => {
    if (typeof result === 'string') {
      if (result.length > TEXT_LIMIT) throw tooLong()
    } else if (typeof result === 'object' && result !== null && marks.growing.has(node)) {
      state.known.set(result, measureSize(result, state.known))
    }
  })
  return found({
    run(input, timeoutMs, translate) {
      engine.assign(TABLES, translate && bounded(translate))
      state.known = new WeakMap()
      state.deadlineAt = Date.now() + timeoutMs
      options.timeout = timeoutMs
      start?.()
      return engine.evaluate(input)
    },
    stop() {
      state.deadlineAt = 0
      // The engine checks it before each step, and reads 0 as no timeout.
      options.timeout = Number.MIN_VALUE
    },
  })
}

/** Of one evaluation: each one of an isolated process takes time of the thread of messages. */
export const MAX_TRANSLATIONS = 10_000

function bounded(translate: Translate): Translate {
  let left = MAX_TRANSLATIONS
  return (...asked) => {
    left -= 1
    if (left >= 0) return translate(...asked)
    throw new LimitReached(`The expression calls $table more than ${MAX_TRANSLATIONS.toLocaleString('en')} times`)
  }
}

function bindFunctions(engine: jsonata.Expression, limits: CallLimits, marks: Marks): void {
  const environment = captureEnvironment(engine)
  for (const name of BUILT_INS) {
    const original = environment.lookup(name) as BuiltIn
    const own = name === 'eval' ? { ...original, implementation: evaluateText(marks) } : original
    engine.assign(name, withLimits(name, own, limits))
  }
  engine.assign(ORDER_BY, { _jsonata_function: true, ...withLimits(ORDER_BY, orderByBuiltIn(), limits) })
}

/** Out: called at the start of each evaluation. */
function bindAmbient(engine: jsonata.Expression, text: string, ambient: () => Ambient, limits: CallLimits): () => void {
  const environment = captureEnvironment(jsonata('null'))
  const builtIn = (name: string) => environment.lookup(name) as BuiltIn
  const { start, replace } = ambientBuiltIns(text, ambient, builtIn('fromMillis').implementation)
  for (const name of AMBIENT_BUILT_INS) engine.assign(name, withLimits(name, replace(name, builtIn(name)), limits))
  return start
}

const NO_LIMITS: CallLimits = { maxSequence: Number.POSITIVE_INFINITY, checkTime: () => undefined }

let environment: Environment | undefined

/** A built-in that runs outside an evaluation, with every limit but the deadline. */
export function findBuiltIn(name: string): (...values: readonly unknown[]) => unknown {
  environment ??= captureEnvironment(jsonata('null'))
  const { implementation } = withLimits(name, environment.lookup(name) as BuiltIn, NO_LIMITS)
  return implementation as (...values: readonly unknown[]) => unknown
}

type BuiltInSignature = Readonly<{
  name: string
  parameters: readonly string[]
  /** As JSONata writes it: https://docs.jsonata.org/embedding-extending#function-signature-syntax */
  signature: string
}>

/** The functions that every expression can call. */
export function describeBuiltIns(): readonly BuiltInSignature[] {
  environment ??= captureEnvironment(jsonata('null'))
  const { lookup } = environment
  return BUILT_INS.toSorted().map((name) => {
    const { implementation, signature } = lookup(name) as BuiltIn
    const [, list = ''] = /\(([^)]*)\)/.exec(implementation.toString()) ?? []
    const written = list.split(',').map((parameter) => parameter.split('=', 1)[0]?.trim() ?? '')
    const parameters = withoutBundlerNumbers(written.filter((parameter) => parameter !== ''))
    const { definition = '' } = (signature ?? {}) as { definition?: string }
    return { name, parameters, signature: definition }
  })
}

/** A bundler numbers parameters that are named as something of another module; names that differ by numbers alone keep them. */
function withoutBundlerNumbers(parameters: readonly string[]): readonly string[] {
  const plain = parameters.map((name) => name.replace(/\d+$/, ''))
  return new Set(plain).size === plain.length ? plain : parameters
}

/** The frame that holds the built-ins. The engine passes it to its hooks only, the first time before its first await. */
function captureEnvironment(engine: jsonata.Expression): Environment {
  let environment: Environment | undefined
  for (const { name, implementation, signature } of OWN_BUILT_INS)
    engine.registerFunction(name, implementation as BuiltIn['implementation'] as () => unknown, signature)
  engine.assign(ON_ENTRY, (_node: unknown, _input: unknown, current: Environment) => {
    environment = current
    throw new LimitReached('The environment was captured')
  })
  engine.evaluate({}).catch(() => {})
  engine.assign(ON_ENTRY, undefined)
  if (environment === undefined) throw new TypeError('The installed JSONata engine has no evaluation hooks.')
  return environment
}

/**
 * `$eval`, hardened like the expression itself: gives the engine a tail call of a function whose body is the text. The text
 * sees the variables of its call; variables that it binds are not visible outside.
 */
function evaluateText(marks: Marks): BuiltIn['implementation'] {
  return function $eval(this: Focus, expr: unknown, focus: unknown) {
    if (typeof expr !== 'string') return undefined
    let body: Node
    try {
      body = parseTree(expr)
    } catch {
      throw new LimitReached('The text given to $eval does not parse')
    }
    const wrong = harden(body, marks)
    if (wrong !== undefined) throw new LimitReached(wrong)
    let input = focus === undefined ? this.input : focus
    if (Array.isArray(input)) input = Object.assign(this.createSequence(input), { outerWrapper: true })
    const procedure = { type: 'lambda', arguments: [], body, position: 0 }
    const call = { type: 'function', procedure, arguments: [] }
    return { _jsonata_lambda: true, thunk: true, input, environment: this.environment, body: call, arguments: [] }
  }
}

/** Replaces RegExp in the engine, which uses `lastIndex` and `exec` only, by patterns in linear time. */
function regexEngine({ patterns }: Marks, limits: CallLimits): RegExpConstructor {
  function LinearRegExp(expression: RegExp) {
    const pattern = patterns.get(expression)
    if (pattern === undefined) throw new LimitReached('The regular expression was not compiled')
    const find = pattern.finder()
    const engine = {
      lastIndex: 0,
      exec(text: string) {
        limits.checkTime()
        const match = find(text, engine.lastIndex)
        engine.lastIndex = match === undefined ? 0 : match.start + match.text.length
        return match === undefined ? null : Object.assign([match.text, ...match.groups], { index: match.start })
      },
    }
    return engine
  }
  return LinearRegExp as unknown as RegExpConstructor
}

/** Facts about hardened trees, by node. The sets are weak, since `$eval` adds trees that live for one call. */
type Marks = Readonly<{
  /** Nodes whose results may be larger than their inputs; the engine's exit hook weighs these results. */
  growing: WeakSet<object>
  patterns: WeakMap<RegExp, Pattern>
}>

/** Steps of a path that read parts of their input and build nothing. */
const READING = new Set(['name', 'wildcard', 'number'])

/**
 * Hardens the tree and adds its marks. Out: one sentence for the first regular expression or function signature that
 * cannot run in bounded time.
 */
function harden(tree: Node, { growing, patterns }: Marks): string | undefined {
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
 * True if parsing the text would take exponential time. The engine copies the left side of `?:` and `??`, so a chain
 * nested to the left, `((a ?? b) ?? c) ?? d`, doubles with every level.
 */
function doublesTooOften(text: string): boolean {
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

/**
 * What an evaluation takes in place of the clock and of chance, if it must give the same result at every run: in tests of
 * documents. The built-ins that depend on them are replaced when the expression is compiled, so that others do not even
 * ask.
 */
export type Ambient = Readonly<{
  /** Milliseconds since the epoch. */
  nowMs: number
  /** Evaluations with the same seed and text draw the same numbers. */
  seed: string
}>

/** Built-ins that depend on the time, on chance or on the time zone of the machine. */
const AMBIENT_BUILT_INS = ['now', 'millis', 'toMillis', 'random', 'shuffle'] as const

type AmbientBuiltIns = Readonly<{
  /** Starts an evaluation: takes its time, and draws from the start again. */
  start(): void
  /** The built-in to use in place of the engine's own. */
  replace(name: string, original: BuiltIn): BuiltIn
}>

/** `text`: the expression. `formatMillis`: the engine's `$fromMillis`. */
function ambientBuiltIns(
  text: string,
  ambient: () => Ambient,
  formatMillis: BuiltIn['implementation'],
): AmbientBuiltIns {
  let nowMs = 0
  let random = (): number => 0
  const instead: Readonly<Record<string, (original: BuiltIn['implementation']) => BuiltIn['implementation']>> = {
    now: () =>
      function (this: Focus, picture, timezone) {
        return formatMillis.call(this, nowMs, picture, timezone)
      },
    millis: () => () => nowMs,
    random: () => () => random(),
    shuffle: () => (list) => (Array.isArray(list) ? shuffled(list, random) : list),
    toMillis: (original) =>
      function (this: Focus, time, ...pictures) {
        // The engine takes the parts that a picture lacks from the time of the evaluation.
        const environment = Object.assign(Object.create(this.environment as object), { timestamp: new Date(nowMs) })
        const given = pictures[0] === undefined && typeof time === 'string' ? withOffset(time) : time
        return original.apply({ ...this, environment }, [given, ...pictures])
      },
  }
  return {
    start: () => {
      const { nowMs: givenMs, seed } = ambient()
      nowMs = givenMs
      random = createRandom(`${seed}\n${text}`)
    },
    replace: (name, original) => {
      const own = instead[name]
      if (own === undefined) return original
      const implementation = own(original.implementation)
      // The engine reads the number and names of the parameters from these.
      Object.defineProperty(implementation, 'length', { value: original.implementation.length })
      implementation.toString = () => original.implementation.toString()
      return { ...original, implementation }
    },
  }
}

/** ECMAScript reads a time without an offset in the time zone of the machine (ECMA-262, section 21.4.3.2). */
const withOffset = (time: string): string => (/T\d\d:\d\d:\d\d(?:\.\d+)?$/.test(time) ? `${time}Z` : time)

/** Fisher and Yates. */
function shuffled(list: readonly unknown[], random: () => number): unknown[] {
  const items = [...list]
  for (let at = items.length - 1; at > 0; at -= 1) {
    const other = Math.floor(random() * (at + 1))
    const item = items[at]
    items[at] = items[other]
    items[other] = item
  }
  return items
}

/** Numbers from 0 to below 1: a counter through the finaliser of MurmurHash3, started at the FNV-1a hash of the seed. */
function createRandom(seed: string): () => number {
  let state = 0x811c9dc5
  for (let at = 0; at < seed.length; at += 1) state = Math.imul(state ^ seed.charCodeAt(at), 0x01000193)
  return () => {
    state = (state + 0x9e3779b9) | 0
    let mixed = Math.imul(state ^ (state >>> 16), 0x85ebca6b)
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
    return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32
  }
}
