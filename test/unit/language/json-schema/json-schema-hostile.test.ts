/** However large or nested schemas and messages are: the verdict comes, and its report is bounded. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Json, JsonObject } from '../../../../src/core/json.ts'
import { timesAsCostly } from '../../../support/cpu-time.ts'
import { DRAFT_2020, faults, nested, sound } from './schema-rig.ts'

describe('hostile messages and schemas', () => {
  test('patterns and unique items take no time by a power', async () => {
    const [pattern, unique] = [sound({ pattern: '^(a+)+$' }), sound({ uniqueItems: true })]
    const work = (size: number) => {
      const [text, items] = [`${'a'.repeat(2 * size)}!`, Array.from({ length: size }, (_, index) => ({ index }))]
      return () => assert.deepEqual([pattern(text).ok, unique(items).ok], [false, true])
    }
    assert.ok((await timesAsCostly(work(50_000), work(2_500))) < 100)
  })

  test('a schema that takes exponential time is given up', () => {
    const branch = (name: string): JsonObject => ({ properties: { a: { $ref: '#' } }, required: [name] })
    const validator = sound({ anyOf: [branch('x'), branch('y')] })
    assert.equal(faults(validator, nested(60)).at(-1), 'there are too many further faults to list them')
    assert.deepEqual(faults(validator, { x: 1, a: { y: 1 } }), [])
  })

  const twice = (reference: JsonObject): Json[] => [reference, reference]
  const array = (count: number): Json => Array.from({ length: count }, (_, index) => index)
  const fields = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`f${index}`, index]))
  const longNames = (levels: number, length: number, inner: Json): Json =>
    levels === 0 ? inner : { ['n'.repeat(length)]: longNames(levels - 1, length, inner) }
  const inArrays = Array.from({ length: 60 }).reduce<Json>((inner) => [inner], 1)
  const costly: readonly { name: string; schema: JsonObject; data: Json; last: RegExp }[] = [
    {
      name: 'faults of alternatives',
      schema: { type: 'array', items: { anyOf: twice({ $ref: '#' }) } },
      data: inArrays,
      last: /steps/,
    },
    {
      name: 'dynamic references',
      schema: { $schema: DRAFT_2020, $dynamicAnchor: 'n', items: { allOf: twice({ $dynamicRef: '#n' }) } },
      data: inArrays,
      last: /steps/,
    },
    {
      name: 'a fault for each value',
      schema: { items: { allOf: Array.from({ length: 90 }, () => ({ type: 'string' })) } },
      data: array(40_000),
      last: /too many further faults/,
    },
    {
      name: 'comparisons with the whole message',
      schema: { allOf: Array.from({ length: 500 }, (_, at) => ({ not: { const: { at } } })) },
      data: { list: array(100_000) },
      last: /steps/,
    },
    {
      name: 'a message that quotes the data over and over',
      schema: { properties: { a: { type: 'number', errorMessage: '${0}'.repeat(1_000) } } },
      data: { a: 'x'.repeat(900_000) },
      last: /"x{200}…""x/,
    },
    {
      name: 'a place for each fault below a long name',
      schema: { additionalProperties: { additionalProperties: { type: 'string' } } },
      data: { ['~'.repeat(450_000)]: fields },
      last: /^(?:\/(?:~0){499}~…) must be a string/,
    },
    {
      name: 'a place for each fault below many levels of long names',
      schema: { type: 'object', additionalProperties: { $ref: '#' } },
      data: longNames(60, 8_000, fields),
      last: /too many further faults/,
    },
    {
      name: 'a name of the message in each fault',
      schema: { allOf: Array.from({ length: 90 }, () => ({ propertyNames: { pattern: '^x' } })) },
      data: { ['~'.repeat(900_000)]: 1 },
      last: /name that is not allowed, "~{99}…/,
    },
  ]

  test('faults below a long name cost little more than below others', async () => {
    const validator = sound({ additionalProperties: { additionalProperties: { type: 'string' } } })
    const long = '~'.repeat(450_000)
    const ratio = await timesAsCostly(
      () => validator({ [long]: fields }),
      () => validator({ n: fields, m: { filler: long } }),
    )
    assert.ok(ratio < 50, `${ratio.toFixed(1)} times the processor time`)
  })

  for (const { name, schema, data, last } of costly) {
    test(`${name} is bounded, and so is its report`, () => {
      const reported = faults(sound(schema), data)
      assert.match(reported.at(-1) ?? '', last)
      assert.ok(reported.join('').length < 10_000)
    })
  }

  test('data of any depth is a verdict', () => {
    assert.equal(sound({ properties: { a: { $ref: '#' } } })(nested(200_000)).ok, false)
  })

  test('of a message are at its own places, whatever failed before', () => {
    for (const rule of [{ enum: ['a'] }, { const: 'a' }]) {
      const validator = sound({ items: rule })
      assert.deepEqual(
        faults(validator, ['a', 'b']).map((fault) => fault.split(' ')[0]),
        ['/1'],
      )
      assert.deepEqual(
        faults(validator, ['b', 'a', 'c']).map((fault) => fault.split(' ')[0]),
        ['/0', '/2'],
      )
    }
  })

  test('at most 100 faults are listed, and how many there are besides', () => {
    const found = faults(
      sound({ items: { type: 'string' } }),
      Array.from({ length: 5000 }, (_, index) => index),
    )
    assert.equal(found.length, 101)
    assert.equal(found[100], 'there are 4900 more faults')
  })

  test('of a huge message the first fault is reported', () => {
    const schema = { items: { anyOf: Array.from({ length: 50 }, (_, index) => ({ const: `${index}` })) } }
    const found = faults(
      sound(schema),
      Array.from({ length: 200_000 }, () => 1),
    )
    assert.equal(found.at(-1), 'the message is too large to list further faults')
    assert.ok(found.length < 60)
  })

  test('names of a schema are names in it, nothing else', () => {
    const names = ['"]; throw 1; ["', "'", '`${x}`', '\\', '\u2028', 'constructor', 'a\nb', '*/', '"+process.exit(1)+"']
    const validator = sound({
      properties: Object.fromEntries(names.map((name) => [name, { const: name }])),
      required: names,
    })
    assert.equal(validator(Object.fromEntries(names.map((name) => [name, name]))).ok, true)
    assert.equal(faults(validator, {}).length, names.length)
  })
})
