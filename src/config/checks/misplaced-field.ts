/**
 * Finds the part of the document that a misplaced field belongs to: `url` written beside `config`, `pattern` at the top.
 */
import { EndpointField } from '../schema/schema.ts'
import type { Field } from '../schema/schema-fields.ts'

/** `; it belongs to "…"` where the field is known in another part of the document, else a full stop. */
export function belongsElsewhere(name: string, path: string): string {
  const here = path.replaceAll(/\[\d+\]/g, '')
  const homes = homesOf(name, EndpointField, '')
  if (homes.length === 0) return '.'
  const home = homes.reduce((best, next) => (sharedLength(next, here) > sharedLength(best, here) ? next : best))
  return `; it belongs to "${here !== '' && home.startsWith(`${here}.`) ? home.slice(here.length + 1) : home}".`
}

function homesOf(name: string, field: Field, path: string): string[] {
  const properties = (field.items ?? field).properties ?? {}
  const below = Object.entries(properties).flatMap(([key, value]) =>
    homesOf(name, value, path === '' ? key : `${path}.${key}`),
  )
  return path !== '' && Object.hasOwn(properties, name) ? [path, ...below] : below
}

function sharedLength(a: string, b: string): number {
  const parts = a.split('.')
  const others = b.split('.')
  const differs = parts.findIndex((part, index) => part !== others[index])
  return differs === -1 ? parts.length : differs
}
