/**
 * One instance of the JSONata engine for an expression. An instance holds the deadline, the limits and the bindings of its
 * evaluation, so the caller must not run it twice at once.
 */
import jsonata from 'jsonata'
import { fault, found, type Result } from '../../core/lint.ts'
import { AMBIENT_BUILT_INS, type Ambient, ambientBuiltIns } from './expression-ambient.ts'
import { type ExpressionReads, readsOf } from './expression-analysis.ts'
import { LimitReached, TimeLimitReached } from './expression-fault.ts'
import {
  BUILT_INS,
  type BuiltIn,
  type CallLimits,
  type Focus,
  ORDER_BY,
  orderByBuiltIn,
  withLimits,
} from './expression-functions.ts'
import { doublesTooOften, harden, type Marks } from './expression-harden.ts'
import { type KnownSizes, sizeOf, TEXT_LIMIT, tooLong } from './expression-size.ts'
import type { Node } from './expression-tree.ts'

export type ExpressionLimits = Readonly<{
  timeoutMs: number
  /** Steps that may run at once: levels of calls and of nested parts, and parts side by side, which the engine counts too. */
  maxDepth: number
  /** Items of any list that an expression builds. */
  maxSequence: number
  /**
   * Runs each evaluation of the engine, with a limit of its own. Evaluations that start together take turns at every step, so
   * that each takes the time of all; by default nothing prevents that.
   */
  takeTurn?: (<T>(work: (timeoutMs: number) => Promise<T>) => Promise<T>) | undefined
}>

export type Instance = Readonly<{
  /** Rejects with what the engine throws; the caller then stops the instance and drops it. */
  run(input: unknown, timeoutMs: number): Promise<unknown>
  /** Ends the other branches of a failed evaluation at their next step: the engine lets them run on. */
  stop(): void
}>

type Environment = Readonly<{ lookup(name: string | symbol): unknown }>

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
export function readsOfText(text: string): ExpressionReads {
  try {
    return readsOf(parseTree(text))
  } catch {
    return { roots: new Set(), references: [] }
  }
}

/**
 * In: a text that `parseTree` accepts; `ambient` if its evaluations take time and chance from there. Fails with one sentence
 * for an expression that `harden` refuses.
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
    timeout: limits.timeoutMs,
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
      state.known.set(result, sizeOf(result, state.known))
    }
  })
  return found({
    run(input, timeoutMs) {
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

function bindFunctions(engine: jsonata.Expression, limits: CallLimits, marks: Marks): void {
  const environment = environmentOf(engine)
  for (const name of BUILT_INS) {
    const original = environment.lookup(name) as BuiltIn
    const own = name === 'eval' ? { ...original, implementation: evaluateText(marks) } : original
    engine.assign(name, withLimits(name, own, limits))
  }
  engine.assign(ORDER_BY, { _jsonata_function: true, ...withLimits(ORDER_BY, orderByBuiltIn(), limits) })
}

/** Out: called at the start of each evaluation. */
function bindAmbient(engine: jsonata.Expression, text: string, ambient: () => Ambient, limits: CallLimits): () => void {
  const environment = environmentOf(jsonata('null'))
  const builtIn = (name: string) => environment.lookup(name) as BuiltIn
  const { start, replace } = ambientBuiltIns(text, ambient, builtIn('fromMillis').implementation)
  for (const name of AMBIENT_BUILT_INS) engine.assign(name, withLimits(name, replace(name, builtIn(name)), limits))
  return start
}

const NO_LIMITS: CallLimits = { maxSequence: Number.POSITIVE_INFINITY, checkTime: () => undefined }

let environment: Environment | undefined

/** A built-in that runs outside an evaluation, with every limit but the deadline. */
export function builtInOf(name: string): (...values: readonly unknown[]) => unknown {
  environment ??= environmentOf(jsonata('null'))
  const { implementation } = withLimits(name, environment.lookup(name) as BuiltIn, NO_LIMITS)
  return implementation as (...values: readonly unknown[]) => unknown
}

export type BuiltInSignature = Readonly<{
  name: string
  parameters: readonly string[]
  /** As JSONata writes it: https://docs.jsonata.org/embedding-extending#function-signature-syntax */
  signature: string
}>

/** The functions that every expression can call. */
export function describeBuiltIns(): readonly BuiltInSignature[] {
  environment ??= environmentOf(jsonata('null'))
  const { lookup } = environment
  return BUILT_INS.toSorted().map((name) => {
    const { implementation, signature } = lookup(name) as BuiltIn
    const [, list = ''] = /\(([^)]*)\)/.exec(implementation.toString()) ?? []
    const parameters = list.split(',').map((parameter) => parameter.split('=', 1)[0]?.trim() ?? '')
    const { definition = '' } = (signature ?? {}) as { definition?: string }
    return { name, parameters: parameters.filter((parameter) => parameter !== ''), signature: definition }
  })
}

/** The frame that holds the built-ins. The engine passes it to its hooks only, the first time before its first await. */
function environmentOf(engine: jsonata.Expression): Environment {
  let environment: Environment | undefined
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
