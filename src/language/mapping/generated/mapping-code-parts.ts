/** The parts that the code of a mapping is put together from: reading a field, and making the place for one. */
import type { Json } from '../../../domain/json.ts'
import { elementOrField, isArray } from '../../paths/path-read.ts'
import { isElementName, type PathStep } from '../../paths/path-steps.ts'
import type { TargetStep } from '../target.ts'
import { BYTES_PER_VALUE } from '../target-budget.ts'

/** Code while it is written. `bound`: values of the document, which the text only refers to, as `b0`, `b1`, … */
export type Code = { readonly bound: unknown[]; locals: number; readonly shapes: string[] }

export const startCode = (): Code => ({
  bound: [isArray, elementAt, ownField, Object.freeze({}), Object.prototype],
  locals: 0,
  shapes: [],
})

const IS_ARRAY = 'b0'
const ELEMENT_AT = 'b1'
const OWN_FIELD = 'b2'
/** Stands for what is no object: nothing is found in it. */
const NOTHING = 'b3'
const PROTOTYPE = 'b4'

export function bind(code: Code, value: unknown): string {
  const at = code.bound.indexOf(value)
  return `b${at === -1 ? code.bound.push(value) - 1 : at}`
}

/**
 * A name that fields are looked up by. It is written into the text where it can be no code: fields whose names are bound are
 * looked up by a slow way of the engine, once it has seen objects of several shapes there.
 */
const nameOf = (code: Code, name: string): string => (/^[\w-]+$/.test(name) ? `'${name}'` : bind(code, name))

export const newLocal = (code: Code): string => `v${code.locals++}`

/**
 * The expression that makes an object, a plain one. Each place has a constructor, since the engine learns by those how
 * much room objects will need: filling `{}` with sixteen fields takes six times as long.
 */
export function newObject(code: Code): string {
  const shape = `s${code.shapes.length}`
  code.shapes.push(`function ${shape}() {} ${shape}.prototype = ${PROTOTYPE};`)
  return `new ${shape}()`
}

export const arrayTest = (text: string): string => `${IS_ARRAY}(${text})`

/** As `[2]` in a path. */
function elementAt(value: Json | undefined, index: number): Json | undefined {
  if (value === null || value === undefined) return undefined
  if (!isArray(value)) return index === 0 ? value : undefined
  return index < value.length ? value[index] : undefined
}

function ownField(object: object, name: string): unknown {
  return Object.hasOwn(object, name) ? (object as Record<string, unknown>)[name] : undefined
}

/** Where fields are read from, with what has been read of it. */
export type ReadScope = Readonly<{
  /** The local of the object that steps begin at. */
  from: string
  lines: string[]
  /** By the steps to it, the local of each object that fields are read from. */
  objects: Map<string, string>
  /** What the code does at an array whose elements a name would have to be looked for in: closures do that. */
  giveUp: string
}>

export const startScope = (from: string, giveUp: string): ReadScope => ({ from, lines: [], objects: new Map(), giveUp })

/** Whether steps lead to one value, so that they can be read by `valueAt`. */
export const isStraight = (steps: readonly PathStep[]): boolean =>
  steps.length > 0 && steps.every(({ kind }) => kind === 'name' || kind === 'index')

