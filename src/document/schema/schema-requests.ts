/** The schema of requests: lookups fetch data that a message lacks, responses send the output on. */
import Type from 'typebox'
import type { Json } from '../../core/json.ts'
import { URL_SCHEMES } from '../../outbound/targets.ts'
import { delivery } from './schema-delivery.ts'
import {
  anyObject,
  expression,
  type FieldNotes,
  list,
  mapping,
  named,
  nonEmptyText,
  optional,
  path,
  type ReferenceStage,
  record,
  STATUSES,
  status,
  switchOn,
  text,
  topic,
  UNKNOWN,
  UNKNOWN_PATH,
  UNKNOWN_URL,
  whole,
} from './schema-fields.ts'
import { RequestAuthSchema } from './schema-request-auth.ts'

/** The methods that a request can use. */
const REQUEST_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'] as const

const valueFields = (what: string, prefix: string, postfix: string, reads: ReferenceStage) => ({
  path: optional(path(`Path of the ${what} in the message.`, 'payload.patient.id', reads)),
  expression: optional(
    expression(`JSONata that gives the ${what}, in place of \`path\`.`, '$uppercase(payload.id)', reads),
  ),
  prefix: optional(text({ description: 'Text before the value.', examples: [prefix], absentAs: null })),
  postfix: optional(text({ description: 'Text after the value.', examples: [postfix], absentAs: null })),
})

export const parameter = (reads: ReferenceStage) =>
  record(valueFields('value', 'code:', ':exact', reads), {
    description: 'A value of the message: for the URL or a header of a request, or for the answer.',
    foreign: { label: 'Nothing reads a label of a parameter; "description" of the endpoint is for people.' },
  })

export type ParameterSchema = ReturnType<typeof parameter>

const params = (reads: ReferenceStage) =>
  record(
    {
      query: optional(
        named(parameter(reads), {
          description: 'Query parameters by name; a parameter whose path finds nothing is left out.',
          examples: [{ _id: { path: 'urlParams.id' } }],
        }),
      ),
      url: optional(
        named(parameter(reads), {
          description:
            'Values for the `:name` placeholders of the URL; if a path finds nothing, the message is answered with 400.',
          examples: [{ id: { path: 'payload.id', prefix: 'p-' } }],
          namesInMessage: true,
          fallback: { [UNKNOWN]: { path: UNKNOWN_PATH } },
        }),
      ),
    },
    {
      description: 'Parameters of the URL, with values of the message.',
      absentAs: {},
      misplacedIn: 'query',
      fallback: { url: { [UNKNOWN]: { path: UNKNOWN_PATH } } },
    },
  )

const method = (fallback: string) =>
  Type.Enum([...REQUEST_METHODS], {
    description: 'Method of the request, in any case.',
    default: fallback,
    anyCase: true,
    examples: [fallback],
  } satisfies FieldNotes)

const SCHEMES = URL_SCHEMES.join(', ').replace(/, ([^,]*)$/, ' or $1')

const url = {
  description: `Absolute ${SCHEMES} URL; \`:name\` in its path or query is a placeholder where \`params.url\` defines the name.`,
  examples: ['https://fhir.example.org/Patient/:id'],
  fallback: UNKNOWN_URL,
}

/** A text, or a value of the message. */
export const textOrValue = (what: string, reads: ReferenceStage) =>
  Type.Union(
    [
      text({
        description: what,
        expects: 'a string, a number, or an object with "path" or "expression"',
        numberAsText: true,
      }),
      parameter(reads),
    ],
    { description: what } satisfies FieldNotes,
  )

const headers = (reads: ReferenceStage) =>
  optional(
    named(textOrValue('Value of the header.', reads), {
      description:
        'Headers of the request: texts, or values of the message, which are left out if they find nothing. A number is sent as its text.',
      examples: [{ Accept: 'application/fhir+json', 'X-Request-ID': { path: 'requestHeaders.x-request-id' } }],
      namesInMessage: true,
    }),
  )

const auth = optional(RequestAuthSchema)

const followRedirects = (assumed: string) =>
  optional(
    whole(0, 10, {
      description:
        'How many redirects in a row are followed; headers that may be credentials do not go to another origin.',
      assumed,
      examples: [3],
    }),
  )

