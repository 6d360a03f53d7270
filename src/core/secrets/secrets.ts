/** Secrets: the names that indicate them, the source of their values, and finding their values in texts. */
import type { JsonObject } from '../json.ts'

/** Parts of the names of headers and properties that may hold a credential: full names would miss `x-acme-api-key`. */
const SECRET = /authorization|cookie|api-?_?key|subscription-key|token|secret|password|credential/i

export const isSecretName = (name: string): boolean => SECRET.test(name)

/** Names of query parameters that are credentials in URLs, though not in headers and properties. */
const SECRET_PARAMETER =
  /^(?:key|sig|signature|auth|passwd|pwd|pass|access_?key|private_?key|jwt|sid|session_?id|assertion)$/i

export const isSecretParameter = (name: string): boolean => isSecretName(name) || SECRET_PARAMETER.test(name)

/** What to write in place of a secret: names that may be read by default (SECRETS_ALLOW). */
export const EXAMPLE_REFERENCES = '"${env:CROSSWALK_SECRET_NAME}" or "${file:/run/secrets/crosswalk/name}"'

/** Before a value: the scheme of a header, or the name of a cookie, such as `Bearer ` and `session=`. */
const NAME_BEFORE_VALUE = /^[a-z][\w-]{0,30}(?:\s+|=)$/i

/** Whether a text before a value only says what the value is, so that it is no credential wherever it is. */
export const namesValue = (prefix: string): boolean => NAME_BEFORE_VALUE.test(prefix)

export const REDACTED = '[redacted]'

/** In place of what records of messages must not hold. */
export const MASK = '***'

/** Supplies the values of the secrets that documents refer to. */
export interface SecretSource {
  /**
   * Replaces each reference (`${env:NAME}`, `${file:/path}`) in a text by its present value.
   * Fails with SECRET_UNAVAILABLE if a value is missing or not allowed; the message contains no value.
   */
  resolve(text: string): string
  /** Its values are not the real ones, so that nothing can be said about them. */
  isStandIn?: true
}

/** The secrets that one message used: by value, its reference (`${env:NAME}`). */
export type SecretValues = ReadonlyMap<string, string>

/** A shorter value occurs in texts by chance. */
const MIN_CHARACTERS = 3

/** In bytes. The Base64 of a shorter value occurs in texts by chance. */
const MIN_BASE64_BYTES = 6

/**
 * The forms of a value in texts: unchanged, percent-encoded, also twice, escaped for XML or by any writer of JSON, also
 * twice as in JSON within JSON, its UTF-8 bytes read as Latin-1, and in Base64, also of a longer text such as
 * `user:password`. None if the value is too short.
 */
export function encodedForms(value: string): readonly string[] {
  if (value.length < MIN_CHARACTERS) return []
  if (SAME_EVERYWHERE.test(value)) return [value, ...inBase64(value)]
  const forms = [value, ...inUrl(value), ...inXml(value), ...inJson(value), ...inJson(value).flatMap(inJson)]
  return [...new Set([...forms, ...forms.map(asLatin1), ...inBase64(value)])]
}

/** Texts that no format escapes. */
const SAME_EVERYWHERE = /^[\w.~-]*$/

function inUrl(value: string): readonly string[] {
  const text = value.toWellFormed()
  const encoded = encodeURIComponent(text)
  const mixed = [encoded.replaceAll('%3A', ':').replaceAll('%2C', ','), encoded.replaceAll('%20', '+'), encodeURI(text)]
  const forms = [encoded, ...mixed]
  // Some writers of URLs use lower-case digits (RFC 3986 section 2.1 allows both).
  const inLowerCase = forms.map((form) => form.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()))
  return [...forms, ...inLowerCase, encodeURIComponent(encoded)]
}

function inXml(value: string): readonly string[] {
  const text = value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  const attribute = text.replaceAll('"', '&quot;')
  return [text, attribute, attribute.replaceAll("'", '&apos;')]
}

function inJson(value: string): readonly string[] {
  const text = JSON.stringify(value).slice(1, -1)
  const ascii = text.replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
  return [text, text.replaceAll('/', '\\/'), ascii]
}

/**
 * The characters of Base64 (RFC 4648 sections 4 and 5) that the value alone decides. Three bytes become four characters,
 * so they depend on how many bytes are before the value.
 */
function inBase64(value: string): readonly string[] {
  const bytes = Buffer.from(value)
  if (bytes.byteLength < MIN_BASE64_BYTES) return []
  return [0, 1, 2].flatMap((before) => {
    const shifted = Buffer.alloc(before + bytes.byteLength)
    bytes.copy(shifted, before)
    const from = Math.ceil((before * 8) / 6)
    const text = shifted.toString('base64').slice(from, Math.floor((shifted.byteLength * 8) / 6))
    return /[+/]/.test(text) ? [text, text.replaceAll('+', '-').replaceAll('/', '_')] : [text]
  })
}

const asLatin1 = (text: string): string => Buffer.from(text).toString('latin1')

/** Replaces each value in a text by its reference. */
export const withReferences = (text: string, secrets: SecretValues | undefined): string =>
  secrets === undefined ? text : compileReferences(secrets)(text)

/** The same for many texts: making the forms of the values takes longer than finding them. */
export function compileReferences(secrets: SecretValues): (text: string) => string {
  const forms = [...secrets].flatMap(([value, reference]) =>
    encodedForms(value).map((form) => [form, reference] as const),
  )
  // The longest first, since one form may contain another.
  forms.sort(([one], [other]) => other.length - one.length)
  return (text) => forms.reduce((left, [form, reference]) => left.replaceAll(form, () => reference), text)
}

// References to secrets in the texts of a document: `${env:NAME}` and `${file:/path}`. Any other text with dollars and
// braces stays unchanged.

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
  return 'This looks like a reference to a secret and is sent unchanged; write "${env:NAME}", or "${file:/path}" with an absolute path.'
}

export const withoutSecretHeaders = (headers: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, isSecretName(name) ? REDACTED : value]))
