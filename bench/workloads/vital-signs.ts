/** W2: validation, two JSONata transforms and 25 mappings to a FHIR Bundle. */
import type { Workload } from './workload.ts'

type VitalSigns = Readonly<{
  patientId: string
  encounterId: string
  measuredAt: string
  performer: string
  device: string
  heartRate: number
  temperatureF: number
  note: string
}>

const MESSAGE: VitalSigns = {
  patientId: 'p-10021',
  encounterId: 'e-77',
  measuredAt: '2026-03-04T08:15:00+02:00',
  performer: 'Practitioner/n-4',
  device: 'Device/d-9',
  heartRate: 88,
  temperatureF: 101.3,
  note: 'after rest',
}

const text = (maxLength: number) => ({ type: 'string', minLength: 1, maxLength })

export const vitalSigns: Workload = {
  id: 'W2',
  title: 'validation, 2 JSONata transforms, 25 mappings to a FHIR Bundle',
  message: JSON.stringify(MESSAGE),
  contentType: 'application/json',
  document: () => ({
    name: 'Vital signs to a Bundle',
    endpoint: { pattern: '/vital-signs' },
    transformation: { input: 'JSON', output: 'FHIR+JSON' },
    constants: {
      bundle: 'Bundle',
      transaction: 'transaction',
      observation: 'Observation',
      final: 'final',
      loinc: 'http://loinc.org',
      units: 'http://unitsofmeasure.org',
      heartRate: '8867-4',
      temperature: '8310-5',
      perMinute: '/min',
      celsius: 'Cel',
      post: 'POST',
      category: 'vital-signs',
      heartRateName: 'Heart rate',
      temperatureName: 'Body temperature',
      perMinuteName: 'beats/minute',
      celsiusName: 'C',
    },
    inputValidation: {
      type: 'object',
      required: ['patientId', 'measuredAt', 'heartRate', 'temperatureF'],
      properties: {
        patientId: { type: 'string', pattern: '^[A-Za-z0-9.-]{1,64}$' },
        encounterId: text(64),
        measuredAt: { type: 'string', format: 'date-time' },
        performer: text(100),
        device: text(100),
        heartRate: { type: 'integer', minimum: 20, maximum: 300 },
        temperatureF: { type: 'number', minimum: 77, maximum: 113 },
        note: text(1_000),
      },
    },
    inputTransforms: {
      patient: "'Patient/' & requestBody.patientId",
      celsius: '$round((requestBody.temperatureF - 32) * 5 / 9, 1)',
    },
    inputMapping: {
      'constants.bundle': 'resourceType',
      'constants.transaction': 'type',
      'constants.observation': [
        'entry[0].resource.resourceType',
        'entry[1].resource.resourceType',
        'entry[0].request.url',
        'entry[1].request.url',
      ],
      'constants.post': ['entry[0].request.method', 'entry[1].request.method'],
      'constants.final': ['entry[0].resource.status', 'entry[1].resource.status'],
      'constants.category': [
        'entry[0].resource.category[0].coding[0].code',
        'entry[1].resource.category[0].coding[0].code',
      ],
      'constants.loinc': ['entry[0].resource.code.coding[0].system', 'entry[1].resource.code.coding[0].system'],
      'constants.heartRate': 'entry[0].resource.code.coding[0].code',
      'constants.heartRateName': 'entry[0].resource.code.text',
      'constants.temperature': 'entry[1].resource.code.coding[0].code',
      'constants.temperatureName': 'entry[1].resource.code.text',
      'transforms.patient': ['entry[0].resource.subject.reference', 'entry[1].resource.subject.reference'],
      'requestBody.patientId': 'entry[1].resource.subject.identifier.value',
      'requestBody.encounterId': 'entry[0].resource.encounter.identifier.value',
      'requestBody.measuredAt': ['entry[0].resource.effectiveDateTime', 'entry[1].resource.effectiveDateTime'],
      'requestBody.performer': 'entry[0].resource.performer[0].reference',
      'requestBody.device': 'entry[1].resource.device.reference',
      'requestBody.heartRate': 'entry[0].resource.valueQuantity.value',
      'constants.perMinuteName': 'entry[0].resource.valueQuantity.unit',
      'constants.perMinute': 'entry[0].resource.valueQuantity.code',
      'transforms.celsius': 'entry[1].resource.valueQuantity.value',
      'constants.celsiusName': 'entry[1].resource.valueQuantity.unit',
      'constants.units': ['entry[0].resource.valueQuantity.system', 'entry[1].resource.valueQuantity.system'],
      'constants.celsius': 'entry[1].resource.valueQuantity.code',
      'requestBody.note': 'entry[0].resource.note[0].text',
    },
  }),
  hand: {
    map: ({ patientId, encounterId, measuredAt, performer, device, heartRate, temperatureF, note }: VitalSigns) => ({
      resourceType: 'Bundle',
      type: 'transaction',
      entry: [
        {
          resource: {
            resourceType: 'Observation',
            status: 'final',
            category: [{ coding: [{ code: 'vital-signs' }] }],
            code: { coding: [{ system: 'http://loinc.org', code: '8867-4' }], text: 'Heart rate' },
            subject: { reference: `Patient/${patientId}` },
            encounter: { identifier: { value: encounterId } },
            effectiveDateTime: measuredAt,
            performer: [{ reference: performer }],
            valueQuantity: {
              value: heartRate,
              unit: 'beats/minute',
              code: '/min',
              system: 'http://unitsofmeasure.org',
            },
            note: [{ text: note }],
          },
          request: { url: 'Observation', method: 'POST' },
        },
        {
          resource: {
            resourceType: 'Observation',
            status: 'final',
            category: [{ coding: [{ code: 'vital-signs' }] }],
            code: { coding: [{ system: 'http://loinc.org', code: '8310-5' }], text: 'Body temperature' },
            subject: { reference: `Patient/${patientId}`, identifier: { value: patientId } },
            effectiveDateTime: measuredAt,
            device: { reference: device },
            valueQuantity: {
              value: Math.round(((temperatureF - 32) * 50) / 9) / 10,
              unit: 'C',
              system: 'http://unitsofmeasure.org',
              code: 'Cel',
            },
          },
          request: { url: 'Observation', method: 'POST' },
        },
      ],
    }),
    contentType: 'application/fhir+json',
  },
}
