/** Reads the documents and merge patches that callers send. */
import { Failure } from '../core/failure.ts'
import { isObject, type Json, type JsonObject } from '../core/json.ts'
import type { Lint } from '../core/lint.ts'
import { letOthersRun } from '../core/slice.ts'
import { Unreadable } from '../formats/body-faults.ts'
import {
  type DuplicateName,
  findDuplicateNames,
  findDuplicateNamesInSlices,
  parseJson,
  SHORT_TEXT,
} from '../formats/json-read.ts'

/** A document as JSON; `faults` are names that occur twice in one object. */
export type ParsedDocument = Readonly<{ raw: Json; faults: readonly Lint[] }>

/**
 * Parses the text of a document. Duplicate names are faults: JSON.parse would silently keep the last one, and a mapping
 * entry would be lost. `levels`: the most levels of nesting. Fails with BODY_UNREADABLE and BODY_TOO_DEEP.
 */
export function parseDocument(text: string, levels?: number): ParsedDocument {
  try {
    return { raw: parseJson(text, levels), faults: findDuplicateNames(text).map(toFault) }
  } catch (thrown) {
    throw unreadable(thrown)
  }
}

/** The same; others run while a long text is read. */
export async function parseLongDocument(text: string): Promise<ParsedDocument> {
  if (text.length <= SHORT_TEXT) return parseDocument(text)
  try {
    await letOthersRun()
    const raw = parseJson(text)
    await letOthersRun()
    return { raw, faults: (await findDuplicateNamesInSlices(text)).map(toFault) }
  } catch (thrown) {
    throw unreadable(thrown)
  }
}

const toFault = ({ place, name }: DuplicateName): Lint => ({
  path: place,
  message: `"${name}" occurs twice in one object, so the first value would be lost; merge the two or remove one.`,
  severity: 'error',
})

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
