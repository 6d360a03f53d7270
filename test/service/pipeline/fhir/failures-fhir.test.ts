/** Failures as OperationOutcomes of FHIR R4: what they say, and that each is valid. */
import assert from 'node:assert/strict'
import { after, before, describe, it, test } from 'node:test'
import fc from 'fast-check'
import { Failure, type FailureOptions } from '../../../../src/domain/failure.ts'
import { FAILURES, type FailureCode } from '../../../../src/domain/failure-table.ts'
import { ISSUE_TYPES } from '../../../../src/domain/failures/issue-type.ts'
import type { JsonObject } from '../../../../src/domain/json.ts'
import { failedOutcome } from '../../../../src/pipeline/reply.ts'
import { json, type Reply, type Service, startService, type Upstream } from '../../../support/service.ts'
import { FAILING_SETTINGS, failureCases, startFailingUpstream } from '../failure-cases.ts'
import { issuesIn } from './operation-outcomes.ts'

let service: Service
let upstream: Upstream
before(async () => {
  service = await startService(FAILING_SETTINGS)
  upstream = await startFailingUpstream()
})
after(async () => {
  await service.stop()
  await upstream.stop()
})

let routes = 0

/** Registers an endpoint and sends it a message; FHIR+JSON unless `document` has another output. */
async function send(document: JsonObject, init: RequestInit = json('POST', {})): Promise<Reply> {
  routes += 1
  const pattern = `/outcome-${routes}`
  await service.register({
    endpoint: { pattern },
    transformation: { input: 'JSON', output: 'FHIR+JSON' },
    ...document,
  })
  return service.fetch(pattern, init)
}

describe('an endpoint answers with an OperationOutcome', () => {
  const endpoints = [
    { name: 'with the output FHIR+JSON', output: 'FHIR+JSON', more: {} },
    { name: 'of another output that asks for it', output: 'XML', more: { failures: 'fhir' } },
  ]
  for (const { name, output, more } of endpoints) {
    for (const one of failureCases(() => upstream.url)) {
      it(`${name}: ${one.name}`, async () => {
        const { document, body = {}, headers, status, code, stage, path, says, details, header } = one
        const sent = Buffer.isBuffer(body) ? { method: 'POST', body, headers: headers ?? {} } : json('POST', body)
        const reply = await send({ transformation: { input: 'JSON', output }, ...more, ...document?.() }, sent)
        assert.deepEqual([reply.status, reply.headers.get('content-type')], [status, 'application/fhir+json'])
        assert.equal(reply.headers.get('x-crosswalk-code'), code)
        if (header !== undefined) assert.equal(reply.headers.get(header[0]), header[1])
        const issues = issuesIn(reply.text)
        assert.equal(issues.length, Array.isArray(details) ? details.length : 1)
        if (details === undefined) assert.match(issues[0]?.details.text ?? '', says)
        const places = [`messageId: ${reply.headers.get('x-crosswalk-message-id')}`]
        if (stage !== undefined) places.push(`stage: ${stage}`)
        if (path !== undefined) places.push(`path: ${path}`)
        for (const { severity, details: said, diagnostics = '' } of issues) {
          assert.equal(severity, 'error')
          assert.deepEqual(said.coding, [{ system: 'urn:crosswalk:failure', code }])
          assert.ok(diagnostics.startsWith(places.join('; ')), diagnostics)
        }
      })
    }
  }

  test('unless its failures are to be plain, whatever its lookups ask for', async () => {
    const requests = {
      lookup: [{ id: 'p', config: { url: `${upstream.url}/404` }, fhirResponse: true }],
    }
    const reply = await send({ failures: 'plain', requests })
    assert.deepEqual([reply.status, reply.headers.get('content-type')], [404, 'application/fhir+json'])
    assert.equal(reply.headers.get('x-crosswalk-code'), null)
    const { error, messageId, ...rest } = reply.json()
    assert.deepEqual(rest, { code: 'LOOKUP_REFUSED', stage: 'lookup', path: 'requests.lookup[0]' })
    const draft = { name: 'warned', endpoint: { pattern: '/warned' }, failures: 'plain', requests }
    const stored = await service.fetch(
      '/endpoints',
      json('POST', { ...draft, transformation: { input: 'JSON', output: 'JSON' } }),
    )
    assert.match(stored.headers.get('x-crosswalk-warnings') ?? '', /requests\.lookup\[0\]\.fhirResponse/)
  })

  test('and stores no default for its failures', async () => {
    const document = await service.register({
      endpoint: { pattern: '/stored' },
      transformation: { input: 'JSON', output: 'FHIR+JSON' },
    })
    assert.equal('failures' in document, false)
  })
})

