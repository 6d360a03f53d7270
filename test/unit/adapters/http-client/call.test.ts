import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { targetOf } from '../../../../src/adapters/http-client/call.ts'

/** What the platform's own parser makes of a URL. */
function expected(text: string) {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined
  return { origin: url.origin, path: url.pathname + url.search }
}

/** The same but for what the platform changes without need. */
const comparable = (target: ReturnType<typeof expected>) =>
  target && { ...target, path: target.path.replaceAll("'", '%27').replace(/\?$/, '') }

test('a legal URL is sent as it is written', () => {
  for (const path of ["/a'b?q='x'", '/a?', '//b/', '/%41?a=%27&:;=@', '/']) {
    assert.deepEqual(targetOf(`http://A:80${path}`), { origin: 'http://a', path })
  }
})

test('other URLs are read as the platform reads them', () => {
  const base = fc.constantFrom(
    'http://a',
    'HTTP://A:80',
    'https://b.example:8443',
    'http://[::1]:1',
    'http:///c',
    'http:/d',
    'http://e@f',
    'http://g?x=',
    'ftp://h',
    'http://',
    'http://i#',
    'http://j\\k',
  )
  const piece = fc.constantFrom(
    '/',
    '.',
    '..',
    '%2e',
    '%2E%2e',
    '?',
    '#',
    '%',
    '%41',
    'a',
    ' ',
    '\t',
    "'",
    '"',
    '<',
    '{',
    '|',
    '^',
    '`',
    '\\',
    'é',
    '@',
    ':',
    '//',
    '&',
    '=',
    '\u0000',
    '\ud800',
  )
  const url = fc.tuple(base, fc.array(piece, { maxLength: 8 })).map(([start, pieces]) => start + pieces.join(''))
  fc.assert(
    fc.property(url, (text) => {
      assert.deepEqual(comparable(targetOf(text)), comparable(expected(text)), JSON.stringify(text))
    }),
    { numRuns: 2_000, examples: [['http://\t/='], ['http://\r\n/a']] },
  )
})

describe('the target of a URL', () => {
  const cases: readonly { url: string; origin?: string; path?: string }[] = [
    { url: 'http://a', origin: 'http://a', path: '/' },
    { url: 'HTTP://A:80/b', origin: 'http://a', path: '/b' },
    { url: 'https://b.example:8443/c/../d?e=f#g', origin: 'https://b.example:8443', path: '/d?e=f' },
    { url: 'http://[::1]:1/%2e%2e/é', origin: 'http://[::1]:1', path: '/%C3%A9' },
    { url: 'http://user:password@h/i', origin: 'http://h', path: '/i' },
    { url: 'http://j\\k', origin: 'http://j', path: '/k' },
    { url: 'ftp://h/' },
    { url: '/path' },
    { url: 'http://' },
    { url: '' },
  ]
  for (const { url, origin, path } of cases) {
    test(JSON.stringify(url), () =>
      assert.deepEqual(targetOf(url), origin === undefined ? undefined : { origin, path }),
    )
  }
})
