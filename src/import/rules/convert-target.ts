/** The targets of an entry of `inputMapping`, which the peer read more leniently. */
import { isObject, type Json, type JsonObject } from '../../domain/json.ts'
import { parseTarget } from '../../language/mapping/target.ts'
import type { DocumentPart } from './draft.ts'

/** A key that nothing is written to. */
const UNUSED_KEY = 'unused'

/** The codes of a function that version 0 had. */
const GENDERS = { M: 'male', F: 'female', O: 'other', default: 'unknown' }

/** In: the place and the target of an entry. Out: the target as this service takes it; undefined if it writes nothing. */
export function convertTarget(place: DocumentPart, target: Json): Json | undefined {
  if (!Array.isArray(target)) return convertOne(place, target, false)
  const converted = target.map((one: Json, index) => convertOne(place.at(index), one, true))
  const kept = converted.filter((one) => one !== undefined)
  if (kept.length > 0) return kept
  place.note({
    level: 'changed',
    before: target,
    reason: 'The entry names no target and had no effect there; it is left out.',
  })
  return undefined
}

function convertOne(place: DocumentPart, target: Json, inArray: boolean): Json | undefined {
  if (typeof target === 'string') {
    const key = convertKey(place, target)
    return key !== undefined && takesNull(key) ? convertObject(place, { key }) : key
  }
  if (isObject(target)) return convertObject(place, target)
  if (inArray && Array.isArray(target)) {
    const [key, transform, fill] = target as readonly (Json | undefined)[]
    const named: JsonObject = {
      ...(key === undefined ? {} : { key }),
      ...(transform === undefined || transform === null ? {} : { transform }),
      ...(fill === undefined ? {} : { default: fill }),
    }
    const converted = convertObject(place, named)
    if (converted === named && target.length <= 3) return target
    if (converted !== undefined)
      place.note({ level: 'changed', before: target, after: converted, reason: 'The target is written with names.' })
    return converted
  }
  place.note({ level: 'changed', before: target, reason: 'This is no target and had no effect there; it is left out.' })
  return undefined
}

function convertKey(place: DocumentPart, key: string): string | undefined {
  if (key.trim() !== '') return key
  place.note({ level: 'lost', before: key, reason: 'A target without a name cannot be written; it is left out.' })
  return undefined
}

function convertObject(place: DocumentPart, target: JsonObject): JsonObject | undefined {
  const { key, transform, default: fill, ...others } = target
  for (const [name, value] of Object.entries(others)) {
    place
      .at(name)
      .note({ level: 'changed', before: value, reason: 'The field is unknown here and had no effect there.' })
  }
  const applied =
    transform === undefined || transform === null ? undefined : convertTransform(place.at('transform'), transform)
  if (transform === null)
    place
      .at('transform')
      .note({ level: 'changed', before: null, reason: 'The value stands for a field that is left out.' })
  const isSpread = isObject(applied) && applied.function === 'passThroughObject'
  if (typeof key !== 'string' || key.trim() === '') {
    if (!isSpread) {
      place.note({
        level: 'changed',
        before: target,
        reason: 'A target without a key had no effect there; it is left out.',
      })
      return undefined
    }
    place.at('key').note({
      level: 'changed',
      after: UNUSED_KEY,
      reason: 'Here a target has a key; passThroughObject writes nothing to it.',
    })
  }
  const writesNull = typeof key === 'string' && takesNull(key)
  if (writesNull && !isDefault(fill) && fill !== null) {
    place.note({
      level: 'changed',
      before: key,
      after: { default: null },
      reason: 'There a target that ends in "?" got null for a missing value too; here that is a default.',
    })
  }
  const isKept = fill === undefined || isDefault(fill) || (writesNull && fill === null)
  if (!isKept)
    place.at('default').note({
      level: 'changed',
      before: fill,
      reason: 'That service took such a default for none, so it had no effect there.',
    })
  if (isDefault(fill) && applied !== undefined) {
    place.at('default').note({
      level: 'differs',
      before: fill,
      reason: 'There the function converted the default too; here it is written as it is.',
    })
  }
  const converted: JsonObject = {
    key: typeof key === 'string' && key.trim() !== '' ? key : UNUSED_KEY,
    ...(isDefault(fill) ? { default: fill } : writesNull ? { default: null } : {}),
    ...(applied === undefined ? {} : { transform: applied }),
  }
  return JSON.stringify(sorted(converted)) === JSON.stringify(sorted(target)) ? target : converted
}

const isDefault = (fill: Json | undefined): fill is Json =>
  fill !== undefined && fill !== null && fill !== false && fill !== 0 && fill !== ''

/** Whether a target writes null: it ends in a `?` that no backslash escapes. */
const takesNull = (key: string): boolean => {
  const target = parseTarget(key)
  return target.ok && target.value.takesNull
}

const sorted = (object: JsonObject): readonly (readonly [string, Json])[] =>
  Object.entries(object).sort(([one], [other]) => (one < other ? -1 : 1))

function convertTransform(place: DocumentPart, transform: Json): Json | undefined {
  if (!isObject(transform) || typeof transform.function !== 'string') {
    place.note({
      level: 'changed',
      before: transform,
      reason: 'A transform is an object with a function; this one had no effect there.',
    })
    return undefined
  }
  const { function: name, parameters, ...others } = transform
  for (const [other, value] of Object.entries(others)) {
    place
      .at(other)
      .note({ level: 'changed', before: value, reason: 'The field is unknown here and had no effect there.' })
  }
  if (name === 'getGenderFromCode') {
    const after = { function: 'mapCodes', parameters: GENDERS }
    place.note({ level: 'changed', before: transform, after, reason: 'The function mapCodes does the same.' })
    return after
  }
  return Object.keys(others).length === 0
    ? transform
    : { function: name, ...(parameters === undefined ? {} : { parameters }) }
}

/**
 * The value in place of none with which a target writes what the peer wrote without a value: its default, or what its
 * function makes of nothing. Undefined if it then writes nothing.
 */
export function valueForNone(target: Json): null | false | undefined {
  if (Array.isArray(target)) return target.map((one: Json) => valueForNone(one)).find((value) => value !== undefined)
  if (!isObject(target)) return undefined
  if (target.default !== undefined) return null
  const { transform } = target
  if (!isObject(transform)) return undefined
  if (transform.function === 'booleanify') return false
  const { parameters } = transform
  const writes =
    transform.function === 'mapCodes' && isObject(parameters) && ('null' in parameters || 'default' in parameters)
  return writes ? null : undefined
}
