/**
 * Fields of a document that its schema does not list: misspelt, misplaced, or without effect here. Other services of this
 * kind return their documents with fields that have no effect, so refusing those would refuse nearly every such document.
 */
import { isObject, type Json, typeName } from '../../core/json.ts'
import type { LintSink } from '../../core/lint.ts'
import { longer, nearest } from '../../core/nearest.ts'
import { EndpointField } from '../schema/schema.ts'
import type { Field } from '../schema/schema-fields.ts'

/** Reports an unknown field. Out: the name that was meant, or '' if none is near. */
export function reportUnknown(written: string, properties: Readonly<Record<string, Field>>, lint: LintSink): string {
  const names = Object.keys(properties)
  const home = findHome(written, lint.path)
  const meant = nearest(written, names) ?? (home?.isAround ? undefined : longer(written, names))
  const advice = meant !== undefined ? `; did you mean "${meant}"?` : home ? `; it belongs to "${home.shown}".` : '.'
  lint.at(written).error(`Unknown field "${written}"${advice}`)
  return meant ?? ''
}

/**
 * Whether a field of an object has no effect by the notes of the schema: `absentAs`, `foreign` and `misplacedIn`.
 *
 * Lints, as a warning: a field of which its author probably expects an effect.
 */
export function hasNoEffect(
  { foreign = {}, misplacedIn = '' }: Field,
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
  if (!isEntry(properties[misplacedIn]?.additionalProperties, value)) return false
  const known = Object.keys(properties)
  if (nearest(name, known) !== undefined) return false
  const beside = known.map((property) => `"${property}"`).join(' and ')
  lint
    .at(name)
    .warning(`"${name}" is next to ${beside}, where nothing reads it; did you mean "${misplacedIn}.${name}"?`)
  return true
}

function isAbsent(absentAs: Json | undefined, value: Json): boolean {
  if (absentAs === undefined || typeName(value) !== typeName(absentAs)) return false
  return value === null || Object.keys(value).length === 0
}

/** Whether a value has all required fields of such an entry, and no unknown ones. */
function isEntry(entry: Field | boolean | undefined, value: Json): boolean {
  if (typeof entry !== 'object' || !isObject(value)) return false
  const { properties = {}, required = [] } = entry
  return (
    required.every((name) => Object.hasOwn(value, name)) &&
    Object.keys(value).every((name) => Object.hasOwn(properties, name))
  )
}

/** The part of the document that has such a field, as it is called at `path`. `isAround`: both are within one part of the document, such as one kind of requests. */
function findHome(name: string, path: string): Readonly<{ shown: string; isAround: boolean }> | undefined {
  const here = path.replaceAll(/\[\d+\]/g, '')
  const homes = findPathsTo(name, EndpointField, '')
  if (homes.length === 0) return undefined
  const home = homes.reduce((best, next) => (sharedLength(next, here) > sharedLength(best, here) ? next : best))
  const shown = here !== '' && home.startsWith(`${here}.`) ? home.slice(here.length + 1) : home
  return { shown, isAround: here === '' || sharedLength(home, here) >= Math.min(2, home.split('.').length) }
}

function findPathsTo(name: string, field: Field, path: string): string[] {
  const properties = (field.items ?? field).properties ?? {}
  const below = Object.entries(properties).flatMap(([key, value]) =>
    findPathsTo(name, value, path === '' ? key : `${path}.${key}`),
  )
  return path !== '' && Object.hasOwn(properties, name) ? [path, ...below] : below
}

function sharedLength(a: string, b: string): number {
  const parts = a.split('.')
  const others = b.split('.')
  const differs = parts.findIndex((part, index) => part !== others[index])
  return differs === -1 ? parts.length : differs
}
