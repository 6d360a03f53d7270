/** Reads the documents and merge patches that callers send. */
import { Failure } from '../core/failure.ts'
import { isObject, type Json, type JsonObject } from '../core/json.ts'
import type { Lint } from '../core/lint.ts'
import { Unreadable } from '../formats/body-faults.ts'
import { findDuplicateNames, parseJson } from '../formats/json-read.ts'

/** A document as JSON; `faults` are names that occur twice in one object. */
export type ParsedDocument = Readonly<{ raw: Json; faults: readonly Lint[] }>

/**
 * Parses the text of a document. Duplicate names are faults: JSON.parse would silently keep the last one, and a mapping
 * entry would be lost. `levels`: the most levels of nesting. Fails with BODY_UNREADABLE and BODY_TOO_DEEP.
 */
export function parseDocument(text: string, levels?: number): ParsedDocument {
  try {
    const raw = parseJson(text, levels)
    const faults = findDuplicateNames(text).map(
      ({ place, name }): Lint => ({
        path: place,
        message: `"${name}" occurs twice in one object, so the first value would be lost; merge the two or remove one.`,
        severity: 'error',
      }),
    )
    return { raw, faults }
  } catch (thrown) {
    throw unreadable(thrown)
  }
}

/** The failure of a management call whose body cannot be read; any other error is returned unchanged. */
export const unreadable = (thrown: unknown): unknown =>
  thrown instanceof Unreadable
    ? new Failure(thrown.reason === 'too-deep' ? 'BODY_TOO_DEEP' : 'BODY_UNREADABLE', thrown.message)
    : thrown

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
