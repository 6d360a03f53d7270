/** Calls of the engine's built-ins with single values, without the engine's check of signatures at each call. */
import { builtInOf } from '../expression-engine.ts'
import { ENGINE_NEEDED, SHORT_TEXT } from './fast-path-operators.ts'

type Is = (value: unknown) => boolean

const isText: Is = (value) => typeof value === 'string' && value.length <= SHORT_TEXT
const isNumber: Is = (value) => typeof value === 'number'
const isWidth: Is = (value) => typeof value === 'number' && Math.abs(value) <= SHORT_TEXT
const isSingle: Is = (value) => isText(value) || typeof value === 'number' || typeof value === 'boolean'
const isAny: Is = () => true
const areTexts: Is = (value) => Array.isArray(value) && value.every(isText)

/**
 * Built-ins that need no running evaluation and return undefined for an undefined first argument: their required and
 * their optional arguments.
 */
const TAKES: Readonly<Record<string, readonly [must: readonly Is[], may: readonly Is[]]>> = {
  abs: [[isNumber], []],
  base64decode: [[isText], []],
  base64encode: [[isText], []],
  boolean: [[isSingle], []],
  ceil: [[isNumber], []],
  decodeUrl: [[isText], []],
  decodeUrlComponent: [[isText], []],
  encodeUrl: [[isText], []],
  encodeUrlComponent: [[isText], []],
  exists: [[isAny], []],
  floor: [[isNumber], []],
  formatBase: [[isNumber], [isNumber]],
  formatNumber: [[isNumber, isText], []],
  fromMillis: [[isNumber], [isText, isText]],
  join: [[areTexts], [isText]],
  length: [[isText], []],
  lowercase: [[isText], []],
  not: [[isSingle], []],
  number: [[isSingle], []],
  pad: [[isText, isWidth], [isText]],
  power: [[isNumber, isNumber], []],
  round: [[isNumber], [isNumber]],
  sqrt: [[isNumber], []],
  string: [[isSingle], []],
  substring: [[isText, isNumber], [isNumber]],
  substringAfter: [[isText, isText], []],
  substringBefore: [[isText, isText], []],
  toMillis: [[isText], [isText]],
  trim: [[isText], []],
  uppercase: [[isText], []],
}

/** A built-in for `count` arguments; undefined if the engine must call it. The function throws as `FastPath` does. */
export function calledBuiltIn(name: string, count: number): ((values: readonly unknown[]) => unknown) | undefined {
  const takes = Object.hasOwn(TAKES, name) ? TAKES[name] : undefined
  if (takes === undefined || count < takes[0].length || count > takes[0].length + takes[1].length) return undefined
  const all = takes.flat()
  const implementation = builtInOf(name)
  return (values) => {
    for (let at = 0; at < count; at++) {
      const value = values[at]
      if (all[at]?.(value) !== true && (at > 0 || value !== undefined)) throw ENGINE_NEEDED
    }
    const result = implementation(...values)
    if (typeof result === 'string' && result.length > SHORT_TEXT) throw ENGINE_NEEDED
    // The engine fails at the next use of such a number.
    if (typeof result === 'number' && !Number.isFinite(result)) throw ENGINE_NEEDED
    return result
  }
}