const forEach = (reads: ReferenceStage) =>
  optional(
    record(
      {
        items: path('Path of the array in the message.', 'payload.entry', reads),
        concurrency: optional(
          Type.Union(
            [Type.Integer({ minimum: 1, maximum: 1000 }), Type.String({ pattern: '^(?:[1-9][0-9]{0,2}|1000)$' })],
            {
              description: 'The most calls of this request that are in flight at once.',
              expects: 'a whole number from 1 to 1000, or such a number as a string',
              assumed: '1',
              examples: [4],
            } satisfies FieldNotes,
          ),
        ),
      },
      {
        description: 'Makes the request once for each element of an array; `item` is that element.',
        absentAs: {},
        fallback: { items: UNKNOWN_PATH },
      },
    ),
  )

const requestId = (among: string) =>
  nonEmptyText({
    description: `Name of the request, unique among the ${among} requests.`,
    examples: ['patient'],
    fallback: UNKNOWN,
  })

const EXTRACT = 'Nothing reads this of a request; values for the next message are named in "state.extract".'

const sharedFields = (itemsRead: ReferenceStage) => ({
  when: optional(
    expression(
      'JSONata that gives `true` for the messages for which the request is made, with or without `forEach`.',
      "requestBody.type = 'lab'",
      itemsRead,
    ),
  ),
  forEach: forEach(itemsRead),
  allowedStatuses: optional(
    list(status, {
      description: 'The statuses that count as success.',
      expects: `${STATUSES}, with at least one of them`,
      minItems: 1,
      absentAs: [],
      assumed: '`["2xx"]`',
      examples: [['2xx', '404']],
    }),
  ),
  timeoutMs: optional(
    whole(1, 300_000, {
      description: 'Milliseconds that the request may take in all, including retries.',
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
  idempotent: switchOn(
    'Whether the request may be repeated without harm, whatever its method, so that it may be retried.',
    'by the method: `false` for POST and PATCH',
  ),
  optional: switchOn('Lets the message continue if this request fails.'),
  default: optional(
    Type.Unsafe<Json>({
      description: 'Replaces the answer of an `optional` request that failed: any JSON value.',
      assumed: 'nothing',
      examples: [{ status: 'unknown' }],
    } satisfies FieldNotes),
  ),
})

const body = record(
  {
    path: optional(path('Path of the body in the message.', 'payload.order', 'lookup-item')),
    expression: optional(expression('JSONata that gives the body.', '{ "codes": payload.lines.code }', 'lookup-item')),
    mapping: optional(
      mapping(
        'Source path → target, as in `inputMapping`: the body is the object that they make.',
        { 'payload.id': 'identifier' },
        'lookup-item',
      ),
    ),
  },
  {
    description:
      'The body of the request: a `path`, an `expression` or a `mapping`, written as the `Content-Type` of `headers` says, else as JSON. If a path or an expression finds nothing, no body is sent.',
    examples: [{ mapping: { 'payload.id': 'identifier' } }],
  },
)

const page = record(
  {
    next: Type.Union(
      [
        nonEmptyText({
          description: 'Path of the URL of the next page.',
          expects: 'a path, or an object with "path" or "expression"',
        }),
        record(
          {
            path: optional(path('Path of the URL of the next page.', 'page.data.next', 'lookup-page')),
            expression: optional(
              expression('JSONata that gives it.', "page.data.link[relation='next'].url", 'lookup-page'),
            ),
          },
          { description: 'Where the URL of the next page is.' },
        ),
      ],
      {
        description:
          'Gives the URL of the next page, absolute or relative to that of the page before and of the same origin, or finds nothing after the last page. `page` is the page that was read: `{ data, headers, status, index }`.',
        examples: ['page.data.next'],
        fallback: UNKNOWN_PATH,
        reads: 'lookup-page',
      } satisfies FieldNotes,
    ),
    max: whole(1, 1000, {
      description: 'The most pages. If there are more, the message is answered with 502: none is left out silently.',
      examples: [100],
      fallback: 1,
    }),
  },
  {
    description: 'Reads an answer in pages, by GET; `data` of the lookup is an array with that of each page.',
    fallback: { next: UNKNOWN_PATH, max: 1 },
  },
)

export const LookupSchema = record(
  {
    id: requestId('lookup'),
    after: optional(
      list(nonEmptyText({ description: 'Id of a lookup.' }), {
        description: 'Ids of lookups that are made before this one, besides those that it reads; `[]` for no others.',
        examples: [['patient']],
      }),
    ),
    config: record(
      {
        method: method('GET'),
        url: Type.String(url),
        headers: headers('lookup-item'),
        auth,
        body: optional(body),
        params: optional(params('lookup-item')),
        followRedirects: followRedirects(
          '`5` within its origin for a `GET` whose `allowedStatuses` name no redirect, else `0`: a redirect is an answer like any other',
        ),
      },
      {
        description: 'The HTTP request to make.',
        misplaced: { mapping: 'The mapping of a lookup makes its body; write it as "body": { "mapping": … }.' },
      },
    ),
    forwardExistingRequestBody: switchOn(
      'Sends the incoming body, or with `forEach` the current item, as the body of the request.',
    ),
    page: optional(page),
    validation: optional(
      anyObject({
        description:
          'JSON Schema (draft-07 or 2020-12) that the `data` of the lookup must satisfy, with `forEach` that of each item; if it does not, the message is answered with 502.',
        examples: [{ required: ['id'] }],
      }),
    ),
    ...sharedFields('lookup'),
    cache: optional(
      record(
        {
          seconds: whole(1, 86_400, {
            description: 'How long an answer is used again, in seconds.',
            fallback: 1,
            examples: [300],
          }),
          staleSeconds: optional(
            whole(0, 604_800, {
              description: 'How much longer an answer is used while the target fails, in seconds.',
              assumed: '`0`',
              examples: [86_400],
            }),
          ),
        },
        {
          description:
            'Keeps the answers of a GET lookup in memory, and makes one call for all messages that need the same one at once.',
        },
      ),
    ),
    fhirResponse: switchOn(
      'Answers a failure of this lookup as a FHIR R4 OperationOutcome, unless `failures` is `plain`.',
    ),
  },
  {
    description:
      'A request before the mapping; its answer is `lookupRequests.<id>`, which other lookups may read: they are made after it.',
    foreign: { _id: '', extract: EXTRACT },
    misplaced: {
      body: 'The body of a lookup is written within its "config".',
      mapping: 'The mapping of a lookup makes its body; write it as "config": { "body": { "mapping": … } }.',
    },
  },
)

const RESPONSE_BODY = 'A response request sends the output; write a "mapping" of the request to send something else.'

export const ResponseSchema = record(
  {
    id: requestId('response'),
    config: optional(
      record(
        {
          method: method('POST'),
          url: optional(Type.String(url)),
          headers: headers('respond-item'),
          auth,
          params: optional(params('respond-item')),
          followRedirects: followRedirects('`0`: a redirect is an answer like any other'),
          primary: switchOn('Returns the answer of this request alone.'),
        },
        {
          description: 'The HTTP request to make; required without `kafkaProducerTopic`.',
          misplaced: { body: RESPONSE_BODY },
          fallback: { method: 'POST', url: UNKNOWN_URL },
        },
      ),
    ),
    primary: switchOn('The same as `config.primary`.'),
    kafkaProducerTopic: optional(topic('Topic to which the output is produced, instead of calling a URL.', 'patients')),
    key: optional(
      record(valueFields('key', 'patient-', '-v2', 'respond-item'), {
        description:
          'Key of the record, for `kafkaProducerTopic`: records with the same key stay in order. If the path finds nothing, the record has no key.',
        fallback: { path: UNKNOWN_PATH },
      }),
    ),
    delivery: optional(delivery(valueFields('key', 'patient-', '-v2', 'respond-item'), 'respond-item')),
    mapping: optional(
      mapping(
        'Source path → target, in place of `inputMapping` for this request alone; with `forEach`, once for each item.',
        { 'requestBody.id': 'reference' },
        'respond-item',
      ),
    ),
    ...sharedFields('respond'),
  },
  {
    description: 'A request that sends the output.',
    misplaced: { body: RESPONSE_BODY },
    foreign: {
      _id: '',
      extract: EXTRACT,
      forwardExistingRequestBody: 'A response request sends the output, whatever this says; leave it out.',
    },
    fallback: { id: UNKNOWN, config: { method: 'POST', url: UNKNOWN_URL } },
  },
)
