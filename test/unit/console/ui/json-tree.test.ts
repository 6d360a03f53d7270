/** Bodies as trees: nothing of the text is lost or changed, and each path is one that documents read. */
import assert from 'node:assert/strict'
import { describe, it, test } from 'node:test'
import { findNodes, type JsonNode, pathOf, readJsonTree } from '../../../../console/src/ui/data/json-tree.ts'
import { parseSteps } from '../../../../src/language/paths/path-steps.ts'
import fc from '../../../support/fast-check.ts'

const tree = (text: string): JsonNode => readJsonTree(text) ?? assert.fail('no tree')

/** The text again, without white space. */
function write({ kind, value, children }: JsonNode): string {
  if (kind === 'string') return JSON.stringify(value)
  if (kind === 'other') return value
  if (kind === 'list') return `[${children.map(write).join()}]`
  return `{${children.map((child) => `${JSON.stringify(child.name)}:${write(child)}`).join()}}`
}

describe('a tree is as the text', () => {
  const texts = [
    '{}',
    '[]',
    '{"a":{},"a":[1,2.50,1e400]}',
    '[12345678901234567890,-0]',
    '{"":"","b":{"":[[],{}]},"c":null}',
  ]
  for (const text of texts) it(text, () => assert.equal(write(tree(text)), text))

  it('whatever it has', () => {
    const containers = fc.jsonValue().filter((value) => typeof value === 'object' && value !== null)
    fc.assert(
      fc.property(containers, (value) =>
        assert.deepEqual(write(tree(JSON.stringify(value, null, 2))), JSON.stringify(value)),
      ),
    )
  })
})

test('there is none of other texts, and of one that is nested too deeply', () => {
  for (const text of ['1', '"a"', '', '{', '{"a":1', 'a: b', '['.repeat(201) + ']'.repeat(201)]) {
    assert.equal(readJsonTree(text), undefined)
  }
})

test('a path is one that documents read', () => {
  const body = tree('{"a.b":[{"*":1},[2]],"c":"d"}')
  const paths = findNodes(body, '', 9).concat(body.children.flatMap((one) => [one, ...one.children]))
  const texts = [...paths, ...findNodes(body, '1', 9), ...findNodes(body, '2', 9)].map((one) =>
    pathOf(one, 'requestBody'),
  )
  assert.deepEqual(texts, [
    'requestBody.a\\.b',
    'requestBody.a\\.b[0]',
    'requestBody.a\\.b[1]',
    'requestBody.c',
    'requestBody.a\\.b[0].\\*',
    'requestBody.a\\.b[1][0]',
  ])
  for (const text of texts) assert.equal(parseSteps(text, 'path').ok, true, text)
})

test('a search finds names and values in any case, in order, and no more than asked for', () => {
  const body = tree('{"Name":"x","b":[{"c":"a NAME"},"y"],"d":"name"}')
  assert.deepEqual(
    findNodes(body, ' name ', 9).map((one) => pathOf(one, '')),
    ['Name', 'b[0].c', 'd'],
  )
  assert.equal(findNodes(body, 'name', 2).length, 2)
})

test('a body of 1 MiB is read and searched at once', () => {
  const text = `[${'{"a":1},'.repeat(116_000)}{"z":1}]`
  const startedMs = performance.now()
  assert.equal(findNodes(tree(text), 'z', 9).length, 1)
  assert.ok(performance.now() - startedMs < 2_000)
})
