/** The messages of the documents that are measured, as shapes from which messages are made at random. */
import type { Json, JsonObject } from '../../../src/core/json.ts'

/**
 * A text names what a value is, with `?` behind it if it may be missing; `a|b` are codes; a list has 0 to 3 of its one shape
 * (1 to 3 with `+` before it), or its three; an object has its members, each of which may be missing where its name ends in `?`.
 */
export type Shape = string | readonly Shape[] | { readonly [name: string]: Shape }

export type Random = Readonly<{
  below(limit: number): number
  pick<T>(list: readonly T[]): T
  chance(share: number): boolean
}>

/** Mulberry32. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
  for (let warm = 0; warm < 10; warm++) next()
  const below = (limit: number) => Math.floor(next() * limit)
  return { below, pick: (list) => list[below(list.length)] as (typeof list)[number], chance: (share) => next() < share }
}

const SYLLABLES = ['ka', 'lo', 'mi', 'ta', 'ru', 'ne', 'so', 'va', 'be', 'du', 'fi', 'go', 'ha', 'je', 'wo', 'zi']
const word = (random: Random): string => {
  const text = Array.from({ length: 2 + random.below(3) }, () => random.pick(SYLLABLES)).join('')
  return text.charAt(0).toUpperCase() + text.slice(1)
}
const two = (value: number) => String(value).padStart(2, '0')
const date = (random: Random) => [1940 + random.below(80), two(1 + random.below(12)), two(1 + random.below(28))]
const time = (random: Random) => [two(random.below(24)), two(random.below(60)), two(random.below(60))]

const MAKERS: Readonly<Record<string, (random: Random) => Json>> = {
  text: word,
  words: (random) => `${word(random)} ${word(random)}`,
  id: (random) => String(10_000 + random.below(9_000_000)),
  uuid: (random) =>
    Array.from({ length: 8 }, () => random.below(65_536).toString(16).padStart(4, '0'))
      .join('')
      .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'),
  uri: (random) => `http://${word(random).toLowerCase()}.example/${word(random).toLowerCase()}`,
  date: (random) => date(random).join('-'),
  datetime: (random) => `${date(random).join('-')}T${time(random).join(':')}Z`,
  hl7date: (random) => date(random).join(''),
  hl7time: (random) => `${date(random).join('')}${time(random).join('')}+0200`,
  int: (random) => 1 + random.below(200),
  small: (random) => 1 + random.below(20),
  number: (random) => Number((random.below(20_000) / 100 + 1).toFixed(2)),
  digits: (random) => (random.below(20_000) / 100 + 1).toFixed(2),
  bool: (random) => random.chance(0.5),
  dotdate: (random) => date(random).toReversed().join('.'),
  clock: (random) => time(random).join(':'),
  millis: (random) => Date.UTC(2000 + random.below(30), random.below(12), 1 + random.below(28), random.below(24)),
  digit: (random) => String(1 + random.below(5)),
  loinc: (random) => `${100 + random.below(90_000)}-${random.below(10)}`,
}

const MISSING = 0.25

export function makeValue(shape: Shape, random: Random): Json | undefined {
  if (typeof shape === 'string') {
    if (shape.endsWith('?')) return random.chance(MISSING) ? undefined : makeValue(shape.slice(0, -1), random)
    if (shape.startsWith('=')) return shape.slice(1)
    const maker = MAKERS[shape]
    return maker === undefined ? random.pick(shape.split('|')) : maker(random)
  }
  if (Array.isArray(shape)) {
    if (shape.length === 3) return shape.map((one: Shape) => makeValue(one, random) ?? null)
    const inner = shape[shape.length - 1] as Shape
    const least = shape.length > 1 ? 1 : 0
    return Array.from({ length: least + random.below(4 - least) }, () => makeValue(inner, random) ?? null)
  }
  const made: Record<string, Json> = {}
  for (const [name, inner] of Object.entries(shape as Readonly<Record<string, Shape>>)) {
    const isOptional = name.endsWith('?')
    if (isOptional && random.chance(MISSING)) continue
    const value = makeValue(inner, random)
    if (value !== undefined) made[isOptional ? name.slice(0, -1) : name] = value
  }
  return made
}

/** `hl7` and `xml` of a shape are texts with `{shape}` in them; lines that begin with `*` occur 1 to 3 times, with `?` sometimes. */
export type MessageShape = Readonly<{
  body?: Shape
  text?: string
  query?: Shape
  urlParams?: Shape
  lookups?: Readonly<Record<string, Shape>>
}>

