import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { Json, JsonObject } from '../../../../src/domain/json.ts'
import { collectInto, type Lint } from '../../../../src/domain/lint.ts'
import {
  compileJsonSchema,
  type SchemaOptions,
  type Validator,
} from '../../../../src/language/json-schema/json-schema.ts'
import { timesAsCostly } from '../../../support/cpu-time.ts'

const plain: SchemaOptions = { acceptNull: false, coerceTypes: false }
const DRAFT_2020 = 'https://json-schema.org/draft/2020-12/schema'

function compile(schema: JsonObject, options = plain): { validator: Validator | undefined; lints: Lint[] } {
  const lints: Lint[] = []
  return { validator: compileJsonSchema(schema, options, collectInto(lints, 'inputValidation')), lints }
}

function sound(schema: JsonObject, options = plain): Validator {
  const { validator, lints } = compile(schema, options)
  assert.deepEqual(lints, [])
  assert.ok(validator)
  return validator
}

/** What is wrong, as `pointer message`. */
function faults(validator: Validator, data: Json): string[] {
  const verdict = validator(data)
  return verdict.ok ? [] : verdict.faults.map(({ pointer, message }) => `${pointer} ${message}`.trim())
}

const nested = (levels: number, name = 'a'): Json => JSON.parse(`{"${name}":`.repeat(levels) + 1 + '}'.repeat(levels))

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
    { numRuns: 300 },
  )
})

