import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Sample, startSample } from '../run-sample.ts'

let sample: Sample

before(async () => {
  sample = await startSample(import.meta.dirname)
})
after(() => sample.stop())

test('turns the form into a Patient', async () => {
  const reply = await sample.send('/registrations', sample.text('input.json'))
  assert.equal(reply.status, 200)
  assert.equal(reply.headers.get('content-type'), 'application/fhir+json')
  assert.deepEqual(reply.json(), sample.json('output.json'))
})

const cases = [
  {
    name: 'leaves out what the form leaves out: no telecom without a number, no empty given name',
    form: { mrn: '004218', lastName: 'Lindqvist', firstName: 'Elias', middleName: null, sex: 'M' },
    patient: {
      resourceType: 'Patient',
      identifier: [{ value: '004218', system: 'urn:oid:2.16.840.1.113883.19.5' }],
      name: [{ family: 'Lindqvist', given: ['Elias'] }],
      gender: 'male',
    },
  },
  {
    name: 'calls a sex that it does not know, or that is missing, unknown; drops a date that is none',
    form: { mrn: '004219', lastName: 'Tamm', sex: '?', bornOn: 'about 1950' },
    patient: {
      resourceType: 'Patient',
      identifier: [{ value: '004219', system: 'urn:oid:2.16.840.1.113883.19.5' }],
      name: [{ family: 'Tamm' }],
      gender: 'unknown',
    },
  },
]

for (const { name, form, patient } of cases) {
  test(name, async () => {
    const reply = await sample.send('/registrations', JSON.stringify(form))
    assert.equal(reply.status, 200)
    assert.deepEqual(reply.json(), patient)
  })
}
