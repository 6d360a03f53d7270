/** Paths into a message, as documents write them. */
import type { Json } from '../../domain/json.ts'
import { fault, found, type Result } from '../../domain/lint.ts'
import { compileRead } from './path-read.ts'
import { type PathStep, parseSteps } from './path-steps.ts'

export type { PathStep } from './path-steps.ts'

/** What a path is read from: a message, or any JSON object. The roots that documents may name hold JSON. */
export type PathSource = Readonly<Record<string, unknown>>

export type SourcePath = Readonly<{
  text: string
  /** The first name. */
  root: string
  /** The names before the first bracket or `*`, root included: what a check against the document can know. */
  names: readonly string[]
  /** What comes after the root. */
  steps: readonly PathStep[]
  /**
   * The value at this path, or undefined where there is none. Own fields only; never throws, never copies or changes
   * what it reads: an array that no step looks into is returned as it is.
   */
  read(source: PathSource): Json | undefined
}>

/**
 * Parses a path such as `requestBody.phones[0].number`; any root is accepted.
 *
 * Names are joined by dots. `\.` is a dot within a name; `\[`, `\]`, `\*`, `\?`, `\+` and `\\` likewise.
 * - A name reads a field; on an array, that field of every element. A number as a name (`list.2`) reads that element of an
 *   array, as `[2]` does, and of an object the field of that name.
 * - `[2]` reads an element, `[]` every element, `*` every field of an object. For brackets, a value that is no array
 *   counts as an array of one: XML cannot tell a list of one from a single value.
 * - Reading many gives an array with one place each: null stands where nothing was found, so that two paths over one
 *   array stay aligned. Arrays found within are joined to one, unless the path ends in `[]`.
 *
 * Fails with a sentence that names the path, the position (from 1) and what to write instead.
 */
export function parsePath(text: string): Result<SourcePath> {
  const parsed = parseSteps(text, 'path')
  if (!parsed.ok) return parsed
  const [root, ...steps] = parsed.value
  if (root?.kind !== 'name') return fault(`The path "${text}" begins with "*"; begin it with the name of a root.`)
  const read = compileRead(parsed.value)
  const names = leadingNames(parsed.value)
  // A source is read as the object it is; what it holds beside JSON (the bytes of a body) is no root of documents.
  return found({ text, root: root.name, names, steps, read: (source) => read(source as Json, 0) })
}

function leadingNames(steps: readonly PathStep[]): readonly string[] {
  const names: string[] = []
  for (const step of steps) {
    if (step.kind !== 'name') break
    names.push(step.name)
  }
  return names
}
