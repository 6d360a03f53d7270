/** What one endpoint adds to an OpenAPI document. */
import { takesBody } from '../../core/http.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { answerFormat, type Endpoint } from '../../document/schema/schema.ts'
import { codecForFormat, MEDIA_TYPES } from '../../formats/codecs.ts'
import { splitPattern, variableName } from '../../language/route-pattern.ts'
import { checkTestFile } from '../tests/check-test-file.ts'
import { parseOperator } from '../tests/operators.ts'
import type { DocumentTest, TestFile } from '../tests/test-file.ts'
import { describeAnswer } from './answer-responses.ts'
import { componentName, describeFailures, type KnownFailures, sharedName } from './failure-responses.ts'
import {
  describeRequest,
  type PublishSettings,
  pathParameters,
  type RequestSchemas,
  readParameters,
} from './request-schema.ts'

/** A message and its answer for people to read, such as a test of the document that is published. */
type PublishedExample = Readonly<{
  name: string
  summary?: string
  /** The body of the request as sent. */
  request?: JsonObject[string]
  status?: number
  /** The body of the answer. */
  answer?: JsonObject[string]
}>

/** An endpoint with its examples. */
export type PublishedEndpoint = Readonly<{ endpoint: Endpoint; examples?: readonly PublishedExample[] }>

export type PublishedRoute = Readonly<{
  /** With `{name}` for each parameter, and for a wildcard. */
  path: string
  /** Equal for all paths that differ in the names of their parameters only, which OpenAPI takes for one; `*` ends that of a wildcard. */
  shape: string
  /** In lower case. */
  method: string
  /** Of the path. */
  parameters: readonly JsonObject[]
}>

type PublishedOperation = Readonly<{
  operation: JsonObject
  /** By the section of `components` and the name. Parts that endpoints share have the same name and content. */
  components: Readonly<Record<'schemas' | 'responses' | 'securitySchemes', JsonObject>>
}>

/** Where callers reach an endpoint; undefined if it has no route. */
export function describeRoute({ endpoint: { pattern, method } }: Endpoint): PublishedRoute | undefined {
  if (pattern === undefined) return undefined
  const segments = splitPattern(pattern)
  return {
    path: `/${segments.map((segment) => segment.replace(/^[:*](.*)$/s, '{$1}')).join('/')}`,
    shape: `/${segments.map((segment) => (variableName(segment) === undefined ? segment : segment.slice(0, 1))).join('/')}`,
    method: method.toLowerCase(),
    parameters: pathParameters(pattern),
  }
}

/** The members of an operation that say whose it is; the first of all. */
export const summarise = ({ name, description }: Endpoint): JsonObject => ({
  operationId: componentName(name),
  summary: name,
  ...(description === undefined ? {} : { description }),
})

/**
 * In: a checked document without faults; `known`: shared by the endpoints of one OpenAPI document. Out: the operation of its
 * route, without what `summarise` gives, upstreams, their headers and secrets: the fields that hold them are not read, and constants that are or refer
 * to a credential are described by their type.
 */
export function describeOperation(
  endpoint: Endpoint,
  settings: PublishSettings,
  examples: readonly PublishedExample[] = [],
  known?: KnownFailures,
): PublishedOperation {
  const request = describeRequest(endpoint, settings, componentName(endpoint.name))
  const failures = describeFailures(endpoint, known)
  const auth = describeAuth(endpoint)
  const parameters = readParameters(endpoint, request, auth.headers)
  const requestBody = describeBody(endpoint, request, examples)
  const answers = withExamples(describeAnswer(endpoint, request, settings), endpoint, examples)
  return {
    operation: {
      ...(parameters.length === 0 ? {} : { parameters }),
      ...(requestBody === undefined ? {} : { requestBody }),
      responses: { ...failures.responses, ...answers },
      security: auth.security,
      ...(requestBody === undefined && request.note !== undefined ? { 'x-crosswalk-note': request.note } : {}),
    },
    components: { schemas: request.components, responses: failures.components, securitySchemes: auth.schemes },
  }
}

