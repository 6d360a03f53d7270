/**
 * Fields that are read as if they were left out. Other services of this kind return their documents with these fields, so
 * that a strict check would refuse nearly every such document.
 */
import { isObject, type Json, typeName } from '../../domain/json.ts'
import type { LintSink } from '../../domain/lint.ts'
import { nearest } from '../../domain/nearest.ts'
import type { Field } from '../schema/schema-fields.ts'

/**
 * Whether a field of an object has no effect by the notes of the schema: `absentAs`, `foreign` and `straysFrom`.
 *
 * Lints, as a warning: what its author probably expects it to do.
 */
export function hasNoEffect(
  { foreign = {}, straysFrom = '' }: Field,
  properties: Readonly<Record<string, Field>>,
  name: string,
  value: Json,
  lint: LintSink,
): boolean {
  if (Object.hasOwn(properties, name)) return isAbsent(properties[name]?.absentAs, value)
  if (Object.hasOwn(foreign, name)) {
    if (foreign[name]) lint.at(name).warning(foreign[name])
    return true
  }
  if (!isEntry(properties[straysFrom]?.additionalProperties, value)) return false
  const known = Object.keys(properties)
  if (nearest(name, known) !== undefined) return false
  const beside = known.map((property) => `"${property}"`).join(' and ')
  lint
    .at(name)
    .warning(`"${name}" stands beside ${beside}, where nothing reads it; did you mean "${straysFrom}.${name}"?`)
  return true
}

function isAbsent(absentAs: Json | undefined, value: Json): boolean {
  if (absentAs === undefined || typeName(value) !== typeName(absentAs)) return false
  return value === null || Object.keys(value).length === 0
}

/** Whether a value has every field that an entry of this kind must have, and no other than it may have. */
function isEntry(entry: Field | boolean | undefined, value: Json): boolean {
  if (typeof entry !== 'object' || !isObject(value)) return false
  const { properties = {}, required = [] } = entry
  return (
    required.every((name) => Object.hasOwn(value, name)) &&
    Object.keys(value).every((name) => Object.hasOwn(properties, name))
  )
}
