/** `crosswalk import --tables`: lists of codes that several documents repeat become tables. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { folderWith, importAs, jsonAt, peerDocument, readReport, textsIn } from '../../support/migrate/import-rig.ts'
import { json, type Service, startService } from '../../support/service.ts'

let service: Service
before(async () => {
  service = await startService()
})
after(() => service.stop())

const codes = (count: number, text = 'text "'): JsonObject =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`c${index}`, `${text}${index}`]))
const target = (parameters: JsonObject, more: JsonObject = {}): JsonObject => ({
  key: 'patient.status',
  transform: { function: 'mapCodes', parameters },
  ...more,
})
const mapping = (one: Json): JsonObject => ({ inputMapping: { 'requestBody.code': one } })

test('documents read one table of the codes that they repeat, and a service gets both', async (context) => {
  const many = codes(21)
  const sources = folderWith(
    {
      'a.json': peerDocument({
        ...mapping([target({ ...many, default: 'unknown' })]),
        name: 'A',
        endpoint: { pattern: '/a', method: 'POST' },
      }),
      'b.json': peerDocument({
        ...mapping(target(many, { default: 'none' })),
        name: 'B',
        endpoint: { pattern: '/b', method: 'POST' },
      }),
      'alone.json': peerDocument(mapping(target(codes(21, 'other ')))),
      'few.json': peerDocument(mapping(target(codes(20)))),
      'few-too.json': peerDocument(mapping(target(codes(20)))),
      'numbers.json': peerDocument(mapping(target({ ...many, c0: 1 }))),
      'numbers-too.json': peerDocument(mapping(target({ ...many, c0: 1 }))),
    },
    context,
  )
  const plain = folderWith({}, context)
  assert.equal((await importAs([sources], { output: plain })).code, 0)
  const noted = readReport(plain).documents.flatMap(({ name, changes }) =>
    changes.filter(({ level }) => level === 'carried').map(({ path }) => [name, path]),
  )
  assert.deepEqual(noted, [
    ['A', 'inputMapping.requestBody\\.code[0]'],
    ['B', 'inputMapping.requestBody\\.code'],
  ])
  assert.equal(
    Object.keys(textsIn(plain)).some((name) => name.startsWith('tables/')),
    false,
  )

  const output = folderWith({}, context)
  const imported = await importAs([sources], { output, tables: true, apply: service.adminUrl })
  assert.equal(imported.code, 0, imported.stderr)
  assert.match(imported.stdout, /tables\/status\.csv\n/)
  assert.match(readFileSync(join(output, 'tables/status.csv'), 'utf8'), /^code,target\r\nc0,"text ""0"\r\n/)
  const read = (name: string) => jsonAt(output, name).inputMapping as JsonObject
  const table = (missing: string) => ({ function: 'table', parameters: { table: 'status', missing } })
  assert.deepEqual(read('a.json')['requestBody.code'], [
    { key: 'patient.status', transform: table('unknown'), default: 'unknown' },
  ])
  assert.deepEqual(read('b.json')['requestBody.code'], {
    key: 'patient.status',
    transform: table('none'),
    default: 'none',
  })
  const send = async (path: string, body: JsonObject) =>
    (await service.fetch(path, json('POST', body))).json<JsonObject>()
  const status = (value: string) => ({ patient: { status: value } })
  assert.deepEqual(await send('/a', { code: 'c20' }), status('text "20'))
  assert.deepEqual(await send('/a', {}), status('unknown'))
  assert.deepEqual(await send('/b', { code: 'q' }), status('none'))
  assert.deepEqual(await send('/b', {}), status('none'))

  // The folder again, as the report proposes it: the documents stay as they are, and their tables go with them.
  const again = await importAs([output], { output, apply: service.adminUrl })
  assert.equal(again.code, 0, again.stderr)
  assert.match(again.stdout, /0 created, 0 replaced, 7 there already/)
})
