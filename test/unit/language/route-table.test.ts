import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createRouteTable, type RouteTable } from '../../../src/language/route-table.ts'

function tableOf(patterns: readonly string[], method = 'GET'): RouteTable<string> {
  const table = createRouteTable<string>()
  for (const pattern of patterns) table.add(method, pattern, pattern)
  return table
}

describe('what listens on a path', () => {
  const patterns =
    '/ /a /a/b /a/:x /a/:x/c /a/b/:y/d /:p/b/c/e /:p /$;= /s/t/ /s/:org-id/:_-/ /s/*all /w/b/c /w/*rest/ /w/:x/d'.split(
      ' ',
    )
  const cases: readonly (readonly [url: string, pattern: string | undefined, urlParams?: object])[] = [
    ['/', '/'],
    ['/?a=/b', '/'],
    ['/a', '/a'],
    ['/a?x=1/2', '/a'],
    ['/a#b', '/a'],
    ['/%61', '/a'],
    ['/a/', '/a'],
    ['/a//', undefined],
    ['/a/b/', '/a/b'],
    ['/a/c/d/', undefined],
    ['/s/t/', '/s/t/'],
    ['/s/1/2', '/s/:org-id/:_-/', { 'org-id': '1', '_-': '2' }],
    ['/s/1%2F/2%2F', '/s/:org-id/:_-/', { 'org-id': '1/', '_-': '2/' }],
    ['/s/1//', '/s/*all', { all: '1/' }],
    ['/w', '/:p', { p: 'w' }],
    ['/w/', '/:p', { p: 'w' }],
    ['/w//', undefined],
    ['/w///', '/w/*rest/', { rest: '/' }],
    ['/w/a', '/w/*rest/', { rest: 'a' }],
    ['/w/a/', '/w/*rest/', { rest: 'a' }],
    ['/w//a', '/w/*rest/', { rest: '/a' }],
    ['/w/a/d', '/w/:x/d', { x: 'a' }],
    ['/w/a/e', '/w/*rest/', { rest: 'a/e' }],
    ['/w/b/c', '/w/b/c'],
    ['/w/b/c/e?f/g', '/w/*rest/', { rest: 'b/c/e' }],
    ['/w/a%2Fb/%C3%A9/%252F', '/w/*rest/', { rest: 'a/b/é/%2F' }],
    ['/w/a/%zz', undefined],
    ['/%2F', '/:p', { p: '/' }],
    ['//', undefined],
    ['//a', undefined],
    ['/a/c', '/a/:x', { x: 'c' }],
    ['/a/b/c', '/a/:x/c', { x: 'b' }],
    ['/a/b/c/d', '/a/b/:y/d', { y: 'c' }],
    ['/a/b/c/e', '/:p/b/c/e', { p: 'a' }],
    ['/A', '/:p', { p: 'A' }],
    ['/x%252Fy', '/:p', { p: 'x%2Fy' }],
    ['/%C3%A9+', '/:p', { p: 'é+' }],
    ['/$;=', '/$;='],
    ['/%24;=', '/:p', { p: '$;=' }],
    ['/%zz', undefined],
    ['/%ff', undefined],
    ['/__proto__', '/:p', { p: '__proto__' }],
    ['*', undefined],
    ['', undefined],
    ['http://a/a', undefined],
  ]
  const table = tableOf(patterns)
  for (const [url, pattern, urlParams = {}] of cases) {
    it(`${url === '' ? 'nothing' : url} → ${pattern}`, () => {
      const found = table.find('GET', url)
      assert.deepEqual(found, pattern === undefined ? undefined : { target: pattern, urlParams })
    })
  }

  it('is a matter of the method', () => {
    const both = tableOf(['/a'])
    both.add('PUT', '/:x', 'put')
    assert.equal(both.find('GET', '/b'), undefined)
    assert.equal(both.find('PUT', '/a')?.target, 'put')
    assert.equal(both.find('DELETE', '/a'), undefined)
  })
})

describe('a route', () => {
  it('takes the place of one with the same paths', () => {
    const table = tableOf(['/a/:x'])
    table.add('GET', '/a/:y', 'later')
    assert.deepEqual(table.find('GET', '/a/1'), { target: 'later', urlParams: { y: '1' } })
  })

  it('is the same with and without a last slash', () => {
    const table = tableOf(['/a/:x'])
    table.add('GET', '/a/:y/', 'later')
    assert.equal(table.find('GET', '/a/1')?.target, 'later')
    table.remove('GET', '/a/:z')
    assert.equal(table.find('GET', '/a/1/'), undefined)
  })

  it('that is removed gives way to what it stood before', () => {
    const table = tableOf(['/a/:x', '/a/b'])
    table.remove('GET', '/a/b')
    assert.equal(table.find('GET', '/a/b')?.target, '/a/:x')
    table.remove('GET', '/a/:other')
    assert.equal(table.find('GET', '/a/b'), undefined)
    table.add('GET', '/a/*x', '/a/*x')
    table.add('GET', '/*x', '/*x')
    assert.equal(table.find('GET', '/a/b')?.target, '/a/*x')
    table.remove('GET', '/a/*other')
    assert.deepEqual(table.find('GET', '/a/b'), { target: '/*x', urlParams: { x: 'a/b' } })
  })

  it('that is not there can be removed', () => {
    const table = tableOf(['/a/b'])
    for (const pattern of ['/a', '/a/b/c', '/x', '/:x', '/', '/*x', '/a/*x']) table.remove('GET', pattern)
    table.remove('PUT', '/a/b')
    assert.equal(table.find('GET', '/a/b')?.target, '/a/b')
  })
})
