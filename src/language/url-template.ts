/**
 * `config.url` of a request: an absolute URL with `:name` placeholders, parsed once at registration. A value can change its
 * own part of the URL only: it adds no segment, parameter or fragment, no step up the path, and no other authority.
 */
import { fault, found, type Result } from '../core/lint.ts'
import { parseReferences, type Reference } from '../core/secrets/secrets.ts'

export type UrlTemplate = Readonly<{
  /** Names of the placeholders, each once, in the order of the URL. */
  placeholders: readonly string[]
  /** Names of path segments `:name` that aren't placeholders and stay in the URL, each once. */
  undefinedNames: readonly string[]
  /** References to secrets, in the order of the URL. */
  references: readonly Reference[]
  /** The reference that the URL starts with; its value is the start of a URL. */
  base: Base | undefined
  /**
   * The URL with encoded values for its placeholders; other values are ignored. Without `resolveSecret`, references stay in the
   * URL. With it, their values replace them, encoded except that of `base`, for which it must return what `base.read` returns.
   * Fails if a value is missing or is not well-formed Unicode, if a path segment becomes `.` or `..`, if an empty value makes
   * the path start with `//`, and if an empty secret leaves its segment empty.
   */
  fill(values: Readonly<Record<string, string>>, resolveSecret?: ResolveSecret): Result<string>
}>

type ResolveSecret = (reference: Reference) => string

/** Of a request to no URL. */
export const NOWHERE: UrlTemplate = {
  placeholders: [],
  undefinedNames: [],
  references: [],
  base: undefined,
  fill: () => found(''),
}

type Base = Readonly<{
  reference: Reference
  /** Fails if the value isn't a start of a URL, or the template cannot continue it; the text continues the name of the secret. */
  read(value: string): Result<string>
}>

type Part = Readonly<{ literal: string }> | Readonly<{ name: string }> | Readonly<{ reference: Reference }>
/** A path segment, or another part of the URL. */
type Piece = Readonly<{ parts: readonly Part[]; isVariableSegment: boolean; isFollowedFirst: boolean }>

/** Splits a text into literals, placeholders and references. */
type Cut = (text: string) => readonly Part[]

