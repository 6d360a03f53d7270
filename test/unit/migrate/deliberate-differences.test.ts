/** Each deliberate difference is recognised in the data, and what only looks like it stays unexplained. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import type { ComparedCall, ComparedSide, Comparison } from '../../../migrate/compare/comparison.ts'
import { readAnswer } from '../../../migrate/compare/comparison.ts'
import { DELIBERATE_DIFFERENCES, type DeliberateId, judge } from '../../../migrate/compare/deliberate-differences.ts'
import type { Json, JsonObject } from '../../../src/core/json.ts'

type Side = Readonly<{
  status?: number
  type?: string
  headers?: Record<string, string>
  body?: Json
  calls?: Record<string, readonly ComparedCall[]>
}>

type Case = Readonly<{
  id: DeliberateId
  /** What the two services do where the rule holds. */
  peer: Side
  here: Side
  document?: JsonObject
  message?: Json
  path?: string
  /** The same, changed so that it does not hold. */
  but: Readonly<{ peer?: Side; here?: Side; document?: JsonObject; message?: Json; path?: string }>
}>

const AT = Date.parse('2026-01-01T00:00:00.000Z')
const failure = (code: string, error = 'A sentence.') => ({ error, code, stage: 'lookup', messageId: '1' })
const lookup = (request: JsonObject) => ({ requests: { lookup: [{ id: 'a', config: request }], response: [] } })
const responses = (...list: JsonObject[]) => ({ requests: { lookup: [], response: list } })
const call = (url: string): ComparedCall => ({ method: 'GET', url, body: undefined })

