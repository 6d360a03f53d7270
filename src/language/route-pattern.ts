/** `endpoint.pattern`: the paths of an endpoint. Characters that routers interpret (`*`, `(`, `)`, `?`, `::`) are refused. */
import { reservedBy } from '../core/http.ts'
import { fault, found, type Result } from '../core/lint.ts'

type RoutePattern = Readonly<{
  pattern: string
  /** Names of the parameters, in the order of their segments. */
  parameters: readonly string[]
  /**
   * Two endpoints conflict if their keys are equal: the method, and the pattern without parameter names, as in `POST
   * /patients/:`.
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
  for (const segment of segments) {
    const wrong = findSegmentFault(segment)
    if (wrong !== undefined) return fault(wrong)
    if (!segment.startsWith(':')) continue
    const name = segment.slice(1)
    if (parameters.includes(name))
      return fault(`The parameter ":${name}" appears twice in the pattern; give each its own name.`)
    parameters.push(name)
  }
  const shape = `/${segments.map((segment) => (segment.startsWith(':') ? ':' : segment)).join('/')}`
  return found({ pattern, parameters, routeKey: (method) => `${method.toUpperCase()} ${shape}` })
}

/** The segments of a pattern, parameters with their colon. A last "/" starts no segment. */
export const splitPattern = (pattern: string): readonly string[] =>
  pattern === '/' ? [] : withoutLastSlash(pattern).slice(1).split('/')

export const withoutLastSlash = (path: string): string =>
  path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path

function findSegmentFault(segment: string): string | undefined {
  if (segment === '') return 'The pattern must not hold "//"; write a single "/" between segments.'
  if (segment === '.' || segment === '..') {
    return `The pattern must not hold the segment "${segment}", which clients resolve away; write the path that it leads to.`
  }
  return segment.startsWith(':') ? findParameterFault(segment.slice(1)) : findLiteralFault(segment)
}

function findParameterFault(name: string): string | undefined {
  if (name === '__proto__') return 'The parameter ":__proto__" cannot be addressed; choose another name.'
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
    case '(':
    case ')':
      return `Wildcards and regular expressions are not understood in ${location}; write a parameter such as ":name" for each variable segment.`
    default:
      return `${quote(wrong)} is not allowed in ${location}; write letters, digits and -._~!$&'+,;=@ only, or a parameter such as ":name".`
  }
}

const quote = (text: string): string => JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text)
