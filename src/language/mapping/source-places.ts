/**
 * The objects that sources lead through by names alone. Paths that start alike share them, so that a message looks up each object
 * once, and not again for every path below it.
 */
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { PathSource, SourcePath } from '../paths/path.ts'
import { compileRead, isInherited, type Read } from '../paths/path-read.ts'

/** A field of the object of an earlier number; 0 is the source itself. */
export type SourceField = Readonly<{ within: number; name: string }>

/** Those of a mapping while it is compiled: the first has the number 1. */
export type SourcePlaces = { readonly places: SourceField[]; readonly known: Map<string, number> }

export const noSourcePlaces = (): SourcePlaces => ({ places: [], known: new Map() })

type Along = Readonly<{
  /** What a path of nothing but names reads. */
  field?: SourceField
  /** Of a path with a `[]` behind its names: the list, and the steps behind it in one element. */
  list?: SourceField
  readElement?: Read
}>

/** Nothing for a path that only its own `read` can read. */
export function fieldsAlong({ names, steps }: SourcePath, { places, known }: SourcePlaces): Along {
  const last = names.at(-1)
  const [first, ...rest] = steps.slice(names.length - 1)
  const isInElements = first?.kind === 'each' && rest.length > 0
  if (last === undefined || names.some(isInherited) || (first !== undefined && !isInElements)) return {}
  let within = 0
  for (const name of names.slice(0, -1)) {
    const text = JSON.stringify([within, name])
    const number = known.get(text) ?? places.push({ within, name })
    known.set(text, number)
    within = number
  }
  const field = { within, name: last }
  return isInElements ? { list: field, readElement: compileRead(rest) } : { field }
}

/** Of one message, by their numbers; undefined for what is no object. */
export type SourceObjects = readonly (JsonObject | undefined)[]

export function findObjects({ places }: SourcePlaces, source: PathSource): SourceObjects {
  // The parts of a source that are no JSON are no roots of documents.
  const objects: (JsonObject | undefined)[] = [source as JsonObject]
  for (const { within, name } of places) {
    const found: Json | undefined = objects[within]?.[name]
    objects.push(isObject(found) ? found : undefined)
  }
  return objects
}
