import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Json, JsonObject } from '../../../../src/core/json.ts'
import { timesAsCostly } from '../../../support/cpu-time.ts'
import fc from '../../../support/fast-check.ts'
import { LONG } from '../../../support/form.ts'
import { compile, DRAFT_2020, faults, nested, plain, sound } from './schema-rig.ts'

test('lengths are those of code points', () => {
  const unit = fc.constantFrom('a', 'é', '😀', '\ud83d', '\ude00', '\u0301')
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 12 }), fc.nat(12), fc.nat(12), (text, minLength, maxLength) => {
      const length = [...text].length
      const expected = [
        ...(length < minLength ? [`must have at least ${minLength} character${minLength === 1 ? '' : 's'}`] : []),
        ...(length > maxLength ? [`must have at most ${maxLength} character${maxLength === 1 ? '' : 's'}`] : []),
      ]
      assert.deepEqual(faults(sound({ minLength, maxLength }), text).sort(), expected.sort())
    }),
    { numRuns: LONG ? 300 : 40 },
  )
})

describe('keywords', () => {
  /** `bad`: what is said of the data, which is given as JSON. */
  type Case = [schema: JsonObject, good: Json[], bad: Record<string, string | string[]>]
  const weight: JsonObject = {
    required: ['name'],
    properties: { name: { type: 'string' }, weight: { type: 'number', min: 0.1, max: 650 } },
  }
  const cases: Case[] = [
    [
      { items: [{ type: 'string' }, {}, {}], contains: { const: 'a' }, uniqueItems: true },
      [['a'], ['b', 'a']],
      {
        '[]': 'must have at least 1 matching items',
        '["a","a"]': 'must not have the same item twice (items 0 and 1)',
      },
    ],
    [
      weight,
      [{ name: 'a' }, { name: 'a', weight: 0.1 }, { name: 'a', weight: 650 }],
      {
        '{"weight":651}': ['/name is required', '/weight must be at most 650'],
        '{"name":"a","weight":0}': '/weight must be at least 0.1',
        '{"name":1}': '/name must be a string, not a number',
      },
    ],
    [{ type: ['integer', 'null'] }, [1, null], { '1.5': 'must be an integer or null, not a number' }],
    [{ enum: ['a', 1] }, ['a', 1], { '"b"': 'must be one of "a", 1' }],
    [{ const: 'x'.repeat(98) }, [], { '"b"': `must be "${'x'.repeat(98)}"` }],
    [{ const: 'x'.repeat(99) }, [], { '"b"': `must be "${'x'.repeat(99)}…` }],
    [
      { enum: [1, 'a', null, false] },
      [1, 'a', null, false],
      { '{}': 'must be one of 1, "a", null, false', '"1"': 'must be one of 1, "a", null, false' },
    ],
    [{ const: 0 }, [0, JSON.parse('-0')], { '"0"': 'must be 0', '[0]': 'must be 0' }],
    [{ const: { a: 1 } }, [{ a: 1 }], { '2': 'must be {"a":1}' }],
    [{ exclusiveMinimum: 1, exclusiveMaximum: 3 }, [2], { '1': 'must be more than 1', '3': 'must be less than 3' }],
    [{ multipleOf: 5 }, [10], { '11': 'must be a multiple of 5' }],
    [
      { minLength: 1, maxLength: 2 },
      ['é', '😀😀'],
      { '""': 'must have at least 1 character', '"abc"': 'must have at most 2 characters' },
    ],
    [{ pattern: '^a+$' }, ['aa'], { '"b"': 'must match the pattern "^a+$"' }],
    [
      { items: { type: 'string' } },
      [['a'], []],
      { '["a",1,true]': ['/1 must be a string, not a number', '/2 must be a string, not a boolean'] },
    ],
    [{ items: [{ type: 'string' }], additionalItems: false }, [['a']], { '["a",1]': 'must have at most 1 item' }],
    [
      { minItems: 1, maxItems: 2 },
      [[1]],
      { '[]': 'must have at least 1 item', '[1,2,3]': 'must have at most 2 items' },
    ],
    [
      { uniqueItems: true },
      [
        [1, '1', [1], { a: 1 }, null, true],
        [
          { a: 1, b: 2 },
          { a: 1, b: 3 },
        ],
      ],
      {
        '[1,2,1]': 'must not have the same item twice (items 0 and 2)',
        '[{"a":1,"b":[2]},{"b":[2],"a":1}]': 'must not have the same item twice (items 0 and 1)',
      },
    ],
    [{ contains: { const: 1 } }, [[2, 1]], { '[2]': ['/0 must be 1', 'must have at least 1 matching items'] }],
    [
      { additionalProperties: false, properties: { a: true } },
      [{ a: 1 }],
      { '{"b":1,"c/d~":2}': ['/b is not a field of this schema', '/c~1d~0 is not a field of this schema'] },
    ],
    [
      { patternProperties: { '^x': { type: 'number' } } },
      [{ x1: 1, y: 'a' }],
      { '{"x1":"a"}': '/x1 must be a number, not a string' },
    ],
    [
      { propertyNames: { maxLength: 2 } },
      [{ ab: 1 }],
      { '{"abc":1}': ['must have at most 2 characters', 'has a field with a name that is not allowed, "abc"'] },
    ],
    [
      { minProperties: 1, maxProperties: 1 },
      [{ a: 1 }],
      { '{}': 'must have at least 1 field', '{"a":1,"b":2}': 'must have at most 1 field' },
    ],
    [
      { dependencies: { a: ['b'], c: { required: ['d'] } } },
      [{}, { a: 1, b: 2 }],
      { '{"a":1,"c":1}': ['/b is required where "a" is given', '/d is required'] },
    ],
    [
      { allOf: [{ required: ['a'] }, { required: ['b'] }] },
      [{ a: 1, b: 1 }],
      { '{}': ['/a is required', '/b is required'] },
    ],
    [
      { anyOf: [{ type: 'string' }, { minimum: 3 }] },
      ['a', 3],
      {
        '2': ['must be a string, not a number', 'must be at least 3', 'must match at least one of the alternatives'],
      },
    ],
    [{ oneOf: [{ minimum: 3 }, { maximum: 5 }] }, [1, 9], { '4': 'must match one of the alternatives only' }],
    [{ not: { type: 'string' } }, [1], { '"a"': 'must not match what the schema excludes' }],
    [
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      { if: { properties: { a: { const: 1 } } }, then: { required: ['b'] }, else: { required: ['c'] } },
      [
        { a: 1, b: 1 },
        { a: 2, c: 1 },
      ],
      { '{"a":1}': '/b is required', '{"a":2}': '/c is required' },
    ],
    [{ properties: { a: false } }, [{}], { '{"a":1}': '/a is not allowed' }],
    [
      { properties: { a: { $ref: '#/definitions/x~1y%20z' } }, definitions: { 'x/y z': { type: 'string' } } },
      [{ a: 'a' }],
      { '{"a":1}': '/a must be a string, not a number' },
    ],
    [
      {
        $id: 'http://example.org/a.json',
        items: { $ref: 'b.json' },
        definitions: { b: { $id: 'b.json', type: 'string' } },
      },
      [['a']],
      { '[1]': '/0 must be a string, not a number' },
    ],
    [
      { properties: { next: { $ref: '#' } }, required: ['n'] },
      [{ n: 1, next: { n: 2 } }],
      { '{"n":1,"next":{"next":{}}}': ['/next/n is required', '/next/next/n is required'] },
    ],
    [
      { $ref: 'http://json-schema.org/draft-07/schema#' },
      [{ minLength: 1 }],
      { '{"minLength":-1}': '/minLength must be at least 0' },
    ],
    [{ required: ['constructor', 'toString'] }, [], { '{}': ['/constructor is required', '/toString is required'] }],
    [{ required: [''] }, [{ '': 1 }, 1, []], { '{}': '/ is required', '{"a":1}': '/ is required' }],
    [
      { required: ['', 'a'], errorMessage: { required: 'give both' } },
      [{ '': 1, a: 1 }],
      { '{"":1}': '/a give both', '{"a":1}': '/ is required' },
    ],
    [
      { $schema: DRAFT_2020, prefixItems: [{ type: 'string' }], items: false },
      [['a']],
      { '["a",1]': 'must have at most 1 item' },
    ],
    [
      { $schema: DRAFT_2020, properties: { a: true }, unevaluatedProperties: false },
      [{ a: 1 }],
      { '{"b":1}': '/b is not a field of this schema' },
    ],
    [
      { $schema: DRAFT_2020, dependentRequired: { a: ['b'] }, dependentSchemas: { c: { required: ['d'] } } },
      [{}],
      { '{"a":1,"c":1}': ['/b is required where "a" is given', '/d is required'] },
    ],
    [
      { $schema: DRAFT_2020, items: { $ref: '#here' }, $defs: { n: { $anchor: 'here', min: 3 } } },
      [[3]],
      { '[2]': '/0 must be at least 3' },
    ],
    [
      { $schema: DRAFT_2020, contains: { const: 1 }, minContains: 2, maxContains: 2 },
      [[1, 1]],
      { '[1]': 'must have 2 to 2 matching items' },
    ],
  ]
  for (const [schema, good, bad] of cases) {
    test(JSON.stringify(schema).slice(0, 120), () => {
      const validator = sound(schema)
      for (const data of good) assert.deepEqual(validator(data), { ok: true, value: data })
      for (const [data, expected] of Object.entries(bad))
        assert.deepEqual(faults(validator, JSON.parse(data)).sort(), [expected].flat().sort())
    })
  }
})

