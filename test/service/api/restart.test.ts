/** What is stored outlives the process, and a stored document that cannot be in force stops nothing but itself. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, test } from 'node:test'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { call } from '../../support/inbound/http/management/call.ts'
import { endpointDocument, json, type Service, startService } from '../../support/service.ts'

let folder = ''
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'crosswalk-restart-'))
})
after(() => rmSync(folder, { recursive: true }))

const message = (service: Service, path: string) => service.fetch(path, json('POST', {}))
const ready = (service: Service) => call(service.adminUrl, 'GET', '/health/ready')

test('documents survive a restart, and are in force after it', async () => {
  const first = await startService({}, folder)
  const kept = await first.register({
    endpoint: { pattern: '/kept/:id' },
    constants: { z: 1, a: [null, { b: 'ü' }] },
    inputMapping: { 'constants.z': 'z', 'urlParams.id': 'id' },
  })
  const removed = await first.register({ endpoint: { pattern: '/removed' } })
  const changed = await first.register({ endpoint: { pattern: '/changed' } })
  await first.fetch(`/endpoints/${removed._id}`, { method: 'DELETE' })
  await first.fetch(`/endpoints/${changed._id}`, json('PATCH', { endpoint: { pattern: '/changed/again' } }))
  const before = await first.fetch('/endpoints')
  await first.stop()

  const second = await startService({}, folder)
  const after = await second.fetch('/endpoints')
  assert.equal(after.text, before.text)
  assert.equal(after.headers.get('etag'), before.headers.get('etag'))
  assert.deepEqual((await message(second, '/kept/7')).json(), { z: 1, id: '7' })
  assert.equal((await message(second, '/removed')).status, 404)
  assert.equal((await message(second, '/changed')).status, 404)
  assert.equal((await message(second, '/changed/again')).status, 200)
  const next = await second.register({ endpoint: { pattern: '/later' } })
  assert.ok(next._id > kept._id)
  await second.stop()
})

const STAMP = { createdAt: '2020-01-01T00:00:00.000Z', updatedAt: '2020-01-01T00:00:00.000Z', __v: 0 }
const id = (digit: string) => digit.repeat(24)
const pathsOf = (faults: unknown) => (faults as { path: string }[]).map(({ path }) => path)

/** Writes a document as another version might have left it. */
function storeByHand(document: JsonObject, route: string): void {
  const db = new DatabaseSync(join(folder, 'test.db'))
  const id = document._id as string
  db.prepare('insert into endpoints (id, name, document) values (?, ?, ?)').run(
    id,
    document.name as string,
    JSON.stringify(document),
  )
  db.prepare('insert into endpoint_claims (endpoint_id, key) values (?, ?)').run(id, `http ${route}`)
  db.close()
}

describe('a stored document that this version refuses', () => {
  const broken = {
    _id: id('1'),
    ...endpointDocument({ name: 'broken', endpoint: { pattern: '/broken', method: 'POST' } }),
    inputTransforms: { age: '1 +' },
    fieldOfAnotherVersion: true,
    ...STAMP,
  }
  const clashing = {
    _id: id('f'),
    ...endpointDocument({ name: 'clashing', endpoint: { pattern: '/kept/:other', method: 'POST' } }),
    ...STAMP,
  }
  const shapeless = { _id: id('2'), name: 'shapeless', ...STAMP }
  let service: Service

  before(async () => {
    storeByHand(broken, 'POST /broken')
    storeByHand(clashing, 'POST /kept/{other}')
    storeByHand(shapeless, 'none')
    service = await startService({}, folder)
  })
  after(() => service.stop())

  test('is reported, and the rest is in force', async () => {
    const { status, json } = await ready(service)
    assert.equal(status, 200)
    assert.deepEqual(json().endpointsNotInForce, [id('1'), id('2'), id('f')])
    assert.equal(json().endpoints, 3)
    assert.deepEqual((await message(service, '/kept/7')).json(), { z: 1, id: '7' })
    assert.equal((await message(service, '/broken')).status, 404)
    const reported = service.log.filter(({ level, fields }) => level === 'error' && fields.endpointId === id('1'))
    assert.equal(reported.length, 1)
    assert.deepEqual(pathsOf(reported[0]?.fields.faults).sort(), ['fieldOfAnotherVersion', 'inputTransforms.age'])
  })

  test('is read as it is stored', async () => {
    const reply = await service.fetch(`/endpoints/${broken._id}`)
    assert.equal(reply.text, JSON.stringify(broken))
    assert.equal((await service.fetch('/endpoints')).json<unknown[]>().length, 6)
  })

  test('still has its name and its route', async () => {
    const clashes = async (document: JsonObject) => {
      const reply = await service.fetch('/endpoints', json('POST', endpointDocument(document)))
      return [reply.status, ...pathsOf(reply.json().details)]
    }
    assert.deepEqual(await clashes({ name: 'broken', endpoint: { pattern: '/x' } }), [409, 'name'])
    assert.deepEqual(await clashes({ endpoint: { pattern: '/broken' } }), [409, 'endpoint.pattern'])
  })

  test('is in force once it is mended', async () => {
    const mended = { inputTransforms: { age: '1 + 1' }, inputMapping: { 'transforms.age': 'age' } }
    const path = `/endpoints/${broken._id}`
    assert.equal((await service.fetch(path, json('PATCH', mended))).status, 400)
    const reply = await service.fetch(path, json('PATCH', { ...mended, fieldOfAnotherVersion: null }))
    assert.equal(reply.status, 200, reply.text)
    assert.deepEqual((await message(service, '/broken')).json(), { age: 2 })
    assert.deepEqual((await ready(service)).json().endpointsNotInForce, [id('2'), id('f')])
  })

  test('can be deleted', async () => {
    for (const { _id } of [clashing, shapeless]) {
      assert.equal((await service.fetch(`/endpoints/${_id}`, { method: 'DELETE' })).status, 200)
    }
    assert.deepEqual((await ready(service)).json().endpointsNotInForce, [])
    assert.deepEqual((await message(service, '/kept/7')).json(), { z: 1, id: '7' })
  })
})

