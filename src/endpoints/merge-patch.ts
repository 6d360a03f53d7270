import { isObject, type Json, type JsonObject } from '../core/json.ts'

/** JSON Merge Patch, RFC 7396 §2: null removes a member, objects merge, anything else replaces. Changes neither argument. */
export function mergePatch(target: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch
  const members = new Map(Object.entries(isObject(target) ? target : {}))
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) members.delete(name)
    else members.set(name, mergePatch(members.get(name), value))
  }
  // fromEntries defines own properties, whatever their names.
  return Object.fromEntries(members) satisfies JsonObject
}
