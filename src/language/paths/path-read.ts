/** Reading the steps of a path: a loop that goes down from step to step, and at an array reads the rest in each element. */
import type { Json, JsonObject } from '../../core/json.ts'
import { isElementName, type PathStep } from './path-steps.ts'

/** The most arrays directly within arrays that a name is read through; deeper ones read as missing, to spare the stack. */
const NESTING_MAX = 256

export const isArray = (value: unknown): value is readonly Json[] => Array.isArray(value)

/** Every object inherits something of that name, such as `toString` or `__proto__`: only then `ownField` is needed. */
export const isInherited = (name: string): boolean => name in Object.prototype

export const ownField = (object: JsonObject, name: string): Json | undefined =>
  Object.hasOwn(object, name) ? object[name] : undefined

/** A step, as reading needs it. */
type Step = Readonly<{
  kind: 'name' | 'element' | 'index' | 'each' | 'any'
  name: string
  isInherited: boolean
  index: number
  next: Step | undefined
  /** Arrays within the result are joined to one; the same for all steps of a path. */
  joins: boolean
}>

export type Read = (value: Json | undefined) => Json | undefined

/** The reader of these steps. Never throws. */
export function compileRead(steps: readonly PathStep[]): Read {
  const joins = steps.at(-1)?.kind !== 'each'
  const first = steps.reduceRight<Step | undefined>((next, step) => {
    const name = step.kind === 'name' ? step.name : ''
    const kind = isElementName(name) ? 'element' : step.kind
    const index = step.kind === 'index' ? step.index : 0
    return { kind, name, isInherited: isInherited(name), index, next, joins }
  }, undefined)
  return (value) => readFrom(value, first, 0)
}

/** `nesting`: the arrays directly around `from` that the first step has been read through. */
function readFrom(from: Json | undefined, first: Step | undefined, nesting: number): Json | undefined {
  let value = from
  let around = nesting
  for (let step = first; step !== undefined; step = step.next) {
    switch (step.kind) {
      case 'name':
        if (typeof value !== 'object' || value === null) return undefined
        if (isArray(value)) return readEach(value, step, step.joins, around + 1)
        value = step.isInherited ? ownField(value, step.name) : value[step.name]
        break
      case 'element':
        value = elementOrField(value, step.name)
        break
      case 'index':
        value = elementAt(value, step.index)
        break
      case 'each':
        if (step.next !== undefined && isArray(value)) return readEach(value, step.next, step.joins, 0)
        break
      case 'any':
        if (typeof value !== 'object' || value === null) return undefined
        if (isArray(value)) return readEach(value, step, step.joins, around + 1)
        return readEach(Object.values(value), step.next, step.joins, 0)
    }
    around = 0
  }
  return value
}

/** A number as a name: the element of an array, or the field of an object. No object inherits such a field. */
const elementOrField = (value: Json | undefined, name: string): Json | undefined =>
  typeof value === 'object' && value !== null ? (value as JsonObject)[name] : undefined

/** An index in brackets, which reads a value that isn't an array as an array of one. */
function elementAt(value: Json | undefined, index: number): Json | undefined {
  if (value === undefined || value === null) return undefined
  if (!isArray(value)) return index === 0 ? value : undefined
  return index < value.length ? value[index] : undefined
}

/** The values at the steps, one for each of these values; null for undefined. */
function readEach(values: readonly Json[], first: Step | undefined, joins: boolean, nesting: number): Json | undefined {
  if (nesting > NESTING_MAX) return undefined
  const results = new Array<Json>(values.length)
  let within = false
  for (let at = 0; at < values.length; at++) {
    const result = readFrom(values[at], first, nesting) ?? null
    results[at] = result
    within ||= isArray(result)
  }
  return joins && within ? results.flat() : results
}
