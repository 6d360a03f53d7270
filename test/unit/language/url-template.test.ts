import assert from 'node:assert/strict'
import { test } from 'node:test'
import { appendQuery, encodeUrlValue, parseUrlTemplate, type UrlTemplate } from '../../../src/language/url-template.ts'
import fc from '../../support/fast-check.ts'
import { LONG } from '../../support/form.ts'

const parse = (text: string, names: readonly string[] = []): UrlTemplate => {
  const parsed = parseUrlTemplate(text, names)
  assert.ok(parsed.ok, parsed.ok ? '' : parsed.message)
  return parsed.value
}

type Case = Readonly<{ url: string; values: Readonly<Record<string, string>> }>

const filled: readonly (Case & { expect: string })[] = [
  { url: 'http://h', values: {}, expect: 'http://h' },
  { url: 'HTTPS://H:8443/a', values: {}, expect: 'https://H:8443/a' },
  { url: 'http://h/:id', values: { id: '7' }, expect: 'http://h/7' },
  { url: 'http://h/:id/:idType/:id2', values: { id: 'a', idType: 'b', id2: 'c' }, expect: 'http://h/a/b/c' },
  { url: 'http://h/:id-:id/x', values: { id: 'a' }, expect: 'http://h/a-a/x' },
  { url: 'http://h/:org-id/:org', values: { 'org-id': 'a', org: 'b' }, expect: 'http://h/a/b' },
  { url: 'http://h/:org-id', values: { org: 'b' }, expect: 'http://h/b-id' },
  { url: 'http://h/:org-idx', values: { org: 'b', 'org-id': 'a' }, expect: 'http://h/b-idx' },
  { url: 'http://h/:org_id', values: { org: 'b' }, expect: 'http://h/:org_id' },
  { url: 'http://h/:1/:a1-_', values: { '1': 'x', 'a1-_': 'y' }, expect: 'http://h/x/y' },
  { url: 'http://h/things:search?filter=code:eq:A1', values: {}, expect: 'http://h/things:search?filter=code:eq:A1' },
  { url: 'http://h/:id:search?q=:id::x', values: { id: '7' }, expect: 'http://h/7:search?q=7::x' },
  { url: 'http://h/:idType/:', values: { id: '7' }, expect: 'http://h/:idType/:' },
  { url: 'http://h/a?name:exact=:name', values: { name: 'n', exact: 'e' }, expect: 'http://h/a?namee=n' },
  { url: 'http://h/?:key=1&:key', values: { key: 'a=b&c' }, expect: 'http://h/?a%3Db%26c=1&a%3Db%26c' },
  { url: 'http://h/:a.b', values: { 'a.b': 'x' }, expect: 'http://h/:a.b' },
  { url: ' \thttp://h/:a?b\n', values: { a: 'x' }, expect: 'http://h/x?b' },
  { url: 'http://h:8080/x:8080', values: { '8080': 'y' }, expect: 'http://h:8080/xy' },
  { url: 'http://h:8080?:8080', values: { '8080': 'y' }, expect: 'http://h:8080?y' },
  { url: 'http://[::1]/:1', values: { '1': 'y' }, expect: 'http://[::1]/y' },
  { url: 'http://h/enrollment/:id', values: { id: '' }, expect: 'http://h/enrollment/' },
  { url: 'http://h/a/:id/b', values: { id: '' }, expect: 'http://h/a//b' },
  { url: 'http://h/:id', values: { id: '' }, expect: 'http://h/' },
  { url: 'http://h/:a:b', values: { a: '', b: '' }, expect: 'http://h/' },
  { url: 'http://h//:id/b', values: { id: '' }, expect: 'http://h///b' },
  { url: 'http://h/p:id.json', values: { id: 'a' }, expect: 'http://h/pa.json' },
  { url: 'http://h/:id', values: { id: ':other', other: 'x' }, expect: 'http://h/:other' },
  { url: 'http://h?q=:a:b', values: { a: '1', b: '2' }, expect: 'http://h?q=12' },
  { url: 'http://h/a?q=code:1223::a', values: { a: 'x' }, expect: 'http://h/a?q=code:1223:x' },
  { url: 'http://h/a?name:exact=:name&x', values: { name: 'Ö' }, expect: 'http://h/a?name:exact=%C3%96&x' },
  { url: 'http://h/a?q=', values: {}, expect: 'http://h/a?q=' },
  { url: 'http://h/a?q=:a', values: { a: '' }, expect: 'http://h/a?q=' },
  { url: 'http://h/:a', values: { a: '/ ?#&=+%;\\' }, expect: 'http://h/%2F%20%3F%23%26%3D%2B%25%3B%5C' },
  { url: 'http://h/:a', values: { a: 'code:1223,5' }, expect: 'http://h/code:1223,5' },
  { url: 'http://h/:a', values: { a: '%2e%2e' }, expect: 'http://h/%252e%252e' },
  { url: 'http://h/:a', values: { a: '...' }, expect: 'http://h/...' },
  { url: 'http://h/a//b?x=1|2&y=é', values: {}, expect: 'http://h/a//b?x=1%7C2&y=%C3%A9' },
  { url: 'http://h/a%20b?c=%3Ad', values: { d: 'x' }, expect: 'http://h/a%20b?c=%3Ad' },
  { url: 'http://[::1]:80/:a', values: { a: 'x' }, expect: 'http://[::1]:80/x' },
  { url: 'http://h/:constructor', values: { constructor: 'x' }, expect: 'http://h/x' },
]
for (const { url, values, expect } of filled) {
  test(`${url} filled with ${JSON.stringify(values)} gives ${expect}`, () => {
    assert.deepEqual(parse(url, Object.keys(values)).fill(values), { ok: true, value: expect })
  })
}