describe('formats', () => {
  const cases: [format: string, good: string, bad: string][] = [
    ['date', '2024-02-29', '2023-02-29'],
    ['time', '10:00:00Z', '25:00:00Z'],
    ['date-time', '2024-01-31T10:00:00.5+01:00', '2024-01-31 10h'],
    ['duration', 'P1DT2H', 'P'],
    ['email', 'a@example.org', 'a@'],
    ['idn-email', 'jürgen@exämple.org', 'jürgen'],
    ['hostname', 'example.org', '-a.org'],
    ['idn-hostname', 'exämple.org', 'a b'],
    ['ipv4', '127.0.0.1', '256.0.0.1'],
    ['ipv6', '::1', ':::'],
    ['uri', 'urn:oid:1.2.3', 'a b'],
    ['uri-reference', '../a?b#c', '\\'],
    ['url', 'https://example.org/a?b', 'example.org'],
    ['iri', 'http://exämple.org/ü', 'no iri'],
    ['iri-reference', '/ü', '\\ü'],
    ['uri-template', '/a/{id}', '/a/{'],
    ['json-pointer', '/a~1b', 'a'],
    ['relative-json-pointer', '1/a', '/a'],
    ['uuid', '123e4567-e89b-12d3-a456-426614174000', '123e4567'],
    ['regex', '^a+$', '('],
    ['byte', 'YQ==', 'Y!'],
  ]
  for (const [format, good, bad] of cases) {
    test(format, () => {
      const validator = sound({ properties: { v: { format } } })
      assert.deepEqual(faults(validator, { v: good }), [])
      assert.deepEqual(faults(validator, { v: bad }), [`/v must be a valid ${format}`])
      assert.deepEqual(faults(validator, { v: 1 }), [])
    })
  }

  test('no text takes long', async () => {
    const validators = cases.map(([format]) => sound({ format }))
    const parts = ['a', '1', 'a.', 'a-', '1:', 'http://a:', 'a@a.', '%41', 'é', '\n']
    const read = (times: number) => () => {
      for (const part of parts) for (const validator of validators) validator(`http://x${part.repeat(times)}!`)
    }
    assert.ok((await timesAsCostly(read(20_000), read(1_000))) < 100)
  })
})

