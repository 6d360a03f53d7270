import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { compilePattern, PatternTooCostly } from '../../../src/language/re2-pattern.ts'
import { timesAsCostly } from '../../support/cpu-time.ts'
import fc from '../../support/fast-check.ts'
import { LONG } from '../../support/form.ts'

function compiled(source: string, flags?: string) {
  const pattern = compilePattern(source, flags)
  assert.ok(pattern.ok, pattern.ok ? '' : pattern.message)
  return pattern.value
}

describe('patterns', () => {
  const sound = [
    { name: 'is found anywhere', source: 'b+', yes: ['abbc'], no: ['ac'] },
    { name: 'anchors', source: '^\\d{3}\\-\\d{4}$', yes: ['123-4567'], no: ['123-4567 ', 'x123-4567', '123-4567\n'] },
    { name: 'escapes a slash', source: 'a\\/b', yes: ['a/b'], no: ['a\\/b'] },
    { name: 'unicode escapes', source: '^\\u00e9$', yes: ['é'], no: ['e'] },
    { name: 'one character beyond the first plane', source: '^.$', yes: ['😀'], no: ['😀😀'] },
    { name: 'a range beyond the first plane', source: '^[😀-😎]$', yes: ['😁'], no: ['😏'] },
    { name: 'unicode classes', source: '^\\p{Lu}\\p{L}*$', yes: ['Åsa'], no: ['åsa'] },
    { name: 'names groups', source: '^(?<year>\\d{4})$', yes: ['2024'], no: ['24'] },
    { name: 'classes with what RE2 would read otherwise', source: '^[^]$', yes: ['\n'], no: [''] },
    { name: 'ignores case', source: '^abc$', flags: 'i', yes: ['aBC'], no: ['ab'] },
    { name: 'lines', source: '^b$', flags: 'm', yes: ['a\nb\nc'], no: ['abc'] },
  ]
  for (const { name, source, flags, yes, no } of sound) {
    test(name, () => {
      const pattern = compiled(source, flags)
      for (const text of yes) assert.equal(pattern.test(text), true, text)
      for (const text of no) assert.equal(pattern.test(text), false, text)
    })
  }

  const refused = [
    { source: '(', part: 'not a regular expression' },
    { source: 'a(?=b)', part: 'looks ahead or behind' },
    { source: 'a(?!b)', part: 'looks ahead or behind' },
    { source: '(?<=a)b', part: 'looks ahead or behind' },
    { source: '(?<!a)b', part: 'looks ahead or behind' },
    { source: '(a)\\1', part: 'refers back' },
    { source: '(?<n>a)\\k<n>', part: 'refers back' },
    { source: 'a{1001}', part: 'repeat count' },
    { source: '\\Q.\\E', part: 'unknown escape \\Q' },
    { source: '[ac]{0,999}[bd]{0,999}[ce]{0,999}[df]{0,999}[eg]{0,999}[fh]{0,999}', part: 'too large' },
  ]
  for (const { source, part } of refused) {
    test(`refuses ${source}`, () => {
      const pattern = compilePattern(source)
      assert.ok(!pattern.ok)
      assert.ok(pattern.message.includes(part), pattern.message)
      assert.match(pattern.message, /^the pattern \/.*\.$/)
    })
  }

  test('what only looks like a look-ahead is none', () => {
    for (const source of ['\\(?=a', '[(?=]', 'a\\\\1']) assert.ok(compilePattern(source).ok, source)
  })

  test('finds matches one after the other, with their groups', () => {
    const find = compiled('([a-z])(x)?(\\d+)').finder()
    assert.deepEqual(find('a1 b22', 0), { text: 'a1', start: 0, groups: ['a', undefined, '1'] })
    assert.deepEqual(find('a1 b22', 2), { text: 'b22', start: 3, groups: ['b', undefined, '22'] })
    assert.equal(find('a1 b22', 6), undefined)
    assert.equal(find('a1 b22', 99), undefined)
    assert.deepEqual(find('cx3', 0), { text: 'cx3', start: 0, groups: ['c', 'x', '3'] })
  })

  test('what backtracks elsewhere takes no time here', async () => {
    const plain = ['^a*a*$', '^a{0,900}a*b', '^a*a{1000}b', '^a?a?a?a?a?a?a?a?a?a?a*b', '^a+b{0,9}a{3,}$']
    const patterns = ['^(a+)+$', '^(a|a)*$', '^(a|aa)+$', '(a*)*b', ...plain].map((source) => compiled(source))
    const search = (size: number) => () => {
      for (const pattern of patterns) assert.equal(pattern.test(`${'a'.repeat(size)}!`), false)
    }
    assert.ok((await timesAsCostly(search(50_000), search(2_500))) < 100)
  })

  test('refuses to look for groups in what would take too long', () => {
    const find = compiled('(a{0,500}){0,2}[bc]').finder()
    assert.throws(() => find('a'.repeat(1_000_000), 0), PatternTooCostly)
    assert.equal(find('a', 0), undefined)
  })

  test('no pattern makes it throw', () => {
    const parts = ['\u2028', ...'a ( ) [ ] {2} { * + ? \\ ^ $ | . ?= ?< k<a> 1 - é'.split(' ')]
    const source = fc.oneof(
      fc.string(),
      fc.array(fc.constantFrom(...parts), { maxLength: 12 }).map((all) => all.join('')),
    )
    fc.assert(
      fc.property(source, fc.string(), (text, subject) => {
        const pattern = compilePattern(text)
        if (pattern.ok) assert.equal(typeof pattern.value.test(subject), 'boolean')
        else assert.match(pattern.message, /\.$/)
      }),
      { numRuns: LONG ? 2000 : 200 },
    )
  })

  test('finds what ECMAScript finds', () => {
    const source = fc
      .array(fc.constantFrom('a', 'b', '.', '\\d', '[a-c]', '(a|b)', 'a*', 'b+?', 'c?', '^', '$', '|', '(?:ab){1,2}'), {
        minLength: 1,
        maxLength: 6,
      })
      .map((all) => all.join(''))
    const subject = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '1', ' ') })
    fc.assert(
      fc.property(source, subject, (text, within) => {
        const found = compiled(text).finder()(within, 0)
        const expected = new RegExp(text).exec(within)
        assert.deepEqual(
          found && [found.start, found.text, ...found.groups],
          expected === null ? undefined : [expected.index, ...expected],
        )
      }),
      { numRuns: LONG ? 1000 : 200 },
    )
  })

  test('reports plain patterns what finding reports', () => {
    const atoms = ['a', 'b', '-', '\\.', '\\d', '[a-c]', '[ab.-]', '[\\d_]', '[(-+]', ' ', 'B', '\\$', '_', '\\[']
    const repeats = ['', '', '', '*', '+', '?', '{2}', '{1,2}', '{0,3}', '{2,}']
    const source = fc
      .tuple(
        fc.array(fc.tuple(fc.constantFrom(...atoms), fc.constantFrom(...repeats)), { maxLength: 5 }),
        fc.constantFrom('', '$'),
      )
      .map(([parts, end]) => `^${parts.map((part) => part.join('')).join('')}${end}`)
    const units = ['a', 'b', 'c', '1', '-', '.', ' ', '_', '$', '(', '[', '\n', 'é', '😀', '\ud83d', '\u0661']
    const subject = fc.string({ unit: fc.constantFrom(...units), maxLength: 8 })
    fc.assert(
      fc.property(source, subject, (text, within) => {
        const pattern = compiled(text)
        assert.equal(pattern.test(within), pattern.finder()(within, 0) !== undefined)
      }),
      { numRuns: LONG ? 5000 : 500 },
    )
  })
})
