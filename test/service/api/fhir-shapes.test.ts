/** `GET /endpoints/shapes/fhir-r4`: the resources of FHIR R4, and the fields of each type. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { JsonObject } from '../../../src/core/json.ts'
import { json, type Service, startService } from '../../support/service.ts'

type Field = Readonly<{ path: string; types: readonly string[]; required?: true; of?: string }>

let service: Service
before(async () => {
  service = await startService()
})
after(() => service.stop())

const read = async (path: string) => {
  const reply = await fetch(`${service.adminUrl}${path}`)
  return { status: reply.status, body: (await reply.json()) as Readonly<Record<string, unknown>> }
}
const fieldsOf = async (type: string) =>
  (await read(`/endpoints/shapes/fhir-r4/${type}`)).body.fields as readonly Field[]

test('lists the resources', async () => {
  const { resources } = (await read('/endpoints/shapes/fhir-r4')).body as { resources: readonly string[] }
  assert.equal(resources.length, 146)
  assert.ok(resources.includes('Patient') && !resources.includes('HumanName'))
})

describe('a type has fields', () => {
  /** A field of a type, with the parts beside its path. */
  const cases: readonly (readonly [type: string, path: string, rest: object])[] = [
    ['Patient', 'birthDate', { types: ['string'] }],
    ['Patient', 'name[]', { types: ['object'], of: 'HumanName' }],
    ['Patient', 'deceasedBoolean', { types: ['boolean'] }],
    ['HumanName', 'given[]', { types: ['string'] }],
    // Required scalars are not required by the JSON Schema of FHIR, since an extension may stand for them.
    ['Observation', 'status', { types: ['string'], required: true }],
    ['Observation', 'code', { types: ['object'], required: true, of: 'CodeableConcept' }],
    ['Bundle', 'entry[]', { types: ['object'], of: 'Bundle_Entry' }],
    ['Bundle_Request', 'method', { types: ['string'], required: true }],
    ['Bundle_Entry', 'resource', { types: ['object'], of: 'Resource' }],
    ['Patient', 'contained[]', { types: ['object'], of: 'Resource' }],
    ['Range', 'low', { types: ['object'], of: 'Quantity' }],
    ['Quantity', 'value', { types: ['number'] }],
  ]
  for (const [type, path, rest] of cases) {
    test(`${type}.${path}`, async () => {
      const field = (await fieldsOf(type)).find((one) => one.path === path)
      assert.deepEqual(field, { path, ...rest })
    })
  }

  test('without those that extend scalars', async () => {
    assert.ok((await fieldsOf('Patient')).every(({ path }) => !path.startsWith('_')))
  })
})

test('says which types there are if it has none of the name', async () => {
  for (const name of ['Patients', '__proto__', 'constructor']) {
    const { status, body } = await read(`/endpoints/shapes/fhir-r4/${name}`)
    assert.deepEqual([status, body.code], [404, 'SHAPE_UNKNOWN'])
    assert.equal(body.error, `FHIR R4 has no type '${name}'; GET /endpoints/shapes/fhir-r4 lists the resources.`)
  }
})

describe('suggestions for a resource', () => {
  const suggest = async (target: JsonObject) => {
    const body = { person: { dob: '1980-02-03', surname: 'Doe', zip: '8001', display: 'x' } }
    const reply = await service.fetch('/endpoints/suggest', json('POST', { source: { body }, target }))
    return { status: reply.status, body: reply.json<Readonly<Record<string, unknown>>>() }
  }
  test('find names of the same meaning', async () => {
    const { body } = await suggest({ fhir: 'Patient' })
    const found = body.suggestions as readonly Readonly<Record<'source' | 'to' | 'reason', string>>[]
    assert.deepEqual(found.map(({ source, to }) => [source, to]).toSorted(), [
      ['requestBody.person.dob', 'birthDate'],
      ['requestBody.person.surname', 'name[].family'],
      ['requestBody.person.zip', 'address[].postalCode'],
    ])
    assert.ok(found.every(({ reason }) => reason.startsWith('a name of the same meaning')))
  })
  test('name the place of a request that is wrong', async () => {
    assert.equal((await suggest({ fhir: 'Nothing' })).body.code, 'SHAPE_UNKNOWN')
    const { status, body } = await suggest({ fhir: 'Patient', sample: {} })
    assert.equal(status, 400)
    assert.match(JSON.stringify(body.details), /"target".*Give one of/)
  })
})
