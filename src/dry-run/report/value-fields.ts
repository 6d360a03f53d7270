/** The fields of a value, as a mapping names them: for views that show a message as a tree and never see all of it. */
import type { Json, JsonObject } from '../../domain/json.ts'
import { type SecretValues, withReferences } from '../../domain/secrets/secrets.ts'
import { pathText } from '../../language/paths/path-steps.ts'

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

/** `cut`: there are more fields, or more values, than are looked at. */
export type ValueFields = Readonly<{ fields: readonly ValueField[]; cut: boolean }>

const MOST_FIELDS = 3_000
/** Some tenths of a second. */
const MOST_VALUES = 300_000
const LONGEST_SAMPLE = 120
/** Longer texts are not searched for secrets as a whole. */
const LONGEST_SEARCHED = 65_536

type Found = { types: Set<JsonType>; count: number; sample?: string | number | boolean }

/** In: a value whose members are the first names of paths. The nesting of the value is bounded, since a parser read it. */
export function fieldsOf(value: Json, secrets: SecretValues | undefined): ValueFields {
  const found = new Map<string, Found>()
  let values = 0
  let cut = false

  const visit = (one: Json, path: string): void => {
    values += 1
    const known = found.get(path)
    if (values > MOST_VALUES || (known === undefined && found.size >= MOST_FIELDS)) {
      cut = true
      return
    }
    const field: Found = known ?? { types: new Set(), count: 0 }
    found.set(path, field)
    field.types.add(typeOf(one))
    field.count += 1
    if (Array.isArray(one)) for (const element of one as readonly Json[]) visit(element, `${path}[]`)
    else if (typeof one === 'object' && one !== null) visitMembers(one as JsonObject, `${path}.`)
    else if (one !== null) field.sample ??= sampleOf(one as string | number | boolean, secrets)
  }
  const visitMembers = (object: JsonObject, before: string): void => {
    for (const [name, member] of Object.entries(object)) {
      // A path cannot name an empty name.
      if (name !== '' && values <= MOST_VALUES) visit(member, before + pathText([{ kind: 'name', name }]))
    }
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) visitMembers(value as JsonObject, '')
  return {
    fields: [...found].map(([path, { types, ...field }]) => ({ path, types: [...types], ...field })),
    cut,
  }
}

const typeOf = (value: Json): JsonType =>
  value === null ? 'null' : Array.isArray(value) ? 'array' : (typeof value as JsonType)

/** In: a scalar. Out: the same, or the start of a long text with an ellipsis. */
export function sampleOf<Value extends Json>(value: Value, secrets: SecretValues | undefined): Value | string {
  if (typeof value !== 'string') return value
  // Before the cut: a part of a secret would not be found.
  const text = withReferences(value.slice(0, LONGEST_SEARCHED), secrets)
  return text.length <= LONGEST_SAMPLE ? text : `${text.slice(0, LONGEST_SAMPLE - 1)}…`
}