describe('min and max', () => {
  const bounded = [
    { name: 'below items', schema: { items: { min: 3 } }, bad: [2] },
    { name: 'below additionalProperties', schema: { additionalProperties: { max: 1 } }, bad: { a: 2 } },
    { name: 'below allOf', schema: { allOf: [{ min: 3 }] }, bad: 2 },
    { name: 'below a definition', schema: { $ref: '#/definitions/n', definitions: { n: { min: 3 } } }, bad: 2 },
    { name: 'below not', schema: { not: { min: 3 } }, bad: 4 },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    { name: 'below then', schema: { if: true, then: { min: 3 } }, bad: 2 },
    { name: 'below dependencies', schema: { dependencies: { a: { properties: { a: { min: 3 } } } } }, bad: { a: 2 } },
    { name: 'below patternProperties', schema: { patternProperties: { a: { min: 3 } } }, bad: { a: 2 } },
    { name: 'below prefixItems', schema: { $schema: DRAFT_2020, prefixItems: [{ min: 3 }] }, bad: [2] },
    { name: 'below unevaluatedItems', schema: { $schema: DRAFT_2020, unevaluatedItems: { min: 3 } }, bad: [2] },
    {
      name: 'below dependentSchemas',
      schema: { $schema: DRAFT_2020, dependentSchemas: { a: { properties: { a: { min: 3 } } } } },
      bad: { a: 2 },
    },
    {
      name: 'of a property called properties',
      schema: { properties: { properties: { min: 3 } } },
      bad: { properties: 2 },
    },
  ]
  for (const { name, schema, bad } of bounded) {
    test(`bound ${name}`, () => assert.equal(sound(schema)(bad).ok, false))
  }

  test('stay what they are where no schema is', () => {
    const schema = {
      properties: { min: { type: 'string' }, max: { type: 'string' } },
      required: ['min'],
      default: { min: 1 },
      examples: [{ max: 2 }],
      enum: [{ min: 'a', max: 'b' }],
      dependencies: { min: ['max'] },
    }
    const validator = sound(schema)
    assert.equal(validator({ min: 'a', max: 'b' }).ok, true)
    assert.deepEqual(faults(validator, { minimum: 'a' }).sort(), [
      '/min is required',
      'must be one of {"min":"a","max":"b"}',
    ])
    assert.equal(sound({ const: { min: 1 } })({ min: 1 }).ok, true)
  })
})

