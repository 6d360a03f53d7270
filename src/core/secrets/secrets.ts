/** Secrets: the names that indicate them, the source of their values, and finding their values in texts. */

/** Parts of the names of headers and properties that may hold a credential: full names would miss `x-acme-api-key`. */
const SECRET = /authorization|cookie|api-?_?key|subscription-key|token|secret|password|credential/i

export const isSecretName = (name: string): boolean => SECRET.test(name)

/** Names of query parameters that are credentials in URLs, though not in headers and properties. */
const SECRET_PARAMETER =
  /^(?:key|sig|signature|auth|passwd|pwd|pass|access_?key|private_?key|jwt|sid|session_?id|assertion)$/i

export const isSecretParameter = (name: string): boolean => isSecretName(name) || SECRET_PARAMETER.test(name)

export const REDACTED = '[redacted]'

/** Supplies the values of the secrets that documents refer to. */
export interface SecretSource {
  /**
   * Replaces each reference (`${env:NAME}`, `${file:/path}`) in a text by its present value.
   * Fails with SECRET_UNAVAILABLE if a value is missing or not allowed; the message contains no value.
   */
  resolve(text: string): string
}

/** The secrets that one message used: by value, its reference (`${env:NAME}`). */
export type SecretValues = ReadonlyMap<string, string>

/** A shorter value occurs in texts by chance. */
const SHORTEST = 3

/** In bytes. The Base64 of a shorter value occurs in texts by chance. */
const SHORTEST_IN_BASE64 = 6

/**
 * The forms of a value in texts: unchanged, percent-encoded, also twice, escaped for XML or by any writer of JSON, also
 * twice as in JSON within JSON, its UTF-8 bytes read as Latin-1, and in Base64, also of a longer text such as
 * `user:password`. None if the value is too short.
 */
export function formsOf(value: string): readonly string[] {
  if (value.length < SHORTEST) return []
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
  if (bytes.byteLength < SHORTEST_IN_BASE64) return []
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
  const forms = [...secrets].flatMap(([value, reference]) => formsOf(value).map((form) => [form, reference] as const))
  // The longest first, since one form may contain another.
  forms.sort(([one], [other]) => other.length - one.length)
  return (text) => forms.reduce((left, [form, reference]) => left.replaceAll(form, () => reference), text)
}
