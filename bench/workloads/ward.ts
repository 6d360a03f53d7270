/** W5: about 16 KB of JSON, validated down to every field, and 60 mappings over its arrays. */
import type { Workload } from './workload.ts'

type Row = Readonly<Record<string, string | number | boolean>>
type Day = Readonly<Record<'patients' | 'encounters' | 'observations', readonly Row[]>>

/** The target of each field of a row. */
const PATIENTS = {
  id: 'id',
  mrn: 'identifier.value',
  family: 'name.family',
  given: 'name.given',
  prefix: 'name.prefix',
  bornOn: 'birthDate',
  sex: 'gender',
  phone: 'telecom.phone',
  email: 'telecom.email',
  street: 'address.line',
  city: 'address.city',
  district: 'address.district',
  postalCode: 'address.postalCode',
  country: 'address.country',
  language: 'communication.language',
  insurer: 'coverage.payor',
  policy: 'coverage.identifier',
  doctor: 'generalPractitioner.reference',
  clinic: 'managingOrganization.reference',
  active: 'active',
}
const ENCOUNTERS = {
  id: 'id',
  patient: 'subject.reference',
  kind: 'class.code',
  status: 'status',
  reason: 'reason.code',
  reasonText: 'reason.text',
  from: 'period.start',
  to: 'period.end',
  minutes: 'length.value',
  ward: 'location.ward',
  room: 'location.room',
  bed: 'location.bed',
  admittedBy: 'participant.admitter',
  seenBy: 'participant.attender',
  referredBy: 'participant.referrer',
  diagnosis: 'diagnosis.code',
  diagnosisText: 'diagnosis.text',
  discharge: 'hospitalization.disposition',
  diet: 'hospitalization.diet',
  account: 'account.reference',
}
const OBSERVATIONS = {
  id: 'id',
  patient: 'subject.reference',
  encounter: 'encounter.reference',
  code: 'code.code',
  name: 'code.text',
  system: 'code.system',
  value: 'valueQuantity.value',
  unit: 'valueQuantity.unit',
  low: 'referenceRange.low',
  high: 'referenceRange.high',
  flag: 'interpretation.code',
  takenAt: 'effectiveDateTime',
  issuedAt: 'issued',
  status: 'status',
  category: 'category.code',
  method: 'method.text',
  device: 'device.reference',
  specimen: 'specimen.reference',
  performer: 'performer.reference',
  note: 'note.text',
}

const GROUPS = { patients: PATIENTS, encounters: ENCOUNTERS, observations: OBSERVATIONS }
const NUMBERS = ['minutes', 'value', 'low', 'high']
const ROWS = 5
const WORDS = 'as we were told on the ward rounds'

/** Values of some length, each another one. */
function fieldValue(name: string, row: number): Row[string] {
  if (name === 'active') return row % 2 === 0
  return NUMBERS.includes(name) ? row * 7 + name.length / 2 : `${name.toLowerCase()}-${1_000 + row * 37} ${WORDS}`
}

const rowsOf = (fields: Readonly<Record<string, string>>): readonly Row[] =>
  Array.from({ length: ROWS }, (_, row) =>
    Object.fromEntries(Object.keys(fields).map((name) => [name, fieldValue(name, row)])),
  )

const MESSAGE: Day = {
  patients: rowsOf(PATIENTS),
  encounters: rowsOf(ENCOUNTERS),
  observations: rowsOf(OBSERVATIONS),
}

/** `requestBody.patients[].family` to `patients[].name.family`, and so on. */
const MAPPING: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(GROUPS).flatMap(([group, fields]) =>
    Object.entries(fields).map(([name, target]) => [`requestBody.${group}[].${name}`, `${group}[].${target}`]),
  ),
)

const schemaOf = (name: string) => {
  if (name === 'active') return { type: 'boolean' }
  if (NUMBERS.includes(name)) return { type: 'number', minimum: 0, maximum: 10_000 }
  return { type: 'string', minLength: 3, maxLength: 100 }
}

const rowsSchema = (fields: Readonly<Record<string, string>>) => ({
  type: 'array',
  minItems: 1,
  maxItems: 100,
  items: {
    type: 'object',
    required: Object.keys(fields),
    properties: Object.fromEntries(Object.keys(fields).map((name) => [name, schemaOf(name)])),
    additionalProperties: false,
  },
})

const SCHEMA = {
  type: 'object',
  required: Object.keys(GROUPS),
  properties: Object.fromEntries(Object.entries(GROUPS).map(([group, fields]) => [group, rowsSchema(fields)])),
}

export const ward: Workload & Readonly<{ mapping: typeof MAPPING; value: Day }> = {
  id: 'W5',
  title: '16 KB JSON, deep validation, 60 mappings over arrays',
  message: JSON.stringify(MESSAGE),
  contentType: 'application/json',
  document: () => ({
    name: 'The day of a ward',
    endpoint: { pattern: '/days' },
    transformation: { input: 'JSON', output: 'JSON' },
    inputValidation: SCHEMA,
    inputMapping: MAPPING,
  }),
  hand: {
    map: (day: Day) => ({
      patients: day.patients.map((row) => ({
        id: row.id,
        identifier: { value: row.mrn },
        name: { family: row.family, given: row.given, prefix: row.prefix },
        birthDate: row.bornOn,
        gender: row.sex,
        telecom: { phone: row.phone, email: row.email },
        address: {
          line: row.street,
          city: row.city,
          district: row.district,
          postalCode: row.postalCode,
          country: row.country,
        },
        communication: { language: row.language },
        coverage: { payor: row.insurer, identifier: row.policy },
        generalPractitioner: { reference: row.doctor },
        managingOrganization: { reference: row.clinic },
        active: row.active,
      })),
      encounters: day.encounters.map((row) => ({
        id: row.id,
        subject: { reference: row.patient },
        class: { code: row.kind },
        status: row.status,
        reason: { code: row.reason, text: row.reasonText },
        period: { start: row.from, end: row.to },
        length: { value: row.minutes },
        location: { ward: row.ward, room: row.room, bed: row.bed },
        participant: { admitter: row.admittedBy, attender: row.seenBy, referrer: row.referredBy },
        diagnosis: { code: row.diagnosis, text: row.diagnosisText },
        hospitalization: { disposition: row.discharge, diet: row.diet },
        account: { reference: row.account },
      })),
      observations: day.observations.map((row) => ({
        id: row.id,
        subject: { reference: row.patient },
        encounter: { reference: row.encounter },
        code: { code: row.code, text: row.name, system: row.system },
        valueQuantity: { value: row.value, unit: row.unit },
        referenceRange: { low: row.low, high: row.high },
        interpretation: { code: row.flag },
        effectiveDateTime: row.takenAt,
        issued: row.issuedAt,
        status: row.status,
        category: { code: row.category },
        method: { text: row.method },
        device: { reference: row.device },
        specimen: { reference: row.specimen },
        performer: { reference: row.performer },
        note: { text: row.note },
      })),
    }),
    contentType: 'application/json',
  },
  mapping: MAPPING,
  value: MESSAGE,
}
