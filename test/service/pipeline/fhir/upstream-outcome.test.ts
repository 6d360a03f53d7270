/** The OperationOutcome that a lookup was refused with: its issues come first, as they came. */
import assert from 'node:assert/strict'
import { after, before, describe, it, test } from 'node:test'
import { Failure } from '../../../../src/core/failure.ts'
import type { Json, JsonObject } from '../../../../src/core/json.ts'
import { withoutValues } from '../../../../src/pipeline/requests/secret-references.ts'
import { readIssues } from '../../../../src/pipeline/requests/upstream-answer.ts'
import { startCpuTime } from '../../../support/cpu-time.ts'
import fc from '../../../support/fast-check.ts'
import { LONG } from '../../../support/form.ts'
import { openPipeline, output } from '../fixture.ts'
import { faultsOf, issuesIn } from './operation-outcomes.ts'

const TOKEN = 'a-token-that-is-echoed'
const NAME = 'CROSSWALK_SECRET_TEST_ECHO'

const pipeline = openPipeline({ MESSAGE_LOG: 'all', REDACT_PATHS: 'valueIdentifier.value' })
before(() => {
  process.env[NAME] = TOKEN
})
after(() => {
  delete process.env[NAME]
})

/** Sends a message whose lookup is answered with 404 and this body, to an endpoint of FHIR unless the document says otherwise. */
const send = (said: Json, document: JsonObject = output('FHIR+JSON'), more: JsonObject = {}) => {
  const url = pipeline.at({ status: 404, type: 'application/fhir+json', body: JSON.stringify(said) })
  const lookup = [{ id: 'p', config: { url, headers: { 'X-Key': `\${env:${NAME}}` } }, ...more }]
  return pipeline.send({ ...document, requests: { lookup } })
}

const outcome = (...issue: Json[]): JsonObject => ({ resourceType: 'OperationOutcome', id: 'x', issue })

const SMALL = { severity: 'error', code: 'not-found' }
const FULL = {
  id: 'i1',
  extension: [{ url: 'http://example.org/line', valueInteger: 3 }],
  severity: 'fatal',
  code: 'code-invalid',
  details: { coding: [{ system: 'http://example.org', code: 'MSG 1', display: 'A' }], text: 'No such patient.' },
  diagnostics: 'Patient/17 is not here\n  at once',
  location: ['/f:Patient'],
  expression: ['Patient.name[0]'],
}

const LANGUAGE = { extension: [{ url: 'http://hl7.org/fhir/StructureDefinition/translation' }] }
const EXTENDED = {
  ...SMALL,
  _code: { id: 'c' },
  details: { coding: [{ display: 'A', _display: LANGUAGE }], text: 'No such patient.', _text: LANGUAGE },
  diagnostics: 'None',
  _diagnostics: LANGUAGE,
  location: ['/f:Patient'],
  _location: [LANGUAGE],
}

describe('the issues of the other system come first, unchanged', () => {
  const cases: [name: string, said: Json, kept: readonly Json[]][] = [
    ['a small one', outcome(SMALL), [SMALL]],
    ['several, with everything', outcome(FULL, SMALL), [FULL, SMALL]],
    ['but for those that R4 does not know', outcome({ severity: 'success', code: 'success' }, SMALL), [SMALL]],
    ['with extensions of primitive values', outcome(EXTENDED), [EXTENDED]],
    [
      'but for white space that the schema of R4 has no place for',
      outcome({ ...SMALL, diagnostics: 'Patient\u00a017\u202f: inconnu\u0007' }),
      [{ ...SMALL, diagnostics: 'Patient 17 : inconnu ' }],
    ],
    ['but for those with unknown members', outcome({ ...SMALL, more: 1 }), []],
    ['none of another resource', { ...outcome(SMALL), resourceType: 'Bundle' }, []],
    ['none of an outcome without issues', { resourceType: 'OperationOutcome' }, []],
    ['none of a text', 'Not found', []],
    ['none of an outcome of more than 256 KiB', outcome({ ...SMALL, diagnostics: 'x'.repeat(262_144) }), []],
  ]
  for (const [name, said, kept] of cases) {
    it(name, async () => {
      for (const reply of [await send(said), await send(said, {}, { fhirResponse: true })]) {
        assert.deepEqual([reply.status, reply.headers.get('x-crosswalk-code')], [404, 'LOOKUP_REFUSED'])
        const issues = issuesIn(reply.text)
        assert.deepEqual(issues.slice(0, -1), kept)
        const own = issues.at(-1)
        assert.deepEqual([own?.severity, own?.code], ['error', 'not-found'])
        assert.match(own?.details.text ?? '', /^p answered 404 to GET http:\S+: /)
      }
    })
  }

  test('and plain failures hold the start of the body, as before', async () => {
    const { error } = (await send(outcome(SMALL), {})).json()
    const [start, ...said] = String(error).split(': ')
    assert.match(start ?? '', /^p answered 404 to GET http:\S+$/)
    assert.equal(said.join(': '), JSON.stringify(outcome(SMALL)))
  })
})

