/**
 * The shape of a message: its names, with the JSON type in the place of each value. Everything that drift keeps comes from
 * shapes, so that no value can get into it.
 */
import type { Json } from '../../core/json.ts'

/** Values of a message that are looked at: some milliseconds. */
const VALUES_MAX = 5_000
/** No message of JSON or XML is nested so deep; the value of an expression may be. */
const LEVELS_MAX = 128

export const TYPES = ['string', 'number', 'boolean', 'null', 'array', 'object'] as const

export type MessageShape = Readonly<{
  /** A text names the type of a value. */
  shape: Readonly<Record<string, Json>>
  /** Whether a part of the message was left out. */
  isCut: boolean
  /** Whether there were too many values, so that a field that is not in the shape may be in the message. */
  hasAllValues: boolean
  /** Containers whose content was left out. */
  unfilled: ReadonlySet<unknown>
}>

type Container = Json[] | Record<string, Json>

/**
 * The shape of these roots of a message, level by level, so that a large part does not hide the others. Of each array it has
 * the first `elementsMax` elements.
 */
export function shapeOf(message: object, roots: readonly string[], elementsMax: number): MessageShape {
  const queue: Readonly<{ from: object; to: Container; level: number }>[] = []
  const unfilled = new Set<unknown>()
  let left = VALUES_MAX
  let isCut = false

  const shapeOfValue = (value: unknown, level: number): Json | undefined => {
    if (value === null || value === undefined) return value
    if (typeof value !== 'object') return typeof value === 'bigint' ? 'number' : typeof value
    const to: Container = Array.isArray(value) ? [] : newObject()
    queue.push({ from: value, to, level })
    return to
  }
  const fillArray = (from: readonly unknown[], to: Json[], level: number): void => {
    if (from.length > elementsMax) isCut = true
    const end = Math.min(from.length, elementsMax, left)
    for (let at = 0; at < end; at += 1) to.push(shapeOfValue(from[at], level) ?? null)
    left -= end
    if (end < Math.min(from.length, elementsMax)) left = -1
  }
  const fillObject = (from: Readonly<Record<string, unknown>>, to: Record<string, Json>, level: number): void => {
    for (const name in from) {
      left -= 1
      if (left < 0) return
      const value = shapeOfValue(from[name], level)
      if (value !== undefined) to[name] = value
    }
  }

  const shape = newObject()
  for (const root of roots) {
    const value = shapeOfValue((message as Readonly<Record<string, unknown>>)[root], 1)
    if (value !== undefined) shape[root] = value
  }
  for (const { from, to, level } of queue) {
    if (left < 0 || level > LEVELS_MAX) {
      isCut = true
      unfilled.add(to)
    } else if (Array.isArray(to)) fillArray(from as readonly unknown[], to, level + 1)
    else fillObject(from as Readonly<Record<string, unknown>>, to, level + 1)
    if (left < 0) unfilled.add(to)
  }
  return { shape, isCut: isCut || left < 0, hasAllValues: left >= 0, unfilled }
}

/** Without a prototype, so that `__proto__` is a name as any other. */
const newObject = (): Record<string, Json> => Object.create(null)

/** The type of a leaf of a shape, as an index of TYPES. */
export function typeOfLeaf(leaf: unknown): number {
  const names: readonly unknown[] = TYPES
  if (typeof leaf !== 'object') return names.indexOf(leaf)
  return names.indexOf(leaf === null ? 'null' : Array.isArray(leaf) ? 'array' : 'object')
}
