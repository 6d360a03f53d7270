/** /openapi.json: the management API for tools, from its table of routes. */
import type { TSchema } from 'typebox'
import { FAILURES, type FailureCode } from '../core/failure-table.ts'
import type { JsonObject } from '../core/json.ts'
import { anything, COMPONENT, type Component, extend, Failed, id, NOTES, text, whole } from '../core/schema.ts'
import type { Answer, Content, Route } from './route.ts'
import { ADMIN_ROUTES } from './routes.ts'

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
  const schemas = new Schemas({ Endpoint: endpointSchema })
  const paths = [...Map.groupBy(shown, shownPath)].map(
    ([path, routes]) => [path, describePath(path, routes, schemas)] as const,
  )
  for (const { mentions = [] } of shown) for (const schema of mentions) schemas.describe(schema)
  return {
    openapi: '3.1.0',
    info: { title: 'Crosswalk', version, description: DESCRIPTION },
    security: [{ bearer: [] }],
    paths: Object.fromEntries(paths) as JsonObject,
    components: {
      securitySchemes: SECURITY_SCHEMES,
      schemas: schemas.components(),
    },
  }
}

type Part = Readonly<Record<string, unknown>>

/** Describes schemas without their notes; those with a name as references, which `components` has. */
class Schemas {
  readonly #components: Map<string, Part>

  constructor(known: Readonly<Record<string, JsonObject>>) {
    this.#components = new Map(Object.entries(known))
  }

  components(): JsonObject {
    return Object.fromEntries(this.#components) as JsonObject
  }

  describe(schema: TSchema): Part {
    const { [COMPONENT]: component } = schema as Readonly<{ [COMPONENT]?: Component }>
    if (component === undefined) return this.#withoutNotes(schema as Part)
    const { name, schema: own } = component
    if (!this.#components.has(name)) {
      // The place of a component is before those that it refers to.
      this.#components.set(name, {})
      this.#components.set(name, this.describe(own))
    }
    const added = Object.entries(schema).filter(([key, value]) => (own as Part)[key] !== value)
    return { $ref: `#/components/schemas/${name}`, ...this.#withoutNotes(Object.fromEntries(added)) }
  }

  #withoutNotes(schema: Part): Part {
    const keywords = Object.entries(schema).filter(([key]) => !NOTES.has(key))
    return Object.fromEntries(keywords.map(([key, value]) => [key, this.#keyword(key, value)]))
  }

  #keyword(key: string, value: unknown): unknown {
    if (key === 'properties') {
      const properties = Object.entries(value as Readonly<Record<string, TSchema>>)
      return Object.fromEntries(properties.map(([name, schema]) => [name, this.describe(schema)]))
    }
    if (key === 'anyOf' || key === 'allOf' || key === 'oneOf') {
      return (value as readonly TSchema[]).map((schema) => this.describe(schema))
    }
    if (key === 'items' || (key === 'additionalProperties' && typeof value === 'object')) {
      return this.describe(value as TSchema)
    }
    return value
  }
}

/** As OpenAPI writes it. */
export const shownPath = ({ path, shownAs }: Route): string => shownAs ?? path.replace(/:(\w+)/g, '{$1}')

const versionNumber = extend(whole, { minimum: 1 })

/** Of parameters in paths; any other is a text. */
const PARAMS: Readonly<Record<string, TSchema>> = { id, plan: id, version: versionNumber, other: versionNumber }

function describePath(path: string, routes: readonly Route[], schemas: Schemas): object {
  const params = Object.assign({ ...PARAMS }, ...routes.map(({ params }) => params)) as Readonly<
    Record<string, TSchema>
  >
  const parameters = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    ...parameter(name, 'path', params[name] ?? text, schemas),
    required: true,
  }))
  return {
    ...(parameters.length === 0 ? {} : { parameters }),
    ...Object.fromEntries(routes.map((route) => [route.method.toLowerCase(), describeOperation(route, schemas)])),
  }
}

function describeOperation(route: Route, schemas: Schemas): object {
  const { role, query = {}, headers = {}, body, answers = {} } = route
  const parameters = [
    ...Object.entries(query).map(([name, schema]) => parameter(name, 'query', schema, schemas)),
    ...Object.entries(headers).map(([name, schema]) => parameter(name, 'header', schema, schemas)),
  ]
  return {
    summary: formatSummary(route),
    ...(role === 'open' ? { security: [] } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: { required: body.required, ...describeContent(body, schemas) } }),
    responses: {
      ...Object.fromEntries(Object.entries(answers).map(([status, one]) => [status, describeAnswer(one, schemas)])),
      ...describeFailures(route, schemas),
    },
  }
}

/** Routes that need a role say which. */
function formatSummary({ summary = '', role }: Route): string {
  if (role === 'open' || role === 'metrics') return summary
  if (role === 'sender') return `${summary} Role viewer; on the message port also who may send to the endpoint.`
  return `${summary} Role ${role}.`
}

function parameter(name: string, place: 'path' | 'query' | 'header', declared: TSchema, schemas: Schemas) {
  const { description, ...schema } = schemas.describe(declared)
  return { name, in: place, ...(description === undefined ? {} : { description }), schema }
}

function describeAnswer({ headers, ...content }: Answer, schemas: Schemas): object {
  const described = Object.entries(headers ?? {}).map(([name, declared]) => {
    const { description, schema } = parameter(name, 'header', declared, schemas)
    return [name, { ...(description === undefined ? {} : { description }), schema }] as const
  })
  return {
    ...describeContent(content, schemas),
    ...(headers === undefined ? {} : { headers: Object.fromEntries(described) }),
  }
}

function describeContent({ description, schema, content }: Content, schemas: Schemas): object {
  const byType = schema === undefined ? content : { 'application/json': { schema } }
  const described = Object.entries(byType ?? {}).map(([type, { schema }]) => [
    type,
    schema === undefined ? {} : { schema: schemas.describe(schema) },
  ])
  return {
    ...(description === undefined ? {} : { description }),
    ...(byType === undefined ? {} : { content: Object.fromEntries(described) }),
  }
}

/** Those of this route: what its query and its body can be refused with, and what it names. */
export const listFailures = ({ query, body, fails = [] }: Route): readonly FailureCode[] => [
  ...new Set([
    ...(query === undefined ? [] : (['FILTER_INVALID'] as const)),
    ...(body?.check === undefined ? [] : [body.check.code]),
    ...fails,
  ]),
]

/** By status: those that the route names, and those of every route with a role or a body. */
function describeFailures(route: Route, schemas: Schemas): object {
  const { role, method, body } = route
  const codes: readonly FailureCode[] = [
    ...listFailures(route),
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
        content: { 'application/json': { schema: schemas.describe(Failed) } },
      },
    ]),
  )
}