describe('a validation gives an issue for each fault', () => {
  const inBody = {
    type: 'object',
    required: ['name'],
    properties: {
      name: {},
      age: { type: 'integer', minimum: 1 },
      sex: { enum: ['f', 'm'] },
      born: { format: 'date' },
      'a b': { type: 'string' },
      given: { items: { maxLength: 2 }, uniqueItems: true },
      div: { type: 'string' },
      own: { type: 'string', errorMessage: 'Own must\u00a0be text.' },
      child: { required: ['name'], errorMessage: { required: 'A child needs a name.' } },
      either: { anyOf: [{ type: 'string' }, { type: 'number' }] },
      none: { not: { type: 'string' } },
    },
    additionalProperties: false,
  }
  const cases: { name: string; body: JsonObject; expect: readonly (readonly (string | undefined)[])[] }[] = [
    { name: 'what is missing', body: {}, expect: [['required', 'name', '/name is required']] },
    { name: 'a type', body: { age: 'a' }, expect: [['value', 'age', '/age must be an integer, not a string']] },
    { name: 'a bound', body: { age: 0 }, expect: [['value', 'age', '/age must be at least 1']] },
    { name: 'a choice', body: { sex: 'x' }, expect: [['value', 'sex', '/sex must be one of "f", "m"']] },
    { name: 'a form', body: { born: 'x' }, expect: [['value', 'born', '/born must be a valid date']] },
    {
      name: 'an element of a list',
      body: { given: ['a', 'long'] },
      expect: [['value', 'given[1]', '/given/1 must have at most 2 characters']],
    },
    {
      name: 'a rule between values',
      body: { given: ['a', 'a'] },
      expect: [['invariant', 'given', '/given must not have the same item twice (items 0 and 1)']],
    },
    {
      name: 'a field that is not known',
      body: { more: 1 },
      expect: [['invariant', 'more', '/more is not a field of this schema']],
    },
    {
      name: 'what is excluded',
      body: { none: 'x' },
      expect: [['invariant', 'none', '/none must not match what the schema excludes']],
    },
    {
      name: 'alternatives, with the faults of each',
      body: { either: {} },
      expect: [
        ['value', 'either', '/either must be a string, not an object'],
        ['value', 'either', '/either must be a number, not an object'],
        ['invariant', 'either', '/either must match at least one of the alternatives'],
      ],
    },
    {
      name: 'a name that is none in FHIRPath',
      body: { 'a b': 1, div: 2 },
      expect: [
        ['value', undefined, '/a b must be a string, not a number'],
        ['value', undefined, '/div must be a string, not a number'],
      ],
    },
    { name: 'a message of its author', body: { own: 1 }, expect: [['value', 'own', 'Own must be text.']] },
    {
      name: 'a message of its author for a missing field',
      body: { child: {} },
      expect: [['required', 'child.name', 'A child needs a name.']],
    },
  ]
  const issuesOf = async (inputValidation: JsonObject, body: JsonObject) => {
    const reply = await send({ inputValidation }, json('POST', body))
    assert.equal(reply.status, 400, reply.text)
    return issuesIn(reply.text)
  }
  for (const { name, body, expect } of cases) {
    test(name, async () => {
      const named = name === 'what is missing' ? body : { name: 'x', ...body }
      const issues = await issuesOf(inBody, named)
      assert.deepEqual(
        issues.map(({ code, expression, details }) => [code, expression?.[0], details.text]),
        expect,
      )
    })
  }

  test('whose expressions are in the body, where the schema names parts of the message', async () => {
    const issues = await issuesOf(
      { required: ['query'], properties: { requestBody: { required: ['a'] } } },
      { more: 1 },
    )
    assert.deepEqual(
      issues.map(({ code, expression, details, diagnostics }) => [
        code,
        expression,
        details.text,
        diagnostics?.slice(37),
      ]),
      [
        [
          'required',
          undefined,
          '/query is required',
          'stage: validate; path: inputValidation.required[0]; pointer: /query',
        ],
        [
          'required',
          ['a'],
          '/requestBody/a is required',
          'stage: validate; path: inputValidation.required[0]; pointer: /requestBody/a',
        ],
      ],
    )
  })
})

const ENDPOINT = { transformation: { input: 'JSON', output: 'FHIR+JSON' } } as const
const CODES = Object.keys(FAILURES) as FailureCode[]

const outcomeOf = (code: FailureCode, message: string, options: FailureOptions, stage?: string) => {
  const failure = new Failure(code, message, options)
  failure.stage = stage
  const { answer } = failedOutcome(failure, ENDPOINT, '0'.repeat(24))
  assert.equal(answer.headers['x-crosswalk-code'], code)
  return issuesIn(String(answer.body))
}

test('every code is valid, and a fault of the service alone is fatal', () => {
  const shapes: FailureOptions[] = [
    {},
    { path: 'requests.lookup[0]' },
    {
      details: [
        { path: '/a', message: 'is wrong' },
        { path: '', message: 'All is wrong.', isSentence: true },
      ],
    },
    { status: 429, issues: [{ severity: 'warning', code: 'informational' }] },
  ]
  for (const code of CODES) {
    for (const options of shapes) {
      const issues = outcomeOf(code, 'Wrong.', options, 'parse')
      assert.equal(issues.length, Math.max(1, options.details?.length ?? 0) + (options.issues?.length ?? 0))
      assert.equal(issues.at(-1)?.severity, code === 'INTERNAL' ? 'fatal' : 'error')
    }
  }
})

test('any texts and places make a valid OperationOutcome', () => {
  const text = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.string({ unit: 'binary' }),
    fc.constantFrom('', '\u0000', '\u2028'),
  )
  const pointer = fc
    .array(fc.oneof(text, fc.constantFrom('name', '0', 'div')))
    .map((names) => names.map((name) => `/${name}`).join(''))
  const detail = fc.record({
    path: pointer,
    message: text,
    isSentence: fc.boolean(),
    issue: fc.constantFrom(undefined, ...ISSUE_TYPES),
    inBody: fc.option(pointer, { nil: undefined }),
  })
  const options = fc.record({ path: text, details: fc.array(detail) }, { requiredKeys: [] })
  fc.assert(
    fc.property(fc.constantFrom(...CODES), text, options, text, (code, message, given, stage) => {
      for (const { expression } of outcomeOf(code, message, given, stage)) {
        assert.match(expression?.[0] ?? 'a', /^[A-Za-z_]\w*(?:\[\d+\]|\.[A-Za-z_]\w*)*$/)
      }
    }),
  )
})
