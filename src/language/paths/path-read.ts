/**
 * Reading the steps of a path, compiled to a chain of closures: a message then neither splits text nor asks what kind
 * of step comes next.
 */
import type { Json, JsonObject } from '../../domain/json.ts'
import { isElementName, type PathStep } from './path-steps.ts'

/** Arrays directly within arrays that a name is looked for in: deeper ones read as missing, instead of a full stack. */
const NESTING_MAX = 256

/** `nesting`: how many arrays directly within arrays a name has been looked for in, down to `value`. */
export type Read = (value: Json | undefined, nesting: number) => Json | undefined

export const isArray = (value: unknown): value is readonly Json[] => Array.isArray(value)

/** Whether every object inherits something of that name: `toString`, `constructor`, `__proto__`. */
const isInherited = (name: string): boolean => name in Object.prototype

/**
 * A field of its own; what an object inherits is not the message's. Which names that concerns is known when a path is
 * compiled (`isInherited`): the others are read without asking, which takes half the time.
 */
const own = (object: JsonObject, name: string, inherited: boolean): Json | undefined =>
  inherited && !Object.hasOwn(object, name) ? undefined : object[name]

/** The reader of these steps, from the object that the first is a field of. Never throws. */
export function compileRead(steps: readonly PathStep[]): Read {
  const joined = steps.at(-1)?.kind !== 'each'
  return steps.reduceRight<Read | undefined>((next, step) => compileStep(step, next, joined), undefined) ?? itself
}

const itself: Read = (value) => value

/** Reads one step, then `next` from what it found; undefined: the step is the last. */
function compileStep(step: PathStep, next: Read | undefined, joined: boolean): Read {
  switch (step.kind) {
    case 'name':
      if (isElementName(step.name)) return readElementOrField(step.name, next ?? itself)
      return next === undefined ? readLastName(step.name, joined) : readName(step.name, next, joined)
    case 'index':
      return readIndex(step.index, next ?? itself)
    case 'each':
      return next === undefined ? readLastEach : readEach(next, joined)
    case 'any':
      return readAny(next ?? itself, joined)
  }
}

function readName(name: string, next: Read, joined: boolean): Read {
  const inherited = isInherited(name)
  const read: Read = (value, nesting) => {
    if (typeof value !== 'object' || value === null) return undefined
    if (isArray(value)) return gather(value, read, joined, nesting + 1)
    return next(own(value, name, inherited), 0)
  }
  return read
}

/** The same as `readName` before `itself`: nearly every path ends so, and a call less is a tenth of its time. */
function readLastName(name: string, joined: boolean): Read {
  const inherited = isInherited(name)
  const read: Read = (value, nesting) => {
    if (typeof value !== 'object' || value === null) return undefined
    if (isArray(value)) return gather(value, read, joined, nesting + 1)
    return own(value, name, inherited)
  }
  return read
}

/** A number as a name: the element of an array, the field of an object. Nothing inherits one of such a name. */
export const elementOrField = (value: Json | undefined, name: string): Json | undefined =>
  typeof value === 'object' && value !== null ? (value as JsonObject)[name] : undefined

function readElementOrField(name: string, next: Read): Read {
  return (value) => next(elementOrField(value, name), 0)
}

function readIndex(index: number, next: Read): Read {
  return (value) => {
    if (value === undefined || value === null) return undefined
    if (!isArray(value)) return index === 0 ? next(value, 0) : undefined
    return index < value.length ? next(value[index], 0) : undefined
  }
}

function readEach(next: Read, joined: boolean): Read {
  return (value) => {
    if (value === undefined || value === null) return undefined
    return gather(isArray(value) ? value : [value], next, joined, 0)
  }
}

/** Null stays null, so that a target that takes null can have it. */
const readLastEach: Read = (value) => {
  if (value === undefined || value === null || isArray(value)) return value
  return [value]
}

function readAny(next: Read, joined: boolean): Read {
  const read: Read = (value, nesting) => {
    if (typeof value !== 'object' || value === null) return undefined
    if (isArray(value)) return gather(value, read, joined, nesting + 1)
    return gather(Object.values(value), next, joined, 0)
  }
  return read
}

/** What `read` finds in each value, one place each: null where it finds nothing. */
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
