import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createTargets } from '../../../src/adapters/http-client/call.ts'

/** What the platform's own parser makes of a URL. */
function expected(text: string) {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined
  return { origin: url.origin, path: url.pathname + url.search }
}

/** The same but for what the platform changes without need. */
const comparable = (target: ReturnType<typeof expected>) =>
  target && { ...target, path: target.path.replaceAll("'", '%27').replace(/\?$/, '') }

test('what is allowed in a URL is sent as it is written, with the first URL of an origin and with later ones', () => {
  const targets = createTargets()
  for (const path of ["/a'b?q='x'", '/a?', '//b/', '/%41?a=%27&:;=@', '/']) {
    for (let n = 0; n < 2; n++) assert.deepEqual(targets.parse(`http://A:80${path}`), { origin: 'http://a', path })
  }
})

test('URLs are read as the platform reads them, also those that begin as an earlier one did', () => {
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
    fc.property(fc.array(url, { maxLength: 20 }), (urls) => {
      const targets = createTargets()
      for (const start of ['http://a/', 'https://b.example:8443/', 'http://[::1]:1/']) targets.parse(start)
      for (const text of urls)
        assert.deepEqual(comparable(targets.parse(text)), comparable(expected(text)), JSON.stringify(text))
    }),
    { numRuns: 2_000 },
  )
})

test('of any number of origins, only so many are remembered, and all are read', () => {
  const targets = createTargets()
  for (let n = 0; n < 2_500; n++) {
    assert.deepEqual(targets.parse(`http://host-${n}/a/../b?c`), { origin: `http://host-${n}`, path: '/b?c' })
    assert.deepEqual(targets.parse(`http://host-${n}/a`), { origin: `http://host-${n}`, path: '/a' })
  }
})
