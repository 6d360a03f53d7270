/** Failures as OperationOutcomes of FHIR R4: what they say, and that each is valid. */
import assert from 'node:assert/strict'
import { describe, it, test } from 'node:test'
import { Failure, type FailureOptions } from '../../../../src/core/failure.ts'
import { ISSUE_TYPES } from '../../../../src/core/failure-kind.ts'
import { FAILURES, type FailureCode } from '../../../../src/core/failure-table.ts'
import type { JsonObject } from '../../../../src/core/json.ts'
import { failedOutcome } from '../../../../src/pipeline/reply.ts'
import fc from '../../../support/fast-check.ts'
import { json } from '../../../support/service.ts'
import { FAILING_SETTINGS, failureCases, messageOf } from '../failure-cases.ts'
import { failureOf, openPipeline, output } from '../fixture.ts'
import { issuesIn } from './operation-outcomes.ts'

const pipeline = openPipeline(FAILING_SETTINGS)

/** Registers an endpoint and sends it a message; FHIR+JSON unless `document` has another output. */
const send = (document: JsonObject, body: JsonObject = {}) =>
  pipeline.send({ ...output('FHIR+JSON'), ...document }, body)

describe('an endpoint answers with an OperationOutcome', () => {
  for (const [at, one] of failureCases(pipeline).entries()) {
    // An endpoint of another output may ask for it.
    const asked = at % 2 === 0 ? output('FHIR+JSON') : { ...output('XML'), failures: 'fhir' }
    it(one.name, async () => {
      const { document, status, code, stage, path, says, details, header } = one
      const pattern = await pipeline.register({ ...asked, ...document?.() })
      const reply = await pipeline.service.fetch(pattern, messageOf(one))
      assert.deepEqual([reply.status, reply.headers.get('content-type')], [status, 'application/fhir+json'])
      assert.equal(reply.headers.get('x-crosswalk-code'), code)
      if (header !== undefined) assert.equal(reply.headers.get(header[0]), header[1])
      const issues = issuesIn(reply.text)
      assert.equal(issues.length, Array.isArray(details) ? details.length : 1)
      if (details === undefined) assert.match(issues[0]?.details.text ?? '', says)
      const places = [`messageId: ${reply.headers.get('x-crosswalk-message-id')}`]
      if (stage !== undefined) places.push(`stage: ${stage}`, `path: ${path}`)
      for (const { severity, details: said, diagnostics = '' } of issues) {
        assert.equal(severity, 'error')
        assert.deepEqual(said.coding, [{ system: 'urn:crosswalk:failure', code }])
        assert.ok(diagnostics.startsWith(places.join('; ')), diagnostics)
      }
    })
  }

  test('unless its failures are to be plain, whatever its lookups ask for', async () => {
    const url = `${pipeline.upstream.url}/404`
    const requests = { lookup: [{ id: 'p', config: { url }, fhirResponse: true }] }
    const reply = await send({ failures: 'plain', requests })
    assert.deepEqual([reply.status, reply.headers.get('content-type')], [404, 'application/fhir+json'])
    assert.equal(reply.headers.get('x-crosswalk-code'), null)
    const { error, messageId, ...rest } = reply.json()
    assert.deepEqual(rest, { code: 'LOOKUP_REFUSED', stage: 'lookup', path: 'requests.lookup[0]' })
    const draft = { name: 'warned', endpoint: { pattern: '/warned' }, failures: 'plain', requests, ...output('JSON') }
    const stored = await pipeline.service.fetch('/endpoints', json('POST', draft))
    assert.match(stored.headers.get('x-crosswalk-warnings') ?? '', /requests\.lookup\[0\]\.fhirResponse/)
  })

  test('and stores no default for its failures', async () => {
    const stored = await pipeline.service.register({ endpoint: { pattern: '/stored' }, ...output('FHIR+JSON') })
    assert.equal('failures' in stored, false)
  })
})

