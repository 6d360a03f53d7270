import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseTarget } from '../../../../src/outbound/http/attempt.ts'
import fc from '../../../support/fast-check.ts'
import { LONG } from '../../../support/form.ts'

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
    assert.deepEqual(parseTarget(`http://A:80${path}`), { origin: 'http://a', path })
  }
})

test('other URLs are read as the platform reads them', () => {
  const bases =
    `http://a HTTP://A:80 https://b.example:8443 http://[::1]:1 http:///c http:/d http://e@f http://g?x= ftp://h
    http:// http://i# http://j\\k`.split(/\s+/)
  const pieces = '/ . .. %2e %2E%2e ? # % %41 a \' " < { | ^ ` \\ é @ : // & ='.split(' ')
  const base = fc.constantFrom(...bases)
  const piece = fc.constantFrom(...pieces, ' ', '\t', '\u0000', '\ud800')
  const url = fc.tuple(base, fc.array(piece, { maxLength: 8 })).map(([start, pieces]) => start + pieces.join(''))
  fc.assert(
    fc.property(url, (text) => {
      assert.deepEqual(comparable(parseTarget(text)), comparable(expected(text)), JSON.stringify(text))
    }),
    { numRuns: LONG ? 5_000 : 1_000, examples: [['http://\t/='], ['http://\r\n/a']] },
  )
})

test('the target of a URL', () => {
  const cases: readonly (readonly [url: string, origin?: string, path?: string])[] = [
    ['http://a', 'http://a', '/'],
    ['HTTP://A:80/b', 'http://a', '/b'],
    ['https://b.example:8443/c/../d?e=f#g', 'https://b.example:8443', '/d?e=f'],
    ['http://[::1]:1/%2e%2e/é', 'http://[::1]:1', '/%C3%A9'],
    ['http://user:password@h/i', 'http://h', '/i'],
    ['http://j\\k', 'http://j', '/k'],
    ['ftp://h/'],
    ['/path'],
    ['http://'],
    [''],
  ]
  for (const [url, origin, path] of cases)
    assert.deepEqual(parseTarget(url), origin === undefined ? undefined : { origin, path }, url)
})
