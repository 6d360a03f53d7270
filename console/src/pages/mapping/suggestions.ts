/** Requests for suggested entries, and taking them. */
import type { SuggestedEntry } from '../../api/mapping-calls.ts'
import { applyToText } from '../../draft/json-edits.ts'
import { addTarget } from './model/entry-edits.ts'
import { type MappingText, readMapping } from './model/mapping-entries.ts'

type Asked = Readonly<{
  /** The text of the draft. */
  document: string
  /** The loaded message, as a request of a dry run has it. */
  given: object | undefined
  /** The target as JSON text; undefined for the targets of the document. */
  part: string | undefined
  fields: boolean
}>

/** Out: the request as JSON text. */
export function createSuggestRequest({ document, given, part, fields }: Asked): string {
  const { messageId, message, lookups } = (given ?? {}) as Readonly<Record<string, unknown>>
  const source =
    messageId === undefined
      ? { source: { ...pick(message, ['body', 'contentType', 'query', 'urlParams']), ...sampleLookups(lookups) } }
      : { messageId }
  const parts = [
    JSON.stringify({ ...source, ...(fields && { fields }) }).slice(1, -1),
    `"endpoint":${document}`,
    ...(part === undefined ? [] : [`"target":${part}`]),
  ]
  return `{${parts.join(',')}}`
}

const pick = (value: unknown, names: readonly string[]): object =>
  Object.fromEntries(
    Object.entries((value ?? {}) as object).filter(([name, one]) => names.includes(name) && one !== undefined),
  )

/** Answers of lookups with the parts that a sample has. */
function sampleLookups(lookups: unknown): object {
  const answers = Object.entries((lookups ?? {}) as object)
  if (answers.length === 0) return {}
  const sample = (one: unknown) => pick(one, ['body'])
  return {
    lookups: Object.fromEntries(answers.map(([id, one]) => [id, Array.isArray(one) ? one.map(sample) : sample(one)])),
  }
}

/** Adds entries one after the other. Out: the text with them, and why others could not be added. */
export function withSuggestions(
  mapping: MappingText,
  suggestions: readonly SuggestedEntry[],
): Readonly<{ text: string; refusals: readonly string[] }> {
  const refusals: string[] = []
  let { text } = mapping
  for (const { source, target, to } of suggestions) {
    const now = readMapping(text)
    if (typeof now === 'string') break
    const edited = addTarget(now, source, {
      key: target,
      ...(typeof to === 'string' ? {} : { transform: to.transform }),
    })
    if (edited.ok) text = applyToText(text, edited.edits)
    else refusals.push(`${source}: ${edited.why}`)
  }
  return { text, refusals }
}
