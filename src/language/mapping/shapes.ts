/**
 * An entry that would go through or replace what another entry wrote in another shape ends the message, so that no value is
 * lost in silence.
 */
import { Failure } from '../../core/failure.ts'
import { isObject, type Json, typeName } from '../../core/json.ts'
import { isArray } from '../paths/path-read.ts'

export type Shape = 'an object' | 'a list' | 'a single value'

/** Of the entry that writes. */
export type Entry = Readonly<{
  /** Its path in the document, for failures. */
  documentPath: string
  /** The text of its target. */
  target: string
  /** Whether its target has a default, so that it replaces what it meets. */
  replaces: boolean
}>

export const shapeOf = (value: Json): Shape =>
  isArray(value) ? 'a list' : isObject(value) ? 'an object' : 'a single value'

/** Fails with MAPPING_FAILED if the existing part of the output has another shape than the entry needs there. */
export function checkShape(existing: Json | undefined, needed: Shape, entry: Entry): void {
  if (existing === undefined || existing === null || entry.replaces || shapeOf(existing) === needed) return
  throw new Failure(
    'MAPPING_FAILED',
    `The target "${entry.target}" needs ${needed} where an earlier entry wrote ${shapeOf(existing)} (${typeName(existing)}). Write to another target, or give this one a default if it may replace that value.`,
    { path: entry.documentPath },
  )
}
