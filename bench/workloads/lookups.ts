/** W3: one GET lookup, then mapping. W8: fifty of them for the items of a message, ten at a time. */
import type { Workload } from './workload.ts'

type Order = Readonly<{ number: string; patient: string; priority: string }>
type Found = Readonly<{ code: string; display: string }>

const ORDER: Order = { number: 'o-118', patient: 'p-10021', priority: 'urgent' }

export const oneLookup: Workload = {
  id: 'W3',
  title: 'one GET lookup, then 5 mappings',
  message: JSON.stringify(ORDER),
  contentType: 'application/json',
  document: ({ origin }) => ({
    name: 'Order with its patient',
    endpoint: { pattern: '/orders' },
    transformation: { input: 'JSON', output: 'JSON' },
    requests: {
      lookup: [
        {
          id: 'patient',
          config: {
            method: 'GET',
            url: `${origin}/patients/:id`,
            params: { url: { id: { path: 'payload.patient' } } },
          },
        },
      ],
    },
    inputMapping: {
      'requestBody.number': 'order.number',
      'requestBody.priority': 'order.priority',
      'requestBody.patient': 'patient.id',
      'lookupRequests.patient.data.code': 'patient.code',
      'lookupRequests.patient.data.display': 'patient.name',
    },
  }),
  hand: {
    lookups: ({ patient }: Order) => [`/patients/${encodeURIComponent(patient)}`],
    map: ({ number, patient, priority }: Order, [found]) => {
      const { code, display } = found as Found
      return { order: { number, priority }, patient: { id: patient, code, name: display } }
    },
    contentType: 'application/json',
  },
}

const CODES = Array.from({ length: 50 }, (_, n) => ({ code: `c${1_000 + n}` }))

export const fiftyLookups: Workload = {
  id: 'W8',
  title: 'forEach of 50 lookups, 10 at a time',
  message: JSON.stringify({ codes: CODES }),
  contentType: 'application/json',
  document: ({ origin }) => ({
    name: 'Names of codes',
    endpoint: { pattern: '/codes' },
    transformation: { input: 'JSON', output: 'JSON' },
    requests: {
      lookup: [
        {
          id: 'codes',
          forEach: { items: 'payload.codes', concurrency: 10 },
          config: { method: 'GET', url: `${origin}/codes/:code`, params: { url: { code: { path: 'item.code' } } } },
        },
      ],
    },
    inputMapping: {
      'lookupRequests.codes[].data.code': 'codes[].code',
      'lookupRequests.codes[].data.display': 'codes[].name',
    },
  }),
  hand: {
    lookups: ({ codes }: { codes: typeof CODES }) => codes.map(({ code }) => `/codes/${encodeURIComponent(code)}`),
    concurrency: 10,
    map: (_message: unknown, found) => ({
      codes: found.map((one) => {
        const { code, display } = one as Found
        return { code, name: display }
      }),
    }),
    contentType: 'application/json',
  },
}
