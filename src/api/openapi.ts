/** /openapi.json: the management API for tools, from its table of routes. */
import type { TSchema } from 'typebox'
import { FAILURES, type FailureCode } from '../core/failure-table.ts'
import type { JsonObject } from '../core/json.ts'
import type { Answer, Content, Route } from './route.ts'
import { ADMIN_ROUTES } from './routes.ts'
import { anything, COMPONENTS, extend, Failed, id, text, whole } from './schema.ts'

const DESCRIPTION = [
  'Management of endpoints, and what became of their messages.',
  'POST, PUT and PATCH need the header Content-Type: application/json, without a body too.',
].join(' ')

const SECURITY_SCHEMES = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    description: 'An API key, or an access token where MANAGEMENT_AUTH is oidc.',
  },
}

/** OpenAPI 3.1 description of the management API. `endpointSchema`: the JSON Schema of documents, sent and stored. */
export function describeApi(endpointSchema: JsonObject, version: string): JsonObject {
  const shown = ADMIN_ROUTES.filter(({ summary }) => summary !== undefined)
  const paths = [...Map.groupBy(shown, shownPath)].map(([path, routes]) => [path, describePath(path, routes)] as const)
  return {
    openapi: '3.1.0',
    info: { title: 'Crosswalk', version, description: DESCRIPTION },
    security: [{ bearer: [] }],
    paths: Object.fromEntries(paths) as JsonObject,
    components: {
      securitySchemes: SECURITY_SCHEMES,
      schemas: { Endpoint: endpointSchema, ...(Object.fromEntries(COMPONENTS) as JsonObject) },
    },
  }
}

const shownPath = ({ path, shownAs }: Route): string => shownAs ?? path.replace(/:(\w+)/g, '{$1}')

const versionNumber = extend(whole, { minimum: 1 })

/** Of parameters in paths; any other is a text. */
const PARAMS: Readonly<Record<string, TSchema>> = { id, plan: id, version: versionNumber, other: versionNumber }

function describePath(path: string, routes: readonly Route[]): object {
  const params = Object.assign({ ...PARAMS }, ...routes.map(({ params }) => params)) as Readonly<
    Record<string, TSchema>
  >
  const parameters = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    ...parameter(name, 'path', params[name] ?? text),
    required: true,
  }))
  return {
    ...(parameters.length === 0 ? {} : { parameters }),
    ...Object.fromEntries(routes.map((route) => [route.method.toLowerCase(), describeOperation(route)])),
  }
}

function describeOperation(route: Route): object {
  const { role, query = {}, headers = {}, body, answers = {} } = route
  const parameters = [
    ...Object.entries(query).map(([name, schema]) => parameter(name, 'query', schema)),
    ...Object.entries(headers).map(([name, schema]) => parameter(name, 'header', schema)),
  ]
  return {
    summary: summaryOf(route),
    ...(role === 'open' ? { security: [] } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: { required: body.required, ...describeContent(body) } }),
    responses: {
      ...Object.fromEntries(Object.entries(answers).map(([status, one]) => [status, describeAnswer(one)])),
      ...describeFailures(route),
    },
  }
}

/** Routes that need a role say which. */
const summaryOf = ({ summary = '', role }: Route): string =>
  role === 'open' || role === 'metrics' ? summary : `${summary} Role ${role}.`

function parameter(name: string, place: 'path' | 'query' | 'header', declared: TSchema) {
  const { description, ...schema } = declared as Readonly<{ description?: string }>
  return { name, in: place, ...(description === undefined ? {} : { description }), schema }
}

function describeAnswer({ headers, ...content }: Answer): object {
  const described = Object.entries(headers ?? {}).map(([name, declared]) => {
    const { description, schema } = parameter(name, 'header', declared)
    return [name, { ...(description === undefined ? {} : { description }), schema }] as const
  })
  return {
    ...describeContent(content),
    ...(headers === undefined ? {} : { headers: Object.fromEntries(described) }),
  }
}

const describeContent = ({ description, schema, content }: Content): object => ({
  ...(description === undefined ? {} : { description }),
  ...(schema === undefined ? {} : { content: { 'application/json': { schema } } }),
  ...(content === undefined ? {} : { content }),
})

/** By status: those that the route names, and those of every route with a role or a body. */
function describeFailures({ role, method, body, fails = [] }: Route): object {
  const codes: readonly FailureCode[] = [
    ...fails,
    ...(role === 'open' ? [] : (['CREDENTIALS_REFUSED', 'ACCESS_DENIED', 'MANAGEMENT_REFUSED'] as const)),
    // Where it may be anything, nothing reads it.
    ...(body === undefined || body.schema === anything ? [] : (['BODY_UNREADABLE'] as const)),
    ...(body === undefined ? [] : (['BODY_TOO_LARGE'] as const)),
    ...(['POST', 'PUT', 'PATCH'].includes(method) ? (['MEDIA_TYPE_WRONG'] as const) : []),
  ]
  const byStatus = Map.groupBy(new Set(codes), (code) => FAILURES[code].status)
  return Object.fromEntries(
    [...byStatus].map(([status, ofStatus]) => [
      status,
      {
        description: ofStatus.map((code) => `${code}: ${FAILURES[code].means}`).join('\n'),
        content: { 'application/json': { schema: Failed } },
      },
    ]),
  )
}
