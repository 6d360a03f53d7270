/** Endpoints of many kinds with messages for them, and the upstream that they call. */
import type { ServerResponse } from 'node:http'
import type { Json, JsonObject } from '../../../../src/core/json.ts'
import type { Received } from '../../../support/service.ts'

export type Sent = Readonly<{ path: string; method: string; headers: Record<string, string>; body?: string }>

export type VariedEndpoint = Readonly<{
  kind: string
  document: JsonObject
  /** The n-th message. */
  message(n: number): Sent
}>

const NAMES = ['Ada Lovelace', 'Grace Hopper', 'Jean Bartik', 'Émilie du Châtelet', 'Михаил Ломоносов']
export const nameOf = (n: number): string => `${NAMES[n % NAMES.length]} ${1_000 + n}`
const bornOf = (n: number): string =>
  new Date(Date.UTC(1930 + (n % 80), n % 12, 1 + (n % 28))).toISOString().slice(0, 10)
const idOf = (n: number): string => String(700_000 + n * 37)

/** Answers by the path: patients, prices, and what responses send; 404 and 500 for some. */
export function answerUpstream({ url, body }: Received, response: ServerResponse): Json | undefined {
  const { pathname, searchParams } = new URL(url, 'http://x')
  const id = pathname.split('/').at(-1) ?? ''
  if (pathname.startsWith('/patients/')) {
    if (Number(id) % 5 === 0) {
      response.statusCode = 404
      response.setHeader('content-type', 'application/json')
      response.end(`{ "error": "no patient ${id}" }\n`)
      return undefined
    }
    return { id, name: `Patient ${id}`, born: '1980-05-17', ward: Number(id) % 2 === 0 ? 'north' : 'south' }
  }
  if (pathname.startsWith('/prices'))
    return { code: id, price: Number(id.slice(-3)) / 4, for: searchParams.getAll('for') }
  if (pathname.startsWith('/broken')) {
    response.statusCode = 500
    return { error: 'broken' }
  }
  if (pathname.startsWith('/store'))
    return { stored: true, size: body.length, echo: JSON.parse(body || 'null') as Json }
  if (pathname.startsWith('/xml')) {
    response.setHeader('content-type', 'application/xml')
    response.end(`<patient id="${id}"><name>Xaver ${id}</name><born>1975-03-02</born></patient>`)
    return undefined
  }
  return {}
}

const lookup = (id: string, url: string, more: JsonObject = {}): JsonObject => ({
  id,
  config: { method: 'GET', url, ...more },
})

