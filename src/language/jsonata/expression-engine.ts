/**
 * One running instance of the JSONata engine for an expression. An instance keeps the time, the limits and the bindings
 * of its evaluation, so it must not run twice at once; whoever opens instances sees to that.
 */
import jsonata from 'jsonata'
import { fault, found, type Result } from '../../domain/lint.ts'
import { PatternTooCostly } from '../re2-pattern.ts'
import { LimitReached } from './expression-fault.ts'
import {
  type ArgumentGuard,
  BUILT_INS,
  type BuiltIn,
  type Focus,
  guarded,
  ORDER_BY,
  orderByBuiltIn,
} from './expression-functions.ts'
import { doublesTooOften, harden, type Marks } from './expression-harden.ts'
import { type HoistedPath, hoistPaths } from './expression-paths.ts'
import { type KnownSizes, sizeOf, TEXT_LIMIT, tooLong } from './expression-size.ts'
import type { Node } from './expression-tree.ts'

export type ExpressionLimits = Readonly<{
  /** For one evaluation. */
  timeoutMs: number
  /** Steps under way at once: levels of calls and of nested parts, and parts side by side, which the engine counts too. */
  maxDepth: number
  /** Items of any list that an expression builds. */
  maxSequence: number
}>

export type Instance = Readonly<{
  /** What `run` must be given the values of, in this order. */
  paths: readonly HoistedPath[]
  /** What the engine finds; rejects with whatever it throws. After a rejection, `stop` the instance and drop it. */
  run(input: unknown, values: readonly unknown[]): Promise<unknown>
  /** Lets go of the values that it was given. */
  rest(): void
  /** Branches of a failed evaluation go on by themselves: this ends them at their next step. */
  stop(): void
}>

type Environment = Readonly<{ lookup(name: string | symbol): unknown }>

/** The engine's own hooks: called around every step with its node, input, environment and result. */
const ON_ENTRY = Symbol.for('jsonata.__evaluate_entry') as unknown as string
const ON_EXIT = Symbol.for('jsonata.__evaluate_exit') as unknown as string

const EXPRESSION_LIMIT = 65_536

/** Parses a text; throws what the engine throws, or LimitReached where it must not be parsed. */
export function parseTree(text: string): Node {
  if (text.length > EXPRESSION_LIMIT) {
    throw new LimitReached(`An expression may have at most ${EXPRESSION_LIMIT.toLocaleString('en')} characters`)
  }
  if (doublesTooOften(text)) {
    throw new LimitReached('The left side of "??" or "?:" nests too many of them; bind parts of it to variables')
  }
  return jsonata(text).ast() as Node
}

/**
 * Opens an instance, whose plain paths are read beforehand where it `hoists` them. Fails with one sentence for what
 * `harden` refuses. The text must parse.
 */
export function openInstance(text: string, limits: ExpressionLimits, hoists: boolean): Result<Instance> {
  const state = { deadlineAt: 0, known: new WeakMap() as KnownSizes }
  const guard: ArgumentGuard = {
    maxSequence: limits.maxSequence,
    checkTime: () => {
      if (Date.now() <= state.deadlineAt) return
      throw new LimitReached(`The expression took longer than ${limits.timeoutMs} milliseconds`)
    },
  }
  const marks: Marks = { growing: new WeakSet(), patterns: new WeakMap() }
  const options = {
    timeout: limits.timeoutMs,
    stack: limits.maxDepth,
    sequence: limits.maxSequence,
    RegexEngine: regexEngine(marks, guard),
  }
  const engine = jsonata(text, options)
  const wrong = harden(engine.ast() as Node, marks)
  if (wrong !== undefined) return fault(wrong)
  const paths = hoists ? hoistPaths(engine.ast() as Node) : []
  bindFunctions(engine, guard, marks)
  engine.assign(ON_EXIT, (node: object, _input: unknown, _environment: unknown, result: unknown) => {
    if (typeof result === 'string') {
      if (result.length > TEXT_LIMIT) throw tooLong()
    } else if (typeof result === 'object' && result !== null && marks.growing.has(node)) {
      state.known.set(result, sizeOf(result, state.known))
    }
  })
  const assign = (values: readonly unknown[]) => {
    for (let at = 0; at < paths.length; at++) engine.assign(paths[at]?.variable ?? '', values[at])
  }
  return found({
    paths,
    rest: () => assign([]),
    run(input, values) {
      assign(values)
      state.known = new WeakMap()
      state.deadlineAt = Date.now() + limits.timeoutMs
      return engine.evaluate(input)
    },
    stop() {
      state.deadlineAt = 0
      // The engine looks at it before each step, and takes 0 for none.
      options.timeout = Number.MIN_VALUE
    },
  })
}

function bindFunctions(engine: jsonata.Expression, guard: ArgumentGuard, marks: Marks): void {
  const environment = environmentOf(engine)
  for (const name of BUILT_INS) {
    const original = environment.lookup(name) as BuiltIn
    const own = name === 'eval' ? { ...original, implementation: evaluateText(marks) } : original
    engine.assign(name, guarded(name, own, guard))
  }
  engine.assign(ORDER_BY, { _jsonata_function: true, ...guarded(ORDER_BY, orderByBuiltIn(), guard) })
}

const NO_LIMIT: ArgumentGuard = { maxSequence: Number.POSITIVE_INFINITY, checkTime: () => undefined }

let environment: Environment | undefined

/** A built-in that needs no evaluation around it, guarded but for the time that it takes. */
export function builtInOf(name: string): (...values: readonly unknown[]) => unknown {
  environment ??= environmentOf(jsonata('null'))
  const { implementation } = guarded(name, environment.lookup(name) as BuiltIn, NO_LIMIT)
  return implementation as (...values: readonly unknown[]) => unknown
}

/** The frame that built-ins are found in. The engine shows it to its hooks alone, the first time before it ever waits. */
function environmentOf(engine: jsonata.Expression): Environment {
  let environment: Environment | undefined
  engine.assign(ON_ENTRY, (_node: unknown, _input: unknown, current: Environment) => {
    environment = current
    throw new LimitReached('The environment was asked for')
  })
  engine.evaluate({}).catch(() => {})
  engine.assign(ON_ENTRY, undefined)
  if (environment === undefined) throw new TypeError('The installed JSONata engine has no evaluation hooks.')
  return environment
}

/**
 * `$eval`, hardened as the expression itself is: gives the engine a tail call of a function whose body is the text.
 * It sees the variables around it; what it binds stays its own.
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

/** A stand-in for RegExp with the parts that the engine uses: `lastIndex` and `exec`, on linear-time patterns. */
function regexEngine({ patterns }: Marks, guard: ArgumentGuard): RegExpConstructor {
  function LinearRegExp(expression: RegExp) {
    const pattern = patterns.get(expression)
    if (pattern === undefined) throw new LimitReached('The regular expression was not compiled')
    const find = pattern.finder()
    const engine = {
      lastIndex: 0,
      exec(text: string) {
        guard.checkTime()
        const match = findIn(text)
        engine.lastIndex = match === undefined ? 0 : match.start + match.text.length
        return match === undefined ? null : Object.assign([match.text, ...match.groups], { index: match.start })
      },
    }
    const findIn = (text: string) => {
      try {
        return find(text, engine.lastIndex)
      } catch (thrown) {
        throw thrown instanceof PatternTooCostly ? new LimitReached(thrown.message) : thrown
      }
    }
    return engine
  }
  return LinearRegExp as unknown as RegExpConstructor
}
