/** Reading the steps of a path, compiled to a chain of closures, one for each step. */
import type { Json, JsonObject } from '../../domain/json.ts'
import { isElementName, type PathStep } from './path-steps.ts'

/** The most arrays directly within arrays that a name is read through; deeper ones read as missing, to spare the stack. */
const NESTING_MAX = 256

/** `nesting`: the arrays directly around `value` that the same name has been read through. */
type Read = (value: Json | undefined, nesting: number) => Json | undefined

export const isArray = (value: unknown): value is readonly Json[] => Array.isArray(value)

/** Whether every object inherits something of that name, such as `toString` or `__proto__`: only then `ownField` is needed. */
export const isInherited = (name: string): boolean => name in Object.prototype

export const ownField = (object: JsonObject, name: string): Json | undefined =>
  Object.hasOwn(object, name) ? object[name] : undefined

/** The reader of these steps. Never throws. */
export function compileRead(steps: readonly PathStep[]): Read {
  const joined = steps.at(-1)?.kind !== 'each'
  return steps.reduceRight<Read>((next, step) => compileStep(step, next, joined), itself)
}

const itself: Read = (value) => value

/** Reads one step, then `next` from its value; `itself` after the last step. */
function compileStep(step: PathStep, next: Read, joined: boolean): Read {
  switch (step.kind) {
    case 'name':
      if (isElementName(step.name)) return (value) => next(elementOrField(value, step.name), 0)
      return readName(step.name, next, joined)
    case 'index':
      return (value) => next(elementAt(value, step.index), 0)
    case 'each':
      return next === itself ? itself : readEach(next, joined)
    case 'any':
      return readFields((object) => gather(Object.values(object), next, joined, 0), joined)
  }
}

function readName(name: string, next: Read, joined: boolean): Read {
  const isOwn = !isInherited(name)
  return readFields((object) => next(isOwn ? object[name] : ownField(object, name), 0), joined)
}

/** Reads an object; of an array, each element. */
function readFields(readObject: (object: JsonObject) => Json | undefined, joined: boolean): Read {
  const read: Read = (value, nesting) => {
    if (typeof value !== 'object' || value === null) return undefined
    return isArray(value) ? gather(value, read, joined, nesting + 1) : readObject(value)
  }
  return read
}

/** A number as a name: the element of an array, or the field of an object. No object inherits such a field. */
export const elementOrField = (value: Json | undefined, name: string): Json | undefined =>
  typeof value === 'object' && value !== null ? (value as JsonObject)[name] : undefined

/** An index in brackets, which reads a value that is no array as an array of one. */
export function elementAt(value: Json | undefined, index: number): Json | undefined {
  if (value === undefined || value === null) return undefined
  if (!isArray(value)) return index === 0 ? value : undefined
  return index < value.length ? value[index] : undefined
}

function readEach(next: Read, joined: boolean): Read {
  return (value) => (isArray(value) ? gather(value, next, joined, 0) : next(value, 0))
}

/** The values of `read`, one for each value; null for undefined. */
function gather(values: readonly Json[], read: Read, joined: boolean, nesting: number): Json | undefined {
  if (nesting > NESTING_MAX) return undefined
  const results = new Array<Json>(values.length)
  let within = false
  for (let at = 0; at < values.length; at++) {
    const result = read(values[at], nesting) ?? null
    results[at] = result
    within ||= isArray(result)
  }
  return joined && within ? results.flat() : results
}
