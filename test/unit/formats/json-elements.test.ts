import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Unreadable } from '../../../src/formats/body-faults.ts'
import { divideElements } from '../../../src/formats/json-elements.ts'
import fc from '../../support/fast-check.ts'
import { LONG } from '../../support/form.ts'

describe('divideElements', () => {
  const cases: readonly { text: string; rest: string; elements: readonly string[] | undefined }[] = [
    { text: '{"a":[1,2]}', rest: '{"a":[]}', elements: ['1', '2'] },
    {
      text: '{"b":[0],"a":[{"a":[1,2]},[3,[4]]],"c":{"a":[5]}}',
      rest: '{"b":[0],"a":[],"c":{"a":[5]}}',
      elements: ['{"a":[1,2]}', '[3,[4]]'],
    },
    { text: '{ "a" : [ ] }', rest: '{ "a" : [] }', elements: [] },
    { text: '{"\\u0061":["]","\\"[,"]}', rest: '{"\\u0061":[]}', elements: ['"]"', '"\\"[,"'] },
    { text: '{"a":[1],"a":[2,3]}', rest: '{"a":[],"a":[2,3]}', elements: ['1'] },
    { text: '{"a":{"x":[1]},"b":[2]}', rest: '{"a":{"x":[1]},"b":[2]}', elements: undefined },
    { text: '{"a":1}', rest: '{"a":1}', elements: undefined },
    { text: '[{"a":[1]}]', rest: '[{"a":[1]}]', elements: undefined },
    { text: '"a"', rest: '"a"', elements: undefined },
  ]
  for (const { text, rest, elements } of cases) {
    test(text, async () => assert.deepEqual(await divideElements(text, 'a'), { rest, elements }))
  }

  const malformed: readonly { text: string; place: RegExp }[] = [
    { text: '', place: /line 1, column 1/ },
    { text: '{"a":[1,]}', place: /line 1, column 9/ },
    { text: '{"a":[1,\n2', place: /line 2, column 2/ },
    { text: '{"a":[1]}x', place: /line 1, column 10/ },
  ]
  for (const { text, place } of malformed) {
    test(`${JSON.stringify(text)} is malformed`, () =>
      assert.rejects(divideElements(text, 'a'), (thrown) => {
        assert.ok(thrown instanceof Unreadable && thrown.reason === 'malformed')
        assert.match(thrown.message, place)
        return true
      }))
  }

  test('gives the parts of what JSON.parse gives, however it is written', async () => {
    const space = fc.constantFrom('', ' ', '\n\t')
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.jsonValue({ maxDepth: 4 })),
        fc.dictionary(fc.string(), fc.jsonValue()),
        space,
        async (elements, others, gap) => {
          const { a: _, ...beside } = JSON.parse(JSON.stringify(others))
          const written = elements.map((element) => `${gap}${JSON.stringify(element)}${gap}`)
          const members = Object.entries(beside).map((entry) =>
            entry.map((part) => JSON.stringify(part)).join(`${gap}:`),
          )
          const text = `{${[...members, `"a":${gap}[${written.join(',')}]`].join(`,${gap}`)}}`
          const divided = await divideElements(text, 'a')
          assert.deepEqual(
            divided.elements?.map((one) => JSON.parse(one)),
            JSON.parse(JSON.stringify(elements)),
          )
          assert.deepEqual(JSON.parse(divided.rest), { ...beside, a: [] })
        },
      ),
    )
  })

  test('accepts what JSON.parse accepts, and rejects the rest as malformed', async () => {
    const parts = fc.constantFrom('{', '}', '[', ']', ',', ':', '"a"', '"', '1', 'null', ' ', '\\', '-')
    await fc.assert(
      fc.asyncProperty(fc.array(parts, { maxLength: 12 }), async (some) => {
        const text = some.join('')
        const isJson = () => {
          try {
            JSON.parse(text)
            return true
          } catch {
            return false
          }
        }
        const divided = await divideElements(text, 'a').catch((thrown: unknown) => thrown)
        if (isJson()) assert.ok(!(divided instanceof Error))
        else assert.ok(divided instanceof Unreadable)
      }),
      { numRuns: LONG ? 500 : 200 },
    )
  })
})