const CASES: readonly Case[] = [
  {
    id: 'stored-requests',
    peer: { status: 201, body: { created: true } },
    here: { status: 202, body: { messageId: '1', deliveries: [{ id: '2', request: 'a' }] } },
    document: responses({ id: 'a', config: { url: 'http://a.test' }, delivery: {} }),
    but: { document: responses({ id: 'a', config: { url: 'http://a.test' } }) },
  },
  {
    id: 'failure-status',
    peer: { status: 400, body: { error: "No response from lookup 'a'." } },
    here: { status: 502, body: failure('LOOKUP_UNREACHABLE') },
    but: { peer: { status: 200, body: { error: 'x' } } },
  },
  {
    id: 'failure-status',
    peer: { status: 400, body: { error: 'Rejected Promise: Error: Incorrect status code 404. x' } },
    here: { status: 404, body: failure('LOOKUP_REFUSED') },
    but: { peer: { status: 400, body: { error: 'Validation failed: x' } } },
  },
  {
    id: 'failure-status',
    peer: { status: 400, body: { error: 'Validation failed: x' } },
    here: { status: 502, body: failure('LOOKUP_INVALID') },
    but: { here: { status: 502, body: failure('LOOKUP_UNREADABLE') } },
  },
  {
    id: 'failure-body',
    peer: { status: 400, body: { error: 'Validation failed: x' } },
    here: { status: 400, body: failure('VALIDATION_FAILED') },
    but: { here: { status: 400, body: { error: 'of an upstream', more: 1 } } },
  },
  {
    id: 'failure-body',
    peer: { status: 400, body: { error: 'x' } },
    here: {
      status: 400,
      headers: { 'x-crosswalk-code': 'VALIDATION_FAILED' },
      body: { resourceType: 'OperationOutcome' },
    },
    but: { here: { status: 400, body: { resourceType: 'OperationOutcome' } } },
  },
  {
    id: 'route-matching',
    peer: { status: 404, body: { error: 'Unknown Endpoint: /a/' } },
    here: { body: { a: 1 } },
    but: { peer: { status: 404, body: { error: 'Not in the register' } } },
  },
  {
    id: 'xml-values',
    peer: { type: 'application/xml', body: '<a b=""/>' },
    here: { status: 500, type: 'application/xml', body: '<root><error>x</error><code>SERIALISE_FAILED</code></root>' },
    but: { here: { status: 500, type: 'application/xml', body: '<root><error>x</error><code>INTERNAL</code></root>' } },
  },
  { id: 'empty-message', peer: { status: 204 }, here: { body: {} }, but: { here: { status: 202, body: {} } } },
  {
    id: 'missing-values',
    peer: {
      status: 500,
      body: { error: 'Input transform error: Object mapping schema invalid: Cannot read properties of undefined' },
    },
    here: { body: { a: 1 } },
    but: {
      here: { status: 400, body: { a: 1 } },
      peer: { status: 500, body: { error: 'Input transform error: other' } },
    },
  },
  {
    id: 'transform-targets',
    peer: {
      status: 500,
      body: { error: 'Input transform error: Object mapping schema invalid: Invalid Transform Key: names' },
    },
    here: { body: { names: ['a'] } },
    but: { peer: { status: 500, body: { error: 'Input transform error: Object mapping schema invalid: other' } } },
  },
  {
    id: 'nullable',
    peer: { status: 400, body: { error: 'Validation failed: data/requestBody/a/b should be string' } },
    here: { body: { b: 1 } },
    message: { a: { b: null } },
    but: { message: { a: { b: 1 } } },
  },
  {
    id: 'appended-texts',
    peer: { body: { all: ['a', 'b'] } },
    here: { body: { all: ['ab'] } },
    document: { inputMapping: { 'requestBody.a': { key: 'all[]', transform: { function: 'appendArray' } } } },
    message: { a: 'ab' },
    but: { message: { a: ['ab'] } },
  },
  {
    id: 'paths-over-arrays',
    peer: { body: {} },
    here: { body: { town: ['Bo'] } },
    document: { inputMapping: { 'requestBody.address.town': 'town' } },
    message: [{ address: { town: 'Bo' } }],
    but: { message: { address: { town: 'Bo' } } },
  },
  {
    id: 'url-values',
    peer: { body: { a: 1 } },
    here: { status: 400, body: failure('PARAMETER_INVALID') },
    but: { here: { status: 400, body: failure('VALIDATION_FAILED') } },
  },
  {
    id: 'url-encoding',
    peer: { calls: { a: [call('http://h/a b?x=1+2')] } },
    here: { calls: { a: [call('http://h/a%20b?x=1%202')] } },
    but: { here: { calls: { a: [call('http://h/a%20c?x=1%202')] } } },
  },
  {
    id: 'url-encoding',
    peer: { status: 400, body: { error: 'Rejected Promise: Error: Incorrect status code 400. x' } },
    here: { body: { a: 1 } },
    document: lookup({ params: { url: { nr: { path: 'payload.nr' } } } }),
    message: { nr: 'ä b' },
    but: { message: { nr: 'ab' } },
  },
  {
    id: 'primary',
    peer: { body: { one: { a: 1 }, two: { b: 1 } } },
    here: { status: 201, body: { b: 1 } },
    document: responses({ id: 'one' }, { id: 'two', config: { primary: true } }),
    but: { here: { status: 201, body: { b: 2 } } },
  },
  {
    id: 'failed-response',
    peer: { body: { one: 1, two: 'socket hang up' } },
    here: { headers: { 'x-crosswalk-status': 'partial' }, body: { one: 1, two: { error: 'No answer.' } } },
    but: { here: { body: { one: 1, two: { error: 'No answer.' } } } },
  },
  {
    id: 'computed-keys',
    peer: { status: 400, body: { error: 'Key in object structure must evaluate to a string; got: undefined' } },
    here: { body: { a: {} } },
    but: { peer: { status: 400, body: { error: 'Unknown function' } } },
  },
  {
    id: 'mapping-failed',
    peer: { body: { value: 'Jane' } },
    here: { status: 500, body: { error: 'x', code: 'MAPPING_FAILED' } },
    but: { here: { status: 500, body: { error: 'x', code: 'INTERNAL' } } },
  },
  {
    id: 'sent-type',
    peer: { calls: { a: [{ method: 'POST', url: 'http://h/', body: { order: { nr: 7 } } }] } },
    here: { calls: { a: [{ method: 'POST', url: 'http://h/', body: { order: { nr: '7' } } }] } },
    but: { here: { calls: { a: [{ method: 'POST', url: 'http://h/', body: { order: { nr: '8' } } }] } } },
  },
  {
    id: 'lookup-texts',
    peer: { body: { said: 'plain words' } },
    here: { body: { said: { text: 'plain words' } } },
    but: { here: { body: { said: { text: 'other words' } } } },
  },
  {
    id: 'answer-type',
    peer: { body: 'plain words' },
    here: { type: 'text/plain', body: 'plain words' },
    but: { here: { type: 'text/plain', body: 'other words' } },
  },
  {
    id: 'time-of-message',
    peer: { body: { at: '2026-01-01T00:00:00.001Z' } },
    here: { body: { at: '2026-01-01T00:00:01.001Z' } },
    but: { here: { body: { at: '2025-01-01T00:00:01.001Z' } } },
  },
  {
    id: 'empty-parents',
    peer: { body: { a: { b: [{}] } } },
    here: { body: {} },
    but: { peer: { body: { a: { b: 0 } } } },
  },
  {
    id: 'empty-parents',
    peer: { body: { list: [{}, { a: 1 }] } },
    here: { body: { list: [{ a: 1 }] } },
    but: { here: { body: { list: [{ a: 2 }] } } },
  },
  {
    id: 'null-targets',
    peer: { body: { x: null } },
    here: { body: {} },
    document: { inputMapping: { 'requestBody.a': 'x?' } },
    but: { document: { inputMapping: { 'requestBody.a': 'x' } } },
  },
  {
    id: 'nested-arrays',
    peer: { body: { a: [1, 2, 3] } },
    here: { body: { a: [[1, 2], [3]] } },
    but: { here: { body: { a: [[1, 2], [4]] } } },
  },
  {
    id: 'shared-constants',
    peer: { body: { entry: [{ n: 2 }, { n: 2 }] } },
    here: { body: { entry: [{ n: 1 }, { n: 2 }] } },
    document: { inputMapping: { 'constants.entry': { key: 'entry[]', transform: { function: 'oneToAllElements' } } } },
    but: { peer: { body: { entry: [{ n: 3 }, { n: 2 }] } } },
  },
  {
    id: 'random-values',
    peer: { body: { id: 'urn:uid:1' } },
    here: { body: { id: 'urn:uid:2' } },
    document: { inputTransforms: { id: "'urn:uid:' & $string($random())" }, inputMapping: { 'transforms.id': 'id' } },
    but: { document: { inputTransforms: { id: 'requestBody.id' }, inputMapping: { 'transforms.id': 'id' } } },
  },
  {
    id: 'changed-constants',
    peer: { body: { patient: { type: 'P', name: 'of another message' } } },
    here: { body: { patient: { type: 'P' } } },
    document: {
      constants: { template: { type: 'P' } },
      inputMapping: { 'constants.template': 'patient', 'requestBody.name': 'patient.name' },
    },
    but: {
      document: {
        constants: { template: 'P' },
        inputMapping: { 'constants.template': 'patient', 'requestBody.name': 'patient.name' },
      },
    },
  },
  {
    id: 'wildcard-places',
    peer: { body: {} },
    here: { body: { a: [] } },
    document: { inputMapping: { 'requestBody.*.v': 'a' } },
    but: { document: { inputMapping: { 'requestBody.v': 'a' } } },
  },
  {
    id: 'empty-answers',
    peer: { body: { a: '' } },
    here: { body: {} },
    document: { inputMapping: { 'lookupRequests.a.data': 'a' } },
    but: { document: { inputMapping: { 'requestBody.a': 'a' } } },
  },
  {
    id: 'xml-white-space',
    peer: { body: { a: '  ' } },
    here: { body: { a: '' } },
    but: { peer: { body: { a: ' x' } } },
  },
]

