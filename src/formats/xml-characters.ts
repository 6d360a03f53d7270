/** Characters, escapes and names of XML 1.0. */

/** Values without anything to escape. Most values pass this one test. */
const PLAIN_TEXT = /^[\t\n -%'-;=?-\uD7FF\uE000-\uFFFD]*$/
const PLAIN_ATTRIBUTE = /^[ !#-%'-;=?-\uD7FF\uE000-\uFFFD]*$/

/** The production `Char` of §2.2, negated; half a surrogate pair is not in it. */
const FORBIDDEN = /[^\t\n\r -\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu

/**
 * What is written as references in text, in this order: `&` first, as all others bring one. White space that a reader would
 * normalise is among them: §2.11 and §3.3.3.
 */
const IN_TEXT: readonly (readonly [character: string, reference: string])[] = [
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['\r', '&#13;'],
]
const IN_ATTRIBUTES: typeof IN_TEXT = [...IN_TEXT, ['"', '&quot;'], ['\t', '&#9;'], ['\n', '&#10;']]

/** The text as written between tags; undefined if it has a character that XML cannot hold. */
export function escapeText(text: string): string | undefined {
  return PLAIN_TEXT.test(text) ? text : withReferences(text, IN_TEXT)
}

/** The text as written between double quotes; undefined if it has a character that XML cannot hold. */
export function escapeAttribute(text: string): string | undefined {
  return PLAIN_ATTRIBUTE.test(text) ? text : withReferences(text, IN_ATTRIBUTES)
}

/** Split and joined: for a text of many, a fourth of the time of a pattern that calls a function for each. */
function withReferences(text: string, references: typeof IN_TEXT): string | undefined {
  if (text.search(FORBIDDEN) !== -1) return undefined
  return references.reduce((written, [character, reference]) => written.split(character).join(reference), text)
}

/** The first code point that XML cannot hold, not even as a reference. */
export function forbiddenIn(text: string): number | undefined {
  const index = text.search(FORBIDDEN)
  return index === -1 ? undefined : text.codePointAt(index)
}

export function withoutForbidden(text: string): string {
  return text.replace(FORBIDDEN, '\uFFFD')
}

/** §2.3 without the colon. */
const NAME_START =
  'A-Z_a-z\\u{C0}-\\u{D6}\\u{D8}-\\u{F6}\\u{F8}-\\u{2FF}\\u{370}-\\u{37D}\\u{37F}-\\u{1FFF}\\u{200C}\\u{200D}' +
  '\\u{2070}-\\u{218F}\\u{2C00}-\\u{2FEF}\\u{3001}-\\u{D7FF}\\u{F900}-\\u{FDCF}\\u{FDF0}-\\u{FFFD}\\u{10000}-\\u{EFFFF}'
const NC_NAME = `[${NAME_START}][${NAME_START}.0-9\\u{B7}\\u{300}-\\u{36F}\\u{203F}\\u{2040}-]*`
const XML_NAME = new RegExp(`^${NC_NAME}(?::${NC_NAME})?$`, 'u')

/**
 * Elements and attributes can have such a name: an XML 1.0 name with at most one colon, between a prefix and a
 * local part (Namespaces in XML 1.0 §4). The prefix need not be declared.
 */
export function isXmlName(name: string): boolean {
  return XML_NAME.test(name)
}
