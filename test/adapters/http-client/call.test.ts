import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { targetOf } from '../../../src/adapters/http-client/call.ts'

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