function describeBody(
  endpoint: Endpoint,
  request: RequestSchemas,
  examples: readonly PublishedExample[],
): JsonObject | undefined {
  const { method } = endpoint.endpoint
  const { input } = endpoint.transformation
  if (!takesBody(method) || input === undefined) return undefined
  const codec = codecForFormat(input)
  const schema = request.body === undefined ? {} : { $ref: `#${request.body.location}` }
  const given = examples.flatMap((one) =>
    one.request === undefined ? [] : [[one.name, toOpenApiExample(one, one.request)] as const],
  )
  const media = { schema, ...(given.length === 0 ? {} : { examples: named(given) }) }
  const notes = [codec.schemaNotes?.read, request.note].filter((one) => one !== undefined)
  return {
    ...(notes.length === 0 ? {} : { description: notes.join(' ') }),
    ...(request.needsBody ? { required: true } : {}),
    content: Object.fromEntries([...new Set([MEDIA_TYPES[input], codec.mediaType])].map((type) => [type, media])),
  }
}

const toOpenApiExample = ({ summary }: PublishedExample, value: JsonObject[string]): JsonObject =>
  summary === undefined ? { value } : { summary, value }

/** The names of examples are those of components. */
const named = (examples: readonly (readonly [name: string, example: JsonObject])[]): JsonObject =>
  Object.fromEntries(examples.map(([name, example]) => [componentName(name), { summary: name, ...example }]))

/** Adds the answers of examples to the responses that describe their statuses. */
function withExamples(answers: JsonObject, endpoint: Endpoint, examples: readonly PublishedExample[]): JsonObject {
  const type = MEDIA_TYPES[answerFormat(endpoint)]
  const of = (status: string): JsonObject =>
    named(
      examples.flatMap((one) =>
        one.answer !== undefined && isOfStatus(one.status ?? 200, status, answers)
          ? [[one.name, toOpenApiExample(one, one.answer)] as const]
          : [],
      ),
    )
  return Object.fromEntries(
    Object.entries(answers).map(([status, response]) => {
      const all = of(status)
      const { content } = response as { content: Record<string, JsonObject> }
      if (Object.keys(all).length === 0) return [status, response]
      return [status, { ...(response as JsonObject), content: { [type]: { ...content[type], examples: all } } }]
    }),
  )
}

const isOfStatus = (status: number, key: string, answers: JsonObject): boolean =>
  key === String(status) || (answers[status] === undefined && key === `${String(status)[0]}XX`)

type DescribedAuth = Readonly<{ security: readonly JsonObject[]; schemes: JsonObject; headers: ReadonlySet<string> }>

/** Callers need one of several credentials. Users, keys and issuers are not for those who call. */
function describeAuth({ auth = {} }: Endpoint): DescribedAuth {
  const { apiKey, basic, jwt } = auth
  const schemes: Record<string, JsonObject> = {}
  const security: JsonObject[] = []
  const add = (name: string, scheme: JsonObject, scopes: readonly string[] = []): void => {
    schemes[name] = scheme
    security.push({ [name]: scopes })
  }
  const header = apiKey?.header ?? 'X-API-Key'
  if (apiKey !== undefined) {
    const scheme = { type: 'apiKey', in: 'header', name: header }
    add(sharedName('apiKey', scheme), scheme)
  }
  if (basic !== undefined) add('basic', { type: 'http', scheme: 'basic' })
  if (jwt !== undefined) add('bearer', { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' }, jwt.scopes)
  return { security, schemes, headers: new Set(apiKey === undefined ? [] : [header.toLowerCase()]) }
}

// The tests of a document that its author publishes, as examples of an OpenAPI document.

/** In: a file of tests as stored. Its faults leave out what they concern. */
export const parseExamples = (raw: Json): readonly PublishedExample[] => examplesIn(checkTestFile(raw).file)

/** Those with `publish`, in their order; of several steps, the first. A run of a schedule is no request that callers send. */
export const examplesIn = ({ tests }: TestFile): readonly PublishedExample[] =>
  tests.flatMap((test) => (test.publish === true && test.skip === undefined && !isRun(test) ? [exampleFrom(test)] : []))

const isRun = ({ steps: [step] }: DocumentTest): boolean => step?.given.message.timestamps !== undefined

function exampleFrom({ name, steps: [step] }: DocumentTest): PublishedExample {
  const body = step?.given.message.body
  const { status, body: answer } = step?.expect.answer ?? {}
  return {
    name,
    ...(body === undefined ? {} : { request: body }),
    ...(typeof status === 'number' ? { status } : {}),
    // What an operator accepts isn't an answer.
    ...(answer === undefined || holdsOperator(answer) ? {} : { answer }),
  }
}

function holdsOperator(value: Json): boolean {
  if (Array.isArray(value)) return value.some(holdsOperator)
  return isObject(value) && (parseOperator(value) !== undefined || Object.values(value).some(holdsOperator))
}