test('placeholders are listed once, in order', () => {
  const names = ['a', 'b', 'c', 'd', 'e']
  assert.deepEqual(parse('http://h/:b/:a/:b?x=:c&:d=e', names).placeholders, ['b', 'a', 'c', 'd'])
})

test('undefinedNames has the path segments that are an undefined :name, each once', () => {
  const { undefinedNames } = parse('http://h/:id/:kind-a/:id/x:y/:z.json/:known/:a:b/:?:q', ['known'])
  assert.deepEqual(undefinedNames, ['id', 'kind-a'])
})

const refused = [
  { url: '', message: /must be absolute/ },
  { url: '/a', message: /must be absolute/ },
  { url: 'ftp://h/', message: /start it with "http:\/\/" or "https:\/\/"/ },
  { url: 'http:/h', message: /must be absolute/ },
  { url: ':scheme://h/', message: /must be absolute/ },
  { url: 'http:///a', message: /no valid host/ },
  { url: 'http://h:99999/', message: /no valid host and port/ },
  { url: 'http://h%40x/', message: /no valid host/ },
  { url: 'http://:host/a', message: /path and the query/ },
  { url: 'http://h::port/a', message: /path and the query/ },
  { url: 'http://[::1]::port/a', message: /path and the query/ },
  { url: 'http://user:pass@h/', message: /must not hold credentials.*"authorization" header/ },
  { url: 'http://:user@h/', message: /must not hold credentials/ },
  { url: 'http://h/a#b', message: /must not hold a fragment/ },
  { url: 'http://h/a?b#:c', message: /must not hold a fragment/ },
  { url: 'http://h/a/../b', message: /"\." or "\.\."/ },
  { url: 'http://h/%2E%2e/b', message: /"\." or "\.\."/ },
  { url: 'http://h/a b', message: /write %20/ },
  { url: 'http://h/a\\b', message: /%5C/ },
  { url: 'http://h/a\tb', message: /control characters/ },
  { url: 'http://h/100%', message: /write %25/ },
  { url: 'http://h/\ud800', message: /surrogate/ },
]
for (const { url, message } of refused) {
  test(`refuses ${JSON.stringify(url)}`, () => {
    const parsed = parseUrlTemplate(url, ['host', 'port', 'scheme', 'user', 'c'])
    assert.ok(!parsed.ok)
    assert.match(parsed.message, message)
  })
}

