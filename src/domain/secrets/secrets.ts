/** Secrets: names that mark them, the source of their values, and finding the values again in any text. */

/** Headers and properties whose value is, or may be, a credential. Only parts of names: full names would miss `x-acme-api-key`. */
const SECRET = /authorization|cookie|api-?_?key|subscription-key|token|secret|password|credential/i

export const isSecretName = (name: string): boolean => SECRET.test(name)

/** Replaces a value that is not shown. */
export const REDACTED = '[redacted]'

/** Supplies the values of the secrets that documents refer to. */
export interface SecretSource {
  /**
   * The text with each reference (`${env:NAME}`, `${file:/path}`) replaced by its present value.
   * Fails with SECRET_UNAVAILABLE if a value is missing or not allowed; the message contains no value.
   */
  resolve(text: string): string
}

/** The secrets that one message used: by value, its reference (`${env:NAME}`). */
export type SecretValues = ReadonlyMap<string, string>

/** Shorter values occur in texts by chance. */
const SHORTEST = 3

/**
 * The forms of a value in texts: unchanged, encoded for a URL, escaped for XML or by any writer of JSON, also twice as in JSON
 * within JSON, and in UTF-8 that is read as Latin-1. None if the value is so short that it occurs by chance.
 */
export function formsOf(value: string): readonly string[] {
  if (value.length < SHORTEST) return []
  const forms = [value, ...inUrl(value), ...inXml(value), ...inJson(value), ...inJson(value).flatMap(inJson)]
  return [...new Set([...forms, ...forms.map(asLatin1)])]
}

function inUrl(value: string): readonly string[] {
  const encoded = encodeURIComponent(value.toWellFormed())
  return [encoded, encoded.replaceAll('%3A', ':').replaceAll('%2C', ','), encoded.replaceAll('%20', '+')]
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

const asLatin1 = (text: string): string => Buffer.from(text).toString('latin1')

/** The text with each value replaced by its reference. */
export function withReferences(text: string, secrets: SecretValues | undefined): string {
  if (secrets === undefined || secrets.size === 0) return text
  const forms = [...secrets].flatMap(([value, reference]) => formsOf(value).map((form) => [form, reference] as const))
  // The longest first: a form may be a part of another one.
  forms.sort(([one], [other]) => other.length - one.length)
  return forms.reduce((left, [form, reference]) => left.replaceAll(form, () => reference), text)
}
