/** What the editor completes within a mapping. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Vocabulary, wordsAt } from '../../../../console/src/pages/editor/assist/document-words.ts'
import { describeVocabulary } from '../../../../src/document/vocabulary/vocabulary.ts'

const vocabulary = describeVocabulary() as unknown as Vocabulary
const paths = [{ path: 'requestBody.rows', sample: '…' }]

/** `|` in the text is the place. */
const labelsAt = (text: string): readonly string[] =>
  wordsAt(text.replace('|', ''), text.indexOf('|'), vocabulary, paths)?.words.map(({ label }) => label) ?? []

test('the keys of a target', () => {
  const all = ['key', 'default', 'transform', 'each', 'when']
  assert.deepEqual(labelsAt('{"inputMapping": {"requestBody.a": {|}}}'), all)
  assert.deepEqual(labelsAt('{"inputMapping": {"requestBody.a": ["x", {"key": "b", |}]}}'), all.slice(1))
  assert.deepEqual(labelsAt('{"inputMapping": {"a": {"key": "b[]", "each": {"item": {"key": "c", |}}}}}'), all.slice(1))
})

test('the sources of an each, with its roots', () => {
  const words = labelsAt('{"inputMapping": {"requestBody.rows[]": {"key": "a[]", "each": {|}}}}')
  assert.deepEqual(words.slice(0, 4), ['item', 'index', 'outer', 'requestBody.rows'])
  assert.ok(words.includes('constants') && !words.includes('payload'))
})

test('functions, and nothing in their parameters', () => {
  const each = (inner: string) =>
    `{"inputMapping": {"a": {"key": "b[]", "each": {"item": {"key": "c", "transform": ${inner}}}}}}`
  assert.ok(labelsAt(each('|')).includes('numberify'))
  assert.deepEqual(labelsAt(each('{|}')), [])
})
