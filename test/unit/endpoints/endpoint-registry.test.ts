/** The endpoints in force, compared with looking through all of them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CompiledEndpoint } from '../../../src/endpoints/compiled-endpoint.ts'
import {
  ActiveEndpoints,
  createEndpointRegistry,
  findClashes,
  type RegistryChange,
} from '../../../src/endpoints/endpoint-registry.ts'
import fc from '../../support/fast-check.ts'
import { LONG } from '../../support/form.ts'

/** `keys`: of its claims. */
const endpointOf = (_id: string, name: string, keys: readonly string[]): CompiledEndpoint =>
  ({ document: { _id, name }, claims: claimsOf(keys), endpoint: {} }) as unknown as CompiledEndpoint
const claimsOf = (keys: readonly string[]): CompiledEndpoint['claims'] =>
  keys.map((key) => ({ key, path: `doors.${key}`, shown: key.toUpperCase(), taken: 'has this already.' }))
const keysOf = ({ claims }: CompiledEndpoint): Set<string> => new Set(claims.map(({ key }) => key))

const letter = fc.constantFrom('a', 'b', 'c', 'd')
const endpoint = fc
  .record({ _id: letter, name: letter, keys: fc.uniqueArray(letter, { maxLength: 2 }) })
  .map(({ _id, name, keys }) => endpointOf(_id, name, keys))
const change = fc.oneof(endpoint, letter)

/** Only endpoints that clash with none are ever put in force. */
const clashes = (one: CompiledEndpoint, other: CompiledEndpoint): boolean =>
  one.document._id !== other.document._id &&
  (one.document.name === other.document.name || !keysOf(one).isDisjointFrom(keysOf(other)))

test('clashes and order are those of the endpoints that were added last and not removed', () => {
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
    assert.equal(
      inForce.get(asked.document._id),
      expected.find(({ document }) => document._id === asked.document._id),
    )
  })
  fc.assert(property, { numRuns: LONG ? 500 : 150 })
})

test('endpoints that change names and claims among them are found under what they have now', () => {
  const one = endpointOf('1', 'a', ['x'])
  const other = endpointOf('2', 'b', ['y'])
  const inForce = new ActiveEndpoints([one, other])
  const swapped = [endpointOf('1', 'b', ['y']), endpointOf('2', 'a', ['x'])]
  for (const each of swapped) inForce.add(each)
  const third = endpointOf('3', 'a', ['y'])
  assert.deepEqual(new Set(inForce.findRivals(third)), new Set(swapped))
})

test('a clash names the field of each claim that is taken, and the other endpoint', () => {
  const inForce = new ActiveEndpoints([endpointOf('1', 'first', ['a', 'b']), endpointOf('2', 'second', ['c'])])
  assert.deepEqual(findClashes(endpointOf('3', 'second', ['a', 'b', 'd']), inForce), [
    { path: 'name', message: 'The endpoint 2 has this name already; choose another one.', severity: 'error' },
    { path: 'doors.a', message: '"first" (A) has this already.', severity: 'error' },
    { path: 'doors.b', message: '"first" (B) has this already.', severity: 'error' },
  ])
  assert.deepEqual(findClashes(endpointOf('1', 'third', ['a']), inForce), [])
  assert.deepEqual(findClashes(endpointOf('3', 'third', []), inForce), [])
})

test('a door hears of each change as a whole, with what it replaces', () => {
  const registry = createEndpointRegistry()
  const changes: RegistryChange[] = []
  registry.watch((change) => changes.push(change))
  const [first, second, third] = [endpointOf('1', 'a', ['x']), endpointOf('2', 'b', ['y']), endpointOf('2', 'c', ['x'])]
  registry.put(first)
  registry.put(second)
  registry.update(['1'], [third])
  registry.remove('2')
  registry.remove('2')
  assert.deepEqual(changes, [
    { removed: [], added: [first] },
    { removed: [], added: [second] },
    { removed: [first, second], added: [third] },
    { removed: [third], added: [] },
    { removed: [], added: [] },
  ])
})