test('a secret that the other system repeats is hidden in its issues', async () => {
  const echoed = { ...FULL, diagnostics: `X-Key ${TOKEN} is wrong`, details: { text: TOKEN } }
  const { text } = await send(outcome(echoed))
  assert.equal(text.includes(TOKEN), false)
  const [first] = issuesIn(text)
  assert.deepEqual(first, {
    ...echoed,
    diagnostics: `X-Key \${env:${NAME}} is wrong`,
    details: { text: `\${env:${NAME}}` },
  })
})

test('the message log has the answer as it was sent, without what is redacted', async () => {
  const extension = [{ url: 'http://example.org/person', valueIdentifier: { value: '123-45-6789' } }]
  const reply = await send(outcome({ ...SMALL, extension, diagnostics: 'No 123-45-6789 here' }))
  assert.equal(issuesIn(reply.text).length, 2)
  const id = reply.headers.get('x-crosswalk-message-id')
  const record = await fetch(`${pipeline.service.adminUrl}/messages/${id}`)
  assert.match(await record.text(), /"code":"LOOKUP_REFUSED"/)
  const kept = await fetch(`${pipeline.service.adminUrl}/messages/${id}/body/answer`)
  const [theirs, ours] = ((await kept.json()) as { issue: JsonObject[] }).issue
  assert.deepEqual(theirs?.extension, [{ url: 'http://example.org/person', valueIdentifier: { value: '***' } }])
  assert.equal(theirs?.diagnostics, 'No *** here')
  assert.match(String((ours as { details: JsonObject }).details.text), /^p answered 404 to GET http:\S+: \*\*\*$/)
})

test('whatever another system says, what is taken from it is valid in R4', () => {
  const word = fc.oneof(
    fc.constantFrom('error', 'fatal', 'not-found', 'http://a', 'a b', ' ', ''),
    fc.string({ unit: 'binary' }),
  )
  const extension = fc.array(fc.record({ url: word, valueString: word, other: word }, { requiredKeys: [] }))
  const coding = fc.record(
    { system: word, code: word, display: word, userSelected: fc.oneof(word, fc.boolean()) },
    { requiredKeys: [] },
  )
  const issue = fc.record(
    {
      id: word,
      severity: fc.oneof(fc.constant('error'), word),
      _diagnostics: fc.oneof(fc.jsonValue(), fc.record({ id: word, extension }, { requiredKeys: [] })),
      code: fc.oneof(fc.constant('not-found'), word),
      details: fc.oneof(fc.jsonValue(), fc.record({ coding: fc.array(coding), text: word }, { requiredKeys: [] })),
      diagnostics: word,
      location: fc.oneof(word, fc.array(word)),
      expression: fc.array(fc.oneof(word, fc.jsonValue())),
      other: word,
      modifierExtension: extension,
    },
    { requiredKeys: ['severity', 'code'] },
  )
  const said = fc.oneof(
    fc.array(fc.oneof(issue, fc.jsonValue())).map((issues) => ({ resourceType: 'OperationOutcome', issue: issues })),
    fc.jsonValue(),
  )
  fc.assert(
    fc.property(said, (value) => {
      const taken = readIssues({ status: 404, headers: {}, body: Buffer.from(JSON.stringify(value)) })
      if (taken.length > 0) assert.equal(faultsOf({ resourceType: 'OperationOutcome', issue: taken }), '')
    }),
    { numRuns: LONG ? 1_000 : 300 },
  )
})

test('secrets are found in as many texts as an outcome can hold, without holding up messages', () => {
  const secrets = new Map([
    ['pa$$ wörd/1&"x', '${env:A}'],
    ['se/cr+et=1', '${env:B}'],
  ])
  const issues = Array.from({ length: 7_000 }, () => ({ severity: 'error', code: 'value' }))
  const failureOf = (list: readonly JsonObject[]) => new Failure('LOOKUP_REFUSED', 'Refused.', { issues: list })
  const oneByOne = startCpuTime()
  for (const issue of issues) withoutValues(failureOf([issue]), secrets)
  const oneByOneMs = oneByOne()
  const together = startCpuTime()
  const { options } = withoutValues(failureOf([...issues, { diagnostics: 'has se/cr+et=1' }]), secrets)
  assert.ok(together() < oneByOneMs / 2, 'The forms of the secrets were made for each text.')
  assert.deepEqual(options.issues?.at(-1), { diagnostics: 'has ${env:B}' })
})