describe('keywords', () => {
  type Case = { schema: JsonObject; good: Json[]; bad: [Json, ...string[]][] }
  const weight: JsonObject = {
    required: ['name'],
    properties: { name: { type: 'string' }, weight: { type: 'number', min: 0.1, max: 650 } },
  }
  const cases: Case[] = [
    {
      schema: { items: [{ type: 'string' }, {}, {}], contains: { const: 'a' }, uniqueItems: true },
      good: [['a'], ['b', 'a']],
      bad: [
        [[], 'must have at least 1 matching items'],
        [['a', 'a'], 'must not have the same item twice (items 0 and 1)'],
      ],
    },
    {
      schema: weight,
      good: [{ name: 'a' }, { name: 'a', weight: 0.1 }, { name: 'a', weight: 650 }],
      bad: [
        [{ weight: 651 }, '/name is required', '/weight must be at most 650'],
        [{ name: 'a', weight: 0 }, '/weight must be at least 0.1'],
        [{ name: 1 }, '/name must be a string, not a number'],
      ],
    },
    {
      schema: { type: ['integer', 'null'] },
      good: [1, null],
      bad: [[1.5, 'must be an integer or null, not a number']],
    },
    { schema: { enum: ['a', 1] }, good: ['a', 1], bad: [['b', 'must be one of "a", 1']] },
    {
      schema: { enum: [1, 'a', null, false] },
      good: [1, 'a', null, false],
      bad: [
        [{}, 'must be one of 1, "a", null, false'],
        ['1', 'must be one of 1, "a", null, false'],
      ],
    },
    {
      schema: { const: 0 },
      good: [0, JSON.parse('-0')],
      bad: [
        ['0', 'must be 0'],
        [[0], 'must be 0'],
      ],
    },
    { schema: { const: { a: 1 } }, good: [{ a: 1 }], bad: [[2, 'must be {"a":1}']] },
    {
      schema: { exclusiveMinimum: 1, exclusiveMaximum: 3 },
      good: [2],
      bad: [
        [1, 'must be more than 1'],
        [3, 'must be less than 3'],
      ],
    },
    { schema: { multipleOf: 5 }, good: [10], bad: [[11, 'must be a multiple of 5']] },
    {
      schema: { minLength: 1, maxLength: 2 },
      good: ['é', '😀😀'],
      bad: [
        ['', 'must have at least 1 character'],
        ['abc', 'must have at most 2 characters'],
      ],
    },
    { schema: { pattern: '^a+$' }, good: ['aa'], bad: [['b', 'must match the pattern "^a+$"']] },
    {
      schema: { items: { type: 'string' } },
      good: [['a'], []],
      bad: [[['a', 1, true], '/1 must be a string, not a number', '/2 must be a string, not a boolean']],
    },
    {
      schema: { items: [{ type: 'string' }], additionalItems: false },
      good: [['a']],
      bad: [[['a', 1], 'must have at most 1 item']],
    },
    {
      schema: { minItems: 1, maxItems: 2 },
      good: [[1]],
      bad: [
        [[], 'must have at least 1 item'],
        [[1, 2, 3], 'must have at most 2 items'],
      ],
    },
    {
      schema: { uniqueItems: true },
      good: [
        [1, '1', [1], { a: 1 }, null, true],
        [
          { a: 1, b: 2 },
          { a: 1, b: 3 },
        ],
      ],
      bad: [
        [[1, 2, 1], 'must not have the same item twice (items 0 and 2)'],
        [
          [
            { a: 1, b: [2] },
            { b: [2], a: 1 },
          ],
          'must not have the same item twice (items 0 and 1)',
        ],
      ],
    },
    {
      schema: { contains: { const: 1 } },
      good: [[2, 1]],
      bad: [[[2], '/0 must be 1', 'must have at least 1 matching items']],
    },
    {
      schema: { additionalProperties: false, properties: { a: true } },
      good: [{ a: 1 }],
      bad: [[{ b: 1, 'c/d~': 2 }, '/b is not a field of this schema', '/c~1d~0 is not a field of this schema']],
    },
    {
      schema: { patternProperties: { '^x': { type: 'number' } } },
      good: [{ x1: 1, y: 'a' }],
      bad: [[{ x1: 'a' }, '/x1 must be a number, not a string']],
    },
    {
      schema: { propertyNames: { maxLength: 2 } },
      good: [{ ab: 1 }],
      bad: [[{ abc: 1 }, 'must have at most 2 characters', 'has a field with a name that is not allowed, "abc"']],
    },
    {
      schema: { minProperties: 1, maxProperties: 1 },
      good: [{ a: 1 }],
      bad: [
        [{}, 'must have at least 1 field'],
        [{ a: 1, b: 2 }, 'must have at most 1 field'],
      ],
    },
    {
      schema: { dependencies: { a: ['b'], c: { required: ['d'] } } },
      good: [{}, { a: 1, b: 2 }],
      bad: [[{ a: 1, c: 1 }, '/b is required where "a" is given', '/d is required']],
    },
    {
      schema: { allOf: [{ required: ['a'] }, { required: ['b'] }] },
      good: [{ a: 1, b: 1 }],
      bad: [[{}, '/a is required', '/b is required']],
    },
    {
      schema: { anyOf: [{ type: 'string' }, { minimum: 3 }] },
      good: ['a', 3],
      bad: [[2, 'must be a string, not a number', 'must be at least 3', 'must match at least one of the alternatives']],
    },
    {
      schema: { oneOf: [{ minimum: 3 }, { maximum: 5 }] },
      good: [1, 9],
      bad: [[4, 'must match one of the alternatives only']],
    },
    { schema: { not: { type: 'string' } }, good: [1], bad: [['a', 'must not match what the schema excludes']] },
    {
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      schema: { if: { properties: { a: { const: 1 } } }, then: { required: ['b'] }, else: { required: ['c'] } },
      good: [
        { a: 1, b: 1 },
        { a: 2, c: 1 },
      ],
      bad: [
        [{ a: 1 }, '/b is required'],
        [{ a: 2 }, '/c is required'],
      ],
    },
    { schema: { properties: { a: false } }, good: [{}], bad: [[{ a: 1 }, '/a is not allowed']] },
    {
      schema: { properties: { a: { $ref: '#/definitions/x~1y%20z' } }, definitions: { 'x/y z': { type: 'string' } } },
      good: [{ a: 'a' }],
      bad: [[{ a: 1 }, '/a must be a string, not a number']],
    },
    {
      schema: {
        $id: 'http://example.org/a.json',
        items: { $ref: 'b.json' },
        definitions: { b: { $id: 'b.json', type: 'string' } },
      },
      good: [['a']],
      bad: [[[1], '/0 must be a string, not a number']],
    },
    {
      schema: { properties: { next: { $ref: '#' } }, required: ['n'] },
      good: [{ n: 1, next: { n: 2 } }],
      bad: [[{ n: 1, next: { next: {} } }, '/next/n is required', '/next/next/n is required']],
    },
    {
      schema: { $ref: 'http://json-schema.org/draft-07/schema#' },
      good: [{ minLength: 1 }],
      bad: [[{ minLength: -1 }, '/minLength must be at least 0']],
    },
    {
      schema: { required: ['constructor', 'toString'] },
      good: [],
      bad: [[{}, '/constructor is required', '/toString is required']],
    },
    {
      schema: { required: [''] },
      good: [{ '': 1 }, 1, []],
      bad: [
        [{}, '/ is required'],
        [{ a: 1 }, '/ is required'],
      ],
    },
    {
      schema: { required: ['', 'a'], errorMessage: { required: 'give both' } },
      good: [{ '': 1, a: 1 }],
      bad: [
        [{ '': 1 }, '/a give both'],
        [{ a: 1 }, '/ is required'],
      ],
    },
    {
      schema: { $schema: DRAFT_2020, prefixItems: [{ type: 'string' }], items: false },
      good: [['a']],
      bad: [[['a', 1], 'must have at most 1 item']],
    },
    {
      schema: { $schema: DRAFT_2020, properties: { a: true }, unevaluatedProperties: false },
      good: [{ a: 1 }],
      bad: [[{ b: 1 }, '/b is not a field of this schema']],
    },
    {
      schema: { $schema: DRAFT_2020, dependentRequired: { a: ['b'] }, dependentSchemas: { c: { required: ['d'] } } },
      good: [{}],
      bad: [[{ a: 1, c: 1 }, '/b is required where "a" is given', '/d is required']],
    },
    {
      schema: { $schema: DRAFT_2020, items: { $ref: '#here' }, $defs: { n: { $anchor: 'here', min: 3 } } },
      good: [[3]],
      bad: [[[2], '/0 must be at least 3']],
    },
    {
      schema: { $schema: DRAFT_2020, contains: { const: 1 }, minContains: 2, maxContains: 2 },
      good: [[1, 1]],
      bad: [[[1], 'must have 2 to 2 matching items']],
    },
  ]
  for (const { schema, good, bad } of cases) {
    test(JSON.stringify(schema).slice(0, 120), () => {
      const validator = sound(schema)
      for (const data of good) assert.deepEqual(validator(data), { ok: true, value: data })
      for (const [data, ...expected] of bad) assert.deepEqual(faults(validator, data).sort(), expected.sort())
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

  test('no text takes long', () => {
    const parts = ['a', '1', 'a.', 'a-', '1:', 'http://a:', 'a@a.', '%41', 'é', '\n']
    const texts = parts.map((part) => `http://x${part.repeat(50_000)}!`)
    const before = performance.now()
    for (const [format] of cases) {
      const validator = sound({ format })
      for (const text of texts) validator(text)
    }
    assert.ok(performance.now() - before < 5000)
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
  type Case = { schema: JsonObject; lints: [path: string, part: string, severity?: 'warning'][] }
  const cases: Case[] = [
    { schema: { requried: ['a'] }, lints: [['requried', 'did you mean "required"?']] },
    { schema: { Type: 'string' }, lints: [['Type', 'did you mean "type"?']] },
    {
      schema: { resourceType: 'x', 'x-note': 1, title: 't', $comment: 'c', example: 1 },
      lints: [['resourceType', 'checks nothing', 'warning']],
    },
    { schema: definitions({ type: 'strng' }), lints: [['properties.a.type', 'one of "string"']] },
    { schema: definitions({ type: [] }), lints: [['properties.a.type', 'one of "string"']] },
    { schema: { required: true }, lints: [['required', 'must be a list of names, not true']] },
    { schema: { properties: [] }, lints: [['properties', 'must be an object of schemas']] },
    {
      schema: { properties: { a: 1, b: null } },
      lints: [
        ['properties.a', 'must be a schema'],
        ['properties.b', 'must be a schema'],
      ],
    },
    {
      schema: { minLength: -1, maxLength: '2', multipleOf: 0, uniqueItems: 'yes', enum: [] },
      lints: [
        ['minLength', '0 or more'],
        ['maxLength', 'whole number'],
        ['multipleOf', 'above 0'],
        ['uniqueItems', 'true or false'],
        ['enum', 'list of values'],
      ],
    },
    {
      schema: { min: '1', max: 2, maximum: 3 },
      lints: [
        ['min', 'must be a number'],
        ['max', 'another name for "maximum"'],
      ],
    },
    {
      schema: { allOf: [], anyOf: [{ pattern: '(' }] },
      lints: [
        ['allOf', 'list of schemas'],
        ['anyOf[0].pattern', 'no regular expression'],
      ],
    },
    { schema: definitions({ pattern: '^(?!x)' }), lints: [['properties.a.pattern', 'looks ahead or behind']] },
    { schema: { patternProperties: { '(a)\\1': true } }, lints: [['patternProperties.(a)\\1', 'refers back']] },
    { schema: { format: 'date-tme' }, lints: [['format', 'did you mean "date-time"?']] },
    { schema: { format: 'colour' }, lints: [['format', 'checks nothing', 'warning']] },
    { schema: { $ref: 'http://example.org/other.json' }, lints: [['$ref', 'never fetched']] },
    { schema: { $ref: 'other.json#/definitions/a' }, lints: [['$ref', 'never fetched']] },
    { schema: { items: { $ref: '#/definitions/none' } }, lints: [['items.$ref', 'does not have']] },
    { schema: { items: { $ref: '#none' } }, lints: [['items.$ref', 'does not have']] },
    { schema: { $ref: '#' }, lints: [['$ref', 'without end']] },
    {
      schema: {
        $ref: '#/definitions/a',
        definitions: { a: { anyOf: [{ $ref: '#/definitions/b' }] }, b: { not: { $ref: '#/definitions/a' } } },
      },
      lints: [['definitions.a.anyOf[0].$ref', 'without end']],
    },
    { schema: { prefixItems: [true] }, lints: [['prefixItems', 'keyword of 2020-12']] },
    {
      schema: { $schema: DRAFT_2020, items: [true], additionalItems: false },
      lints: [
        ['items', 'must be a schema'],
        ['additionalItems', 'keyword of draft-07'],
      ],
    },
    { schema: { $schema: 'http://json-schema.org/draft-04/schema#' }, lints: [['$schema', 'draft-07']] },
    {
      schema: { $ref: '#/definitions/a', nullable: true, definitions: { a: true } },
      lints: [['nullable', 'changes nothing', 'warning']],
    },
    { schema: { errorMessage: 1 }, lints: [['errorMessage', 'message or an object of messages']] },
    { schema: { errorMessage: { required: 1 } }, lints: [['', 'does not compile']] },
    { schema: { dependencies: { a: [''] } }, lints: [['dependencies.a', 'an empty name cannot be required here']] },
    {
      schema: { $schema: DRAFT_2020, dependentRequired: { a: ['b', ''] } },
      lints: [['dependentRequired.a', 'an empty name cannot be required here']],
    },
    { schema: { properties: JSON.parse('{"__proto__":{}}') }, lints: [['properties.__proto__', 'cannot be the name']] },
    {
      schema: { additionalProperties: nested(120, 'not') },
      lints: [[`additionalProperties${'.not'.repeat(100)}`, 'deeper than 100']],
    },
  ]
  for (const { schema, lints } of cases) {
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

describe('hostile messages and schemas', () => {
  test('pattern, unique items and formats take no time by a power', () => {
    const before = performance.now()
    assert.equal(sound({ pattern: '^(a+)+$' })(`${'a'.repeat(200_000)}!`).ok, false)
    assert.equal(sound({ uniqueItems: true })(Array.from({ length: 100_000 }, (_, index) => ({ index }))).ok, true)
    assert.ok(performance.now() - before < 4000)
  })

  test('a schema that takes exponential time is given up', () => {
    const branch = (name: string): JsonObject => ({ properties: { a: { $ref: '#' } }, required: [name] })
    const validator = sound({ anyOf: [branch('x'), branch('y')] })
    assert.equal(faults(validator, nested(60)).at(-1), 'there are too many further faults to list them')
    assert.deepEqual(faults(validator, { x: 1, a: { y: 1 } }), [])
  })

  const draft = { $schema: 'https://json-schema.org/draft/2020-12/schema' }
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
      schema: { ...draft, $dynamicAnchor: 'n', items: { allOf: twice({ $dynamicRef: '#n' }) } },
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

describe('properties', () => {
  const keywords =
    'type enum const min max minimum required properties items $ref allOf oneOf not if then errorMessage nullable format pattern uniqueItems $id definitions dependencies foo requird'.split(
      ' ',
    )
  const { schema } = fc.letrec<{ schema: JsonObject; value: Json }>((tie) => ({
    schema: fc.dictionary(fc.constantFrom(...keywords), tie('value'), {
      maxKeys: 4,
      depthIdentifier: 'd',
    }) as fc.Arbitrary<JsonObject>,
    value: fc.oneof(
      { depthIdentifier: 'd', maxDepth: 4 },
      fc.constantFrom<Json>(
        'string',
        'number',
        'date',
        '#',
        '#/definitions/a',
        '^a(',
        1,
        -1,
        0,
        true,
        false,
        null,
        ['a'],
        ['string', 'null'],
        [],
      ),
      tie('schema'),
      fc.dictionary(fc.constantFrom('a', 'min', 'properties'), tie('schema'), {
        maxKeys: 2,
      }) as fc.Arbitrary<JsonObject>,
      fc.array(tie('schema'), { maxLength: 2 }),
    ),
  }))
  const options = fc.record({ acceptNull: fc.boolean(), coerceTypes: fc.boolean() })

  test('any document compiles or has lints, any data has a verdict and stays as it is', () => {
    fc.assert(
      fc.property(schema, options, fc.jsonValue(), (document, given, json) => {
        const before = JSON.stringify(document)
        const { validator, lints } = compile(document, given)
        assert.equal(JSON.stringify(document), before)
        assert.equal(
          validator === undefined,
          lints.some(({ severity }) => severity === 'error'),
        )
        if (validator === undefined) return
        const data = json as Json
        const written = JSON.stringify(data)
        const verdict = validator(data)
        assert.ok(verdict.ok || verdict.faults.length > 0)
        assert.equal(JSON.stringify(data), written)
      }),
      { numRuns: 400 },
    )
  })
})