const unfillable: readonly (Case & { message: RegExp })[] = [
  { url: 'http://h/:a', values: {}, message: /":a" has no value/ },
  { url: 'http://h/:toString', values: {}, message: /":toString" has no value/ },
  { url: 'http://h/:a/x', values: { a: '' }, message: /":a" is empty.*start with "\/\/"/ },
  { url: 'http://h/:a:b/', values: { a: '', b: '' }, message: /start with "\/\/"/ },
  { url: 'http://h/:a/x', values: { a: '.' }, message: /":a" would be "\."/ },
  { url: 'http://h/:a/x', values: { a: '..' }, message: /addresses another resource/ },
  { url: 'http://h/.:a', values: { a: '.' }, message: /"\.:a" would be "\.\."/ },
  { url: 'http://h/%2e:a', values: { a: '.' }, message: /would be "%2e\."/ },
  { url: 'http://h/:a:b', values: { a: '.', b: '.' }, message: /would be "\.\."/ },
  { url: 'http://h/:a', values: { a: 'x\ud800' }, message: /surrogate/ },
  { url: 'http://h?q=:a', values: { a: '\udc00' }, message: /surrogate/ },
]
for (const { url, values, message } of unfillable) {
  test(`${url} does not take ${JSON.stringify(values)}`, () => {
    const result = parse(url, ['a', 'b', 'toString']).fill(values)
    assert.ok(!result.ok)
    assert.match(result.message, message)
  })
}

const hostile = fc.string({ unit: fc.constantFrom(...'/?#&=+%;\\.:,@ \t\r\n\0é😀a'), maxLength: 6 })
const anyValue = fc.oneof(
  hostile,
  fc.string({ unit: 'binary', maxLength: 8 }),
  fc.constantFrom('.', '..', '%2e', '\ud800', ''),
)

/** A URL around placeholders and what looks like them; `literal` has no character that must be encoded. */
const literal = fc.string({ unit: fc.constantFrom(..."aZ0-._~!$'()*+,;=:@%41:x:y"), maxLength: 5 })
const sound = literal.filter((text) => !/%(?!41)/.test(text))
const piece = fc.oneof(fc.constantFrom(':x', ':y', ':x-y', ':xx'), sound)
const joined = fc.array(piece, { maxLength: 4 }).map((pieces) => pieces.join(''))
const template = fc
  .tuple(
    fc.constantFrom('http://h.example:81', 'https://h.example', 'http://[::1]:8080'),
    fc.array(joined, { maxLength: 4 }),
    fc.array(joined, { maxLength: 3 }),
  )
  .map(([origin, path, query]) => ({
    text: `${origin}/${path.join('/')}${query.length === 0 ? '' : `?${query.join('&')}`}`,
    origin,
    segments: path.length === 0 ? [''] : path,
    parameters: query,
  }))
  .filter(({ text }) => parseUrlTemplate(text, NAMES).ok)
const NAMES = ['x', 'y', 'x-y']