describe('null', () => {
  const nullable = {
    properties: {
      a: { type: 'string', nullable: true },
      b: { enum: ['x'], nullable: true },
      c: { const: 1, nullable: true },
      d: { type: 'string' },
    },
  }

  test('is the only value that a schema with both enum and const takes in addition', () => {
    const of = (rest: JsonObject) => sound({ ...rest, nullable: true })
    const both = { enum: [{ a: 1, b: 2 }, 'x'], const: { b: 2, a: 1 } }
    assert.deepEqual(
      [null, { a: 1, b: 2 }, 'x', 'y'].map((data) => of(both)(data).ok),
      [true, true, false, false],
    )
    assert.deepEqual(
      [null, 'x', 'y'].map((data) => of({ enum: ['x'], const: 'y' })(data).ok),
      [true, false, false],
    )
  })
  test('passes where a schema is nullable', () => {
    const validator = sound(nullable)
    assert.equal(validator({ a: null, b: null, c: null }).ok, true)
    assert.deepEqual(faults(validator, { a: 1, d: null }), [
      '/a must be a string or null, not a number',
      '/d must be a string, not null',
    ])
  })

  const schema: JsonObject = {
    properties: {
      type: { type: 'string', minLength: 1 },
      types: { type: ['number', 'boolean'] },
      enum: { enum: ['x'] },
      const: { const: 1 },
      anyOf: { anyOf: [{ type: 'string' }, { type: 'number' }] },
      oneOf: { oneOf: [{ type: 'string' }, { type: 'number' }, { $ref: '#/definitions/d' }] },
      allOf: { allOf: [{ type: 'string' }, { $ref: '#/definitions/d' }] },
      ref: { $ref: '#/definitions/d' },
      items: { type: 'array', items: { type: 'string' } },
    },
    required: ['type'],
    definitions: { d: { type: 'string', format: 'date' } },
  }
  for (const name of Object.keys(schema.properties as JsonObject)) {
    test(`passes ${name} where the setting says so, and only there`, () => {
      const data = { type: 'a', [name]: null }
      assert.equal(sound(schema, { ...plain, acceptNull: true })(data).ok, true)
      assert.equal(sound(schema)(data).ok, false)
    })
  }

  test('does not turn questions round, stand for a missing field or let other values through', () => {
    const accept = { ...plain, acceptNull: true }
    assert.equal(sound({ not: { type: 'string' } }, accept)(null).ok, true)
    assert.equal(sound({ not: { type: 'null' } }, accept)(null).ok, false)
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    assert.equal(sound({ if: { type: 'string' }, then: false }, accept)(null).ok, true)
    assert.equal(sound({ contains: { type: 'string' } }, accept)([null]).ok, false)
    assert.deepEqual(faults(sound(schema, accept), {}), ['/type is required'])
    assert.equal(sound(schema, accept)({ type: 'a', oneOf: true }).ok, false)
    assert.equal(sound(schema, accept)({ type: 'a', oneOf: 'text' }).ok, true)
    assert.equal(sound(schema, accept)({ type: 'a', oneOf: '2024-01-01' }).ok, false)
  })
})

