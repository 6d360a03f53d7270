/** Edits of a text without an editor. */
import type { Edit } from '../../../draft/draft.ts'

/** In: edits in places of the text; they do not overlap. */
export function applyToText(text: string, edits: readonly Edit[]): string {
  const parts: string[] = []
  let at = 0
  for (const { from, to = from, insert = '' } of edits.toSorted((one, other) => one.from - other.from)) {
    parts.push(text.slice(at, from), insert)
    at = to
  }
  return parts.join('') + text.slice(at)
}