test('a value changes no part of a URL but its own', () => {
  const encoded = (text: string, values: Record<string, string>) =>
    text.replace(/:(x-y|x|y)(?![A-Za-z0-9_])/g, (_all, name) => encodeUrlValue(values[name] ?? ''))
  fc.assert(
    fc.property(template, anyValue, anyValue, ({ text, origin, segments, parameters }, x, y) => {
      const values = { x, y, 'x-y': `${x}${y}` }
      const result = parse(text, NAMES).fill(values)
      if (!result.ok) return assert.match(result.message, /surrogate|another resource|start with/)
      const [path = '', query] = result.value.slice(origin.length + 1).split(/\?(.*)/s)
      assert.equal(result.value.slice(0, origin.length + 1), `${origin}/`)
      assert.deepEqual(
        path.split('/'),
        segments.map((segment) => encoded(segment, values)),
      )
      assert.deepEqual(
        query?.split('&') ?? [],
        parameters.map((one) => encoded(one, values)),
      )
      const url = new URL(result.value)
      const plain = new URL(`${origin}/`)
      assert.deepEqual([url.origin, url.username + url.password, url.hash], [plain.origin, '', ''])
      assert.equal(url.pathname.split('/').length, segments.length + 1)
      if (!text.startsWith(`${origin}//`)) assert.doesNotMatch(url.pathname, /^\/\//)
    }),
    { numRuns: LONG ? 5_000 : 500 },
  )
})

test('a URL without defined names is sent as it was written', () => {
  fc.assert(
    fc.property(template, fc.constantFrom('', ' ', '\n\t'), ({ text }, around) => {
      assert.deepEqual(parse(around + text + around, []).fill({ x: '1', y: '2' }), { ok: true, value: text })
    }),
    { numRuns: LONG ? 2_000 : 200 },
  )
})

test('any text parses or is refused, and what parses is a URL', () => {
  const url = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom(...':/?#&=%@[]. \\ahx0é') }).map((end) => `http://h${end}`),
  )
  fc.assert(
    fc.property(url, (text) => {
      const parsed = parseUrlTemplate(text, ['a', 'h', '0'])
      if (!parsed.ok) return assert.match(parsed.message, /^The .*\.$|^Placeholders .*\.$/)
      const { placeholders, fill } = parsed.value
      const result = fill(Object.fromEntries(placeholders.map((name) => [name, 'x'])))
      assert.ok(result.ok)
      const { host, username, hash } = new URL(result.value)
      assert.notEqual(host, '')
      assert.equal(username + hash, '')
    }),
    { numRuns: LONG ? 5_000 : 500 },
  )
})

const appended = [
  ['http://h', '', 'http://h'],
  ['http://h', 'a=1', 'http://h?a=1'],
  ['http://h/p?', 'a=1', 'http://h/p?a=1'],
  ['http://h/p?x=1&', 'a=1', 'http://h/p?x=1&a=1'],
  ['http://h/p?a=0', 'a=1&a=2', 'http://h/p?a=0&a=1&a=2'],
  ['http://h', 'filter=code:1223:section:52', 'http://h?filter=code:1223:section:52'],
  ['http://h', 'name:exact=a,b+%26+c&e=', 'http://h?name:exact=a,b%20%26%20c&e='],
] as const
for (const [url, query, expect] of appended) {
  test(`appendQuery: ${expect}`, () => assert.equal(appendQuery(url, [...new URLSearchParams(query)]), expect))
}

test('appendQuery adds exactly its parameters, whatever they hold', () => {
  const pair = fc.tuple(fc.string({ unit: 'binary' }), fc.oneof(hostile, fc.string({ unit: 'binary' })))
  fc.assert(
    fc.property(fc.array(pair), (query) => {
      const url = new URL(appendQuery('http://h/p?x=1', query))
      const wellFormed = query.map(([name, value]) => [name.toWellFormed(), value.toWellFormed()])
      assert.deepEqual([...url.searchParams], [['x', '1'], ...wellFormed])
      assert.equal(url.pathname + url.hash, '/p')
    }),
  )
})

test('encodeUrlValue leaves only what cannot end a value', () => {
  assert.equal(encodeUrlValue('aZ0-._~:,'), 'aZ0-._~:,')
  assert.equal(encodeUrlValue('/?#[]@&;=+$%| "\\é'), '%2F%3F%23%5B%5D%40%26%3B%3D%2B%24%25%7C%20%22%5C%C3%A9')
  assert.equal(encodeUrlValue('\ud800'), '%EF%BF%BD')
})
