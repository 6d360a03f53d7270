import assert from 'node:assert/strict'
import { test } from 'node:test'
import Router from 'find-my-way'
import { parseRoutePattern } from '../../../src/language/route-pattern.ts'
import { createRouteTable } from '../../../src/language/route-table.ts'
import fc from '../../support/fast-check.ts'
import { LONG } from '../../support/form.ts'

const accepted = [
  { pattern: '/', parameters: [], key: 'POST /' },
  { pattern: '/patients', parameters: [], key: 'POST /patients' },
  { pattern: '/patients/:id', parameters: ['id'], key: 'POST /patients/:' },
  { pattern: '/:a/b/:_c1', parameters: ['a', '_c1'], key: 'POST /:/b/:' },
  { pattern: "/~it's-1_2.3!$&+,;=@", parameters: [], key: "POST /~it's-1_2.3!$&+,;=@" },
  { pattern: '/endpointsx', parameters: [], key: 'POST /endpointsx' },
  { pattern: '/Uptime', parameters: [], key: 'POST /Uptime' },
  { pattern: '/x/uptime', parameters: [], key: 'POST /x/uptime' },
  { pattern: '/:uptime', parameters: ['uptime'], key: 'POST /:' },
  { pattern: '/...', parameters: [], key: 'POST /...' },
  { pattern: '/a/', parameters: [], key: 'POST /a' },
  { pattern: '/a/:id/', parameters: ['id'], key: 'POST /a/:' },
  { pattern: '/*rest', parameters: ['rest'], key: 'POST /*' },
  { pattern: '/a/:id/*b-/', parameters: ['id', 'b-'], key: 'POST /a/:/*' },
  { pattern: '/:org-id/:b-', parameters: ['org-id', 'b-'], key: 'POST /:/:' },
]
for (const { pattern, parameters, key } of accepted) {
  test(`accepts ${pattern}`, () => {
    const parsed = parseRoutePattern(pattern)
    assert.ok(parsed.ok)
    assert.equal(parsed.value.pattern, pattern)
    assert.deepEqual(parsed.value.parameters, parameters)
    assert.equal(parsed.value.routeKey('post'), key)
  })
}

const refused = [
  { pattern: '', message: /must start with "\/": write "\/"/ },
  { pattern: 'patients', message: /write "\/patients"/ },
  { pattern: '/uptime', message: /belong to the service; start the pattern with another/ },
  { pattern: '/endpoints/:id', message: /"\/endpoints" and the paths below it belong/ },
  { pattern: '/a//', message: /write a single "\/"/ },
  { pattern: '//a', message: /write a single "\/"/ },
  { pattern: '/a/./b', message: /segment "\."/ },
  { pattern: '/../b', message: /segment "\.\."/ },
  { pattern: '/a?b=c', message: /leave out "\?"/ },
  { pattern: '/a#b', message: /leave out "#"/ },
  { pattern: '/a/:id?', message: /":id\?" is not a parameter; write ":" and a name/ },
  { pattern: '/a/:', message: /":" is not a parameter/ },
  { pattern: '/a/:-x', message: /":-x" is not a parameter; write ":" and a name of letters, digits, "_" and "-"/ },
  { pattern: '/a/:id.x', message: /":id.x" is not a parameter/ },
  { pattern: '/a/:id(\\d+)', message: /is not a parameter/ },
  { pattern: '/:__proto__', message: /choose another name/ },
  { pattern: '/:a/b/:a', message: /":a" appears twice/ },
  { pattern: '/a:b', message: /write ":name" as a segment of its own/ },
  {
    pattern: '/a*',
    message: /must fill the last segment, .* write a parameter such as ":name" .*, or "\*name" at the end/,
  },
  { pattern: '/a/*', message: /"\*" is not a wildcard; write "\*" and a name of letters/ },
  { pattern: '/a/**', message: /"\*\*" is not a wildcard/ },
  { pattern: '/a/*r?', message: /"\*r\?" is not a wildcard/ },
  { pattern: '/*a/b', message: /"\*a" takes the rest of the path; write it as the last segment, or write a parameter/ },
  { pattern: '/*__proto__', message: /"\*__proto__" cannot be addressed; choose another name/ },
  { pattern: '/:a/*a', message: /"\*a" appears twice/ },
  { pattern: '/a(b)', message: /Regular expressions are not understood/ },
  { pattern: '/caf%C3%A9', message: /write the character itself/ },
  { pattern: '/café', message: /"é" is not allowed in the segment "café"/ },
  { pattern: '/a b', message: /" " is not allowed/ },
  { pattern: '/😀', message: /"😀" is not allowed/ },
  { pattern: `/${'a'.repeat(2_000)}`, message: /at most 2000 characters/ },
]
for (const { pattern, message } of refused) {
  test(`refuses ${pattern.slice(0, 40)}`, () => {
    const parsed = parseRoutePattern(pattern)
    assert.ok(!parsed.ok)
    assert.match(parsed.message, message)
    assert.match(parsed.message, /\.$|\)\.$/)
  })
}

