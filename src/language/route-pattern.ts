/**
 * `endpoint.pattern`: the paths of an endpoint. `:name` is a parameter for one segment, `*name` at the end a wildcard for all
 * that is left of the path. Other characters that routers interpret (`(`, `)`, `?`, `::`) are refused.
 */
import { reservedBy } from '../core/http.ts'
import { fault, found, type Result } from '../core/lint.ts'

type RoutePattern = Readonly<{
  pattern: string
  /** Names of the parameters and of the wildcard, in the order of their segments. */
  parameters: readonly string[]
  /**
   * Two endpoints conflict if their keys are equal: the method, and the pattern without names, as in `POST /patients/:` or
   * `GET /files/*`.
   */
  routeKey(method: string): string
}>

const LIMIT_CHARACTERS = 2_000
const PARAMETER = /^[A-Za-z_][A-Za-z0-9_-]*$/
/** RFC 3986 section 3.3: pchar without percent-encodings, `:`, `*` and parentheses. */
const WRONG_IN_LITERAL = /[^A-Za-z0-9\-._~!$&'+,;=@]/u

/** Fails with one sentence: the fault and the correction. */
export function parseRoutePattern(pattern: string): Result<RoutePattern> {
  if (!pattern.startsWith('/'))
    return fault(`The pattern ${quote(pattern)} must start with "/": write ${quote(`/${pattern}`)}.`)
  if (pattern.length > LIMIT_CHARACTERS)
    return fault(`The pattern must have at most ${LIMIT_CHARACTERS} characters; write a shorter one.`)
  const reserved = reservedBy(pattern)
  if (reserved !== undefined) {
    return fault(
      `${quote(reserved)} and the paths below it belong to the service; start the pattern with another segment.`,
    )
  }
  const segments = splitPattern(pattern)
  const parameters: string[] = []
  for (const [at, segment] of segments.entries()) {
    const wrong = findSegmentFault(segment, at === segments.length - 1)
    if (wrong !== undefined) return fault(wrong)
    const name = variableName(segment)
    if (name === undefined) continue
    if (parameters.includes(name))
      return fault(`The parameter "${segment}" appears twice in the pattern; give each its own name.`)
    parameters.push(name)
  }
  const shape = `/${segments.map((segment) => (variableName(segment) === undefined ? segment : segment[0])).join('/')}`
  return found({ pattern, parameters, routeKey: (method) => `${method.toUpperCase()} ${shape}` })
}

/** The segments of a pattern, parameters with their colon, a wildcard with its asterisk. A last "/" starts no segment. */
export const splitPattern = (pattern: string): readonly string[] =>
  pattern === '/' ? [] : withoutLastSlash(pattern).slice(1).split('/')

export const isWildcard = (segment: string): boolean => segment.startsWith('*')

/** The name of a parameter or wildcard; undefined for a literal. */
export const variableName = (segment: string): string | undefined =>
  segment.startsWith(':') || isWildcard(segment) ? segment.slice(1) : undefined

export const withoutLastSlash = (path: string): string =>
  path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path

function findSegmentFault(segment: string, isLast: boolean): string | undefined {
  if (segment === '') return 'The pattern must not hold "//"; write a single "/" between segments.'
  if (segment === '.' || segment === '..') {
    return `The pattern must not hold the segment "${segment}", which clients resolve away; write the path that it leads to.`
  }
  const name = variableName(segment)
  if (name === undefined) return findLiteralFault(segment)
  if (name === '__proto__') return `The parameter "${segment}" cannot be addressed; choose another name.`
  return isWildcard(segment) ? findWildcardFault(name, isLast) : findParameterFault(name)
}

function findWildcardFault(name: string, isLast: boolean): string | undefined {
  if (!PARAMETER.test(name)) {
    return `${quote(`*${name}`)} is not a wildcard; write "*" and a name of letters, digits, "_" and "-" that starts with a letter or "_", such as "*rest".`
  }
  if (isLast) return undefined
  return `The wildcard ${quote(`*${name}`)} takes the rest of the path; write it as the last segment, or write a parameter such as ":name" for one segment.`
}

function findParameterFault(name: string): string | undefined {
  if (PARAMETER.test(name)) return undefined
  return `${quote(`:${name}`)} is not a parameter; write ":" and a name of letters, digits, "_" and "-" that starts with a letter or "_" and fills its segment, such as ":id".`
}

function findLiteralFault(segment: string): string | undefined {
  const wrong = WRONG_IN_LITERAL.exec(segment)?.[0]
  if (wrong === undefined) return undefined
  const location = `the segment ${quote(segment)} of the pattern`
  switch (wrong) {
    case ':':
      return `A parameter must fill its segment, and ${location} has ":" further in; write ":name" as a segment of its own.`
    case '?':
    case '#':
      return `The pattern must not hold a query or a fragment; leave out ${quote(wrong)} and what follows (every query reaches the endpoint).`
    case '%':
      return `Percent-encodings are not understood in ${location}; write the character itself where a URL may hold it, or a parameter such as ":name".`
    case '*':
      return `A wildcard must fill the last segment, and ${location} has "*" further in; write a parameter such as ":name" for one variable segment, or "*name" at the end for the rest of the path.`
    case '(':
    case ')':
      return `Regular expressions are not understood in ${location}; write a parameter such as ":name" for each variable segment.`
    default:
      return `${quote(wrong)} is not allowed in ${location}; write letters, digits and -._~!$&'+,;=@ only, or a parameter such as ":name".`
  }
}

const quote = (text: string): string => JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text)
