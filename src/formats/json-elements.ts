/**
 * Divides a long JSON text, so that its parts can be parsed one by one and messages run in between. JSON.parse takes the
 * thread for as long as the text is.
 */
import { setImmediate as nextIteration } from 'node:timers/promises'
import { isObject, type Json } from '../core/json.ts'
import { malformed } from './json-read.ts'
import { type JsonVisitor, scanJsonInSlices } from './json-scan.ts'

/** About a millisecond. */
const SLICE_CHARACTERS = 32_000
const SLICE_ELEMENTS = 16_384

export type DividedText = Readonly<{
  /** The text with the array left empty. */
  rest: string
  /** The elements as texts; undefined if there is no such array. */
  elements: readonly string[] | undefined
}>

/**
 * Takes the elements out of the array that the member `name` of the root object has, or that the root is if there is no name. Of
 * two members of that name, the first is divided and both stay in `rest`.
 *
 * Throws Unreadable (`malformed`), with the line and column of the first wrong character. Does not bound the depth.
 */
export async function divideElements(text: string, name?: string): Promise<DividedText> {
  const level = name === undefined ? 0 : 1
  let depth = 0
  let isMember = name === undefined
  let opened: number | undefined
  let closed: number | undefined
  const commas: number[] = []
  const visitor: JsonVisitor = {
    open: (kind, at) => {
      if (depth === level && kind === 'array' && isMember && opened === undefined) opened = at
      depth += 1
    },
    name: (literal) => {
      if (depth === 1 && name !== undefined) isMember = JSON.parse(literal) === name
    },
    item: (at) => {
      if (depth === level + 1 && opened !== undefined && closed === undefined) commas.push(at)
    },
    close: (at) => {
      depth -= 1
      if (depth === level && opened !== undefined && closed === undefined) closed = at
    },
  }
  const scan = scanJsonInSlices(text, SLICE_CHARACTERS, visitor)
  let next = scan.next()
  for (; !next.done; next = scan.next()) await nextIteration()
  if (next.value !== undefined) throw malformed(text, next.value)
  if (opened === undefined || closed === undefined) return { rest: text, elements: undefined }
  const ends = [...commas, closed]
  const elements: string[] = []
  for (let start = opened + 1; elements.length < ends.length; start = (ends[elements.length - 1] as number) + 1) {
    elements.push(text.slice(start, ends[elements.length]))
    if (elements.length % SLICE_ELEMENTS === 0) await nextIteration()
  }
  return {
    rest: `${text.slice(0, opened + 1)}${text.slice(closed)}`,
    elements: elements.length === 1 && elements[0]?.trim() === '' ? [] : elements,
  }
}

/** The first name that an object has more than once: parsed, it has the last value. In: a JSON text, and its value. */
export function findRepeatedName(text: string, value: Json): string | undefined {
  // Few objects without one have more colons behind quotes than names, and only those are scanned.
  if (!isObject(value) || (text.match(/"\s*:/g)?.length ?? 0) <= Object.keys(value).length) return undefined
  const names = new Set<string>()
  let depth = 0
  let repeated: string | undefined
  const visitor: JsonVisitor = {
    open: () => {
      depth += 1
    },
    close: () => {
      depth -= 1
    },
    item: () => undefined,
    name: (literal) => {
      const name: string = JSON.parse(literal)
      if (depth === 1 && names.has(name)) repeated ??= name
      else if (depth === 1) names.add(name)
    },
  }
  for (const _ of scanJsonInSlices(text, text.length, visitor));
  return repeated
}