const literal = fc.constantFrom('a', 'b', 'ab', 'abc', 'x-1', 'x.y', "it's", '$&+,;=', '~!@_', 'constructor')
const segment = fc.oneof(literal, fc.constantFrom(':a', ':b', ':c_1', ':d-1', ':constructor'))
const wildcard = fc.constantFrom('*a', '*rest')
const acceptedPattern = fc
  .tuple(
    fc.array(segment, { maxLength: 4 }),
    fc.option(wildcard, { nil: undefined, freq: 3 }),
    fc.constantFrom('', '/'),
  )
  .map(([segments, last, end]) => [last === undefined ? segments : [...segments, last], end] as const)
  .map(([segments, end]) => `/${segments.join('/')}${segments.length === 0 ? '' : end}`)
  .filter((pattern) => parseRoutePattern(pattern).ok)

const newRouter = () => Router({ maxParamLength: Number.MAX_SAFE_INTEGER, ignoreTrailingSlash: true })
/** The router takes a "-" for the end of a parameter's name, and its wildcards have none. */
const forRouter = (pattern: string) => pattern.replaceAll(':d-1', ':d_1').replace(/\*.*$/, '*')
const keyOf = (pattern: string): string => {
  const parsed = parseRoutePattern(pattern)
  assert.ok(parsed.ok, pattern)
  return parsed.value.routeKey('POST')
}

test('two patterns have one key exactly where the router takes them for one route', () => {
  fc.assert(
    fc.property(acceptedPattern, acceptedPattern, (one, other) => {
      const router = newRouter()
      router.on('POST', forRouter(one), () => {})
      const add = () => router.on('POST', forRouter(other), () => {})
      if (keyOf(one) === keyOf(other)) assert.throws(add, /already declared/)
      else add()
    }),
    { numRuns: LONG ? 2_000 : 200 },
  )
})

/** Without the last "/", where that is not all. */
const trimmed = (path: string) => (path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path)

/**
 * What section 3 says, segment by segment: whole paths but for a last "/", a literal before a parameter, a parameter before a
 * wildcard, no empty values.
 */
function expectedMatch(patterns: readonly string[], path: string) {
  const parts = path === '/' ? [] : trimmed(path).slice(1).split('/')
  const candidates = patterns
    .map((pattern) => ({ pattern, segments: pattern === '/' ? [] : trimmed(pattern).slice(1).split('/') }))
    .filter(({ segments }) => {
      const hasRest = segments.at(-1)?.startsWith('*') === true
      return hasRest ? parts.slice(segments.length - 1).join('/') !== '' : segments.length === parts.length
    })
    .filter(({ segments }) =>
      segments.every((name, index) => {
        if (name.startsWith('*')) return true
        return name.startsWith(':') ? parts[index] !== '' : name === decodeURI(parts[index] ?? '')
      }),
    )
  const rank = ({ segments }: { segments: string[] }) =>
    segments.map((name) => (name.startsWith('*') ? '2' : name.startsWith(':') ? '1' : '0')).join('')
  const best = candidates.sort((one, other) => (rank(one) < rank(other) ? -1 : 1))[0]
  if (best === undefined) return undefined
  const params = best.segments.flatMap((name, index) => {
    if (name.startsWith('*')) return [[name.slice(1), decodeURIComponent(parts.slice(index).join('/'))]]
    return name.startsWith(':') ? [[name.slice(1), decodeURIComponent(parts[index] ?? '')]] : []
  })
  return { pattern: best.pattern, params: Object.fromEntries(params) }
}

const value = fc.oneof(
  literal,
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 5 }),
  fc.constant('x'.repeat(5_000)),
)
const pathSegment = fc.oneof(
  literal,
  value.filter((text) => text.isWellFormed() && text !== '').map(encodeURIComponent),
  fc.constantFrom('%2F', 'a%2Fb', '%252F', '%25', 'b%3F', '%61b', ''),
)
const pathOf = fc.array(pathSegment, { minLength: 1, maxLength: 4 }).map((segments) => `/${segments.join('/')}`)

test('the route table finds for a path what the contract says, whatever was removed before', () => {
  const patternsOf = fc.array(acceptedPattern, { minLength: 1, maxLength: 8 })
  fc.assert(
    fc.property(patternsOf, patternsOf, fc.array(pathOf, { minLength: 1 }), (patterns, removed, paths) => {
      const table = createRouteTable<string>()
      const distinct = [...new Map(patterns.map((pattern) => [keyOf(pattern), pattern])).values()]
      const kept = new Set(patterns.map(keyOf))
      for (const pattern of [...removed, ...patterns]) table.add('POST', pattern, pattern)
      for (const pattern of removed) if (!kept.has(keyOf(pattern))) table.remove('POST', pattern)
      for (const path of paths) {
        const found = table.find('POST', path)
        assert.deepEqual(found && { pattern: found.target, params: found.urlParams }, expectedMatch(distinct, path))
      }
    }),
    { numRuns: LONG ? 3_000 : 300 },
  )
})

test('any text parses or is refused with a sentence', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string().map((end) => `/${end}`),
  )
  fc.assert(
    fc.property(text, (pattern) => {
      const parsed = parseRoutePattern(pattern)
      if (parsed.ok) newRouter().on('GET', forRouter(pattern), () => {})
      else assert.match(parsed.message, /^.+\.\)?$/s)
    }),
    { numRuns: LONG ? 2_000 : 200 },
  )
})
