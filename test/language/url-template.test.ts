import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { appendQuery, encodeUrlValue, parseUrlTemplate, type UrlTemplate } from '../../src/language/url-template.ts'

const parse = (text: string): UrlTemplate => {
  const parsed = parseUrlTemplate(text)
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
  test(`${url} filled gives ${expect}`, () => assert.deepEqual(parse(url).fill(values), { ok: true, value: expect }))
}

test('placeholders are listed once, in order', () => {
  assert.deepEqual(parse('http://h/:b/:a/:b?x=:c&:d=e').placeholders, ['b', 'a', 'c'])
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
    const parsed = parseUrlTemplate(url)
    assert.ok(!parsed.ok)
    assert.match(parsed.message, message)
  })
}

const unfillable: readonly (Case & { message: RegExp })[] = [
  { url: 'http://h/:a', values: {}, message: /":a" has no value/ },
  { url: 'http://h/:toString', values: {}, message: /":toString" has no value/ },
  { url: 'http://h/:a', values: { a: '' }, message: /":a" would be empty/ },
  { url: 'http://h/:a/x', values: { a: '.' }, message: /":a" would be "\."/ },
  { url: 'http://h/:a/x', values: { a: '..' }, message: /addresses another resource/ },
  { url: 'http://h/.:a', values: { a: '.' }, message: /"\.:a" would be "\.\."/ },
  { url: 'http://h/%2e:a', values: { a: '.' }, message: /would be "%2e\."/ },
  { url: 'http://h/:a:b', values: { a: '.', b: '.' }, message: /would be "\.\."/ },
  { url: 'http://h/:a:b', values: { a: '', b: '' }, message: /would be empty/ },
  { url: 'http://h/:a', values: { a: 'x\ud800' }, message: /surrogate/ },
  { url: 'http://h?q=:a', values: { a: '\udc00' }, message: /surrogate/ },
]
for (const { url, values, message } of unfillable) {
  test(`${url} does not take ${JSON.stringify(values)}`, () => {
    const result = parse(url).fill(values)
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
const templates = [
  'http://h.example:81/a/:x/b/:y?p=:x&q=1:y:x&r=s',
  'https://h.example/:x:y/.:x?a:b=:y',
  'http://h.example/a//:x.:y/?p=-:y',
]

test('a value changes no part of a URL but its own', () => {
  const names = (url: URL) => [...url.searchParams.keys()]
  const segments = (url: URL) => url.pathname.split('/')
  fc.assert(
    fc.property(fc.constantFrom(...templates), anyValue, anyValue, (text, x, y) => {
      const template = parse(text)
      const result = template.fill({ x, y })
      if (!result.ok) return assert.match(result.message, /surrogate|another resource/)
      const plain = template.fill({ x: 'x', y: 'x' })
      assert.ok(plain.ok)
      const [url, expected] = [new URL(result.value), new URL(plain.value)]
      assert.equal(url.origin, expected.origin)
      assert.equal(url.hash, '')
      assert.equal(url.username + url.password, '')
      assert.deepEqual(names(url), names(expected))
      assert.equal(segments(url).length, segments(expected).length)
      const want = text.replace(/^https?:\/\/[^/]*([^?]*).*$/, '$1').replaceAll(/:([xy])/g, (_all, name) => `<${name}>`)
      const back = want.split('/').map((part) => part.replaceAll('<x>', () => x).replaceAll('<y>', () => y))
      if (!/<[xy]>/.test(x + y)) assert.deepEqual(segments(url).map(decodeURIComponent), back)
      const lastName = names(url).at(text === templates[0] ? -2 : -1) ?? ''
      const prefix = { [templates[0] ?? '']: `1${y}${x}`, [templates[1] ?? '']: y, [templates[2] ?? '']: `-${y}` }[text]
      assert.equal(url.searchParams.get(lastName), prefix)
    }),
    { numRuns: 5_000 },
  )
})

test('any text parses or is refused, and what parses is a URL', () => {
  const url = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom(...':/?#&=%@[]. \\ahx0é') }).map((end) => `http://h${end}`),
  )
  fc.assert(
    fc.property(url, (text) => {
      const parsed = parseUrlTemplate(text)
      if (!parsed.ok) return assert.match(parsed.message, /^The .*\.$|^Placeholders .*\.$/)
      const { placeholders, fill } = parsed.value
      const result = fill(Object.fromEntries(placeholders.map((name) => [name, 'x'])))
      assert.ok(result.ok)
      const { host, username, hash } = new URL(result.value)
      assert.notEqual(host, '')
      assert.equal(username + hash, '')
    }),
    { numRuns: 5_000 },
  )
})

const appended = [
  { url: 'http://h', query: [], expect: 'http://h' },
  { url: 'http://h', query: [['a', '1']], expect: 'http://h?a=1' },
  { url: 'http://h/p?', query: [['a', '1']], expect: 'http://h/p?a=1' },
  { url: 'http://h/p?x=1&', query: [['a', '1']], expect: 'http://h/p?x=1&a=1' },
  {
    url: 'http://h/p?a=0',
    query: [
      ['a', '1'],
      ['a', '2'],
    ],
    expect: 'http://h/p?a=0&a=1&a=2',
  },
  { url: 'http://h', query: [['filter', 'code:1223:section:52']], expect: 'http://h?filter=code:1223:section:52' },
  {
    url: 'http://h',
    query: [
      ['name:exact', 'a,b & c'],
      ['e', ''],
    ],
    expect: 'http://h?name:exact=a,b%20%26%20c&e=',
  },
] as const
for (const { url, query, expect } of appended) {
  test(`appendQuery: ${expect}`, () => assert.equal(appendQuery(url, query), expect))
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
