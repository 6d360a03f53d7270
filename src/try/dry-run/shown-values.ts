/** Values as a report shows them: bounded, and without secrets. */
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { pointerTo } from '../../core/lint.ts'
import { compileReferences, type SecretValues, withReferences } from '../../core/secrets/secrets.ts'
import { REPORT_LIMIT } from '../../document/checks/dry-run-request.ts'
import { childNode, createPathTree, type PathNode, pathTo } from '../../language/paths/path-tree.ts'

type Secrets = SecretValues | undefined

/** The most characters of one value of a stage, or of the answer. */
const VALUE_LIMIT = 1_048_576
/** The most characters of the body of one call. */
export const BODY_LIMIT = 65_536
/** A value that is nested deeper may exceed the stack of JSON.stringify. */
const MAX_LEVELS = 500

type ShownBody = Readonly<{ body: string; cut?: true }>

/** The text of a body, cut to `limit` characters; replacement characters replace bytes that are not UTF-8. */
function shownBody(body: string | Uint8Array, secrets: Secrets, limit = VALUE_LIMIT): ShownBody {
  // A character has at most four bytes: the rest need not be decoded.
  const given = typeof body === 'string' ? body : new TextDecoder().decode(body.subarray(0, limit * 4 + 4))
  // Before the cut: a part of a secret would not be found.
  const text = withReferences(given, secrets)
  return text.length <= limit ? { body: text } : { body: text.slice(0, limit), cut: true }
}

/**
 * The characters of the value as JSON, roughly, or a sentence on the limit that it exceeds. It is weighed, not written: a
 * value that refers to one part many times is small in memory, but its text is not.
 */
export function weigh(value: Json, limit: number): number | string {
  const budget = { left: limit }
  const reason = spend(value, MAX_LEVELS, budget)
  if (reason === 'levels') return `It is nested deeper than ${MAX_LEVELS} levels.`
  return reason === 'characters' ? `It has more than ${limit} characters as JSON.` : limit - budget.left
}

function spend(value: Json, levels: number, budget: { left: number }): 'levels' | 'characters' | undefined {
  budget.left -= typeof value === 'string' ? value.length + 1 : 1
  if (budget.left < 0) return 'characters'
  if (typeof value !== 'object' || value === null) return undefined
  if (levels === 0) return 'levels'
  if (Array.isArray(value)) {
    // Not by their names: those of a long array are all made before the first.
    for (const item of value) {
      const reason = spend(item, levels - 1, budget)
      if (reason !== undefined) return reason
    }
    return undefined
  }
  for (const name in value) {
    budget.left -= name.length
    const reason = spend((value as JsonObject)[name] as Json, levels - 1, budget)
    if (reason !== undefined) return reason
  }
  return undefined
}

/** The same with references in place of the values of secrets, in every text and name. */
export function shownSafely(value: Json, secrets: Secrets): Json {
  if (secrets === undefined) return value
  const hide = compileReferences(secrets)
  const shown = (part: Json): Json => {
    if (typeof part === 'string') return hide(part)
    if (Array.isArray(part)) return part.map(shown)
    if (!isObject(part)) return part
    return Object.fromEntries(Object.entries(part).map(([name, inner]) => [hide(name), shown(inner)]))
  }
  return shown(value)
}

// The values of one report: bounded one by one and together. A value that is too large for it stays out, with the place at
// which the whole of it can be asked for.

/** Characters of a value that is asked for by itself. */
const WHOLE_LIMIT = 32 * 1_048_576

/** A value of a report in full. */
export type WholeValue = Readonly<{ kind: 'json'; value: Json } | { kind: 'body'; body: string | Uint8Array }>

export type ReportValues = Readonly<{
  /** In: a JSON Pointer into the report. Out: the value, or `{ cut, reason, at }` in its place. */
  value(at: string, value: Json): Json
  /** Out: the text, cut to `limit` characters; with `at` if more can be asked for. */
  body(at: string, body: string | Uint8Array, limit?: number): ShownBody & Readonly<{ at?: string }>
  /** The value at the place that was asked for, or the reason why it cannot be given; undefined if no value is there. */
  whole(): WholeValue | string | undefined
}>

/** A smaller report has room for as many values as a large one. */
const VALUES_OF_A_REPORT = REPORT_LIMIT / VALUE_LIMIT

type ReportBounds = Readonly<{
  /** The place of the value to keep in full. */
  at?: string
  /** Characters of all values together; a stage shows again what stages before it showed. */
  limit?: number
}>

