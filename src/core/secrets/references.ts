/**
 * References to secrets in the texts of a document: `${env:NAME}` and `${file:/path}`. Any other text with dollars and
 * braces stays as it is.
 */

export type Reference = Readonly<{
  /** As written: `${env:NAME}`. */
  text: string
  source: 'env' | 'file'
  /** A name, or an absolute path. */
  name: string
}>

/** `$${env:NAME}` escapes a reference: it is the text `${env:NAME}`. */
const REFERENCE = /(\$?)(\$\{(?:env:([A-Za-z_][A-Za-z0-9_]*)|file:(\/[^{}\p{Cc}]*))\})/gu
const ALMOST = /\$\{\s*(?:env|file)\s*:/i

/** Out: the texts and references in their order; undefined if there is nothing to replace. */
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

export const referencesIn = (text: string): readonly Reference[] =>
  (parseReferences(text) ?? []).filter((part) => typeof part !== 'string')

/** The text between its references and escaped references. */
export const withoutReferences = (text: string): string => text.replace(REFERENCE, '')

/** Out: a sentence, if a part of the text looks like a reference and is none. */
export function almostReference(text: string): string | undefined {
  if (!ALMOST.test(withoutReferences(text))) return undefined
  return 'This looks like a reference to a secret and is sent as it is; write "${env:NAME}", or "${file:/path}" with an absolute path.'
}