describe('coercion', () => {
  const coerce = { ...plain, coerceTypes: true }

  test('gives a coerced copy and leaves the data alone', () => {
    const data = { n: '5', b: 'true', s: 1, list: ['1', 2], other: '7' }
    const before = structuredClone(data)
    const schema = {
      properties: {
        n: { type: 'integer' },
        b: { type: 'boolean' },
        s: { type: 'string' },
        list: { items: { type: 'number' } },
      },
    }
    const verdict = sound(schema, coerce)(data)
    assert.deepEqual(verdict, { ok: true, value: { n: 5, b: true, s: '1', list: [1, 2], other: '7' } })
    assert.deepEqual(data, before)
    assert.equal(sound(schema)(data).ok, false)
  })

  test('coerces the data as a whole', () =>
    assert.deepEqual(sound({ type: 'number' }, coerce)('5'), { ok: true, value: 5 }))

  test('what cannot be coerced is a fault', () => {
    assert.deepEqual(faults(sound({ type: 'number' }, coerce), 'x'), ['must be a number, not a string'])
  })
})

describe('errorMessage', () => {
  test('replaces what is said of its schema, and is marked', () => {
    const verdict = sound({ type: 'object', required: ['a'], errorMessage: 'Send a patient.' })({})
    assert.deepEqual(verdict, {
      ok: false,
      path: 'required[0]',
      faults: [{ pointer: '/a', message: 'Send a patient.', custom: true, issue: 'required' }],
    })
  })

  const schema: JsonObject = {
    type: 'object',
    properties: {
      age: {
        type: 'number',
        min: 0,
        max: 150,
        errorMessage: { type: 'Age is a number.', min: 'Age starts at 0, not ${0}.' },
      },
      sex: { const: 'f', nullable: true, errorMessage: { const: 'Only f.' } },
    },
    required: ['name', 'age'],
    errorMessage: { required: { name: 'A name, please.' } },
  }
  const cases: [Json, string[]][] = [
    [{ age: 'x', name: 1 }, ['/age Age is a number.']],
    [{ age: -1, name: 1 }, ['/age Age starts at 0, not -1.']],
    [{ age: 151, name: 1 }, ['/age must be at most 150']],
    [{ age: 1 }, ['/name A name, please.']],
    [{ name: 1 }, ['/age is required']],
    [{ age: 1, name: 1, sex: 'm' }, ['/sex Only f.']],
  ]
  for (const [data, expected] of cases) {
    test(JSON.stringify(data), () => assert.deepEqual(faults(sound(schema), data), expected))
  }
})

