/** The entries of a mapping with those of every `each` in it, for who reads a document without running it. */
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { parseTarget, type TargetStep } from './target.ts'

/** What entries of an `each` can read beside the message. */
export const EACH_ROOTS = {
  item: 'The element of the list.',
  index: 'Its position in the source, from 0.',
  outer: 'The item of the "each" around.',
} as const

/** `at`: where it is, from the mapping on. */
type Located = Readonly<{ at: readonly (string | number)[] }>

export type NestedEntry = Located &
  Readonly<{
    /** The path as written. */
    source: string
    declared: Json
    /** The path from the roots of the message on: `requestBody.rows[].id` for `item.id`. Undefined for `index`. */
    path: string | undefined
    /** Of the elements around, the outermost first: `requestBody.rows[]`. */
    items: readonly string[]
    /** The steps of the targets around. */
    outer: readonly TargetStep[]
    loops: readonly NestedLoop[]
    /** It reads a list only for its elements. */
    isLoop: boolean
  }>

/** A target with `each`. `item`: of its elements, as in `items`. */
export type NestedLoop = Located &
  Readonly<{ key: string; entries: JsonObject; when: string | undefined; item: string }>

/** In: a mapping, which may have faults. */
export function listNestedEntries(mapping: JsonObject): readonly NestedEntry[] {
  const found: NestedEntry[] = []
  addEntries(mapping, [], [], [], found)
  return found
}

function addEntries(
  mapping: JsonObject,
  at: Located['at'],
  items: readonly string[],
  outer: readonly TargetStep[],
  found: NestedEntry[],
): void {
  for (const [source, declared] of Object.entries(mapping)) {
    const path = messagePath(source, items)
    const item = `${(path ?? source).replace(/\[\]$/, '')}[]`
    const targets: readonly Json[] = Array.isArray(declared) ? declared : [declared]
    const loops = targets.flatMap((target, index): NestedLoop[] => {
      if (!isObject(target) || !isObject(target.each)) return []
      const { key, each, when } = target
      return [
        {
          at: [...at, source, ...(Array.isArray(declared) ? [index] : [])],
          key: typeof key === 'string' ? key : '',
          entries: each,
          when: typeof when === 'string' ? when : undefined,
          item,
        },
      ]
    })
    const isLoop = loops.length > 0 && loops.length === targets.length
    found.push({ at: [...at, source], source, declared, path, items, outer, loops, isLoop })
    for (const loop of loops) {
      const key = parseTarget(loop.key)
      const around = [...outer, ...(key.ok ? key.value.steps : [])]
      addEntries(loop.entries, [...loop.at, 'each'], [...items, item], around, found)
    }
  }
}

/** In: a path or its first names as an `each` writes them. Out: the same from the roots of the message on. */
export function messagePath(text: string, items: readonly string[]): string | undefined {
  const [root = ''] = /^[^.[]*/.exec(text) ?? []
  if (items.length === 0 || !Object.hasOwn(EACH_ROOTS, root)) return text
  const item = root === 'index' ? undefined : items.at(root === 'item' ? -1 : -2)
  return item === undefined ? undefined : `${item}${text.slice(root.length)}`
}
