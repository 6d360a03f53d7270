import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { encodedForms, withReferences } from '../../../src/core/secrets/secrets.ts'
import fc from '../../support/fast-check.ts'

const hide = (text: string, ...values: readonly string[]): string =>
  withReferences(text, new Map(values.map((value, index) => [value, `\${env:S${index}}`])))

describe('the value of a secret is replaced by its reference', () => {
  const value = 'a/b "c" <&\'> é+'
  const cases = {
    'as it is': value,
    'in a URL': encodeURIComponent(value),
    'in a URL with lower-case digits': encodeURIComponent(value).replace(/%../g, (code) => code.toLowerCase()),
    'in a URL, with the characters of a path as they are': encodeURI(value),
    'in a URL within a URL': encodeURIComponent(encodeURIComponent(value)),
    'in a form': encodeURIComponent(value).replaceAll('%20', '+'),
    'in a form with lower-case digits': encodeURIComponent(value)
      .replaceAll('%20', '+')
      .replace(/%../g, (code) => code.toLowerCase()),
    'in a URL that encodes what it need not': [...Buffer.from(value)].map((byte) => `%${byte.toString(16)}`).join(''),
    'in a URL that encodes only some of it': 'a%2Fb+"c"%20%3C&\'%3e %c3%A9+',
    'in a URL in JSON': "a\\/b+%22c%22%20%3C&'%3e %c3%A9+",
    'in JSON': JSON.stringify(value).slice(1, -1),
    'in JSON with escaped slashes': JSON.stringify(value).slice(1, -1).replaceAll('/', '\\/'),
    'in JSON in ASCII': JSON.stringify(value).slice(1, -1).replace('é', '\\u00e9'),
    'in JSON within JSON': JSON.stringify(JSON.stringify(value)).slice(3, -3),
    'in XML': 'a/b "c" &lt;&amp;\'&gt; é+',
    'in an attribute of XML': 'a/b &quot;c&quot; &lt;&amp;&apos;&gt; é+',
    'in UTF-8 that is read as Latin-1': Buffer.from(value).toString('latin1'),
  }
  const aroundInBase64 = ['', 'u', 'u:', 'us:', 'user:'].flatMap((before) =>
    ['', '!', ' and more'].map((after) => ({ before, after })),
  )
  for (const [name, text] of Object.entries(cases)) {
    test(name, () => assert.equal(hide(`<${text}|${text}>`, value), '<${env:S0}|${env:S0}>'))
  }

  for (const { before, after } of aroundInBase64) {
    for (const encoding of ['base64', 'base64url'] as const) {
      test(`in ${encoding} of "${before}…${after}"`, () => {
        const hidden = hide(Buffer.from(before + value + after).toString(encoding), value)
        assert.match(hidden, /^.{0,8}\$\{env:S0\}.{0,18}$/)
      })
    }
  }

  test('not in Base64 where it is too short to be distinguished from chance', () => {
    const text = Buffer.from('five5').toString('base64')
    assert.equal(hide(text, 'five5'), text)
  })

  test('the longer one first, where one is a part of another', () => {
    assert.equal(hide('secret secret-2', 'secret', 'secret-2'), '${env:S0} ${env:S1}')
  })

  test('not where it is too short to be distinguished from chance', () => {
    assert.equal(hide('a1 is a1', 'a1'), 'a1 is a1')
    assert.deepEqual(encodedForms('a1'), [])
  })

  test('whatever it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 3 }), fc.string(), (secret, around) => {
        for (const form of encodedForms(secret))
          assert.ok(hide(`${around}${form}${around}`, secret).includes('${env:S0}'))
      }),
    )
  })
})
