/**
 * The schema of requests: lookups, which fetch what a message lacks, and responses, which the output is sent to.
 */
import Type from 'typebox'
import type { Json } from '../../domain/json.ts'
import {
  type FieldNotes,
  flag,
  list,
  named,
  nonEmptyText,
  optional,
  path,
  record,
  STATUSES,
  status,
  text,
  topic,
  UNKNOWN,
  UNKNOWN_PATH,
  UNKNOWN_URL,
  whole,
} from './schema-fields.ts'

/** The methods that a request can use. */
export const REQUEST_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'] as const

export const ParameterSchema = record(
  {
    path: path('Where in the message the value is.', 'payload.patient.id'),
    prefix: optional(text({ description: 'Text put before the value.', examples: ['code:'], absentAs: null })),
    postfix: optional(text({ description: 'Text put after the value.', examples: [':exact'], absentAs: null })),
  },
  { description: 'A value read from the message for the URL of a request.' },
)

const params = record(
  {
    query: optional(
      named(ParameterSchema, {
        description: 'Query parameters by name; one whose path finds nothing is left out.',
        examples: [{ _id: { path: 'urlParams.id' } }],
      }),
    ),
    url: optional(
      named(ParameterSchema, {
        description:
          'Values for the `:name` placeholders of the URL; one whose path finds nothing is answered with 400.',
        examples: [{ id: { path: 'payload.id', prefix: 'p-' } }],
        namesInMessage: true,
        salvage: { [UNKNOWN]: { path: UNKNOWN_PATH } },
      }),
    ),
  },
  {
    description: 'Parameters of the URL, filled from the message.',
    absentAs: {},
    straysFrom: 'query',
    salvage: { url: { [UNKNOWN]: { path: UNKNOWN_PATH } } },
  },
)

const method = (fallback: string) =>
  Type.Enum([...REQUEST_METHODS], {
    description: 'Method of the request, in any case.',
    default: fallback,
    anyCase: true,
    examples: [fallback],
  } satisfies FieldNotes)

const url = {
  description:
    'Absolute http or https URL; `:name` in its path or query is a placeholder where `params.url` defines the name.',
  examples: ['https://fhir.example.org/Patient/:id'],
  salvage: UNKNOWN_URL,
}

const headers = optional(
  named(Type.String({ description: 'Value of the header.' }), {
    description: 'Headers of the request.',
    examples: [{ Accept: 'application/fhir+json' }],
    namesInMessage: true,
  }),
)

const followRedirects = (assumed: string) =>
  optional(
    whole(0, 10, {
      description:
        'How many redirects are followed, one after the other; across origins without headers that may be credentials.',
      assumed,
      examples: [3],
    }),
  )

const forEach = optional(
  record(
    {
      items: path('Where in the message the array is.', 'payload.entry'),
      concurrency: optional(
        Type.Union(
          [Type.Integer({ minimum: 1, maximum: 1000 }), Type.String({ pattern: '^(?:[1-9][0-9]{0,2}|1000)$' })],
          {
            description: 'How many calls of this request are under way at once, at most.',
            expects: 'a whole number from 1 to 1000, or such a number as a string',
            assumed: '1',
            examples: [4],
          } satisfies FieldNotes,
        ),
      ),
    },
    {
      description: 'Makes the request once for each element of an array, which `item` then holds.',
      absentAs: {},
      salvage: { items: UNKNOWN_PATH },
    },
  ),
)

const requestId = (among: string) =>
  nonEmptyText({
    description: `Name of the request, unique among the ${among} requests.`,
    examples: ['patient'],
    salvage: UNKNOWN,
  })

