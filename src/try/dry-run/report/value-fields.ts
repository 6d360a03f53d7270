/** The fields of a value, as a mapping names them: for views that show a message as a tree and never see all of it. */
import type { Json, JsonObject } from '../../../core/json.ts'
import { compileReferences, type SecretValues } from '../../../core/secrets/secrets.ts'
import { createPathTree, pathTo, placeBelow, type TreePlace } from '../../../language/paths/path-tree.ts'

export type JsonType = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null'

export type ValueField = Readonly<{
  /** As an entry can have it; `[]` stands for every element of an array. */
  path: string
  /** The types that values have there. */
  types: readonly JsonType[]
  /** How many values are there. */
  count: number
  /** The first value that is no object, array or null; a long text is cut. */
  sample?: string | number | boolean
}>

/** `cut`: there are more fields, or more values, than are looked at, or fields with longer paths. */
export type ValueFields = Readonly<{ fields: readonly ValueField[]; cut: boolean }>

const MOST_FIELDS = 3_000
/** Some hundredths of a second. */
const MOST_VALUES = 50_000
const LONGEST_SAMPLE = 120
/** Longer texts are not searched for secrets as a whole. */
const LONGEST_SEARCHED = 65_536

type Found = { types: Set<JsonType>; count: number; sample?: string | number | boolean }

/** In: a value whose members are the first names of paths. The nesting of the value is bounded, since a parser read it. */
export function fieldsOf(value: Json, secrets: SecretValues | undefined): ValueFields {
  const hide = secrets === undefined ? undefined : compileReferences(secrets)
  const found: (readonly [TreePlace<Found>, Found])[] = []
  let values = 0
  let cut = false

  const visit = (one: Json, place: TreePlace<Found> | undefined): void => {
    values += 1
    if (place === undefined || values > MOST_VALUES || (place.noted === undefined && found.length >= MOST_FIELDS)) {
      cut = true
      return
    }
    const field = place.noted ?? fieldAt(place)
    field.types.add(typeOf(one))
    field.count += 1
    if (Array.isArray(one)) visitElements(one, place)
    else if (typeof one === 'object' && one !== null) visitMembers(one as JsonObject, place)
    else if (one !== null) field.sample ??= sampleOf(one as string | number | boolean, hide)
  }
  const fieldAt = (place: TreePlace<Found>): Found => {
    const field: Found = { types: new Set(), count: 0 }
    place.noted = field
    found.push([place, field])
    return field
  }
  const visitElements = (elements: readonly Json[], place: TreePlace<Found>): void => {
    const each = placeBelow(place, { kind: 'each' })
    for (const element of elements) {
      if (values > MOST_VALUES) return
      visit(element, each)
    }
  }
  const visitMembers = (object: JsonObject, place: TreePlace<Found>): void => {
    for (const name in object) {
      if (values > MOST_VALUES) return
      // A path cannot name an empty name.
      if (name !== '') visit(object[name] ?? null, placeBelow(place, { kind: 'name', name }))
    }
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    visitMembers(value as JsonObject, createPathTree())
  }
  return {
    fields: found.map(([place, { types, ...field }]) => ({ path: pathTo(place), types: [...types], ...field })),
    cut,
  }
}

const typeOf = (value: Json): JsonType =>
  value === null ? 'null' : Array.isArray(value) ? 'array' : (typeof value as JsonType)

/** In: a scalar; what takes secrets out of a text. Out: the same, or the start of a long text with an ellipsis. */
export function sampleOf<Value extends Json>(value: Value, hide = (text: string) => text): Value | string {
  if (typeof value !== 'string') return value
  // Before the cut: a part of a secret would not be found.
  const text = hide(value.slice(0, LONGEST_SEARCHED))
  return text.length <= LONGEST_SAMPLE ? text : `${text.slice(0, LONGEST_SAMPLE - 1)}…`
}
