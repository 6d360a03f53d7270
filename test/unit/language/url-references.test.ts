import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseUrlTemplate, type UrlTemplate } from '../../../src/language/url-template.ts'

const parse = (text: string): UrlTemplate => {
  const parsed = parseUrlTemplate(text, ['id'])
  assert.ok(parsed.ok, parsed.ok ? '' : parsed.message)
  return parsed.value
}

describe('references to secrets in a URL', () => {
  const cases: { url: string; secret: string; shown?: string; expect: string }[] = [
    {
      url: 'http://h/a/${env:A}/:id',
      secret: 'x/y?z',
      shown: 'http://h/a/${env:A}/7',
      expect: 'http://h/a/x%2Fy%3Fz/7',
    },
    {
      url: 'http://h/?k=${file:/a/b:c}&l=:id',
      secret: 'a&b=:id',
      shown: 'http://h/?k=${file:/a/b:c}&l=7',
      expect: 'http://h/?k=a%26b%3D:id&l=7',
    },
    { url: 'http://h/p-${env:A}.json', secret: '..', expect: 'http://h/p-...json' },
    { url: 'http://h/${env:A}${env:A}', secret: 'x', expect: 'http://h/xx' },
    { url: '${env:A}', secret: 'http://h:8080/a?b=:id', expect: 'http://h:8080/a?b=:id' },
    {
      url: '${env:A}/:id?c=1',
      secret: 'https://[::1]/base/:id//',
      shown: '${env:A}/7?c=1',
      expect: 'https://[::1]/base/:id/7?c=1',
    },
    { url: '${env:A}?c=:id', secret: 'http://h', expect: 'http://h?c=7' },
    { url: ' ${env:A}/:id ', secret: 'http://h', shown: '${env:A}/7', expect: 'http://h/7' },
    // Written as text, a brace is as any other character.
    { url: 'http://h/$${file:/x}', secret: 'x', expect: 'http://h/$%7Bfile:/x%7D' },
  ]
  for (const { url, secret, shown, expect } of cases) {
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
      'h',
      '/a',
      'ftp://h',
      'http://',
      'http://u:p@h/',
      'http://h/#a',
      'http://h/a b',
      'http://h/\n',
      'http://h:x/',
    ]
    for (const value of wrong) assert.ok(parse('${env:A}').base?.read(value).ok === false, value)
    assert.ok(parse('${env:A}/x').base?.read('http://h/?a=1').ok === false)
  })
})