test('a stored document that ran before a rule was made stays active, and the log reports it', async () => {
  const document = endpointDocument({
    name: 'old shape',
    endpoint: { pattern: '/old-shape', method: 'POST' },
    inputMapping: { 'requestBody.a': 'a', 'lookupRequests.l.b': 'b' },
    requests: {
      lookup: [{ _id: 'x', id: 'l', config: { url: 'http://127.0.0.1:9/', params: {} }, forEach: {}, optional: true }],
    },
  })
  const _id = id('3')
  storeByHand({ _id, ...document, ...STAMP }, 'POST /old-shape')
  const service = await startService({}, folder)
  const place = 'inputMapping.lookupRequests\\.l\\.b'
  assert.deepEqual((await ready(service)).json().endpointsNotInForce, [])
  assert.deepEqual((await service.fetch('/old-shape', json('POST', { a: 1 }))).json(), { a: 1 })
  const reported = service.log.filter(({ fields }) => fields.endpointId === _id && fields.faults !== undefined)
  assert.deepEqual(
    reported.map(({ level, fields }) => [level, pathsOf(fields.faults)]),
    [['warn', [place]]],
  )

  const runDry = (request: JsonObject) =>
    service.fetch('/endpoints/dry-run', json('POST', { lookups: { l: {} }, message: { body: { a: 1 } }, ...request }))
  type Report = { ran: boolean; lint: { errors: { path: string }[] }; answer?: { body: string } }
  const asStored = (await runDry({ endpointId: _id })).json<Report>()
  assert.deepEqual([asStored.ran, asStored.answer?.body], [true, '{"a":1}'])
  const asSent = (await runDry({ endpoint: document })).json<Report>()
  assert.equal(asSent.ran, false)
  for (const { lint } of [asStored, asSent]) assert.deepEqual(pathsOf(lint.errors), [place])

  const patch = await service.fetch(`/endpoints/${_id}`, json('PATCH', { description: 'x' }))
  assert.deepEqual([patch.status, patch.json<{ details: Json }>().details], [400, asStored.lint.errors])
  const mended = { inputMapping: { 'lookupRequests.l.b': null, 'lookupRequests.l.data.b': 'b' } }
  const changed = await service.fetch(`/endpoints/${_id}`, json('PATCH', mended))
  assert.deepEqual(changed.json<{ requests: Json }>().requests, {
    lookup: [{ id: 'l', config: { url: 'http://127.0.0.1:9/', method: 'GET' }, optional: true }],
    response: [],
  })
  await service.fetch(`/endpoints/${_id}`, { method: 'DELETE' })
  await service.stop()
})

test('a stored document with the key "__proto__" stays active', async () => {
  const document = endpointDocument({
    name: 'odd key',
    endpoint: { pattern: '/odd-key', method: 'POST' },
    messageKeys: { ['__proto__']: 'requestBody.a' },
    inputMapping: { 'requestBody.a': 'a' },
  })
  storeByHand({ _id: id('4'), ...document, ...STAMP }, 'POST /odd-key')
  const service = await startService({ MESSAGE_LOG: 'all' }, folder)
  try {
    assert.deepEqual((await service.fetch('/odd-key', json('POST', { a: 1 }))).json(), { a: 1 })
    assert.equal((await service.fetch('/endpoints', json('POST', { ...document, name: 'new' }))).status, 400)
  } finally {
    await service.stop()
  }
})

test('a store that fails makes the service not ready; messages go on, and its own words are not sent', async () => {
  const service = await startService({}, folder)
  const db = new DatabaseSync(join(folder, 'test.db'))
  db.exec('drop table states; drop table endpoints')
  db.close()
  const health = await ready(service)
  assert.deepEqual([health.status, health.json().status, health.json().store], [503, 'not ready', 'unavailable'])
  const reply = await service.fetch('/endpoints')
  assert.deepEqual([reply.status, reply.json().code], [500, 'INTERNAL'])
  assert.doesNotMatch(reply.text, /table|sql/i)
  assert.deepEqual((await message(service, '/kept/7')).json(), { z: 1, id: '7' })
  await service.stop()
})
