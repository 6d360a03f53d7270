/** Pseudonyms that still match the patterns of a document's schemas, so that a message ends as it did. */
import { isObject, type Json, type JsonObject } from '../../../core/json.ts'
import { compilePattern, type Pattern } from '../../../language/re2-pattern.ts'

/** Longer texts, and texts after so many tests of patterns, get their pseudonym as it is; the run tells whether it fits. */
const MAX_LENGTH = 256
const MAX_TESTS = 100_000

/** Gives the pseudonym, or as much of it as the patterns allow that the text itself matches. */
export type FitToPatterns = (text: string, pseudonym: string) => string

export function fitToPatternsOf(document: JsonObject): FitToPatterns {
  const sources = new Set<string>()
  const { inputValidation, requests } = document
  const lookups = isObject(requests) && Array.isArray(requests.lookup) ? requests.lookup : []
  for (const schema of [inputValidation, ...lookups.map((one) => (isObject(one) ? one.validation : undefined))]) {
    addPatterns(schema, sources)
  }
  const patterns = [...sources].flatMap((source) => {
    const compiled = compilePattern(source)
    return compiled.ok ? [compiled.value] : []
  })
  return fitting(patterns)
}

function addPatterns(schema: Json | undefined, found: Set<string>): void {
  if (Array.isArray(schema)) for (const one of schema) addPatterns(one, found)
  if (!isObject(schema)) return
  if (typeof schema.pattern === 'string') found.add(schema.pattern)
  if (isObject(schema.patternProperties)) for (const source of Object.keys(schema.patternProperties)) found.add(source)
  for (const member of Object.values(schema)) addPatterns(member, found)
}

function fitting(patterns: readonly Pattern[]): FitToPatterns {
  let left = MAX_TESTS
  return (text, pseudonym) => {
    if (patterns.length === 0 || text.length > MAX_LENGTH || text.length !== pseudonym.length) return pseudonym
    left -= patterns.length
    const matched = left < 0 ? [] : patterns.filter((pattern) => pattern.test(text))
    const fits = (candidate: string): boolean =>
      matched.every((pattern) => {
        left -= 1
        return pattern.test(candidate)
      })
    if (fits(pseudonym)) return pseudonym
    // From the text, which matches, one character after the other towards the pseudonym.
    let fitted = text
    for (let at = 0; at < text.length && left > 0; at += 1) {
      for (const char of alternatives(pseudonym.charAt(at))) {
        const next = fitted.slice(0, at) + char + fitted.slice(at + 1)
        if (!fits(next)) continue
        fitted = next
        break
      }
    }
    return fitted
  }
}

const ALPHABETS = ['0123456789', 'abcdefghijklmnopqrstuvwxyz', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ']

/** The character, and then those of its kind. */
function alternatives(char: string): readonly string[] {
  const alphabet = ALPHABETS.find((one) => one.includes(char)) ?? char
  const at = alphabet.indexOf(char)
  return [...alphabet.slice(at), ...alphabet.slice(0, at)]
}
