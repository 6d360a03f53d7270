/** What the body of another system's refusal says to people: one line out of the places where such texts usually are. */
import { isObject, type Json } from '../core/json.ts'

/** Characters of a longer text that are read, so that a large body costs nothing. */
const READ_CHARACTERS = 65_536
/** Longer explanations are cut. */
export const MAX_EXPLANATION_CHARACTERS = 200
const MAX_DEPTH = 4
/** How many entries of a list, such as the issues of an outcome, are joined. */
const MAX_ENTRIES = 3

/** The best text for a person comes first: a code such as `invalid_client` says less than its description. */
const MEMBERS = [
  'message',
  'error_description',
  'error',
  'errors',
  'detail',
  'details',
  'diagnostics',
  'issue',
  'fault',
  'faultstring',
  'title',
  'text',
]

/** The same places of a text with tags, best first; each pattern has the text as its only group. */
const TAGGED = [
  /<(?:[\w.-]{1,40}:)?faultstring\b[^<>]*>([^<]*)</i,
  /<(?:[\w.-]{1,40}:)?Reason\b[^<>]*>\s*<(?:[\w.-]{1,40}:)?Text\b[^<>]*>([^<]*)</,
  /<diagnostics\s[^<>]*?value="([^"<]*)"/,
  /<(?:message|error_description|error|detail)\b[^<>]*>([^<]*)</i,
  /<title\b[^<>]*>([^<]*)</i,
]

/**
 * In: the text of a body in any format, or what was meant to be one. Out: one line, undefined if there is nothing to read.
 * `hide`: takes out credentials, before the text is cut. Never fails.
 */
export function readExplanation(text: string, hide: (text: string) => string = (same) => same): string | undefined {
  const start = text.slice(0, READ_CHARACTERS).trim()
  const found = (text.length <= READ_CHARACTERS ? fromJson(start) : undefined) ?? fromTagged(start) ?? firstLine(start)
  const line = oneLine(hide(found))
  return line === '' ? undefined : cut(line)
}

/** A plain text explains itself in its first line; a structure without a known place is shown from its start. */
const firstLine = (text: string): string => (/^[[{<]/.test(text) ? text : (/^[^\r\n]*/.exec(text)?.[0] ?? ''))

function fromJson(text: string): string | undefined {
  if (!/^[[{"]/.test(text)) return undefined
  try {
    return explain(JSON.parse(text) as Json, 0)
  } catch {
    return undefined
  }
}

function explain(value: Json | undefined, depth: number): string | undefined {
  if (typeof value === 'string') return value.trim() === '' ? undefined : value
  if (depth > MAX_DEPTH) return undefined
  if (Array.isArray(value)) {
    const texts = value.slice(0, MAX_ENTRIES).flatMap((entry) => explain(entry, depth + 1) ?? [])
    return texts.length === 0 ? undefined : texts.join('; ')
  }
  if (!isObject(value)) return undefined
  for (const name of MEMBERS) {
    const text = Object.hasOwn(value, name) ? explain(value[name], depth + 1) : undefined
    if (text !== undefined) return text
  }
  return undefined
}

function fromTagged(text: string): string | undefined {
  if (!text.startsWith('<')) return undefined
  for (const pattern of TAGGED) {
    const found = pattern.exec(text)?.[1]?.trim()
    if (found) return withoutEntities(found)
  }
  return undefined
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'", nbsp: ' ' }

const withoutEntities = (text: string): string =>
  text.replace(/&(lt|gt|amp|quot|apos|nbsp);/g, (whole, name: string) => ENTITIES[name] ?? whole)

/** Control characters, and those that turn the direction of text, could make the sentence around it say something else. */
const oneLine = (text: string): string =>
  text
    .toWellFormed()
    .replace(/[\s\p{Cc}\p{Zl}\p{Zp}\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]+/gu, ' ')
    .trim()

function cut(line: string): string {
  if (line.length <= MAX_EXPLANATION_CHARACTERS) return line
  const start = line.slice(0, MAX_EXPLANATION_CHARACTERS)
  // Half of a surrogate pair is no character.
  return `${start.isWellFormed() ? start : start.slice(0, -1)}…`
}
