import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { almostReference, parseReferences, referencesIn } from '../../../src/core/secrets/secrets.ts'
import fc from '../../support/fast-check.ts'

const env = (name: string) => ({ text: `\${env:${name}}`, source: 'env', name })
const file = (name: string) => ({ text: `\${file:${name}}`, source: 'file', name })

describe('references in a text', () => {
  const cases: { text: string; parts: unknown }[] = [
    { text: '${env:A}', parts: [env('A')] },
    { text: 'Bearer ${env:A_1}', parts: ['Bearer ', env('A_1')] },
    { text: '${env:A}:${file:/run/a b.txt}!', parts: [env('A'), ':', file('/run/a b.txt'), '!'] },
    { text: '$${env:A}', parts: ['${env:A}'] },
    { text: '$$${env:A}', parts: ['$${env:A}'] },
    { text: 'x$${file:/a}y${env:B}', parts: ['x${file:/a}', 'y', env('B')] },
    { text: '${file:/a}b}', parts: [file('/a'), 'b}'] },
    { text: '', parts: undefined },
    { text: 'plain $ and { and ${other}', parts: undefined },
    { text: '$${other}', parts: undefined },
    { text: '${env:}', parts: undefined },
    { text: '${env:1}', parts: undefined },
    { text: '${env:/a}', parts: undefined },
    { text: '${file:a}', parts: undefined },
    { text: '${file:/a\n}', parts: undefined },
    { text: '${ENV:A}', parts: undefined },
    { text: '${env:A', parts: undefined },
  ]
  for (const { text, parts } of cases) {
    test(JSON.stringify(text), () => assert.deepEqual(parseReferences(text), parts))
  }

  test('and what is between them make the text again, but for the dollar of an escape', () => {
    const piece = fc.constantFrom('$', '{', '}', '${env:A}', '$${env:A}', '${file:/x}', 'env:', ':', 'a')
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const text = pieces.join('')
        const parts = parseReferences(text)
        const again = (parts ?? [text]).map((part) => (typeof part === 'string' ? part : part.text)).join('')
        assert.equal(again, parts === undefined ? text : text.replace(/\$(?=\$\{(?:env:A|file:\/x)\})/g, ''))
      }),
    )
  })
})

describe('what looks like a reference', () => {
  for (const text of ['${env:}', '${env: A}', '${ENV:A}', '${file:a}', '${env:A', '${env:A} ${file:b}']) {
    test(`is reported: ${text}`, () => assert.match(almostReference(text) ?? '', /sent unchanged/))
  }
  for (const text of ['${env:A}', '$${env:A}', '${other}', '${environment}', 'env:A', '']) {
    test(`is not: ${JSON.stringify(text)}`, () => assert.equal(almostReference(text), undefined))
  }
})

test('referencesIn gives those in a text', () => {
  assert.deepEqual(referencesIn('a ${env:A} $${env:B} ${file:/c}'), [env('A'), file('/c')])
})
