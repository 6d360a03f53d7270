import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Failure } from '../../../../src/core/failure.ts'
import type { Json, JsonObject } from '../../../../src/core/json.ts'
import { collectInto, type Lint } from '../../../../src/core/lint.ts'
import type { Enriched } from '../../../../src/core/message.ts'
import { DOORS, type DoorTraits } from '../../../../src/core/origin.ts'
import type { Run } from '../../../../src/core/run.ts'
import type { Endpoint } from '../../../../src/document/schema/schema.ts'
import { compileValidate } from '../../../../src/pipeline/stages/validate.ts'

const settings = { validationAcceptNullValues: false, validationCoerceTypes: false }

const run = { door: DOORS.http as DoorTraits } as Run

function messageWith(parts: Partial<Enriched>): Enriched {
  return {
    constants: { required: true },
    requestHeaders: {},
    query: {},
    urlParams: {},
    timestamps: {},
    state: {},
    requestBody: {},
    lookupRequests: {},
    ...parts,
  }
}

const withLookup: Endpoint['requests'] = {
  lookup: [{ id: 'patient', config: { method: 'GET', url: 'http://localhost/' } }],
  response: [],
}

function compiled(inputValidation: JsonObject, given = settings, requests: Endpoint['requests'] = withLookup) {
  const lints: Lint[] = []
  const step = compileValidate({ inputValidation, requests }, given, collectInto(lints))
  assert.deepEqual(lints, [])
  assert.ok(typeof step === 'function')
  return (message: Enriched) => step(message, run) as Enriched
}

function failureOf(inputValidation: JsonObject, message: Enriched): Failure {
  try {
    compiled(inputValidation)(message)
  } catch (thrown) {
    assert.ok(thrown instanceof Failure, String(thrown))
    return thrown
  }
  assert.fail('the message passed')
}

describe('what a schema is applied to', () => {
  const name: JsonObject = { properties: { requestBody: { required: ['name'] } } }
  const cases: [name: string, schema: JsonObject, to: 'body' | 'parts'][] = [
    ['a schema of the message', { required: ['name'] }, 'body'],
    ['properties of a part', name, 'parts'],
    ['a required part', { required: ['query'], properties: { requestBody: { required: ['name'] } } }, 'parts'],
    ['through allOf', { allOf: [name] }, 'parts'],
    ['through anyOf', { anyOf: [{ type: 'string' }, name] }, 'parts'],
    ['through oneOf', { oneOf: [name] }, 'parts'],
    ['through a root $ref', { $ref: '#/definitions/m', definitions: { m: name } }, 'parts'],
    ['through several', { allOf: [{ $ref: '#/definitions/m' }], definitions: { m: { anyOf: [name] } } }, 'parts'],
    ['parts named further down', { required: ['name'], properties: { other: { required: ['query'] } } }, 'body'],
    ['parts named in a definition that is not used', { required: ['name'], definitions: { m: name } }, 'body'],
    [
      'parts in other keywords',
      { required: ['name'], dependencies: { x: ['query'] }, enum: [{ query: 1 }, { name: 1 }] },
      'body',
    ],
  ]
  for (const [title, schema, to] of cases) {
    test(`${title}: the ${to}`, () => {
      const validate = compiled(schema)
      const good = messageWith({ requestBody: { name: 1 }, query: { a: '1' } })
      assert.equal(validate(good), good)
      const { options } = failureOf(schema, messageWith({ query: { a: '1' } }))
      const paths = (options.details ?? []).map(({ path }) => path)
      assert.ok(paths.includes(to === 'body' ? '/name' : '/requestBody/name'), paths.join())
    })
  }

  test('references that go round end', () => {
    const schema = {
      properties: { name: { $ref: '#' } },
      anyOf: [{ properties: { a: { $ref: '#' } } }],
      required: ['name'],
    }
    assert.equal(failureOf(schema, messageWith({})).code, 'VALIDATION_FAILED')
  })

  test('references that double at every level are looked at once', () => {
    const double = (level: number) => ({
      allOf: [level, level].map((next) => ({ $ref: `#/definitions/d${next + 1}` })),
    })
    const levels = Array.from({ length: 40 }, (_, level) => [`d${level}`, double(level)])
    const definitions = Object.fromEntries([...levels, ['d40', { required: ['name'] }]])
    const schema = { allOf: [{ $ref: '#/definitions/d0' }], definitions }
    assert.match(failureOf(schema, messageWith({ requestBody: { name: 1 } })).message, /too many steps/)
  })

  test('a body that is no object has its schema too', () => {
    const message = messageWith({ requestBody: ['a'] })
    assert.equal(compiled({ type: 'array', items: { type: 'string' } })(message), message)
  })

  test('all parts can be spoken of, and nothing else is there', () => {
    const schema = {
      additionalProperties: false,
      properties: { requestBody: true, query: { required: ['page'] }, lookupRequests: { required: ['patient'] } },
    }
    const message = messageWith({ query: { page: '1' }, lookupRequests: { patient: { data: 1 } } })
    assert.equal(compiled(schema)(message), message)
    const { message: said } = failureOf(schema, messageWith({ query: { a: '1' }, lookupRequests: { other: {} } }))
    assert.equal(said, 'Validation failed: /query/page is required; /lookupRequests/patient is required.')
  })

  test('lookups are a part where the endpoint has any, even if none was made', () => {
    const schema = { required: ['lookupRequests'] }
    const message = messageWith({})
    assert.equal(compiled(schema)(message), message)
    const below = { properties: { lookupRequests: { required: ['patient'] } } }
    assert.equal(failureOf(below, message).code, 'LOOKUP_INVALID')
    const without = compiled(schema, settings, { lookup: [], response: [] })
    assert.throws(() => without(message), { code: 'VALIDATION_FAILED' })
  })

  test('a record has a body, whatever the method of its endpoint', () => {
    const step = compileValidate(
      { inputValidation: { required: ['requestBody'] }, endpoint: { pattern: '/a', method: 'GET' } },
      settings,
      collectInto([]),
    )
    assert.ok(typeof step === 'function')
    const message = messageWith({ requestBody: 1 })
    assert.equal(step(message, { ...run, door: DOORS.kafka }), message)
    assert.throws(() => step(message, run), Failure)
  })
})

