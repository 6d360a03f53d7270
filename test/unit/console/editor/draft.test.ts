/** The draft of an endpoint: paths and places of its text, its layout, and one undo for every view. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { layOutDocument } from '../../../../console/src/draft/document-layout.ts'
import { createDraft, smallestEdit, toDraftBase } from '../../../../console/src/draft/draft.ts'
import { findValue, pathAt, readTree, toPath } from '../../../../console/src/draft/json-places.ts'
import fc from '../../../support/fast-check.ts'

const DOCUMENT = `{
  "name": "Orders",
  "inputMapping": { "requestBody.nr": "id", "a": { "b": 1 } },
  "requests": { "lookup": [{ "id": "patient", "config": { "url": "http://u" } }, { "id": "b[0]" }] }
}`

const FOUND: readonly (readonly [path: string, text: string, isWhole?: boolean])[] = [
  ['name', '"name": "Orders"'],
  ['inputMapping.requestBody\\.nr', '"requestBody.nr": "id"'],
  ['inputMapping.a.b', '"b": 1'],
  ['requests.lookup[0].config.url', '"url": "http://u"'],
  ['requests.lookup[patient].config.url', '"url": "http://u"'],
  ['requests.lookup[1]', '{ "id": "b[0]" }'],
  ['requests.lookup[1].config.url', '{ "id": "b[0]" }', false],
  ['name.first', '"name": "Orders"', false],
]

describe('places of a document', () => {
  for (const [path, text, isWhole = true] of FOUND) {
    test(`finds ${path}`, () => {
      const root = readTree(DOCUMENT)
      assert.ok(root)
      const place = findValue(root, path)
      assert.equal(DOCUMENT.slice(place.span.from, place.span.to), text)
      assert.equal(place.isWhole, isWhole)
    })
  }

  test('a missing field is a place of the whole document', () => {
    const root = readTree(DOCUMENT)
    assert.ok(root)
    assert.deepEqual(findValue(root, 'endpoint.pattern').span, { from: 0, to: DOCUMENT.length })
  })

  test('names the path at an offset, of a name as of its value', () => {
    const root = readTree(DOCUMENT)
    assert.ok(root)
    assert.equal(pathAt(root, DOCUMENT.indexOf('"url"') + 1), 'requests.lookup[0].config.url')
    assert.equal(pathAt(root, DOCUMENT.indexOf('http://u')), 'requests.lookup[0].config.url')
    assert.equal(pathAt(root, DOCUMENT.indexOf('"requestBody.nr"') + 2), 'inputMapping.requestBody\\.nr')
  })

  test('the path of each value leads back to it', () => {
    fc.assert(
      fc.property(fc.dictionary(NAME, fc.jsonValue({ maxDepth: 3 })), (value) => {
        const text = JSON.stringify(value)
        const root = readTree(text)
        assert.ok(root)
        for (const member of root.children ?? []) {
          const [, node] = member.children ?? []
          assert.ok(node)
          assert.equal(findValue(root, toPath(node)).value, node)
        }
      }),
    )
  })
})

/** Names as paths can tell them apart: the API does not escape a backslash. */
const NAME = fc.string({ minLength: 1 }).filter((name) => !/[\\[\]]/.test(name))

describe('the layout of a document', () => {
  test('leaves out what the service keeps itself, and lists entries one by one', () => {
    assert.equal(
      layOutDocument('{"_id":"1","name":"A","endpoint":{"pattern":"/a"},"inputMapping":{"b":"c"},"labels":{},"__v":0}'),
      '{\n  "name": "A",\n  "endpoint": { "pattern": "/a" },\n  "inputMapping": {\n    "b": "c"\n  },\n  "labels": {}\n}\n',
    )
  })

  test('changes no token', () => {
    const tokens = (text: string) => text.match(/"(?:[^"\\]|\\.)*"|[^\s"]/g)?.join('')
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        for (const name of ['_id', 'createdAt', 'updatedAt', '__v']) delete value[name]
        const raw = JSON.stringify(value)
        assert.equal(tokens(layOutDocument(raw)), tokens(raw))
      }),
    )
  })

  test('keeps numbers, doubled names and the order of names like numbers', () => {
    const raw = '{"constants":{"b":12345678901234567890,"10":1.0,"2":1e3,"b":2}}'
    assert.equal(
      layOutDocument(raw),
      '{\n  "constants": { "b": 12345678901234567890, "10": 1.0, "2": 1e3, "b": 2 }\n}\n',
    )
  })
})

describe('a draft', () => {
  const draftOf = (text: string) => createDraft('1', { text, etag: '"a"' })

  test('undoes the edits of every view, one by one', () => {
    const draft = draftOf('{ "a": 1 }')
    draft.applyEdits([{ from: 7, to: 8, insert: '2' }])
    draft.dispatch({ changes: { from: 7, to: 8, insert: '3' }, userEvent: 'input.type' })
    draft.applyEdits([
      { from: 3, to: 4, insert: 'b' },
      { from: 7, to: 8, insert: '4' },
    ])
    assert.equal(draft.now.get().text, '{ "b": 4 }')
    draft.undo()
    assert.equal(draft.now.get().text, '{ "a": 3 }')
    draft.undo()
    draft.undo()
    assert.deepEqual(
      { text: draft.now.get().text, isDirty: draft.now.get().isDirty, canUndo: draft.now.get().canUndo },
      { text: '{ "a": 1 }', isDirty: false, canUndo: false },
    )
    draft.redo()
    assert.equal(draft.now.get().text, '{ "a": 2 }')
  })

  test('keeps the undo history from view to view', () => {
    const draft = draftOf('one')
    const view = { update: () => {}, destroy: () => {} }
    const first = draft.attach([], () => view)
    draft.dispatch({ changes: { from: 0, insert: 'x' }, userEvent: 'input.type' })
    first.detach()
    const second = draft.attach([], () => view)
    draft.undo()
    second.detach()
    assert.equal(draft.now.get().text, 'one')
  })

  test('starts with text that was kept, and can undo it to the stored document', () => {
    const draft = createDraft('1', { text: 'stored', etag: '"a"' }, 'typed')
    assert.deepEqual([draft.now.get().text, draft.now.get().isDirty], ['typed', true])
    draft.undo()
    assert.equal(draft.now.get().text, 'stored')
  })

  test('is clean once its text is that of the base', () => {
    const draft = draftOf('{}\n')
    draft.replaceText('{ "a": 1 }\n')
    draft.setBase(toDraftBase({ text: '{}', etag: '"b"' }))
    assert.equal(draft.now.get().isDirty, true)
    draft.replaceText('{}\n')
    assert.equal(draft.now.get().isDirty, false)
  })

  test('an edit between two texts makes one of the other', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (before, after) => {
        const edit = smallestEdit(before, after)
        const made = edit === undefined ? before : before.slice(0, edit.from) + edit.insert + before.slice(edit.to)
        assert.equal(made, after)
      }),
    )
  })
})
