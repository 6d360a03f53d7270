/** The operation ConceptMap/$translate of FHIR R4 over tables. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { json, type Service, startService } from '../../support/service.ts'

const SOURCE = 'http://example.org/sex'
const TARGET = 'http://hl7.org/fhir/administrative-gender'
const MAP = {
  resourceType: 'ConceptMap',
  url: 'http://example.org/fhir/ConceptMap/sex',
  status: 'active',
  sourceUri: 'http://example.org/vs/sex',
  targetCanonical: 'http://hl7.org/fhir/ValueSet/administrative-gender',
  group: [
    {
      source: SOURCE,
      target: TARGET,
      element: [
        { code: 'M', target: [{ code: 'male', display: 'Male', equivalence: 'equal' }] },
        {
          code: 'X',
          target: [
            { code: 'other', equivalence: 'wider' },
            { code: 'unknown', equivalence: 'inexact' },
          ],
        },
        { code: 'N', target: [{ equivalence: 'unmatched', comment: 'Nothing is like it.' }] },
      ],
    },
  ],
}

let service: Service
before(async () => {
  service = await startService()
  const put = (name: string, type: string, body: string) =>
    fetch(`${service.adminUrl}/tables/${name}`, { method: 'PUT', headers: { 'content-type': type }, body })
  assert.equal((await put('sex', 'application/fhir+json', JSON.stringify(MAP))).status, 201)
  assert.equal((await put('unit', 'text/csv', 'code,ucum\nmilligram,mg\nnone,\n')).status, 201)
})
after(() => service.stop())

const URL_OF_MAP = encodeURIComponent(MAP.url)
const ask = async (query: string, init?: RequestInit) => {
  const response = await fetch(`${service.adminUrl}/fhir/ConceptMap/$translate${query}`, init)
  assert.equal(response.headers.get('content-type'), 'application/fhir+json')
  return { status: response.status, body: (await response.json()) as JsonObject }
}

const match = (equivalence: string, coding?: JsonObject, source = MAP.url) => ({
  name: 'match',
  part: [
    { name: 'equivalence', valueCode: equivalence },
    ...(coding === undefined ? [] : [{ name: 'concept', valueCoding: coding }]),
    ...(source === '' ? [] : [{ name: 'source', valueUri: source }]),
  ],
})
const male = match('equal', { system: TARGET, code: 'male', display: 'Male' })
const translated = (...matches: readonly Json[]) => [{ name: 'result', valueBoolean: true }, ...matches]

const answers: readonly (readonly [query: string, parameter: readonly Json[]])[] = [
  [`?url=${URL_OF_MAP}&code=M`, translated(male)],
  [`?url=sex&code=M&system=${SOURCE}`, translated(male)],
  [
    `?source=${encodeURIComponent(MAP.sourceUri)}&target=${encodeURIComponent(MAP.targetCanonical)}&code=M`,
    translated(male),
  ],
  [
    `?url=sex&code=X`,
    translated(
      match('wider', { system: TARGET, code: 'other' }),
      match('inexact', { system: TARGET, code: 'unknown' }),
    ),
  ],
  [`?url=unit&code=milligram&_format=json`, translated(match('equivalent', { code: 'mg' }, ''))],
]
for (const [query, parameter] of answers) {
  test(`GET ${query} answers with Parameters`, async () => {
    assert.deepEqual(await ask(query), { status: 200, body: { resourceType: 'Parameters', parameter } })
  })
}

const without = (query: string) => async () => {
  const { status, body } = await ask(query)
  const [result, message] = body.parameter as JsonObject[]
  assert.deepEqual([status, result, message?.name], [200, { name: 'result', valueBoolean: false }, 'message'])
}
for (const query of [
  '?url=sex&code=Q',
  '?url=sex&code=N',
  '?url=unit&code=none',
  '?url=sex&code=M&system=http://other.example',
  '?url=sex&code=M&targetsystem=http://other.example',
]) {
  test(`GET ${query} has no result, and says so`, without(query))
}

test('POST takes Parameters, with a coding or a codeable concept', async () => {
  const post = (...parameter: readonly JsonObject[]) => {
    const body = JSON.stringify({
      resourceType: 'Parameters',
      parameter: [{ name: 'url', valueUri: MAP.url }, ...parameter],
    })
    return ask('', { method: 'POST', headers: { 'content-type': 'application/fhir+json' }, body })
  }
  const coding = { system: SOURCE, code: 'M' }
  for (const parameter of [
    { name: 'code', valueCode: 'M' },
    { name: 'coding', valueCoding: coding },
    {
      name: 'codeableConcept',
      valueCodeableConcept: { coding: [{ system: 'http://other.example', code: 'M' }, coding] },
    },
  ]) {
    assert.deepEqual((await post(parameter)).body.parameter, translated(male))
  }
  assert.equal((await ask('', json('POST', { resourceType: 'Patient' }))).status, 400)
})

const refused: readonly (readonly [query: string, status: number, code: string])[] = [
  ['?code=M', 400, 'FILTER_INVALID'],
  ['?url=sex', 400, 'FILTER_INVALID'],
  ['?url=sex&code=male&reverse=true', 400, 'FILTER_INVALID'],
  ['?url=http://unknown.example&code=M', 404, 'TABLE_UNKNOWN'],
]
for (const [query, status, code] of refused) {
  test(`GET ${query} is refused with an OperationOutcome`, async () => {
    const { status: was, body } = await ask(query)
    const [issue] = body.issue as { details: { coding: { code: string }[] }; diagnostics?: string }[]
    assert.equal(issue?.diagnostics, undefined)
    assert.deepEqual([was, body.resourceType, issue?.details.coding[0]?.code], [status, 'OperationOutcome', code])
  })
}
