import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CallSpan } from '../../../src/core/tracing/trace.ts'
import {
  addressOf,
  fieldsOfOthers,
  formatTarget,
  hasTargetField,
  readTarget,
  shownTargetText,
  showTarget,
  TARGET_FIELDS,
  targetOf,
} from '../../../src/outbound/targets.ts'

const requests: readonly [request: object, id: string, address: string, text: string][] = [
  [{ config: { url: 'http://a/b' } }, 'http', '', 'http://a/b'],
  [{ config: { url: 'HTTPS://a/b' } }, 'http', '', 'HTTPS://a/b'],
  [{ config: { url: '${env:BASE}/b' } }, 'http', '', '${env:BASE}/b'],
  [{ config: { url: 'mllp://a:1' } }, 'mllp', '', 'mllp://a:1'],
  [{ config: { url: 'ftp://a' } }, 'http', '', 'ftp://a'],
  [{ kafkaProducerTopic: 'out', config: { method: 'POST' } }, 'kafka', 'out', 'kafka:out'],
]

for (const [request, id, address, text] of requests) {
  test(`a request to ${text} has the target ${id}, and so has its record`, () => {
    const target = targetOf({ ...request })
    assert.equal(target.id, id)
    assert.equal(addressOf({ ...request }, target), address)
    const { config } = request as { config: { url?: string } }
    assert.equal(formatTarget(target, address, config.url ?? ''), text)
    assert.deepEqual([readTarget(text).target.id, readTarget(text).address], [id, address || text])
    assert.equal(shownTargetText(showTarget({ method: 'POST', target: text }, text)), text)
  })
}

test('a request names its target in one of these fields', () => {
  assert.deepEqual(TARGET_FIELDS, ['config.url', 'kafkaProducerTopic'])
  const request = { config: { method: 'POST' }, kafkaProducerTopic: 'out' }
  assert.deepEqual(
    TARGET_FIELDS.map((field) => hasTargetField(request, field)),
    [false, true],
  )
})

test('reports show the key of a record, and the method of a URL', () => {
  assert.deepEqual(showTarget({ method: 'POST', target: 'kafka:out' }, '', null), { topic: 'out', key: null })
  assert.deepEqual(showTarget({ method: 'PUT', target: 'http://a/b' }, 'http://a/…', null), {
    method: 'PUT',
    url: 'http://a/…',
  })
})

test('what one target alone takes is refused for the others', () => {
  const fieldsFor = (request: object) => fieldsOfOthers(targetOf({ ...request })).map(([field]) => field)
  assert.deepEqual(fieldsFor({ config: { url: 'http://a' } }), ['key'])
  assert.deepEqual(fieldsFor({ kafkaProducerTopic: 'out' }), [])
})

test('traces show a call as its kind of target is known there', () => {
  const spanOf = (target: string) => {
    const { target: row, address } = readTarget(target)
    const call = { id: 'a', method: row.method ?? 'GET', target, answer: undefined } as CallSpan
    const { name, kind, attributes } = row.describeSpan(call, address)
    return [name, kind, attributes['server.address'], attributes['server.port']]
  }
  assert.deepEqual(spanOf('https://fhir.example.org/Patient'), ['GET a', 'client', 'fhir.example.org', 443])
  assert.deepEqual(spanOf('kafka:out'), ['send out', 'producer', undefined, undefined])
  assert.deepEqual(spanOf('mllp://lab.example.org:2575'), ['send a', 'client', 'lab.example.org', 2575])
})
