/**
 * References to secrets in the texts of a document: `${env:NAME}` and `${file:/path}`. Texts with other dollars and braces
 * stay as they are.
 */

export type Reference = Readonly<{
  /** As written: `${env:NAME}`. */
  text: string
  source: 'env' | 'file'
  /** A name, or an absolute path. */
  name: string
}>

/** `$${env:NAME}` is the text `${env:NAME}`. */
const REFERENCE = /(\$?)(\$\{(?:env:([A-Za-z_][A-Za-z0-9_]*)|file:(\/[^{}\p{Cc}]*))\})/gu
const ALMOST = /\$\{\s*(?:env|file)\s*:/i

/** The texts and references in their order; undefined if the text has none and stays as it is. */
export function parseReferences(text: string): readonly (string | Reference)[] | undefined {
  if (!text.includes('${')) return undefined
  const parts: (string | Reference)[] = []
  let end = 0
  for (const match of text.matchAll(REFERENCE)) {
    const [whole, dollar, reference = '', env, file = ''] = match
    const literal = text.slice(end, match.index)
    if (dollar === '$') parts.push(literal + reference)
    else {
      if (literal !== '') parts.push(literal)
      parts.push({
        text: reference,
        ...(env === undefined ? { source: 'file', name: file } : { source: 'env', name: env }),
      })
    }
    end = match.index + whole.length
  }
  if (end === 0) return undefined
  return end === text.length ? parts : [...parts, text.slice(end)]
}

/** The references in a text. */
export const referencesIn = (text: string): readonly Reference[] =>
  (parseReferences(text) ?? []).filter((part) => typeof part !== 'string')

/** The warning for a text that looks like a reference but is none. */
export function almostReference(text: string): string | undefined {
  if (!ALMOST.test(text.replace(REFERENCE, ''))) return undefined
  return 'This looks like a reference to a secret and is sent as it is; write "${env:NAME}", or "${file:/path}" with an absolute path.'
}
