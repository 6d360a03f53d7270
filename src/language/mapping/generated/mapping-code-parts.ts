/** The parts of a mapping's code: reading a value of the message, and writing one into the output. */
import { elementAt, elementOrField, isArray, isInherited, ownField } from '../../paths/path-read.ts'
import { isElementName, type PathStep } from '../../paths/path-steps.ts'
import type { TargetStep } from '../target.ts'
import { BYTES_PER_VALUE } from '../target-budget.ts'

/** Code while it is generated. `bound`: values that the text refers to as `b0`, `b1`, … */
export type Code = { readonly bound: unknown[]; locals: number; readonly shapes: string[] }

export const startCode = (): Code => ({
  bound: [isArray, elementAt, ownField, Object.freeze({}), Object.prototype],
  locals: 0,
  shapes: [],
})

const IS_ARRAY = 'b0'
const ELEMENT_AT = 'b1'
const OWN_FIELD = 'b2'
/** An empty object, which replaces a value without fields. */
const NOTHING = 'b3'
const PROTOTYPE = 'b4'

export function bind(code: Code, value: unknown): string {
  const at = code.bound.indexOf(value)
  return `b${at === -1 ? code.bound.push(value) - 1 : at}`
}

/**
 * The expression for a field's name: a literal if the name cannot be code, else a bound value. V8 looks bound names up in a
 * slow way once it has seen objects of several shapes there.
 */
const nameOf = (code: Code, name: string): string => (/^[\w-]+$/.test(name) ? `'${name}'` : bind(code, name))

export const newLocal = (code: Code): string => `v${code.locals++}`

/**
 * The expression that makes a plain object. Each has a constructor of its own, from which V8 learns how many fields to make
 * room for: filling `{}` with sixteen fields takes six times as long.
 */
export function newObject(code: Code): string {
  const shape = `s${code.shapes.length}`
  code.shapes.push(`function ${shape}() {} ${shape}.prototype = ${PROTOTYPE};`)
  return `new ${shape}()`
}

export const arrayTest = (text: string): string => `${IS_ARRAY}(${text})`

/** A value to read from, with the parts of it that the code has read already. */
export type ReadScope = Readonly<{
  /** The local of the object that the steps start at. */
  from: string
  lines: string[]
  /** The local of each object that fields are read from, by the steps to it. */
  objects: Map<string, string>
  /** The statement for an array where a path has a name: closures read the field of each element. */
  giveUp: string
}>

export const startReadScope = (from: string, giveUp: string): ReadScope => ({
  from,
  lines: [],
  objects: new Map(),
  giveUp,
})

/** Whether steps lead to one value, so that `valueAt` can read them. */
export const isStraight = (steps: readonly PathStep[]): boolean =>
  steps.length > 0 && steps.every(({ kind }) => kind === 'name' || kind === 'index')

/** The expression that reads straight steps. The scope's lines read each object on the way once. */
export function valueAt(code: Code, scope: ReadScope, steps: readonly PathStep[]): string {
  const step = steps.at(-1)
  const before = steps.slice(0, -1)
  if (step?.kind === 'index') return `${ELEMENT_AT}(${valueAt(code, scope, before)}, ${step.index})`
  if (step?.kind !== 'name') return scope.from
  if (isElementName(step.name)) return `${bind(code, elementOrField)}(${valueAt(code, scope, before)}, '${step.name}')`
  const object = objectAt(code, scope, before)
  const name = nameOf(code, step.name)
  return isInherited(step.name) ? `${OWN_FIELD}(${object}, ${name})` : `${object}[${name}]`
}

function objectAt(code: Code, scope: ReadScope, steps: readonly PathStep[]): string {
  if (steps.length === 0) return scope.from
  const key = JSON.stringify(steps)
  const known = scope.objects.get(key)
  if (known !== undefined) return known
  const local = newLocal(code)
  scope.lines.push(`let ${local} = ${valueAt(code, scope, steps)};`, objectTest(local, scope.giveUp))
  scope.objects.set(key, local)
  return local
}

/** The statement that makes a local an object from which fields can be read. */
export const objectTest = (local: string, giveUp: string): string =>
  `if (typeof ${local} !== 'object' || ${local} === null) ${local} = ${NOTHING}; else if (${arrayTest(local)}) ${giveUp};`

/** An object or array of the output, or a list that is only appended to. */
type OutputNode = Readonly<{
  kind: 'object' | 'array' | 'list'
  /** Holds the object or array after the first write; undefined before. */
  local: string
  /** The code that makes it unless it exists. */
  make: string
  /** The code that reads it from the output, after closures may have made it. */
  reload: string
  inner: Map<string, OutputNode | End>
}>