export function createReportValues(
  secrets: SecretValues | undefined,
  { at: wanted, limit: reportLimit = REPORT_LIMIT }: ReportBounds = {},
): ReportValues {
  const weights = new Map<object, ReturnType<typeof weigh>>()
  const valueLimit = Math.floor(reportLimit / VALUES_OF_A_REPORT)
  let left = reportLimit
  let whole: WholeValue | string | undefined

  const measureWeight = (value: Json): ReturnType<typeof weigh> => {
    if (typeof value !== 'object' || value === null) return weigh(value, valueLimit)
    const known = weights.get(value) ?? weigh(value, valueLimit)
    weights.set(value, known)
    return known
  }
  return {
    value: (at, value) => {
      if (at === wanted) {
        const weight = weigh(value, WHOLE_LIMIT)
        whole = typeof weight === 'string' ? weight : { kind: 'json', value: shownSafely(value, secrets) }
      }
      const weight = measureWeight(value)
      if (typeof weight === 'string') return { cut: true, reason: weight, at }
      if (weight > left) return { cut: true, reason: 'The values before it fill the report.', at }
      left -= weight
      return value
    },
    body: (at, body, limit = valueLimit) => {
      if (at === wanted)
        whole = { kind: 'body', body: secrets === undefined ? body : shownBody(body, secrets, WHOLE_LIMIT).body }
      const shown = shownBody(body, secrets, Math.min(limit, valueLimit, left))
      left -= shown.body.length
      return shown.cut ? { ...shown, at } : shown
    },
    whole: () => whole,
  }
}

/** The names and values with the place of each, such as `/stages/2/input/requestBody`. */
export const valuesAt = (values: ReportValues, at: string, fields: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, values.value(pointerTo(at, name), value)]))

// The fields of a value, as a mapping names them: for views that show a message as a tree and never see all of it.

type JsonType = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null'

type ValueField = Readonly<{
  /** As an entry can have it; `[]` means every element of an array. */
  path: string
  /** The types that values have there. */
  types: readonly JsonType[]
  /** How many values are there. */
  count: number
  /** The first value that isn't an object, array or null; a long text is cut. */
  sample?: string | number | boolean
}>

/** `cut`: there are more fields, or more values, than are looked at, or fields with longer paths. */
type ValueFields = Readonly<{ fields: readonly ValueField[]; cut: boolean }>

const MAX_FIELDS = 3_000
/** Some hundredths of a second. */
const MAX_VALUES = 50_000
const MAX_SAMPLE_CHARACTERS = 120
/** Longer texts are not searched for secrets as a whole. */
const MAX_SEARCHED_CHARACTERS = 65_536

type Found = { types: Set<JsonType>; count: number; sample?: string | number | boolean }

/** In: a value whose members are the first names of paths. The nesting of the value is bounded, since a parser read it. */
export function collectFields(value: Json, secrets: SecretValues | undefined): ValueFields {
  const hide = secrets === undefined ? undefined : compileReferences(secrets)
  const found: (readonly [PathNode<Found>, Found])[] = []
  let values = 0
  let cut = false

  const visit = (one: Json, place: PathNode<Found> | undefined): void => {
    values += 1
    if (place === undefined || values > MAX_VALUES || (place.noted === undefined && found.length >= MAX_FIELDS)) {
      cut = true
      return
    }
    const field = place.noted ?? fieldAt(place)
    field.types.add(detectType(one))
    field.count += 1
    if (Array.isArray(one)) visitElements(one, place)
    else if (typeof one === 'object' && one !== null) visitMembers(one as JsonObject, place)
    else if (one !== null) field.sample ??= toSample(one as string | number | boolean, hide)
  }
  const fieldAt = (place: PathNode<Found>): Found => {
    const field: Found = { types: new Set(), count: 0 }
    place.noted = field
    found.push([place, field])
    return field
  }
  const visitElements = (elements: readonly Json[], place: PathNode<Found>): void => {
    const each = childNode(place, { kind: 'each' })
    for (const element of elements) {
      if (values > MAX_VALUES) return
      visit(element, each)
    }
  }
  const visitMembers = (object: JsonObject, place: PathNode<Found>): void => {
    for (const name in object) {
      if (values > MAX_VALUES) return
      // A path cannot name an empty name.
      if (name !== '') visit(object[name] ?? null, childNode(place, { kind: 'name', name }))
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

const detectType = (value: Json): JsonType =>
  value === null ? 'null' : Array.isArray(value) ? 'array' : (typeof value as JsonType)

/** In: a scalar; what takes secrets out of a text. Out: the same, or the start of a long text with an ellipsis. */
export function toSample<Value extends Json>(value: Value, hide = (text: string) => text): Value | string {
  if (typeof value !== 'string') return value
  // Before the cut: a part of a secret would not be found.
  const text = hide(value.slice(0, MAX_SEARCHED_CHARACTERS))
  return text.length <= MAX_SAMPLE_CHARACTERS ? text : `${text.slice(0, MAX_SAMPLE_CHARACTERS - 1)}…`
}