describe('errorMessage of an object', () => {
  const schema: JsonObject = {
    properties: { a: { type: 'string' }, b: { type: 'string' } },
    required: ['c'],
    errorMessage: { properties: { a: 'A is a text.' }, _: 'Something else.' },
  }

  test('speaks for its fields, and for everything else', () => {
    assert.deepEqual(faults(sound(schema), { a: 1, c: 1 }), ['/a A is a text.'])
    assert.deepEqual(faults(sound(schema), { a: 1, b: 1 }).sort(), ['/a A is a text.', 'Something else.'])
  })
})

describe('faults of a schema', () => {
  const definitions = (schema: JsonObject): JsonObject => ({ properties: { a: schema } })
  type Case = [schema: JsonObject, ...lints: [path: string, part: string, severity?: 'warning'][]]
  const cases: Case[] = [
    [{ requried: ['a'] }, ['requried', 'did you mean "required"?']],
    [{ Type: 'string' }, ['Type', 'did you mean "type"?']],
    [
      { resourceType: 'x', 'x-note': 1, title: 't', $comment: 'c', example: 1 },
      ['resourceType', 'checks nothing', 'warning'],
    ],
    [definitions({ type: 'strng' }), ['properties.a.type', 'one of "string"']],
    [definitions({ type: [] }), ['properties.a.type', 'one of "string"']],
    [{ required: true }, ['required', 'must be a list of names, not true']],
    [{ properties: [] }, ['properties', 'must be an object of schemas']],
    [{ properties: { a: 1, b: null } }, ['properties.a', 'must be a schema'], ['properties.b', 'must be a schema']],
    [
      { minLength: -1, maxLength: '2', multipleOf: 0, uniqueItems: 'yes', enum: [] },
      ['minLength', '0 or more'],
      ['maxLength', 'whole number'],
      ['multipleOf', 'above 0'],
      ['uniqueItems', 'true or false'],
      ['enum', 'list of values'],
    ],
    [{ min: '1', max: 2, maximum: 3 }, ['min', 'must be a number'], ['max', 'another name for "maximum"']],
    [
      { allOf: [], anyOf: [{ pattern: '(' }] },
      ['allOf', 'list of schemas'],
      ['anyOf[0].pattern', 'not a regular expression'],
    ],
    [definitions({ pattern: '^(?!x)' }), ['properties.a.pattern', 'looks ahead or behind']],
    [{ patternProperties: { '(a)\\1': true } }, ['patternProperties.(a)\\1', 'refers back']],
    [{ format: 'date-tme' }, ['format', 'did you mean "date-time"?']],
    [{ format: 'colour' }, ['format', 'checks nothing', 'warning']],
    [{ $ref: 'http://example.org/other.json' }, ['$ref', 'never fetched']],
    [{ $ref: 'other.json#/definitions/a' }, ['$ref', 'never fetched']],
    [{ items: { $ref: '#/definitions/none' } }, ['items.$ref', 'does not have']],
    [{ items: { $ref: '#none' } }, ['items.$ref', 'does not have']],
    [{ $ref: '#' }, ['$ref', 'without end']],
    [
      {
        $ref: '#/definitions/a',
        definitions: { a: { anyOf: [{ $ref: '#/definitions/b' }] }, b: { not: { $ref: '#/definitions/a' } } },
      },
      ['definitions.a.anyOf[0].$ref', 'without end'],
    ],
    [{ prefixItems: [true] }, ['prefixItems', 'keyword of 2020-12']],
    [
      { $schema: DRAFT_2020, items: [true], additionalItems: false },
      ['items', 'must be a schema'],
      ['additionalItems', 'keyword of draft-07'],
    ],
    [{ $schema: 'http://json-schema.org/draft-04/schema#' }, ['$schema', 'draft-07']],
    [{ $ref: '#/definitions/a', nullable: true, definitions: { a: true } }, ['nullable', 'changes nothing', 'warning']],
    [{ errorMessage: 1 }, ['errorMessage', 'message or an object of messages']],
    [{ errorMessage: { required: 1 } }, ['', 'does not compile']],
    [{ dependencies: { a: [''] } }, ['dependencies.a', 'an empty name cannot be required here']],
    [
      { $schema: DRAFT_2020, dependentRequired: { a: ['b', ''] } },
      ['dependentRequired.a', 'an empty name cannot be required here'],
    ],
    [{ $schema: DRAFT_2020, dependentRequired: { a: 'b' } }, ['dependentRequired', 'an object of lists of names']],
    [{ properties: JSON.parse('{"__proto__":{}}') }, ['properties.__proto__', 'cannot be the name']],
    [{ additionalProperties: nested(120, 'not') }, [`additionalProperties${'.not'.repeat(100)}`, 'deeper than 100']],
  ]
  for (const [schema, ...lints] of cases) {
    test(JSON.stringify(schema).slice(0, 120), () => {
      const compiled = compile(schema)
      const expected = lints.map(([path, , severity = 'error']) => [
        `inputValidation${path === '' ? '' : '.'}${path}`,
        severity,
      ])
      assert.deepEqual(
        compiled.lints.map(({ path, severity }) => [path, severity]),
        expected,
        JSON.stringify(compiled.lints),
      )
      for (const [index, [, part]] of lints.entries()) {
        assert.ok(compiled.lints[index]?.message.includes(part), compiled.lints[index]?.message)
        assert.match(compiled.lints[index]?.message ?? '', /[.?]$/)
      }
      assert.equal(
        compiled.validator === undefined,
        expected.some(([, severity]) => severity === 'error'),
      )
    })
  }

  test('references that look at new data are no loops', () => {
    sound({
      properties: { a: { $ref: '#' } },
      allOf: [{ $ref: '#/definitions/b' }, { $ref: '#/definitions/b' }],
      definitions: { b: { items: { $ref: '#/definitions/b' } } },
    })
  })

  test('the same $id compiles twice', () => {
    for (const name of ['a', 'b']) sound({ $id: 'http://example.org/same', required: [name] })
  })
})