function side({ status = 200, type = 'application/json', headers = {}, body, calls }: Side, at: number): ComparedSide {
  const bytes = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body)
  return {
    answer: readAnswer({ status, headers: { 'content-type': type, ...headers }, body: Buffer.from(bytes) }),
    times: { sentAt: at, answeredAt: at + 10 },
    calls,
  }
}

function comparisonOf({ peer, here, document, message, path = '/a' }: Omit<Case, 'id' | 'but'>): Comparison {
  return {
    message: {
      name: 'a case',
      method: 'POST',
      path,
      query: {},
      headers: { 'content-type': 'application/json' },
      body: message === undefined ? undefined : Buffer.from(JSON.stringify(message)),
    },
    document: { name: 'an endpoint', ...document },
    called: [],
    peer: side(peer, AT),
    here: side(here, AT + 1_000),
  }
}

const idsOf = (one: Omit<Case, 'id' | 'but'>) => judge(comparisonOf(one)).map(({ deliberate }) => deliberate)

describe('a deliberate difference', () => {
  for (const [at, { but, ...one }] of CASES.entries()) {
    test(`${one.id} (${at + 1})`, () => {
      const ids = idsOf(one)
      assert.ok(ids.includes(one.id), JSON.stringify(ids))
      assert.ok(!ids.includes(undefined), JSON.stringify(judge(comparisonOf(one))))
      const changed = idsOf({ ...one, ...but })
      assert.ok(changed.includes(undefined), `still explained: ${JSON.stringify(changed)}`)
      assert.ok(!changed.includes(one.id), `still ${one.id}`)
    })
  }

  test('each id has a case', () => {
    const met = new Set(CASES.map(({ id }) => id))
    assert.deepEqual(
      Object.keys(DELIBERATE_DIFFERENCES).filter((id) => !met.has(id as DeliberateId)),
      [],
    )
  })

  test('each id has its row in the guide', () => {
    const guide = readFileSync(new URL('../../../docs/moving-over.md', import.meta.url), 'utf8')
    for (const [id, { reason }] of Object.entries(DELIBERATE_DIFFERENCES)) {
      assert.ok(guide.includes(`| \`${id}\` | ${reason} |`), id)
    }
  })

  test('a difference beside one is not explained with it', () => {
    const one = { peer: { body: { a: { b: [] }, c: 1 } }, here: { body: { c: 2 } } }
    assert.deepEqual(idsOf(one), ['empty-parents', undefined])
  })

  test('what is ignored is not compared', () => {
    const one = { peer: { body: { 'a/b': { c: 1 }, d: 1 } }, here: { body: { 'a/b': { c: 2 }, d: 1 } } }
    assert.equal(judge(comparisonOf(one), ['/a~1b']).length, 0)
    assert.equal(judge(comparisonOf(one), ['/a~1']).length, 1)
  })
})