describe('failures', () => {
  test('name every fault, with details and the place in the configuration', () => {
    const schema = {
      required: ['name'],
      properties: { name: { type: 'string' }, weight: { type: 'number', min: 0.1, max: 650 } },
    }
    const failure = failureOf(schema, messageWith({ requestBody: { weight: 1000 } }))
    assert.equal(failure.code, 'VALIDATION_FAILED')
    assert.equal(failure.status, 400)
    assert.equal(failure.message, 'Validation failed: /name is required; /weight must be at most 650.')
    assert.deepEqual(failure.options, {
      path: 'inputValidation.required[0]',
      details: [
        { path: '/name', message: 'is required', isSentence: false, issue: 'required', inBody: '/name' },
        { path: '/weight', message: 'must be at most 650', isSentence: false, issue: 'value', inBody: '/weight' },
      ],
      unquoted: 'Validation failed: 2 faults.',
    })
  })

  test('of the message as a whole say so', () => {
    assert.equal(
      failureOf({ type: 'object' }, messageWith({ requestBody: 1 })).message,
      'Validation failed: the message must be an object, not a number.',
    )
  })
})

test('coerced values go on, the message that came stays', () => {
  const body: Json = { n: '5', other: '6' }
  const message = messageWith({ requestBody: body, query: { page: '3' } })
  const schema = { properties: { requestBody: { properties: { n: { type: 'number' } } } } }
  const coerced = compiled(schema, { ...settings, validationCoerceTypes: true })(message)
  assert.deepEqual(coerced, { ...message, requestBody: { n: 5, other: '6' } })
  assert.deepEqual(message.requestBody, { n: '5', other: '6' })
})

describe('compiling', () => {
  test('no schema needs no stage', () => {
    assert.deepEqual(compileValidate({}, settings, collectInto([])), { adds: {} })
  })

  test('faults of the schema are at inputValidation', () => {
    const lints: Lint[] = []
    compileValidate(
      { inputValidation: { requried: [], properties: { a: { type: 'x' } } } },
      settings,
      collectInto(lints),
    )
    assert.deepEqual(
      lints.map(({ path }) => path),
      ['inputValidation.requried', 'inputValidation.properties.a.type'],
    )
  })
})
