/** W1, flat JSON to nested JSON by five mappings, and the workloads built on it; W7 keeps a field from message to message. */
import type { EndpointDocument, Workload } from './workload.ts'

type Person = Readonly<Record<'id' | 'firstName' | 'lastName' | 'bornOn' | 'city', string>>

const MESSAGE: Person = {
  id: '004217',
  firstName: 'Amara',
  lastName: 'Okafor',
  bornOn: '1984-07-19',
  city: 'Lagos',
}

const MAPPING = {
  'requestBody.id': 'person.id',
  'requestBody.firstName': 'person.name.given',
  'requestBody.lastName': 'person.name.family',
  'requestBody.bornOn': 'person.birthDate',
  'requestBody.city': 'address.city',
}

const nest = ({ id, firstName, lastName, bornOn, city }: Person) => ({
  person: { id, name: { given: firstName, family: lastName }, birthDate: bornOn },
  address: { city },
})

const FLAT: EndpointDocument = {
  name: 'Flat to nested',
  endpoint: { pattern: '/people' },
  transformation: { input: 'JSON', output: 'JSON' },
  inputMapping: MAPPING,
}

export const flat: Workload & Readonly<{ mapping: typeof MAPPING; value: Person }> = {
  id: 'W1',
  title: 'flat JSON to nested JSON, 5 mappings',
  message: JSON.stringify(MESSAGE),
  contentType: 'application/json',
  document: () => FLAT,
  hand: { map: nest, contentType: 'application/json' },
  mapping: MAPPING,
  value: MESSAGE,
}

/** Every message reads what the one before it left, and waits until its own is safely on the disk. */
export const withState: Workload = {
  ...flat,
  id: 'W7',
  title: 'W1 with state, written before the answer',
  document: () => ({
    ...FLAT,
    name: 'Flat to nested, with state',
    endpoint: { pattern: '/people-with-state' },
    state: { extract: { requestBody: { id: 'id' } } },
    inputMapping: { ...MAPPING, 'state.requestBody.id': 'previous.id' },
  }),
  hand: {
    map: ({ id, firstName, lastName, bornOn, city }: Person) => ({
      person: { id, name: { given: firstName, family: lastName }, birthDate: bornOn },
      address: { city },
      previous: { id },
    }),
    contentType: 'application/json',
  },
}

/**
 * `count` endpoints that do the work of W1, each on a route of its own, every other one with a parameter, the last too:
 * `path` is what asks it.
 */
export function manyEndpoints(count: number): Readonly<{ documents: readonly EndpointDocument[]; path: string }> {
  const documents = Array.from({ length: count }, (_, n): EndpointDocument => {
    const pattern = (count - n) % 2 === 1 ? `/clinics/c${n}/:ward/people` : `/clinics/c${n}/people`
    return { ...FLAT, name: `Flat to nested ${n}`, endpoint: { pattern } }
  })
  return { documents, path: `/clinics/c${count - 1}/north/people` }
}
