/** The message files of `crosswalk compare`. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { ComparisonImpossible } from '../../../migrate/compare/comparison.ts'
import { readMessages } from '../../../migrate/compare/message-files.ts'
import fc from '../../support/fast-check.ts'
import { type Files, folderWith } from '../../support/migrate/import-rig.ts'
import { freshFolder } from '../../support/spawned-service.ts'

const text = (body: Uint8Array | undefined) => body && Buffer.from(body).toString()

describe('messages', () => {
  test('are read in the order of their files, with their bodies', (context) => {
    const folder = folderWith(
      {
        'b/2.message.json': JSON.stringify([
          { path: '/b', body: { $file: '../order.xml' }, contentType: 'application/xml' },
        ]),
        'a.message.json': JSON.stringify({
          name: 'first',
          path: '/a/:1',
          method: 'put',
          query: { x: ['1', '2'] },
          headers: { 'X-One': '1' },
          body: { n: 1 },
        }),
        'c.message.json': JSON.stringify([
          { path: '/c', method: 'GET' },
          { path: '/c', body: '{"a":' },
        ]),
        'order.xml': '<order/>',
        'other.json': 'not a message',
      },
      context,
    )
    const messages = readMessages(folder).map(({ body, ...rest }) => ({ ...rest, body: text(body) }))
    assert.deepEqual(messages, [
      {
        name: 'a.message.json (first)',
        method: 'PUT',
        path: '/a/:1',
        query: { x: ['1', '2'] },
        headers: { 'x-one': '1', 'content-type': 'application/json' },
        body: '{"n":1}',
      },
      {
        name: join('b', '2.message.json#1'),
        method: 'POST',
        path: '/b',
        query: {},
        headers: { 'content-type': 'application/xml' },
        body: '<order/>',
      },
      { name: 'c.message.json#1', method: 'GET', path: '/c', query: {}, headers: {}, body: undefined },
      {
        name: 'c.message.json#2',
        method: 'POST',
        path: '/c',
        query: {},
        headers: { 'content-type': 'application/json' },
        body: '{"a":',
      },
    ])
  })

  const faults: Readonly<Record<string, Readonly<{ files: Files; says: RegExp }>>> = {
    'no message': { files: { 'a.json': '{}' }, says: /no file that ends in \.message\.json/ },
    'no JSON': { files: { 'a.message.json': '{' }, says: /^a\.message\.json: .*line 1/ },
    'no object': { files: { 'a.message.json': '[1]' }, says: /^a\.message\.json#1: a message is an object/ },
    'an unknown field': { files: { 'a.message.json': '{"path":"/a","bdy":1}' }, says: /no field "bdy"/ },
    'no path': { files: { 'a.message.json': '{}' }, says: /"path" must start/ },
    'a query in the path': { files: { 'a.message.json': '{"path":"/a?b=1"}' }, says: /"path" must start/ },
    'another method': { files: { 'a.message.json': '{"path":"/a","method":"TRACE"}' }, says: /"method" must be one/ },
    'a number in the query': { files: { 'a.message.json': '{"path":"/a","query":{"b":1}}' }, says: /"query" must/ },
    'a number as header': { files: { 'a.message.json': '{"path":"/a","headers":{"b":1}}' }, says: /"headers" must/ },
    'a file outside': {
      files: { 'm/a.message.json': '{"path":"/a","body":{"$file":"../../../../../etc/hostname"}}' },
      says: /must name a file below the folder/,
    },
    'a missing file': {
      files: { 'a.message.json': '{"path":"/a","body":{"$file":"b"}}' },
      says: /There is no file b\./,
    },
  }
  for (const [name, { files, says }] of Object.entries(faults)) {
    test(`with ${name} are refused`, (context) => {
      assert.throws(
        () => readMessages(folderWith(files, context)),
        (thrown: Error) => {
          assert.ok(thrown instanceof ComparisonImpossible)
          assert.match(thrown.message, says)
          return true
        },
      )
    })
  }

  test('of any JSON are messages or a fault', (context) => {
    const folder = freshFolder(context)
    const value = fc.oneof(
      fc.json(),
      fc
        .record(
          { path: fc.webPath(), query: fc.jsonValue(), headers: fc.jsonValue(), body: fc.jsonValue() },
          { requiredKeys: [] },
        )
        .map((one) => JSON.stringify(one)),
      fc.string({ unit: 'binary' }),
    )
    fc.assert(
      fc.property(value, (content) => {
        writeFileSync(join(folder, 'a.message.json'), content)
        try {
          for (const message of readMessages(folder)) assert.ok(message.path.startsWith('/'))
        } catch (thrown) {
          assert.ok(thrown instanceof ComparisonImpossible, String(thrown))
        }
      }),
      { numRuns: 300 },
    )
  })
})