const NAME_SEGMENT = /^:([A-Za-z0-9_-]+)$/
const ABSOLUTE = /^(https?:\/\/)([^/?#]*)([^?#]*)(\?[^#]*)?(#.*)?$/i
/** The forms of `.` and `..` for the WHATWG URL parser, https://url.spec.whatwg.org/#double-dot-path-segment. */
const DOT_SEGMENT = /^(?:\.|%2e){1,2}$/i

export const isPlaceholderName = (name: string): boolean => /^[A-Za-z0-9_-]+$/.test(name)

/**
 * Parses a template. `:name` in the path and the query is a placeholder if `names` has the name (letters, digits, `_` and
 * `-`) and no letter, digit or `_` follows; the longest name wins. Every other colon is a colon. White space around the URL
 * is removed, and characters that no URI has (RFC 3986 section 2) are encoded. Fails with the fault and the correction.
 */
export function parseUrlTemplate(authored: string, names: readonly string[]): Result<UrlTemplate> {
  const text = authored.trim()
  const parts = parseReferences(text)
  if (parts === undefined) return parse(text, names, [])
  const references = parts.filter((part) => typeof part !== 'string')
  if (references.length > MAX_REFERENCES || /\p{Co}/u.test(text)) {
    return fault('The URL holds too many references to secrets, or private characters beside them; leave these out.')
  }
  const code = (part: string | Reference) => (typeof part === 'string' ? part : standIn(references.indexOf(part)))
  return parse(parts.map(code).join(''), names, references)
}

/** A private character replaces each reference while the URL is split, since a reference has colons and slashes. */
const FIRST_STAND_IN = 0xe000
const MAX_REFERENCES = 100
const STAND_IN = /([\ue000-\ue063])/
const standIn = (index: number): string => String.fromCharCode(FIRST_STAND_IN + index)

function parse(text: string, names: readonly string[], references: readonly Reference[]): Result<UrlTemplate> {
  const wrong = findTextFault(text)
  if (wrong !== undefined) return fault(wrong)
  const cut = createCut(names, references)
  const first = text.startsWith(standIn(0)) ? references[0] : undefined
  if (first === undefined) return parseFromOrigin(text, cut, references, undefined)
  const rest = text.slice(1)
  if (!/^(?:$|[/?])/.test(rest))
    return fault(`After "${first.text}" at the start of the URL must come "/", "?" or nothing.`)
  const base = { reference: first, read: (value: string) => readBase(value, rest === '') }
  return parseFromOrigin(`http://unknown.invalid${rest}`, cut, references, base)
}

function parseFromOrigin(
  text: string,
  cut: Cut,
  references: readonly Reference[],
  base: Base | undefined,
): Result<UrlTemplate> {
  const [, scheme, authority, path, query, fragment] = ABSOLUTE.exec(text) ?? []
  if (scheme === undefined || authority === undefined || path === undefined) {
    return fault('The URL must be absolute: start it with "http://" or "https://" and a host.')
  }
  if (fragment !== undefined)
    return fault('The URL must not hold a fragment; leave out "#" and what follows (write %23 for a literal "#").')
  const wrongHost = references.length > 0 ? findOriginFault(authority) : undefined
  const wrongAuthority = wrongHost ?? findAuthorityFault(scheme, authority)
  if (wrongAuthority !== undefined) return fault(wrongAuthority)
  const segments = path.split('/').slice(1)
  if (segments.some((segment) => DOT_SEGMENT.test(segment))) {
    return fault('The path of the URL must not hold the segments "." or ".."; write the path that they lead to.')
  }
  const parameters = query?.slice(1).split('&') ?? []
  if (references.length > 0 && parameters.some((parameter) => STAND_IN.test(parameter.split('=', 1)[0] ?? ''))) {
    return fault('A reference to a secret cannot be the name of a query parameter; put it after a "=".')
  }
  const origin: Part =
    base === undefined ? { literal: scheme.toLowerCase() + authority } : { reference: base.reference }
  const pieces: Piece[] = [
    fixed(origin),
    ...segments.flatMap((segment, index) => pathPieces(cut(segment), index === 0 && segments.length > 1)),
    ...parameters.flatMap((parameter, index) => [
      fixed({ literal: index === 0 ? '?' : '&' }),
      fixed(...cut(parameter)),
    ]),
  ]
  return found({
    placeholders: [...new Set(pieces.flatMap(({ parts }) => listNames(parts)))],
    undefinedNames: [...new Set(segments.flatMap((segment) => findUndefinedName(segment, cut)))],
    references,
    base,
    fill: (values, resolveSecret) => fill(pieces, values, base, resolveSecret),
  })
}

const listNames = (parts: readonly Part[]): string[] => parts.flatMap((part) => ('name' in part ? [part.name] : []))

function findUndefinedName(segment: string, cut: Cut): string[] {
  const name = NAME_SEGMENT.exec(segment)?.[1]
  return name === undefined || listNames(cut(segment)).length > 0 ? [] : [name]
}

function findTextFault(text: string): string | undefined {
  if (!text.isWellFormed()) return 'The URL holds half of a surrogate pair; write the whole character.'
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for; URL parsers drop some of them.
  if (/[\x00-\x20\x7f\\]/.test(text)) {
    return 'The URL must not hold spaces, control characters or backslashes; write %20 for a space and %5C for a backslash.'
  }
  if (/%(?![0-9A-Fa-f]{2})/.test(text))
    return 'The URL holds a "%" that starts no percent-encoding; write %25 for a literal "%".'
  return undefined
}

function findOriginFault(authority: string): string | undefined {
  if (!STAND_IN.test(authority) || authority.includes('@')) return undefined
  return 'References to secrets can be at the start of the URL, for its scheme, host and port together, in its path and in its query.'
}

function findAuthorityFault(scheme: string, authority: string): string | undefined {
  if (authority.includes('@')) {
    return 'The URL must not hold credentials; leave out what is before "@" and write an "authorization" header instead.'
  }
  if (/:[A-Za-z_]/.test(authority.replace(/^\[[^\]]*\]/, ''))) {
    return 'Placeholders can be in the path and the query of the URL only; write the host and the port themselves.'
  }
  if (authority === '' || !URL.canParse(scheme + authority)) {
    return `The URL has no valid host and port; write them as in "http://example.org:8080/path".`
  }
  return undefined
}

const fixed = (...parts: readonly Part[]): Piece => ({ parts, isVariableSegment: false, isFollowedFirst: false })

function pathPieces(parts: readonly Part[], isFollowedFirst: boolean): readonly Piece[] {
  const isVariableSegment = parts.some((part) => !('literal' in part))
  return [fixed({ literal: '/' }), { parts, isVariableSegment, isFollowedFirst }]
}

function createCut(names: readonly string[], references: readonly Reference[]): Cut {
  const known = names.filter(isPlaceholderName).sort((one, other) => other.length - one.length)
  const placeholder = known.length === 0 ? undefined : new RegExp(`:(${known.join('|')})(?![A-Za-z0-9_])`)
  return (text) => {
    const parts = placeholder === undefined ? [text] : text.split(placeholder)
    return parts
      .flatMap((part, index): readonly Part[] => (index % 2 === 1 ? [{ name: part }] : cutLiteral(part, references)))
      .filter((part) => !('literal' in part) || part.literal !== '')
  }
}

function cutLiteral(text: string, references: readonly Reference[]): readonly Part[] {
  if (references.length === 0) return [{ literal: encodeLiteral(text) }]
  return text.split(STAND_IN).map((part, index): Part => {
    const reference = index % 2 === 1 ? references[part.charCodeAt(0) - FIRST_STAND_IN] : undefined
    return reference === undefined ? { literal: encodeLiteral(part) } : { reference }
  })
}

/** Encodes characters that RFC 3986 does not allow in a path or query; percent-encodings stay. */
const encodeLiteral = (text: string): string =>
  text.replace(/[^A-Za-z0-9\-._~:/?@!$&'()*+,;=%]+/gu, (characters) => encodeURIComponent(characters))

function fill(
  pieces: readonly Piece[],
  values: Readonly<Record<string, string>>,
  base: Base | undefined,
  resolveSecret: ResolveSecret | undefined,
): Result<string> {
  let url = ''
  for (const { parts, isVariableSegment, isFollowedFirst } of pieces) {
    let text = ''
    for (const part of parts) {
      if (!('name' in part)) {
        text += 'literal' in part ? part.literal : written(part.reference, base, resolveSecret)
        continue
      }
      const value = Object.hasOwn(values, part.name) ? values[part.name] : undefined
      if (value === undefined) return fault(`The placeholder ":${part.name}" has no value.`)
      if (!value.isWellFormed()) return fault(`The value of ":${part.name}" holds half of a surrogate pair.`)
      text += encodeUrlValue(value)
    }
    if (isVariableSegment) {
      const wrong = findSegmentFault(text, parts, isFollowedFirst && ORIGIN.test(url))
      if (wrong !== undefined) return fault(wrong)
    }
    url += text
  }
  return found(url)
}

/** A URL up to the first slash of its path. */
const ORIGIN = /^https?:\/\/[^/]*\/$/i

/** `isFirst`: the segment is the first of several in the path. */
function findSegmentFault(text: string, parts: readonly Part[], isFirst: boolean): string | undefined {
  const hasSecret = parts.some((part) => 'reference' in part)
  if (!DOT_SEGMENT.test(text) && (text !== '' || !(hasSecret || isFirst))) return undefined
  const own = parts.map((part) =>
    'name' in part ? `:${part.name}` : 'literal' in part ? part.literal : part.reference.text,
  )
  const segment = `The path segment "${own.join('')}"`
  if (text !== '') return `${segment} would be ${JSON.stringify(text)}, which addresses another resource.`
  return hasSecret
    ? `${segment} would be empty, which addresses another resource.`
    : `${segment} is empty, so the path would start with "//", and some servers read another host there.`
}

function written(reference: Reference, base: Base | undefined, resolveSecret: ResolveSecret | undefined): string {
  if (resolveSecret === undefined) return reference.text
  const value = resolveSecret(reference)
  return reference === base?.reference ? value : encodeUrlValue(value)
}

/** `isWhole`: the template ends after the value. */
function readBase(value: string, isWhole: boolean): Result<string> {
  const [, scheme, authority, path = '', query = '', fragment] = ABSOLUTE.exec(value) ?? []
  const isSound = findTextFault(value) === undefined && fragment === undefined && (isWhole || query === '')
  if (
    !isSound ||
    scheme === undefined ||
    authority === undefined ||
    findAuthorityFault(scheme, authority) !== undefined
  ) {
    return fault(
      `starts no URL: its value must be an absolute http or https URL without credentials${isWhole ? '' : ', query'} and fragment`,
    )
  }
  return found(scheme + authority + encodeLiteral(isWhole ? path + query : path.replace(/\/+$/, '')))
}

/** In: a URL without a fragment. Adds parameters after those that it has. */
export function appendQuery(url: string, query: readonly (readonly [name: string, value: string])[]): string {
  if (query.length === 0) return url
  return appendEncoded(url, query.map(([name, value]) => `${encodeUrlValue(name)}=${encodeUrlValue(value)}`).join('&'))
}

/** The same for parameters that are encoded; unchanged without any. */
export function appendEncoded(url: string, added: string | undefined): string {
  if (added === undefined) return url
  if (!url.includes('?')) return `${url}?${added}`
  return url.endsWith('?') || url.endsWith('&') ? url + added : `${url}&${added}`
}

const UNRESERVED = /^[\w.~-]*$/

/**
 * Percent-encodes a value for a path or query (RFC 3986 section 2.1), except `:` and `,`. Lone surrogates become U+FFFD, as
 * in the URL standard; a caller that refuses them checks `isWellFormed` first.
 */
export function encodeUrlValue(text: string): string {
  if (UNRESERVED.test(text)) return text
  return encodeURIComponent(text.toWellFormed()).replaceAll('%3A', ':').replaceAll('%2C', ',')
}