/** The expression that reads straight steps. Objects on the way are read once, before all that uses them. */
export function valueAt(code: Code, scope: ReadScope, steps: readonly PathStep[]): string {
  const step = steps.at(-1)
  const before = steps.slice(0, -1)
  if (step?.kind === 'index') return `${ELEMENT_AT}(${valueAt(code, scope, before)}, ${step.index})`
  if (step?.kind !== 'name') return scope.from
  if (isElementName(step.name)) return `${bind(code, elementOrField)}(${valueAt(code, scope, before)}, '${step.name}')`
  const object = objectAt(code, scope, before)
  const name = nameOf(code, step.name)
  return step.name in Object.prototype ? `${OWN_FIELD}(${object}, ${name})` : `${object}[${name}]`
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

/** Makes sure that a local is an object that fields can be read from. */
export const objectTest = (local: string, giveUp: string): string =>
  `if (typeof ${local} !== 'object' || ${local} === null) ${local} = ${NOTHING}; else if (${arrayTest(local)}) ${giveUp};`

/** An object or array of the output, or a list that is only appended to. */
type Place = Readonly<{
  kind: 'object' | 'array' | 'list'
  /** Holds it once something has been written there. */
  local: string
  /** The code that makes it where it is not there yet. */
  make: string
  /** The code that takes it from the output, after closures may have made it. */
  reload: string
  inner: Map<string, Place | End>
}>

/** A whole value, or an array that another one is spread over. */
type End = 'value' | 'spread'

/**
 * What is written within one object of the output, with the locals that it takes. `filled`: what counts the bytes of the
 * null places before an index, as `charge` does.
 */
export type OutputPlaces = Readonly<{ root: Place; locals: string[]; filled: string }>

export const startPlaces = (local: string, make: string, filled: string): OutputPlaces => ({
  root: { kind: 'object', local, make, reload: '', inner: new Map() },
  locals: [],
  filled,
})

/** Where steps lead: to a whole value, a list to append to, or an array to spread over, with the steps `within` its elements. */
export type FoundPlace = Readonly<{
  kind: End | 'list'
  /** The statement that writes there what a local holds. */
  write(local: string): string
  /** The code that takes from the output what is on the way. */
  reload: string
  /** Of the array: the steps to it, as text. */
  key: string
  within: readonly TargetStep[]
}>

/** Beyond these, closures write: the text of the code stays short, and what one entry fills up once is little. */
const INDEX_MAX = 100
const STEPS_MAX = 16

/**
 * Finds the place that steps lead to; undefined where they do not fit what has been found before: a value of the message
 * may be on their way then, and closures know when to copy one.
 */
export function findPlace(code: Code, places: OutputPlaces, steps: readonly TargetStep[]): FoundPlace | undefined {
  if (steps.length > STEPS_MAX) return undefined
  let at = places.root
  for (const [index, step] of steps.entries()) {
    const kind = kindOf(steps.slice(index + 1))
    const before = at.inner.get(JSON.stringify(step))
    const beforeKind = typeof before === 'object' ? before.kind : before
    if (kind === undefined || (before !== undefined && beforeKind !== kind)) return undefined
    if (kind === 'value' || kind === 'spread') {
      const { make, reload } = at
      at.inner.set(JSON.stringify(step), kind)
      const write = (local: string) => `${make} ${assign(code, places, at, step, local)}`
      return { kind, write, reload, key: JSON.stringify(steps.slice(0, index + 1)), within: steps.slice(index + 2) }
    }
    at = typeof before === 'object' ? before : newPlace(code, places, at, step, kind)
    const { local, make, reload } = at
    if (kind === 'list') {
      return { kind, write: (value) => `${make} ${local}.push(${value});`, reload, key: '', within: [] }
    }
  }
  return undefined
}

/** What a place must be for these steps to lead on from it. */
function kindOf([next, ...others]: readonly TargetStep[]): Place['kind'] | End | undefined {
  if (next === undefined) return 'value'
  if (next.kind === 'name') return 'object'
  if (next.kind === 'index') return next.index <= INDEX_MAX ? 'array' : undefined
  return others.length === 0 ? 'list' : 'spread'
}

function newPlace(code: Code, places: OutputPlaces, at: Place, step: TargetStep, kind: Place['kind']): Place {
  const local = newLocal(code)
  places.locals.push(local)
  const made = `${local} = ${kind === 'object' ? newObject(code) : '[]'}`
  const make = `if (${local} === undefined) { ${at.make} ${assign(code, places, at, step, made)} }`
  const reload = `${at.reload} ${local} = ${at.local}?.[${keyOf(code, step)}] ?? undefined;`
  const place: Place = { kind, local, make, reload, inner: new Map() }
  at.inner.set(JSON.stringify(step), place)
  return place
}

function assign(code: Code, { filled }: OutputPlaces, { local }: Place, step: TargetStep, value: string): string {
  const index = step.kind === 'index' ? step.index : 0
  const fillOne = `{ ${local}.push(null); ${filled} += ${BYTES_PER_VALUE}; }`
  const fill = index === 0 ? '' : `while (${local}.length < ${index}) ${fillOne} `
  return `${fill}${local}[${keyOf(code, step)}] = ${value};`
}

const keyOf = (code: Code, step: TargetStep): string =>
  step.kind === 'name' ? nameOf(code, step.name) : String(step.kind === 'index' ? step.index : 0)
