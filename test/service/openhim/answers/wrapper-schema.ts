/** The answer of a mediator as openhim-core 4 to 8 stores it (its model of transactions), without anything more. */
import { Ajv } from 'ajv'
import formats from 'ajv-formats'

const time = { type: 'string', format: 'date-time' }
/** Databases of older cores refuse dots in names, and dollars at their start. */
const storable = { type: 'string', pattern: '^[^.$\\u0000]+$' }
const headers = {
  type: 'object',
  propertyNames: storable,
  additionalProperties: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] },
}
const status = { type: 'integer', minimum: 100, maximum: 599 }
const object = (required: Readonly<Record<string, unknown>>, optional: Readonly<Record<string, unknown>> = {}) => ({
  type: 'object',
  required: Object.keys(required),
  properties: { ...required, ...optional },
  additionalProperties: false,
})
const error = object({ message: { type: 'string', minLength: 1 } }, { stack: { type: 'string' } })
const text = { type: 'string' }

export const WRAPPER_SCHEMA = object(
  {
    'x-mediator-urn': { type: 'string', minLength: 1 },
    status: { enum: ['Successful', 'Completed', 'Completed with error(s)', 'Failed'] },
    response: object({ status, headers: { ...headers, propertyNames: {} }, body: text, timestamp: time }),
    orchestrations: {
      type: 'array',
      items: object(
        { name: { type: 'string', minLength: 1 } },
        {
          group: text,
          request: object(
            {
              host: text,
              port: { type: 'string', pattern: '^\\d*$' },
              path: text,
              querystring: text,
              method: text,
              headers,
              timestamp: time,
            },
            { body: text },
          ),
          response: object({ headers, timestamp: time }, { status, body: text }),
          error,
        },
      ),
    },
    properties: {
      type: 'object',
      propertyNames: storable,
      additionalProperties: {
        anyOf: [{ type: 'string' }, { type: 'integer' }, { type: 'array', items: { type: 'string' } }],
      },
    },
  },
  { error },
)

const ajv = new Ajv({ allErrors: true })
formats.default(ajv)
const validate = ajv.compile(WRAPPER_SCHEMA)

/** What is wrong with a wrapper, one line a fault. */
export function wrapperFaults(wrapper: unknown): readonly string[] {
  return validate(wrapper) ? [] : (validate.errors ?? []).map((one) => `${one.instancePath} ${one.message}`)
}

export type Exchange = Readonly<{ headers: Record<string, unknown>; body?: string; timestamp: string }>

export type Wrapper = Readonly<{
  'x-mediator-urn': string
  status: string
  response: Exchange & Readonly<{ status: number; body: string }>
  orchestrations: readonly Readonly<{
    name: string
    group?: string
    request: Exchange & Readonly<Record<'host' | 'port' | 'path' | 'querystring' | 'method', string>>
    response?: Exchange & Readonly<{ status: number }>
    error?: Readonly<{ message: string }>
  }>[]
  properties: Readonly<Record<string, unknown>>
  error?: Readonly<{ message: string }>
}>