/** `upstream`: its URL. */
export function variedEndpoints(upstream: string): readonly VariedEndpoint[] {
  const post = (path: string, body: Json): Sent => ({
    path,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const person = (n: number): JsonObject => ({
    id: idOf(n),
    name: nameOf(n),
    born: bornOf(n),
    gender: n % 2 === 0 ? 'F' : 'M',
    visits: [{ at: `${bornOf(n)}T10:00:00Z`, code: `c${idOf(n)}` }],
    weight: 40 + n / 8,
  })
  const ofPersons = (kind: string, pattern: string, document: JsonObject): VariedEndpoint => ({
    kind,
    document: { endpoint: { pattern }, ...document },
    message: (n) => post(pattern, person(n)),
  })
  const byId = { params: { url: { id: { path: 'payload.id' } } } }
  const patients = lookup('patient', `${upstream}/patients/:id`, byId)
  return [
    ofPersons('mapping', '/varied/mapping', {
      constants: { source: 'crosswalk' },
      inputMapping: {
        'requestBody.id': 'identifier[0].value',
        'requestBody.name': { key: 'name', transform: 'stringify' },
        'requestBody.born': 'birthDate',
        'requestBody.gender': {
          key: 'gender',
          transform: { function: 'mapCodes', parameters: { F: 'female', M: 'male', default: 'unknown' } },
        },
        'requestBody.visits[].code': 'codes[]',
        'constants.source': 'meta.source',
      },
    }),
    {
      kind: 'forEach',
      document: {
        endpoint: { pattern: '/varied/items' },
        requests: {
          lookup: [
            {
              ...lookup('prices', `${upstream}/prices/:code`, {
                params: { url: { code: { path: 'item' } }, query: { for: { path: 'payload.id' } } },
              }),
              forEach: { items: 'payload.codes', concurrency: 2 },
            },
          ],
        },
        inputMapping: { 'lookupRequests.prices[].data.price': 'prices[]', 'requestBody.codes': 'codes' },
      },
      message: (n) =>
        post('/varied/items', { id: idOf(n), codes: Array.from({ length: n % 4 }, (_, i) => idOf(n + i)) }),
    },
    ofPersons('time and chance', '/varied/time', {
      inputTransforms: {
        upper: '$uppercase(requestBody.name)',
        at: '$now()',
        ms: '$millis()',
        day: '$substringBefore($now(), "T")',
        number: '$floor($random() * 1000000)',
        list: '$shuffle([1, 2, 3, 4, 5])',
      },
      inputMapping: {
        'transforms.upper': 'name',
        'transforms.at': 'at',
        'transforms.ms': 'ms',
        'transforms.day': 'day',
        'transforms.number': 'number',
        'transforms.list': 'list',
        'timestamps.endpointStart': 'start',
      },
    }),
    {
      kind: 'XML to JSON',
      document: {
        endpoint: { pattern: '/varied/from-xml' },
        transformation: { input: 'XML', output: 'JSON' },
        inputMapping: {
          'requestBody.name': 'name',
          'requestBody.result[].value': 'values[]',
          'requestBody.$.id': 'id',
        },
      },
      message: (n) => ({
        path: '/varied/from-xml',
        method: 'POST',
        headers: { 'content-type': 'application/xml' },
        body: `<?xml version="1.0"?>\n<report id="${idOf(n)}"><name>${nameOf(n)}</name>${[1, 2]
          .map((i) => `<result><value>${n * i}.5</value></result>`)
          .join('')}</report>`,
      }),
    },
    ofPersons('JSON to XML', '/varied/to-xml', {
      transformation: { input: 'JSON', output: 'XML' },
      requests: { lookup: [lookup('xml', `${upstream}/xml/:id`, byId)] },
      inputMapping: {
        'requestBody.name': 'person.name',
        'lookupRequests.xml.data.born': 'person.born',
        'requestBody.visits[].code': 'person.code[]',
      },
    }),
    ofPersons('response', '/varied/response', {
      requests: {
        lookup: [patients],
        response: [{ id: 'store', config: { method: 'POST', url: `${upstream}/store/:id`, ...byId } }],
      },
      inputMapping: {
        'requestBody.name': 'name',
        'lookupRequests.patient.data.ward': 'ward',
        'requestBody.born': 'born',
      },
    }),
    {
      kind: 'validation',
      document: {
        endpoint: { pattern: '/varied/valid' },
        inputValidation: {
          type: 'object',
          properties: {
            requestBody: {
              type: 'object',
              required: ['id', 'status'],
              properties: { status: { enum: ['final', 'preliminary'] }, id: { type: 'string', pattern: '^\\d+$' } },
            },
          },
        },
        inputMapping: { 'requestBody.id': 'id', 'requestBody.status': 'status' },
      },
      message: (n) =>
        post('/varied/valid', { ...person(n), ...(n % 3 === 0 ? {} : { status: n % 3 === 1 ? 'final' : 'unknown' }) }),
    },
    {
      kind: 'URL, query and headers',
      document: {
        endpoint: { pattern: '/varied/url/:id', method: 'GET' },
        inputMapping: {
          'urlParams.id': 'id',
          'query.code': 'codes',
          'requestHeaders.x-tenant': 'tenant',
          'query.missing': { key: 'missing', default: 'none' },
        },
      },
      message: (n) => ({
        path: `/varied/url/${idOf(n)}?code=a${n}&code=b%20${n}`,
        method: 'GET',
        headers: { 'x-tenant': `ward ${n % 7}` },
      }),
    },
    ofPersons('no mapping of lookups', '/varied/two', {
      requests: { lookup: [patients, lookup('broken', `${upstream}/broken`)] },
    }),
  ]
}