export function makeMessage({ text, ...shapes }: MessageShape, random: Random): JsonObject {
  const made = Object.fromEntries(
    Object.entries(shapes).map(([part, shape]) => [part, makeValue(shape as Shape, random) ?? {}]),
  )
  return text === undefined ? made : { ...made, body: makeText(text, random) }
}

function makeText(text: string, random: Random): string {
  const lines = text.split('\n').flatMap((line) => {
    const times = line.startsWith('*')
      ? 1 + random.below(3)
      : line.startsWith('?')
        ? Number(!random.chance(MISSING))
        : 1
    return Array.from({ length: times }, () => line.replace(/^[*?]/, ''))
  })
  return lines
    .map((line) => line.replace(/\{([^{}]+)\}/g, (_all, shape: string) => String(makeValue(shape, random) ?? '')))
    .join(text.startsWith('MSH') ? '\r' : '\n')
}

const patient: Shape = {
  resourceType: '=Patient',
  'gender?': 'male|female|other',
  'birthDate?': 'date',
  'name?': ['+', { family: 'text', given: ['+', 'text'] }],
  'address?': ['+', { city: 'text' }],
  'telecom?': ['+', { value: 'id', system: 'phone|email' }],
  'identifier?': ['+', { system: 'NationalID|Passport', value: 'id' }],
}
const golden: Shape = {
  goldenId: 'uuid',
  uid: 'uuid',
  demographicData: {
    givenName: 'text?',
    familyName: 'text?',
    city: 'text?',
    dob: 'date?',
    phoneNumber: 'id?',
    nationalId: 'id?',
    gender: 'male|female?',
  },
  'sourceId?': { facility: 'text', patient: 'id' },
}
const linked: Shape = {
  goldenRecord: golden,
  interactionsWithScore: [{ interaction: { uid: 'uuid' }, score: 'number' }],
}
const bundle: Shape = {
  resourceType: '=Bundle',
  entry: [{ fullUrl: 'uri', resource: { resourceType: 'Location|Organization', id: 'uuid', name: 'words' } }],
}

const units: Shape = { organisationUnits: ['+', { id: 'uuid', displayName: 'words' }] }

const IMPORTER = 'jembi+platform/client-registry-jempi/importer/mapping-mediator/'
const MEDIATOR = 'jembi+openhim-mediator-mapping/samples/'
const WORKFORCE = 'openhie+instant/healthworkforce/docker/importer/volume/'

