/** Endpoints as integrations have them: a schema, two transforms, a lookup, 60 mapping entries and a response request. */
import type { EndpointDocument } from './workload.ts'

const GROUPS = 6

/** The fields of a registration form: ten for each of its groups. `own`: text in the names of the fields. */
const groupFields = (group: number, own: string) => [
  { name: `id${own}`, schema: { type: 'string', minLength: 1, maxLength: 64 }, target: 'identifier[0].value' },
  { name: `system${own}`, schema: { type: 'string', format: 'uri' }, target: 'identifier[0].system' },
  { name: `given${own}`, schema: { type: 'string' }, target: 'name[0].given[]' },
  { name: `family${own}`, schema: { type: 'string' }, target: 'name[0].family' },
  {
    name: `gender${own}`,
    schema: { enum: ['F', 'M', 'U'] },
    target: {
      key: `group${group}.gender`,
      transform: { function: 'mapCodes', parameters: { F: 'female', M: 'male', default: 'unknown' } },
    },
  },
  {
    name: `born${own}`,
    schema: { type: 'string', format: 'date' },
    target: { key: `group${group}.birthDate`, transform: { function: 'dateTimeToDate' } },
  },
  { name: `phone${own}`, schema: { type: 'string', pattern: '^\\+?[0-9 ]{5,20}$' }, target: 'telecom[0].value' },
  { name: `email${own}`, schema: { type: 'string', format: 'email' }, target: 'telecom[1].value' },
  { name: `weight${own}`, schema: { type: 'number', minimum: 0.1, maximum: 650 }, target: 'weight' },
  { name: `active${own}`, schema: { type: 'boolean' }, target: { key: `group${group}.active`, default: true } },
]

/**
 * `count` endpoints on routes of their own. `own`: whether each has names of fields of its own, so that no two schemas,
 * mappings and expressions are equal; else those of all endpoints are. `origin`: of the server for lookups and results.
 */
export function typicalEndpoint(number: number, own: boolean, origin: string): EndpointDocument {
  const suffix = own ? `_${number}` : ''
  const properties: Record<string, unknown> = {}
  const inputMapping: Record<string, unknown> = {}
  for (let group = 0; group < GROUPS; group += 1) {
    const fields = groupFields(group, suffix)
    properties[`group${group}`] = {
      type: 'object',
      required: [fields[0]?.name],
      properties: Object.fromEntries(fields.map(({ name, schema }) => [name, schema])),
    }
    for (const { name, target } of fields) {
      const path = `requestBody.group${group}.${name}`
      inputMapping[path] = typeof target === 'string' ? `group${group}.${target}` : target
    }
  }
  return {
    name: `Typical ${number}`,
    endpoint: { pattern: `/typical/${number}/:ward` },
    transformation: { input: 'JSON', output: 'JSON' },
    constants: { system: 'https://registry.example' },
    inputValidation: { type: 'object', required: ['group0'], properties },
    inputTransforms: {
      name: `requestBody.group0.given${suffix} & ' ' & $uppercase(requestBody.group0.family${suffix})`,
      total: `$sum([requestBody.group0.weight${suffix}, requestBody.group1.weight${suffix}])`,
    },
    requests: {
      lookup: [
        {
          id: 'patient',
          config: {
            method: 'get',
            url: `${origin}/patients/:id`,
            params: {
              url: { id: { path: `payload.group0.id${suffix}` } },
              query: { ward: { path: 'urlParams.ward' } },
            },
          },
        },
      ],
      response: [{ id: 'registry', config: { method: 'post', url: `${origin}/registry` } }],
    },
    inputMapping: {
      ...inputMapping,
      'transforms.name': 'text',
      'lookupRequests.patient.data.id': 'subject.reference',
    },
  } as unknown as EndpointDocument
}

/** A message of such an endpoint, as JSON. */
export function typicalMessage(number: number, own: boolean): string {
  const suffix = own ? `_${number}` : ''
  const values = ['a1', 'https://registry.example/ids', 'Amara', 'Okafor', 'F', '1984-07-19', '+234 80 1234 5678']
  const all = [...values, 'amara@registry.example', 61.5, true]
  const group = Object.fromEntries(groupFields(0, suffix).map(({ name }, at) => [name, all[at]]))
  return JSON.stringify(Object.fromEntries(Array.from({ length: GROUPS }, (_, at) => [`group${at}`, group])))
}