/** Where validation is not as the drafts say, as docs/validation.md lists it: each row may only become exact. */
const deviations: readonly (readonly [name: string, schema: JsonObject, data: Json, isAccepted: boolean])[] = [
  [
    'draft-07 ignores keywords beside $ref',
    {
      definitions: { list: { type: 'array' } },
      properties: { a: { $ref: '#/definitions/list', maxItems: 1 } },
    },
    { a: [1, 2] },
    false,
  ],
  [
    '$dynamicRef to an $anchor is as $ref',
    {
      $schema: DRAFT_2020,
      $defs: { text: { $anchor: 'text', type: 'string' } },
      items: { $dynamicRef: '#text' },
      type: 'array',
    },
    ['a'],
    false,
  ],
  [
    'unevaluatedItems checks the elements that contains does not match',
    { $schema: DRAFT_2020, prefixItems: [true], contains: { type: 'string' }, unevaluatedItems: false },
    [1, 2, 'a'],
    true,
  ],
  [
    'unevaluatedItems sees the items of an alternative',
    { $schema: DRAFT_2020, unevaluatedItems: { type: 'boolean' }, anyOf: [{ items: { type: 'string' } }, true] },
    ['a', 'b'],
    false,
  ],
  [
    'unevaluatedProperties sees an if without then and else',
    { $schema: DRAFT_2020, if: { patternProperties: { a: { type: 'string' } } }, unevaluatedProperties: false },
    { a: 'b' },
    false,
  ],
]

describe('not as the drafts say', () => {
  for (const [name, schema, data, isAccepted] of deviations) {
    test(name, () => assert.equal(sound(schema)(data).ok, isAccepted))
  }
})
