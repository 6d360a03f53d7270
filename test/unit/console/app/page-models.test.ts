/** What the pages of tests, imports and statistics work out by themselves. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { splitDocuments } from '../../../../console/src/pages/endpoints/split-documents.ts'
import { newTest, withChange } from '../../../../console/src/pages/tests/test-file.ts'
import { minuteSeries } from '../../../../console/src/ui/charts/minute-series.ts'
import fc from '../../../support/fast-check.ts'

describe('a change of a file of tests', () => {
  const [a, b, c] = [{ name: 'a' }, { name: 'b' }, { name: 'c' }]
  const file = { ignore: ['/at'], tests: [a, b] }
  const cases: readonly Readonly<{
    name: string
    change: Parameters<typeof withChange>
    gives: ReturnType<typeof withChange>
  }>[] = [
    { name: 'adds a test', change: [file, null, c], gives: { ignore: ['/at'], tests: [a, b, c] } },
    {
      name: 'replaces one in its place',
      change: [file, a, { ...a, skip: 'no' }],
      gives: { ...file, tests: [{ ...a, skip: 'no' }, b] },
    },
    { name: 'renames one', change: [file, b, c], gives: { ...file, tests: [a, c] } },
    { name: 'deletes one', change: [file, a, null], gives: { ...file, tests: [b] } },
    { name: 'is refused for a name that is taken', change: [file, null, b], gives: 'taken' },
    { name: 'is refused for a new name that is taken', change: [file, a, b], gives: 'taken' },
    { name: 'is refused for a test that is gone', change: [file, c, a], gives: 'gone' },
    { name: 'is refused for a test that is another one now', change: [file, { ...a, skip: 'x' }, c], gives: 'changed' },
  ]
  for (const { name, change, gives } of cases) test(name, () => assert.deepEqual(withChange(...change), gives))

  test('starts a new test under a name of its own', () => {
    const first = newTest([])
    assert.equal(newTest([first]).name, 'a new test 2')
    assert.equal(newTest([first, newTest([first])]).name, 'a new test 3')
  })
})

test('minutes without messages count zero and have no durations', () => {
  const now = Date.parse('2026-01-01T10:03:30Z')
  const counted = (at: string, count: number) => ({ at, count, failures: 1, p50: 2, p95: 3, p99: 4 })
  const series = minuteSeries([counted('2026-01-01T10:01:00.000Z', 7), counted('2026-01-01T09:00:00.000Z', 9)], now, 4)
  assert.deepEqual(
    series.times.map((ms) => new Date(ms).toISOString().slice(11, 16)),
    ['10:00', '10:01', '10:02', '10:03'],
  )
  assert.deepEqual(
    [series.count, series.failures],
    [
      [0, 7, 0, 0],
      [0, 1, 0, 0],
    ],
  )
  assert.deepEqual(
    [series.p50, series.p95, series.p99],
    [2, 3, 4].map((ms) => [null, ms, null, null]),
  )
})

describe('a file of documents', () => {
  test('is split into the texts that it has, whatever they contain', () => {
    const value = fc.dictionary(fc.string(), fc.jsonValue())
    const space = fc.constantFrom('', ' ', '\n\t')
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 5 }), space, (values, gap) => {
        const texts = values.map((one) => JSON.stringify(one, null, gap))
        const found = splitDocuments(`${gap}[${gap}${texts.join(`${gap},${gap}`)}${gap}]${gap}`)
        assert.ok(typeof found !== 'string', String(found))
        assert.deepEqual(
          found.map(({ text }) => text),
          texts,
        )
      }),
    )
  })

  const cases: readonly Readonly<{ name: string; text: string; found: readonly string[] | RegExp }>[] = [
    { name: 'one document', text: '\ufeff {"a": 1.0}\n', found: ['{"a": 1.0}'] },
    {
      name: 'numbers as they are written',
      text: '[{"a":1e2}, {"b":12345678901234567890}]',
      found: ['{"a":1e2}', '{"b":12345678901234567890}'],
    },
    { name: 'a name that stands twice', text: '[{"a":1,"a":2}]', found: ['{"a":1,"a":2}'] },
    { name: 'signs within texts', text: '[{"a":"]},{\\""}]', found: ['{"a":"]},{\\""}'] },
    { name: 'no document', text: '[]', found: /no document/ },
    { name: 'what is no object', text: '[1]', found: /neither/ },
    { name: 'what is no JSON', text: '{', found: /not JSON/ },
    { name: 'more than 1 MiB', text: ' '.repeat(1_048_577), found: /crosswalk apply/ },
  ]
  for (const { name, text, found } of cases) {
    test(`with ${name}`, () => {
      const result = splitDocuments(text)
      if (found instanceof RegExp) return assert.match(String(result), found)
      assert.ok(typeof result !== 'string', String(result))
      assert.deepEqual(
        result.map((one) => one.text),
        found,
      )
    })
  }
})
