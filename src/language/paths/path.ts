import type { Json } from '../../core/json.ts'
import { fault, found, type Result } from '../../core/lint.ts'
import { compileRead } from './path-read.ts'
import { type PathStep, parseSteps } from './path-steps.ts'

export type { PathStep } from './path-steps.ts'

/** A message, or any JSON object. The roots that documents may name hold JSON. */
export type PathSource = Readonly<Record<string, unknown>>

export type SourcePath = Readonly<{
  text: string
  /** The first name. */
  root: string
  /** The root and the names before the first bracket or `*`: a check of the document can follow these. */
  names: readonly string[]
  /** The steps after the root. */
  steps: readonly PathStep[]
  /**
   * The value at this path. Reads own fields only; never throws, never changes the source. A value
   * that the last step names is the source's own, not a copy.
   */
  read(source: PathSource): Json | undefined
}>

/**
 * Parses a path such as `requestBody.phones[0].number`; any root is accepted.
 *
 * Names are joined by dots. A backslash escapes a dot within a name, as well as `[`, `]`, `*`, `?`, `+` and a backslash.
 * - A name reads a field; on an array, that field of every element. A number as a name (`list.2`) reads that element of an
 *   array, as `[2]` does, and that field of an object.
 * - `[2]` reads an element, `[]` every element, `*` every field of an object. Of a value that isn't an array, `[]` and `[0]`
 *   read the value itself: XML does not distinguish a list of one from a single value.
 * - Reading many gives an array with one element each, null for a missing value, so that two paths over one array stay
 *   aligned. Arrays within it are joined to one, unless the path ends in `[]`.
 *
 * Fails with a sentence that names the path, the position (from 1) and the correction.
 */
export function parsePath(text: string): Result<SourcePath> {
  const parsed = parseSteps(text, 'path')
  if (!parsed.ok) return parsed
  const [root, ...steps] = parsed.value
  if (root?.kind !== 'name') return fault(`The path "${text}" starts with "*"; start it with the name of a root.`)
  // The parts of a source that aren't JSON, such as the bytes of a body, aren't roots of documents.
  const read = compileRead(parsed.value) as SourcePath['read']
  const names = leadingNames(parsed.value)
  return found({ text, root: root.name, names, steps, read })
}

function leadingNames(steps: readonly PathStep[]): readonly string[] {
  const names: string[] = []
  for (const step of steps) {
    if (step.kind !== 'name') break
    names.push(step.name)
  }
  return names
}
