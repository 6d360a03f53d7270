import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseUrlTemplate, type UrlTemplate } from '../../../src/language/url-template.ts'

const parse = (text: string): UrlTemplate => {
  const parsed = parseUrlTemplate(text, ['id'])
  assert.ok(parsed.ok, parsed.ok ? '' : parsed.message)
  return parsed.value
}

describe('references to secrets in a URL', () => {
  const cases: [url: string, secret: string, expect: string, shown?: string][] = [
    ['http://h/a/${env:A}/:id', 'x/y?z', 'http://h/a/x%2Fy%3Fz/7', 'http://h/a/${env:A}/7'],
    ['http://h/?k=${file:/a/b:c}&l=:id', 'a&b=:id', 'http://h/?k=a%26b%3D:id&l=7', 'http://h/?k=${file:/a/b:c}&l=7'],
    ['http://h/p-${env:A}.json', '..', 'http://h/p-...json'],
    ['http://h/${env:A}${env:A}', 'x', 'http://h/xx'],
    ['${env:A}', 'http://h:8080/a?b=:id', 'http://h:8080/a?b=:id'],
    ['${env:A}/:id?c=1', 'https://[::1]/base/:id//', 'https://[::1]/base/:id/7?c=1', '${env:A}/7?c=1'],
    ['${env:A}?c=:id', 'http://h', 'http://h?c=7'],
    [' ${env:A}/:id ', 'http://h', 'http://h/7', '${env:A}/7'],
    // Written as text, a brace is as any other character.
    ['http://h/$${file:/x}', 'x', 'http://h/$%7Bfile:/x%7D'],
  ]
  for (const [url, secret, expect, shown] of cases) {
    test(`${url} with ${secret} is ${expect}`, () => {
      const template = parse(url)
      const secretOf = (reference: { text: string }) => {
        if (reference !== template.base?.reference) return secret
        const read = template.base.read(secret)
        assert.ok(read.ok)
        return read.value
      }
      assert.deepEqual(template.fill({ id: '7' }, secretOf), { ok: true, value: expect })
      if (shown !== undefined) assert.deepEqual(template.fill({ id: '7' }), { ok: true, value: shown })
    })
  }

  test('leave URLs without them as they were, whatever characters those have', () => {
    assert.deepEqual(parse('http://h/\ue000?\ue000=\ue001').fill({}), {
      ok: true,
      value: 'http://h/%EE%80%80?%EE%80%80=%EE%80%81',
    })
  })

  test('are no placeholders', () => {
    const { placeholders, references } = parse('${file:/a:b}/:id?x=${env:C}')
    assert.deepEqual(placeholders, ['id'])
    assert.deepEqual(
      references.map(({ text }) => text),
      ['${file:/a:b}', '${env:C}'],
    )
  })

  test('cannot make another resource of a path segment', () => {
    for (const secret of ['', '.', '..', '%2e']) {
      const filled = parse('http://h/a/${env:A}/b').fill({}, () => secret)
      assert.equal(filled.ok, secret === '%2e')
      if (!filled.ok) assert.match(filled.message, /segment "\$\{env:A\}" would be/)
    }
  })

  test('at the start of a URL, a path that an empty value would make start with two slashes is refused', () => {
    const cases = [
      ['http://h', false],
      ['http://h/base', true],
    ] as const
    for (const [secret, isFilled] of cases) {
      const template = parse('${env:A}/:id/x')
      assert.deepEqual(template.fill({ id: '' }), { ok: true, value: '${env:A}//x' })
      assert.equal(template.fill({ id: '' }, () => secret).ok, isFilled)
    }
  })

  const refused = [
    { url: 'http://${env:A}/', message: /at the start of the URL/ },
    { url: 'http://h:${env:A}/', message: /at the start of the URL/ },
    { url: 'http://user:${env:A}@h/', message: /must not hold credentials/ },
    { url: '${env:A}.example.org/', message: /must come "\/", "\?" or nothing/ },
    { url: '${env:A}:8080/', message: /must come/ },
    { url: 'http://h/?${env:A}=1', message: /name of a query parameter/ },
    { url: 'http://h/#${env:A}', message: /fragment/ },
    { url: 'http://h/\ue000${env:A}', message: /private characters/ },
    { url: `http://h/${'${env:A}'.repeat(101)}`, message: /too many references/ },
  ]
  for (const { url, message } of refused) {
    test(`are refused in ${url.slice(0, 40)}`, () => {
      const parsed = parseUrlTemplate(url, [])
      assert.ok(!parsed.ok)
      assert.match(parsed.message, message)
    })
  }

  test('at the start stand for what starts a URL, and nothing else', () => {
    const wrong = [
      '',
      'http://h/a b',
      'http://h/\n',
      ...'h /a ftp://h http:// http://u:p@h/ http://h/#a http://h:x/'.split(' '),
    ]
    for (const value of wrong) assert.ok(parse('${env:A}').base?.read(value).ok === false, value)
    assert.ok(parse('${env:A}/x').base?.read('http://h/?a=1').ok === false)
  })
})
