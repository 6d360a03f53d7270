/**
 * `config.url` of a request: an absolute URL with `:name` placeholders. It is cut once, when an endpoint is
 * registered, and arranged so that no value can change which resource is addressed beyond its own place: no added
 * segment, parameter or fragment, no step up the path.
 */
import { fault, found, type Result } from '../domain/result.ts'

export type UrlTemplate = Readonly<{
  /** Names of the placeholders, each once, in the order of the URL. */
  placeholders: readonly string[]
  /**
   * The URL with its placeholders replaced by encoded values; further values are ignored.
   * Fails where one is missing, is no well-formed Unicode, or leaves its path segment empty, `.` or `..`.
   */
  fill(values: Readonly<Record<string, string>>): Result<string>
}>

/** Literal text and names of placeholders, in turn: `['/p/', 'id', '/x']`. */
type Part = Readonly<{ literal: string }> | Readonly<{ name: string }>
/** The parts of one path segment, or of everything that lies between the segments with placeholders. */
type Piece = Readonly<{ parts: readonly Part[]; segment: boolean }>

const PLACEHOLDER = /:([A-Za-z_][A-Za-z0-9_]*)/
const ABSOLUTE = /^(https?:\/\/)([^/?#]*)([^?#]*)(\?[^#]*)?(#.*)?$/i
/** What the WHATWG URL parser takes for `.` or `..`, https://url.spec.whatwg.org/#double-dot-path-segment. */
const DOT_SEGMENT = /^(?:\.|%2e){1,2}$/i

/**
 * Reads a template. Placeholders stand in the path and in the values of the query; the name of a query parameter
 * keeps its colons (`?name:exact=:name`). Characters that no URI holds (RFC 3986 section 2) are encoded.
 * Fails with what is wrong and what to write instead.
 */
export function parseUrlTemplate(text: string): Result<UrlTemplate> {
  const wrong = faultOfText(text)
  if (wrong !== undefined) return fault(wrong)
  const [, scheme, authority, path, query, fragment] = ABSOLUTE.exec(text) ?? []
  if (scheme === undefined || authority === undefined || path === undefined) {
    return fault('The URL must be absolute: start it with "http://" or "https://" and a host.')
  }
  if (fragment !== undefined)
    return fault('The URL must not hold a fragment; leave out "#" and what follows (write %23 for a literal "#").')
  const wrongHost = faultOfAuthority(scheme, authority)
  if (wrongHost !== undefined) return fault(wrongHost)
  const segments = path.split('/').slice(1)
  if (segments.some((segment) => DOT_SEGMENT.test(segment))) {
    return fault('The path of the URL must not hold the segments "." or ".."; write the path that they lead to.')
  }
  const pieces: Piece[] = [
    { parts: [{ literal: scheme.toLowerCase() + authority }], segment: false },
    ...segments.flatMap(pathPieces),
    ...queryPieces(query),
  ]
  const names = pieces.flatMap((piece) => piece.parts.flatMap((part) => ('name' in part ? [part.name] : [])))
  return found({ placeholders: [...new Set(names)], fill: (values) => fill(pieces, values) })
}

function faultOfText(text: string): string | undefined {
  if (!text.isWellFormed()) return 'The URL holds half of a surrogate pair; write the whole character.'
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for; URL parsers drop some of them.
  if (/[\x00-\x20\x7f\\]/.test(text)) {
    return 'The URL must not hold spaces, control characters or backslashes; write %20 for a space and %5C for a backslash.'
  }
  if (/%(?![0-9A-Fa-f]{2})/.test(text))
    return 'The URL holds a "%" that starts no percent-encoding; write %25 for a literal "%".'
  return undefined
}

function faultOfAuthority(scheme: string, authority: string): string | undefined {
  if (authority.includes('@')) {
    return 'The URL must not hold credentials; leave out what stands before "@" and write an "authorization" header instead.'
  }
  if (PLACEHOLDER.test(authority.replace(/^\[[^\]]*\]/, ''))) {
    return 'Placeholders can stand in the path and the query of the URL only; write the host and the port themselves.'
  }
  if (authority === '' || !URL.canParse(scheme + authority)) {
    return `The URL has no valid host and port; write them as in "http://example.org:8080/path".`
  }
  return undefined
}

const pathPieces = (segment: string): readonly Piece[] => [
  { parts: [{ literal: '/' }], segment: false },
  { parts: cut(segment), segment: true },
]

function queryPieces(query: string | undefined): readonly Piece[] {
  if (query === undefined) return []
  return query
    .slice(1)
    .split('&')
    .map((parameter, index) => {
      const equals = parameter.indexOf('=') + 1
      const name = equals === 0 ? parameter : parameter.slice(0, equals)
      const value = equals === 0 ? '' : parameter.slice(equals)
      return { parts: [{ literal: (index === 0 ? '?' : '&') + encodeLiteral(name) }, ...cut(value)], segment: false }
    })
}

function cut(text: string): readonly Part[] {
  return text
    .split(PLACEHOLDER)
    .map((part, index): Part => (index % 2 === 1 ? { name: part } : { literal: encodeLiteral(part) }))
    .filter((part) => !('literal' in part) || part.literal !== '')
}

/** Encodes what RFC 3986 allows nowhere in a path or query, and leaves what is encoded already. */
const encodeLiteral = (text: string): string =>
  text.replace(/[^A-Za-z0-9\-._~:/?@!$&'()*+,;=%]+/gu, (characters) => encodeURIComponent(characters))

function fill(pieces: readonly Piece[], values: Readonly<Record<string, string>>): Result<string> {
  let url = ''
  for (const { parts, segment } of pieces) {
    let text = ''
    for (const part of parts) {
      if ('literal' in part) {
        text += part.literal
        continue
      }
      const value = Object.hasOwn(values, part.name) ? values[part.name] : undefined
      if (value === undefined) return fault(`The placeholder ":${part.name}" has no value.`)
      if (!value.isWellFormed()) return fault(`The value of ":${part.name}" holds half of a surrogate pair.`)
      text += encodeUrlValue(value)
    }
    if (segment && parts.some((part) => 'name' in part)) {
      const wrong = faultOfSegment(text, parts)
      if (wrong !== undefined) return fault(wrong)
    }
    url += text
  }
  return found(url)
}

function faultOfSegment(text: string, parts: readonly Part[]): string | undefined {
  if (text !== '' && !DOT_SEGMENT.test(text)) return undefined
  const written = parts.map((part) => ('name' in part ? `:${part.name}` : part.literal)).join('')
  const became = text === '' ? 'empty' : JSON.stringify(text)
  return `The path segment "${written}" would be ${became}, which addresses another resource.`
}

/** Adds parameters behind those that a URL without fragment has already; nothing is dropped or replaced. */
export function appendQuery(url: string, query: readonly (readonly [name: string, value: string])[]): string {
  if (query.length === 0) return url
  const added = query.map(([name, value]) => `${encodeUrlValue(name)}=${encodeUrlValue(value)}`).join('&')
  if (!url.includes('?')) return `${url}?${added}`
  return url.endsWith('?') || url.endsWith('&') ? url + added : `${url}&${added}`
}

/**
 * Percent-encodes a value for a place in a path or query (RFC 3986 section 2.1); `:` and `,` stay as they are.
 * Halves of surrogate pairs become U+FFFD, as in the URL standard: check `isWellFormed` first to refuse them.
 */
export function encodeUrlValue(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replaceAll('%3A', ':').replaceAll('%2C', ',')
}
