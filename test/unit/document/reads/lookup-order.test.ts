/** In which order lookups are made, and whose status is kept, by what the document reads. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Json, JsonObject } from '../../../../src/core/json.ts'
import { collectInto, type Lint } from '../../../../src/core/lint.ts'
import { checkDocument } from '../../../../src/document/checks/check-document.ts'
import { lintEndpoint } from '../../../../src/document/checks/lint-endpoint.ts'
import {
  type LookupOrder,
  lookupOrder,
  lookupsWithStatus,
  sortLookups,
} from '../../../../src/document/reads/lookup-order.ts'
import fc from '../../../support/fast-check.ts'

const documentOf = (lookup: readonly Json[], others: JsonObject = {}) =>
  checkDocument({
    name: 'a',
    endpoint: { pattern: '/a' },
    transformation: { input: 'JSON', output: 'JSON' },
    requests: { lookup, ...((others.requests as JsonObject) ?? {}) },
    ...Object.fromEntries(Object.entries(others).filter(([name]) => name !== 'requests')),
  }).endpoint

const lookup = (id: string, more: JsonObject = {}, config: JsonObject = {}): JsonObject => ({
  id,
  config: { url: 'http://x.example/', ...config },
  ...more,
})

describe('the order of lookups', () => {
  const first = lookup('first')
  const reading: Readonly<Record<string, JsonObject>> = {
    'a path in the query': lookup('b', {}, { params: { query: { q: { path: 'lookupRequests.first.data.id' } } } }),
    'an expression in the query': lookup(
      'b',
      {},
      { params: { query: { q: { expression: '1 + lookupRequests.first.data.n' } } } },
    ),
    'a path for the URL': lookup(
      'b',
      {},
      { params: { url: { id: { path: 'lookupRequests.first.status' } } }, url: 'http://x.example/:id' },
    ),
    'a header': lookup('b', {}, { headers: { 'X-A': { path: 'lookupRequests.first.headers.etag' } } }),
    'an expression in a header': lookup(
      'b',
      {},
      { headers: { 'X-A': { expression: '$$.lookupRequests.first.headers.etag' } } },
    ),
    items: lookup('b', { forEach: { items: 'lookupRequests.first.data.list' } }),
    after: lookup('b', { after: ['first'] }),
  }
  for (const [name, reader] of Object.entries(reading)) {
    it(`follows ${name}, wherever the lookup stands`, () => {
      assert.deepEqual(lookupOrder(documentOf([first, reader])), [[], [0]])
      assert.deepEqual(lookupOrder(documentOf([reader, first])), [[1], []])
    })
  }

  it('is none where no lookup reads another one', () => {
    const inputMapping = { 'lookupRequests.first.data': 'a' }
    assert.equal(lookupOrder(documentOf([first, lookup('b', { after: [] })], { inputMapping })), undefined)
  })

  it('sorts any lookups, each behind those that it waits for, and breaks up circles', () => {
    const anyOrder = fc
      .integer({ min: 1, max: 12 })
      .chain((count) =>
        fc.array(fc.uniqueArray(fc.nat(count - 1), { maxLength: 4 }), { minLength: count, maxLength: count }),
      )
    fc.assert(
      fc.property(anyOrder, (order: LookupOrder) => {
        const { sorted, circles } = sortLookups(order)
        assert.deepEqual(
          [...sorted].sort((a, b) => a - b),
          [...order.keys()],
        )
        const early = order.flatMap((before, index) =>
          before.filter((one) => sorted.indexOf(one) >= sorted.indexOf(index)),
        )
        assert.equal(early.length === 0, circles.length === 0)
        for (const circle of circles) {
          assert.equal(circle[0], Math.min(...circle))
          circle.forEach((index, at) => {
            assert.ok(order[index]?.includes(circle[(at + 1) % circle.length] as number))
          })
        }
      }),
    )
  })
})

describe('faults of the order of lookups', () => {
  const after = (id: string, ...ids: string[]) => lookup(id, { after: ids })
  const read = (id: string, expression: string, more: JsonObject = {}) =>
    lookup(id, more, { params: { query: { q: { expression } } } })
  const cases: Readonly<Record<string, readonly [lookups: JsonObject[], faults: readonly string[]]>> = {
    'a circle': [
      [lookup('c'), after('a', 'b'), read('b', 'lookupRequests.a.data')],
      ['requests.lookup[1]: A lookup cannot wait for itself: a → b → a.'],
    ],
    itself: [[after('a', 'a')], ['requests.lookup[0]: A lookup cannot wait for itself: a → a.']],
    'two circles, and what waits for them': [
      [after('a', 'b', 'e'), after('b', 'a'), after('c', 'd'), after('d', 'c'), after('e', 'd')],
      [
        'requests.lookup[0]: A lookup cannot wait for itself: a → b → a.',
        'requests.lookup[2]: A lookup cannot wait for itself: c → d → c.',
      ],
    ],
    'an unknown id': [
      [lookup('patient'), after('b', 'patent')],
      ['requests.lookup[1].after[0]: There is no lookup with the id "patent"; did you mean "patient"?'],
    ],
    'all lookups at once': [
      [lookup('a'), read('b', '$keys(lookupRequests)')],
      [
        'requests.lookup[1].config.params.query.q.expression: It is not clear which lookups are made before this one; write "lookupRequests.<id>", or name their ids in "after".',
      ],
    ],
    ...Object.fromEntries(
      ['*.a.data.n', '**.n', "$lookup($, 'lookupRequests')", '$$ ~> $string'].map((text) => [
        `the whole message: ${text}`,
        [
          [lookup('a'), read('b', text), read('c', text, { after: [] })],
          [
            'requests.lookup[1].config.params.query.q.expression: It is not clear which lookups are made before this one; write "lookupRequests.<id>", or name their ids in "after".',
          ],
        ],
      ]),
    ),
    'none: the whole message, without other lookups': [[read('b', '**.n')], []],
    'none: all lookups at once, behind those that it names': [
      [lookup('a'), read('b', '$keys(lookupRequests)', { after: ['a'] })],
      [],
    ],
  }
  for (const [name, [lookups, faults]] of Object.entries(cases)) {
    it(name, () => {
      const lints: Lint[] = []
      lintEndpoint(documentOf(lookups), collectInto(lints))
      assert.deepEqual(
        lints.map(({ path, message }) => `${path}: ${message}`),
        faults,
      )
    })
  }
})

describe('the status of a lookup', () => {
  const lookups = [lookup('one'), lookup('each', { forEach: { items: 'payload.list' } })]
  const kept = (others: JsonObject) => [...lookupsWithStatus(documentOf(lookups, others))]
  const transforms = (text: string) => ({ inputTransforms: { a: text } })
  const cases: Readonly<Record<string, readonly [others: JsonObject, ids: readonly string[]]>> = {
    'a path': [{ inputMapping: { 'lookupRequests.one.status': 'a' } }, ['one']],
    'a path of each': [{ inputMapping: { 'lookupRequests.each[].status': 'a' } }, ['each']],
    'a path of the first': [{ messageKeys: { a: 'lookupRequests.each.0.status' } }, ['each']],
    'an expression': [transforms('lookupRequests.one.status = 404'), ['one']],
    'an expression with a filter': [transforms('lookupRequests.each[status = 404].data'), ['each']],
    'an element in an expression': [transforms('lookupRequests.each[0].status'), ['each']],
    'a function over all': [transforms('$map(lookupRequests.each, function($x) { $x.status })'), ['each']],
    'each of all lookups': [transforms('lookupRequests.*.status'), ['one', 'each']],
    'a status of the data': [{ inputMapping: { 'lookupRequests.one.data.status': 'a' } }, []],
    'a status of the data in a function': [
      transforms('$map(lookupRequests.each, function($x) { $x.data.status })'),
      [],
    ],
    'another status': [transforms('requestBody.status & $string(lookupRequests.one)'), []],
    'whole lookups': [{ inputMapping: { 'lookupRequests.one': 'a', lookupRequests: 'b' } }, []],
  }
  for (const [name, [others, ids]] of Object.entries(cases)) {
    it(`is kept as the document reads it: ${name}`, () => assert.deepEqual(kept(others), ids))
  }
})