/** By the path of a document, without its ending: below samples/, or below the folder of documents that people run. */
export const SHAPES: Readonly<Record<string, MessageShape>> = {
  'flat-json-to-fhir-patient/endpoint': {
    body: {
      mrn: 'id',
      lastName: 'text',
      firstName: 'text',
      'middleName?': 'text',
      sex: 'F|M|O',
      bornOn: 'datetime',
      'mobile?': 'id',
    },
  },
  'lab-xml-to-json-and-back/endpoint': {
    text: '<labReport id="{id}" status="{final|partial}">\n<patient mrn="{id}"><family>{text}</family>\n<given>{text}</given></patient>\n?<collected>{datetime}</collected>\n*<result loinc="{loinc}"><name>{words}</name><value unit="{mg|g/dL|mmol}">{digits}</value><flag>{H|L|N}</flag></result>\n</labReport>',
  },
  'lab-xml-to-json-and-back/endpoint-back': {
    body: {
      reportId: 'id',
      status: 'final|partial',
      patient: { mrn: 'id', familyName: 'text', givenName: 'text' },
      'collectedAt?': 'datetime',
      results: [{ code: 'loinc', name: 'words', unit: 'mg|g/dL|mmol?', text: 'digits', 'flag?': 'H|L|N' }],
    },
  },
  'fhir-observation-bundle/endpoint': {
    body: { patientId: 'id', measuredAt: 'datetime', heartRate: 'int', temperatureF: 'number' },
  },
  'facility-list-page-by-page/endpoint': {
    body: { pages: ['+', 'small'] },
    lookups: {
      register: [
        '+',
        {
          forEachItem: {
            facilities: [
              '+',
              { code: 'id', name: 'words', state: 'open|closed|paused', 'lon?': 'number', 'lat?': 'number' },
            ],
          },
        },
      ],
    },
  },
  'order-enrichment/endpoint': {
    body: { orderId: 'id', patientId: 'id', 'ward?': 'text', tests: ['+', { loinc: 'loinc', quantity: 'small' }] },
    lookups: {
      patient: { id: 'id', name: { family: 'text', given: 'text' }, birthDate: 'date', 'insurance?': { number: 'id' } },
      prices: { currency: 'EUR|USD|CHF', prices: [{ code: 'loinc', name: 'words', amount: 'number' }] },
    },
  },
  'polling-with-state/endpoint': {
    lookups: {
      observations: {
        meta: { lastUpdated: 'datetime' },
        link: [{ relation: 'self|next', url: 'uri' }],
        entry: [
          {
            resource: {
              id: 'id',
              meta: { lastUpdated: 'datetime' },
              subject: { reference: 'uri' },
              code: { coding: ['+', { code: 'loinc' }] },
              'valueQuantity?': { value: 'number', code: 'mg|g' },
              effectiveDateTime: 'datetime',
            },
          },
        ],
      },
    },
  },
  'hl7v2-admission-to-fhir/endpoint': {
    text: 'MSH|^~\\&|HIS|NORTH|CROSSWALK|REGION|20260105091500+0200||ADT^A01^ADT_A01|{id}|P|2.5.1||||||UNICODE UTF-8\nEVN|A01|20260105090000+0200\nPID|1||{id}^^^{text}^MR~{id}^^^{text}^NI||{text}^{text}^{text}||{hl7date}|{M|F|O}|||{words}^^{text}^{text}^{id}\nPV1|1|{I|O|E}|{loinc}^{int}^{M|F}^{text}||||{int}^{text}^{text}|||MED|||||||||{id}|||||||||||||||||||||||||{hl7time}',
  },
  'hl7v2-results-to-fhir/endpoint': {
    text: 'MSH|^~\\&|LAB|NORTH|CROSSWALK|REGION|20260105121500+0200||ORU^R01^ORU_R01|{id}|P|2.5.1||||||UNICODE UTF-8\nPID|1||{id}^^^{text}^MR||{text}^{text}\nOBR|1|O1^HIS|F1^LAB|58410-2^Blood count^LN|||{hl7time}\n*OBX|1|NM|{loinc}^{text}^LN||{digits}|{g/dL|mmol}^^UCUM|{int}-{int}|{N|H|L}|||{F|P|C}',
  },
  [`${MEDIATOR}basicMapping/endpoint`]: {
    body: { name: 'text', surname: 'text', 'address?': { street_address: 'words', town: 'text', 'country?': 'text' } },
  },
  [`${MEDIATOR}bahmniPatientToFhir/endpoint`]: {
    body: {
      identifiers: [
        {
          identifier: 'id',
          display: 'words',
          uuid: 'uuid',
          'resourceVersion?': 'text',
          identifierType: { display: 'words', links: ['+', { uri: 'uri' }] },
          links: ['+', { uri: 'uri' }],
        },
      ],
      person: {
        names: ['+', { display: 'words', familyName: 'text', givenName: 'text', 'middleName?': 'text' }],
        birthdate: 'datetime',
        voided: 'bool',
        dead: 'bool',
        'deathDate?': 'datetime',
        gender: 'F|M|O?',
        addresses: [
          {
            display: 'words',
            cityVillage: 'text',
            'stateProvince?': 'text',
            country: 'text',
            'postalCode?': 'id',
            'countyDistrict?': 'text',
            'startDate?': 'date',
            'endDate?': 'date',
            address1: 'words',
            'address2?': 'words',
            'address3?': 'words',
          },
        ],
      },
    },
  },
  [`${MEDIATOR}fhirObservationsHeightWeight/endpoint`]: {
    body: { id: 'id', display: 'words', height: 'digits', weight: 'number' },
  },
  [`${MEDIATOR}requestsDHIS2/endpointPart1`]: { lookups: { dhisOrg1: units, dhisOrg2: units, dhisOrg3: units } },
  [`${MEDIATOR}stateDemo/endpoint`]: {
    body: { statusCode: 'int' },
    lookups: { requestId1: {}, requestId2: { uuid: 'uuid' } },
  },
  [`${MEDIATOR}requestsDHIS2/endpointPart2`]: { body: { consolidated: [{ id: 'uuid', displayName: 'words' }] } },
  [`${IMPORTER}update`]: {
    body: patient,
    urlParams: { patientId: 'uuid' },
    lookups: { jempiUpdate: { done: 'bool' } },
  },
  [`${IMPORTER}register`]: {
    body: patient,
    lookups: { jempiRegister: { linkInfo: { interactionUID: 'uuid', 'goldenUID?': 'uuid' } } },
  },
  [`${IMPORTER}register-response`]: { body: patient },
  [`${IMPORTER}update-response`]: { body: patient, urlParams: { patientId: 'uuid' } },
  [`${IMPORTER}patientLinks`]: { urlParams: { patientId: 'uuid' }, lookups: { jempiSearch: linked } },
  [`${IMPORTER}search`]: { urlParams: { patientId: 'uuid' }, lookups: { jempiSearch: linked } },
  [`${IMPORTER}patientLinksInteractionResponse`]: { urlParams: { patientId: 'uuid' } },
  [`${IMPORTER}searchResponse`]: { urlParams: { patientId: 'uuid' } },
  [`${IMPORTER}searchAll`]: { lookups: { jempiSearchAll: { goldenRecords: [golden] } } },
  [`${IMPORTER}searchAllProbabilistic`]: {
    body: patient,
    lookups: { jempiSearchAllProbabilistic: { goldenRecords: [golden] } },
  },
  [`${IMPORTER}searchAllProbabilisticResponse`]: {
    body: {
      parameter: [
        {
          name: 'text',
          valueString: 'text',
          part: [
            { name: '=operator', valueString: 'and|or' },
            { name: '=fn', valueString: 'eq|jaro' },
            { name: '=distance', valueInteger: 'small' },
          ],
        },
      ],
    },
  },
  [`${IMPORTER}searchAllResponse`]: {
    query: {
      'family?': 'text',
      'given?': 'text',
      'gender?': 'male|female',
      'birthDate?': 'date',
      'address?': 'text',
      'telecom?': 'id',
      'identifier?': 'id',
    },
  },
  [`${IMPORTER}patientLinksResponse`]: {
    urlParams: { patientId: 'uuid' },
    lookups: { jempiSearchGoldenId: [{ goldenRecordsWithScore: [{ goldenRecord: golden }] }] },
  },
  [`${WORKFORCE}endpoint`]: {
    lookups: {
      'gofr-location': bundle,
      'gofr-organization': bundle,
      'ihris-practitioner': bundle,
      'ihris-practitionerRole': bundle,
    },
  },
  [`${WORKFORCE}endpoint-2`]: {
    body: {
      Locations: bundle['entry' as never] ?? [],
      Organizations: [{ id: 'uuid' }],
      PractitionerRoles: [{ id: 'uuid' }],
      Practitioners: [{ id: 'uuid' }],
    } as Shape,
  },
}
