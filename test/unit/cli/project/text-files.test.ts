/** Texts of documents in files of their own: `{ "$file": "total.jsonata" }`. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { formatLint, locateLints } from '../../../../src/cli/project/located-lint.ts'
import { fillDocument, readDocument } from '../../../../src/cli/project/project-documents.ts'
import { openProject } from '../../../../src/cli/project/project-file.ts'
import type { Json, JsonObject } from '../../../../src/core/json.ts'
import { checkDocument } from '../../../../src/document/checks/check-document.ts'
import { DOCUMENT, folderOf } from '../../../support/cli/project/folder.ts'

type Context = Parameters<typeof folderOf>[0]

const target = { name: 'test', url: 'http://127.0.0.1:1', values: { RATE: '1.2' } }
const FILES = {
  'crosswalk.json': { targets: { test: target } },
  'total.jsonata': '$sum(requestBody.lines.amount)\n  * ${value:RATE}\r\n',
  'endpoints/one.jsonata': '1',
  'endpoints/two lines.txt': 'a\n\n',
  'endpoints/folder/x': '',
  'endpoints/large': 'x'.repeat(1_048_577),
}

function read(context: Context, more: JsonObject) {
  const { targets: _none, ...project } = FILES['crosswalk.json']
  const outside = folderOf(context, { 'secret.jsonata': 'outside' })
  const folder = folderOf(context, {
    ...FILES,
    'crosswalk.json': project,
    'endpoints/a.json': { ...DOCUMENT, ...more },
  })
  writeFileSync(join(folder, 'endpoints/latin'), Buffer.from([0xe9]))
  execFileSync('mkfifo', [join(folder, 'endpoints/pipe')])
  symlinkSync(join(outside, 'secret.jsonata'), join(folder, 'endpoints/link'))
  symlinkSync(join(folder, 'total.jsonata'), join(folder, 'endpoints/inner'))
  const document = readDocument(join(folder, 'endpoints/a.json'), openProject([], { project: folder }))
  return { folder, document, filled: fillDocument(document, undefined, target) }
}

const transform = ($file: Json): JsonObject => ({ inputTransforms: { total: { $file } } })

describe('a text that is in a file', () => {
  const texts: readonly (readonly [$file: string, text: string])[] = [
    ['one.jsonata', '1'],
    ['../total.jsonata', '$sum(requestBody.lines.amount)\n  * 1.2'],
    ['inner', '$sum(requestBody.lines.amount)\n  * 1.2'],
    ['two lines.txt', 'a\n'],
    ['folder/../folder/x', ''],
  ]
  for (const [$file, text] of texts) {
    test(`${$file} stands in its place`, (context) => {
      const { document, filled } = read(context, transform($file))
      assert.deepEqual(filled.lints, [])
      assert.deepEqual(filled.document, { ...DOCUMENT, inputTransforms: { total: text } })
      assert.deepEqual([document.written, document.textFiles.length], [{ ...DOCUMENT, ...transform($file) }, 1])
    })
  }

  const faults: readonly (readonly [$file: Json, says: string | RegExp])[] = [
    ['none.jsonata', 'There is no file none.jsonata beside the document.'],
    [17, '"$file" takes the path of a file.'],
    ['', '"$file" takes a path relative to the document, not "".'],
    ['/etc/hostname', '"$file" takes a path relative to the document, not "/etc/hostname".'],
    ['../../x', 'There is no file ../../x beside the document.'],
    [
      '../../../../../../../../etc/passwd',
      'The file ../../../../../../../../etc/passwd is outside of the project folder.',
    ],
    ['link', 'The file link is outside of the project folder.'],
    ['folder', /^The file folder cannot be used: .* it is a folder\.$/],
    ['pipe', 'The file pipe cannot be used: it is a pipe.'],
    ['large', 'The file large has more than 1,048,576 bytes.'],
    ['latin', "The file latin cannot be used: The file isn't text in UTF-8."],
  ]
  for (const [$file, says] of faults) {
    test(`${JSON.stringify($file)} is a fault at its place`, (context) => {
      const { filled } = read(context, transform($file))
      const [line = '', ...others] = locateLints('a.json', filled.lints, filled.positions).map(formatLint)
      const place = 'a.json:14:5: error: inputTransforms.total: '
      assert.ok(line.startsWith(place), line)
      if (says instanceof RegExp) assert.match(line.slice(place.length), says)
      else assert.equal(line.slice(place.length), says)
      assert.deepEqual(others, [])
    })
  }

  test('may stand wherever a document has a text, and means nothing in constants and schemas', (context) => {
    const one = { $file: 'one.jsonata' }
    const anyJson = { constants: { a: one }, inputValidation: { const: one } }
    const { filled } = read(context, {
      ...anyJson,
      description: one,
      inputMapping: { 'requestBody.a': one, 'requestBody.b': { key: 'b', when: one } },
      requests: {
        lookup: { id: 'l', config: { url: one, headers: { a: { expression: one } } } },
        response: [{ id: one }],
      },
      unknown: { $file: 'one.jsonata', more: 1 },
    })
    assert.deepEqual(filled.document, {
      ...DOCUMENT,
      ...anyJson,
      description: '1',
      inputMapping: { 'requestBody.a': '1', 'requestBody.b': { key: 'b', when: '1' } },
      requests: {
        lookup: { id: 'l', config: { url: '1', headers: { a: { expression: '1' } } } },
        response: [{ id: '1' }],
      },
      unknown: { $file: 'one.jsonata', more: 1 },
    })
  })

  test('has the faults of its document, with the file and the line in it', (context) => {
    const { filled } = read(context, {
      ...transform('../total.jsonata'),
      requests: { lookup: { id: { $file: 'one.jsonata' } } },
    })
    const at = (path: string, message: string) => ({ path, message, severity: 'error' }) as const
    const lints = [
      at('inputTransforms.total', 'It is wrong, near character 34 of the expression.'),
      at('inputTransforms.total', 'It is wrong.'),
      at('requests.lookup[0].id', 'It is wrong.'),
      at('name', 'It is wrong.'),
    ]
    assert.deepEqual(locateLints('a', lints, filled.positions).map(formatLint), [
      'a:2:3: error: name: It is wrong.',
      'a:14:5: error: inputTransforms.total: It is wrong, near character 34 of the expression. (../total.jsonata:2:3)',
      'a:14:5: error: inputTransforms.total: It is wrong. (../total.jsonata)',
      'a:20:7: error: requests.lookup[0].id: It is wrong. (one.jsonata)',
    ])
  })

  test('is refused in a document that the command line did not read', () => {
    const refused = { $file: 'x' }
    const { lints } = checkDocument({
      ...DOCUMENT,
      constants: { a: refused },
      inputTransforms: { a: refused },
      inputMapping: { 'requestBody.a': { key: 'a', when: refused } },
    })
    const says = '"$file" names a file of a project, which only the command line reads; put the text of the file here.'
    assert.deepEqual(
      lints.map(({ path, message }) => `${path}: ${message}`),
      [`inputMapping.requestBody\\.a.when: ${says}`, `inputTransforms.a: ${says}`],
    )
  })
})