describe('a lookup with fhirResponse', () => {
  /** Sends a message to an endpoint whose lookups are given by their paths on the upstream. */
  const lookUp = (lookups: readonly JsonObject[], format = 'JSON') => {
    const lookup = lookups.map(({ url, params, ...rest }, index) => ({
      id: `l${index}`,
      config: { url: `${pipeline.upstream.url}${url}`, ...(params === undefined ? {} : { params }) },
      ...rest,
    }))
    return pipeline.send({ ...output(format), requests: { lookup }, constants: { items: ['a', '404'] } })
  }
  const byItem = { url: '/:id', params: { url: { id: { path: 'item' } } }, forEach: { items: 'constants.items' } }
  const cases: [JsonObject, number, string][] = [
    [{ url: '/404' }, 404, 'not-found'],
    [{ url: '/302' }, 502, 'transient'],
    [{ url: '/:id', params: { url: { id: { path: 'payload.missing' } } } }, 400, 'value'],
    [{ url: '/a', forEach: { items: 'payload.missing' } }, 400, 'value'],
    [byItem, 404, 'not-found'],
  ]
  for (const [lookup, status, type] of cases) {
    it(`answers with an OperationOutcome whatever the output is: ${JSON.stringify(lookup)}`, async () => {
      const reply = await lookUp([{ fhirResponse: true, ...lookup }], lookup === byItem ? 'XML' : 'JSON')
      assert.deepEqual([reply.status, reply.headers.get('content-type')], [status, 'application/fhir+json'])
      const issues = issuesIn(reply.text).map(({ severity, code }) => [severity, code])
      assert.deepEqual(issues, [['error', type]])
    })
  }

  it('answers so for itself alone, and changes no success', async () => {
    const other = await lookUp([{ url: '/404' }, { url: '/409', fhirResponse: true }])
    assert.deepEqual(failureOf(other), [404, 'LOOKUP_REFUSED', 'lookup', 'requests.lookup[0]'])
    const fine = await lookUp([{ url: '/a', fhirResponse: true }])
    assert.deepEqual([fine.status, fine.headers.get('content-type')], [200, 'application/json'])
  })
})

describe('a validation gives an issue for each fault', () => {
  const inBody = {
    type: 'object',
    required: ['name'],
    properties: {
      name: {},
      age: { type: 'integer', minimum: 1 },
      'a b': { type: 'string' },
      given: { items: { maxLength: 2 }, uniqueItems: true },
      div: { type: 'string' },
      own: { type: 'string', errorMessage: 'Own must\u00a0be text.' },
      either: { anyOf: [{ type: 'string' }, { type: 'number' }] },
    },
    additionalProperties: false,
  }
  type Issued = [code: string, expression: string | undefined, text: string]
  const cases: [JsonObject, ...Issued[]][] = [
    [{}, ['required', 'name', '/name is required']],
    [{ age: 0 }, ['value', 'age', '/age must be at least 1']],
    [{ given: ['a', 'long'] }, ['value', 'given[1]', '/given/1 must have at most 2 characters']],
    [{ given: ['a', 'a'] }, ['invariant', 'given', '/given must not have the same item twice (items 0 and 1)']],
    [
      { either: {} },
      ['value', 'either', '/either must be a string, not an object'],
      ['value', 'either', '/either must be a number, not an object'],
      ['invariant', 'either', '/either must match at least one of the alternatives'],
    ],
    // Names that are none in FHIRPath.
    [
      { 'a b': 1, div: 2 },
      ['value', undefined, '/a b must be a string, not a number'],
      ['value', undefined, '/div must be a string, not a number'],
    ],
    // Messages of their author.
    [{ own: 1 }, ['value', 'own', 'Own must be text.']],
  ]
  const issuesOf = async (inputValidation: JsonObject, body: JsonObject) => {
    const reply = await send({ inputValidation }, body)
    assert.equal(reply.status, 400, reply.text)
    return issuesIn(reply.text)
  }
  for (const [body, ...expected] of cases) {
    test(JSON.stringify(body), async () => {
      const issues = await issuesOf(inBody, expected[0]?.[1] === 'name' ? body : { name: 'x', ...body })
      const found = issues.map(({ code, expression, details }) => [code, expression?.[0], details.text])
      assert.deepEqual(found, expected)
    })
  }

  test('whose expressions are in the body, where the schema names parts of the message', async () => {
    const schema = { required: ['query'], properties: { requestBody: { required: ['a'] } } }
    const issues = await issuesOf(schema, { more: 1 })
    const place = 'stage: validate; path: inputValidation.required[0]; pointer: '
    assert.deepEqual(
      issues.map(({ expression, details, diagnostics }) => [expression, details.text, diagnostics?.slice(37)]),
      [
        [undefined, '/query is required', `${place}/query`],
        [['a'], '/requestBody/a is required', `${place}/requestBody/a`],
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
