/** Random requests: URLs that come in, URLs that go out, and what stands before a body on the wire. */
import fc from '../../support/fast-check.ts'
import { jsonText, names, sourcePaths } from '../../support/fuzz/arbitraries.ts'

const encoded = (text: string): string => encodeURIComponent(text.toWellFormed())

const piece = fc.oneof(
  fc.constantFrom(...'u u/ fixed of / // .. . %2e%2e %2F %00 %zz % %ff ; : *'.split(' ')),
  names.map(encoded),
)
const path = fc.array(piece, { maxLength: 5 }).map((pieces) => `/${pieces.join('/')}`)
const parameter = fc.tuple(
  fc.oneof(names.map(encoded), fc.constantFrom('%', '%zz', '[]', 'a[b]', 'a.b', '&', '=')),
  fc.oneof(names.map(encoded), fc.constantFrom('', '%', '+', '=', '&&', '%F0%9F', '1,2')),
)
const query = fc.array(parameter, { maxLength: 5 }).map((all) => all.map((pair) => pair.join('=')).join('&'))

/** Paths with a query, or none. */
export const incomingUrls = fc
  .tuple(path, query)
  .map(([where, parameters]) => (parameters === '' ? where : `${where}?${parameters}`))

const literal = fc.constantFrom('p', 'p/q', 'x:', '.', '%41', 'é', '-', '')
const templates = fc
  .tuple(fc.array(fc.tuple(literal, fc.constantFrom(':one', ':two', '')), { maxLength: 3 }), literal)
  .map(([parts, last]) => {
    const segments = parts.map((part) => part.join('')).join('/')
    return last === '' ? segments : `${segments}?fixed=${last}:one&:two`
  })
const paths = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom('payload.one', 'payload.two', 'payload.list[]', 'payload.list[0]') },
  sourcePaths,
)
const parameterSpec = fc.record({ path: paths, prefix: names, postfix: names }, { requiredKeys: ['path'] })
const value = fc.oneof(
  names,
  fc.constantFrom('/', '../x', '?a=b', '#c', '&d', '%2F', '\\', '\ud800', 'a b', '.'),
  fc.nat(),
)
const body = fc.oneof(
  {
    weight: 12,
    arbitrary: fc
      .record({ one: value, two: value, list: fc.array(value, { maxLength: 3 }) })
      .map((parts) => JSON.stringify(parts)),
  },
  jsonText,
)
/** A URL template, what fills it, and a message to fill it from. */
export const outgoingRequests = fc.record({
  template: templates,
  one: parameterSpec,
  two: parameterSpec,
  extra: parameterSpec,
  body,
})

const line = fc.oneof(
  { weight: 3, arbitrary: fc.constant('POST /real HTTP/1.1') },
  fc
    .tuple(fc.constantFrom('GET', 'POST', 'PATCH', 'get', 'NO'), names, fc.constantFrom('1.0', '1.1', '2', ''))
    .map(([method, path, version]) => `${method} /${path} HTTP/${version}`),
  fc.string({ unit: 'binary', maxLength: 20 }),
)
const header = fc.oneof(
  fc.constantFrom('host: a', 'content-type: application/json', 'content-length: 4', 'transfer-encoding: chunked'),
  fc.constantFrom('expect: 100-continue', 'connection: upgrade', 'upgrade: h2c', '__proto__: polluted', 'te: trailers'),
  fc.tuple(names, names).map((pair) => pair.join(': ')),
)
/** The first line and the headers, without the empty line after them. */
export const requestHeads = fc
  .tuple(line, fc.array(header, { maxLength: 5 }))
  .map(([first, rest]) => [first, ...rest].join('\r\n'))
