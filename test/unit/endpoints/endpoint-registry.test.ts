/** The endpoints in force, compared with looking through all of them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CompiledEndpoint } from '../../../src/endpoints/compiled-endpoint.ts'
import { ActiveEndpoints } from '../../../src/endpoints/endpoint-registry.ts'
import fc from '../../support/fast-check.ts'
import { LONG } from '../../support/form.ts'

const letter = fc.constantFrom('a', 'b', 'c', 'd')
const endpoint = fc
  .record({ _id: letter, name: letter, routeKey: letter, topic: fc.option(letter, { nil: undefined }) })
  .map(
    ({ _id, name, routeKey, topic }) =>
      ({ document: { _id, name }, routeKey, endpoint: { kafkaConsumerTopic: topic } }) as unknown as CompiledEndpoint,
  )
const change = fc.oneof(endpoint, letter)

/** Only endpoints that clash with none are ever put in force. */
const clashes = (one: CompiledEndpoint, other: CompiledEndpoint): boolean =>
  one.document._id !== other.document._id &&
  (one.document.name === other.document.name || one.routeKey === other.routeKey)

test('clashes, topics and order are those of the endpoints that were added last and not removed', () => {
  const property = fc.property(fc.array(change, { maxLength: 30 }), endpoint, (changes, asked) => {
    const inForce = new ActiveEndpoints()
    let expected: CompiledEndpoint[] = []
    for (const next of changes) {
      if (typeof next === 'string') {
        inForce.remove(next)
        expected = expected.filter(({ document }) => document._id !== next)
      } else if (!expected.some((other) => clashes(next, other))) {
        inForce.add(next)
        const at = expected.findIndex(({ document }) => document._id === next.document._id)
        expected = at === -1 ? [...expected, next] : expected.with(at, next)
      }
    }
    const rivals = expected.filter((other) => clashes(asked, other))
    assert.deepEqual(new Set(inForce.findRivals(asked)), new Set(rivals))
    assert.equal(inForce.findRivals(asked).length, rivals.length)
    assert.deepEqual(inForce.all(), expected)
    assert.equal(inForce.size, expected.length)
    const consuming = expected.filter((one) => one.endpoint.kafkaConsumerTopic !== undefined)
    assert.deepEqual(new Set(inForce.consuming()), new Set(consuming))
    assert.equal(
      inForce.get(asked.document._id),
      expected.find(({ document }) => document._id === asked.document._id),
    )
  })
  fc.assert(property, { numRuns: LONG ? 500 : 150 })
})

test('endpoints that change names and routes among them are found under what they have now', () => {
  const one = { document: { _id: '1', name: 'a' }, routeKey: 'x', endpoint: {} } as unknown as CompiledEndpoint
  const other = { document: { _id: '2', name: 'b' }, routeKey: 'y', endpoint: {} } as unknown as CompiledEndpoint
  const inForce = new ActiveEndpoints([one, other])
  const swapped = [
    { ...one, document: { ...one.document, name: 'b' }, routeKey: 'y' },
    { ...other, document: { ...other.document, name: 'a' }, routeKey: 'x' },
  ] as const
  for (const each of swapped) inForce.add(each)
  const third = { document: { _id: '3', name: 'a' }, routeKey: 'y', endpoint: {} } as unknown as CompiledEndpoint
  assert.deepEqual(new Set(inForce.findRivals(third)), new Set(swapped))
})