const manners = {
  forEach,
  allowedStatuses: optional(
    list(status, {
      description: 'The answers that count as success.',
      expects: `${STATUSES}, with at least one of them`,
      minItems: 1,
      absentAs: [],
      assumed: '`["2xx"]`',
      examples: [['2xx', '404']],
    }),
  ),
  timeoutMs: optional(
    whole(1, 300_000, {
      description: 'Milliseconds that the whole exchange may take, retries included.',
      assumed: '`REQUEST_TIMEOUT_MS`',
      examples: [5000],
    }),
  ),
  retries: optional(
    whole(0, 10, {
      description:
        'Further attempts after a network error, a 502, 503 or 504, or a 429 with `Retry-After`; for idempotent requests only.',
      assumed: '`REQUEST_RETRIES`',
      examples: [2],
    }),
  ),
  idempotent: optional(
    flag({
      description: 'Says that repeating the request does no harm, whatever its method, so that it may be retried.',
      assumed: 'by the method: `false` for POST and PATCH',
      examples: [true],
    }),
  ),
  optional: optional(
    flag({
      description: 'Lets the message go on where this request fails.',
      assumed: '`false`',
      examples: [true],
    }),
  ),
  default: optional(
    Type.Unsafe<Json>({
      description: 'What stands in for the answer of an `optional` request that failed: any JSON value.',
      assumed: 'nothing',
      examples: [{ status: 'unknown' }],
    } satisfies FieldNotes),
  ),
}

export const LookupSchema = record(
  {
    id: requestId('lookup'),
    config: record(
      {
        method: method('GET'),
        url: Type.String(url),
        headers,
        params: optional(params),
        followRedirects: followRedirects(
          '`5` within its origin for a `GET` whose `allowedStatuses` name no redirect, else `0`: a redirect is an answer like any other',
        ),
      },
      { description: 'The HTTP request to make.' },
    ),
    forwardExistingRequestBody: optional(
      flag({
        description: 'Sends the incoming body, or with `forEach` the current item, as the body of the request.',
        assumed: '`false`',
        examples: [true],
      }),
    ),
    ...manners,
    fhirResponse: optional(
      flag({
        description: 'Answers a failure of this lookup as a FHIR R4 OperationOutcome.',
        assumed: '`false`',
        examples: [true],
      }),
    ),
  },
  { description: 'A request made before the mapping; its answer is `lookupRequests.<id>`.', foreign: { _id: '' } },
)

export const ResponseSchema = record(
  {
    id: requestId('response'),
    config: optional(
      record(
        {
          method: method('POST'),
          url: optional(Type.String(url)),
          headers,
          params: optional(params),
          followRedirects: followRedirects('`0`: a redirect is an answer like any other'),
          primary: optional(
            flag({ description: 'Returns the answer of this request alone.', assumed: '`false`', examples: [true] }),
          ),
        },
        {
          description: 'The HTTP request to make; needed unless `kafkaProducerTopic` is given.',
          salvage: { method: 'POST', url: UNKNOWN_URL },
        },
      ),
    ),
    primary: optional(
      flag({ description: 'Another place for `config.primary`.', assumed: '`false`', examples: [true] }),
    ),
    kafkaProducerTopic: optional(topic('Topic that the output is produced to, instead of calling a URL.', 'patients')),
    key: optional(
      record(
        {
          path: path('Where in the message the key is.', 'payload.patient.id'),
          prefix: optional(text({ description: 'Text put before the value.', examples: ['patient-'], absentAs: null })),
          postfix: optional(text({ description: 'Text put after the value.', examples: ['-v2'], absentAs: null })),
        },
        {
          description:
            'Key of the record, for `kafkaProducerTopic`: records with the same key stay in order. A path that finds nothing leaves the key out.',
          salvage: { path: UNKNOWN_PATH },
        },
      ),
    ),
    ...manners,
  },
  {
    description: 'A request that the output is sent to.',
    foreign: {
      _id: '',
      forwardExistingRequestBody: 'A response request sends the output, whatever this says; leave it out.',
    },
    salvage: { id: UNKNOWN, config: { method: 'POST', url: UNKNOWN_URL } },
  },
)