/** A whole value, or an array that another one is spread over. */
type End = 'value' | 'spread'

/** An object of the output to write into, with its locals. `addedBytes`: counts the nulls before an index, as `charge` does. */
export type WriteScope = Readonly<{ root: OutputNode; locals: string[]; addedBytes: string }>

export const startWriteScope = (local: string, make: string, addedBytes: string): WriteScope => ({
  root: { kind: 'object', local, make, reload: '', inner: new Map() },
  locals: [],
  addedBytes,
})

/** The end of some steps: a value, a list to append to, or an array to spread over, with the steps `within` its elements. */
export type Destination = Readonly<{
  kind: End | 'list'
  /** The statement that writes the value of a local. */
  write(local: string): string
  /** The code that reads the objects and arrays on the way from the output. */
  reload: string
  /** The steps to the array, as text. */
  key: string
  within: readonly TargetStep[]
}>

/** Closures write targets beyond these, so that the code stays short and one entry adds few nulls. */
const INDEX_MAX = 100
const STEPS_MAX = 16

/**
 * The end of these steps. Undefined if earlier entries wrote another kind of value on the way, which may belong to the message,
 * or a value at the end: closures copy such a value before they change it, and compare the shape of one that they replace.
 */
export function findDestination(
  code: Code,
  writeScope: WriteScope,
  steps: readonly TargetStep[],
): Destination | undefined {
  if (steps.length > STEPS_MAX) return undefined
  let at = writeScope.root
  for (const [index, step] of steps.entries()) {
    const kind = kindOf(steps.slice(index + 1))
    const before = at.inner.get(JSON.stringify(step))
    const beforeKind = typeof before === 'object' ? before.kind : before
    if (
      kind === undefined ||
      (kind === beforeKind && kind === 'value') ||
      (before !== undefined && beforeKind !== kind)
    )
      return undefined
    if (kind === 'value' || kind === 'spread') {
      const { make, reload } = at
      at.inner.set(JSON.stringify(step), kind)
      const write = (local: string) => `${make} ${assign(code, writeScope, at, step, local)}`
      return { kind, write, reload, key: JSON.stringify(steps.slice(0, index + 1)), within: steps.slice(index + 2) }
    }
    at = typeof before === 'object' ? before : newNode(code, writeScope, at, step, kind)
    const { local, make, reload } = at
    if (kind === 'list') {
      return { kind, write: (value) => `${make} ${local}.push(${value});`, reload, key: '', within: [] }
    }
  }
  return undefined
}

/** What must stand before these steps. */
function kindOf([next, ...others]: readonly TargetStep[]): OutputNode['kind'] | End | undefined {
  if (next === undefined) return 'value'
  if (next.kind === 'name') return 'object'
  if (next.kind === 'index') return next.index <= INDEX_MAX ? 'array' : undefined
  return others.length === 0 ? 'list' : 'spread'
}

function newNode(
  code: Code,
  writeScope: WriteScope,
  at: OutputNode,
  step: TargetStep,
  kind: OutputNode['kind'],
): OutputNode {
  const local = newLocal(code)
  writeScope.locals.push(local)
  const made = `${local} = ${kind === 'object' ? newObject(code) : '[]'}`
  const make = `if (${local} === undefined) { ${at.make} ${assign(code, writeScope, at, step, made)} }`
  const key = keyOf(code, step)
  const isOwn = step.kind === 'name' && isInherited(step.name)
  const existing = isOwn ? `${OWN_FIELD}(${at.local} ?? ${NOTHING}, ${key})` : `${at.local}?.[${key}]`
  const reload = `${at.reload} ${local} = ${existing} ?? undefined;`
  const node: OutputNode = { kind, local, make, reload, inner: new Map() }
  at.inner.set(JSON.stringify(step), node)
  return node
}

function assign(
  code: Code,
  { addedBytes }: WriteScope,
  { local }: OutputNode,
  step: TargetStep,
  value: string,
): string {
  const index = step.kind === 'index' ? step.index : 0
  const fillOne = `{ ${local}.push(null); ${addedBytes} += ${BYTES_PER_VALUE}; }`
  const fill = index === 0 ? '' : `while (${local}.length < ${index}) ${fillOne} `
  return `${fill}${local}[${keyOf(code, step)}] = ${value};`
}

const keyOf = (code: Code, step: TargetStep): string =>
  step.kind === 'name' ? nameOf(code, step.name) : String(step.kind === 'index' ? step.index : 0)
