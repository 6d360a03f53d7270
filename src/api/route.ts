/** What a route of the management API declares of itself: all that is known of it is derived from this. */
import type { Static, TSchema } from 'typebox'
import type { FailureCode } from '../core/failure-table.ts'
import { type QueryOf, text } from '../core/schema.ts'
import type { Needed } from './access/authorise.ts'
import type { Call } from './call.ts'
import type { BodyCheck } from './check-call.ts'
import type { Api } from './services.ts'

export type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

type Schemas = Readonly<Record<string, TSchema>>

/** `schema`: of a JSON body; `content`: by media type, of any other. */
export type Content = Readonly<{
  description?: string
  schema?: TSchema
  content?: Readonly<Record<string, Readonly<{ schema?: TSchema }>>>
}>

export type Answer = Content & Readonly<{ description: string; headers?: Schemas }>

export type Route<Path extends string = string> = Readonly<{
  method: Method
  path: Path
  /** The path as OpenAPI shows it, where its parameters have other names there. */
  shownAs?: string
  role: Needed
  /** Of a route whose calls are in the audit log: what a call did. `{target}` and `{after}` are of the entry (audit-sentence.ts). */
  did?: string
  /** Absent: OpenAPI does not show the route. */
  summary?: string
  /** Of the parameters in the path that are not described by their names (openapi.ts). */
  params?: Schemas
  query?: Schemas
  /** What becomes of parameters without a schema: `handler` reads the query itself. By default they are refused. */
  otherQuery?: 'ignored' | 'handler'
  headers?: Schemas
  body?: Content & Readonly<{ required: boolean; check?: BodyCheck }>
  /** By status, the one of success first. */
  answers?: Readonly<Record<number, Answer>>
  /** Further schemas that OpenAPI lists: of what the route sends beside its answer. */
  mentions?: readonly TSchema[]
  /** Beside those of every route with this role or a body. */
  fails?: readonly FailureCode[]
  /** `etag`: the answer is a representation with an ETag; `no-store`: others may use the same browser later. */
  sends?: 'etag' | 'no-store'
  /** The bound of the body, and the setting that says it. By default PARSER_LIMIT. */
  bodyLimit?: Readonly<{ setting?: string; bytes: (api: Api) => number }>
  /** The audit log gets no entry unless the call is refused, or the handler notes what it did. */
  leavesNoEntry?: true
  /** The body is that of a message, so it may have the media type of any format. */
  takesMessage?: true
  /** The message to a call with a body of another type; by default, that it must be JSON. */
  wrongType?: string
  /** Other methods of the path are answered with 404, as of paths where there is nothing. By default with 405. */
  othersUnknown?: true
  /** Resolves to the value of the answer, or to the reply if the handler has sent one. */
  handle(call: Call<PathParameterName<Path>>, api: Api): Promise<unknown>
}>

/** The names in a path: `/endpoints/:id` has `id`. */
export type PathParameterName<Path extends string> = string extends Path
  ? string
  : Path extends `${string}:${infer Name}/${infer Rest}`
    ? Name | PathParameterName<`/${Rest}`>
    : Path extends `${string}:${infer Name}`
      ? Name
      : never

type Handled<Path extends string, Query, Body> = Readonly<{
  path: Path
  query?: Query
  body?: Body
  handle(call: Call<PathParameterName<Path>, QueryOf<Query>, BodyOf<Body>>, api: Api): Promise<unknown>
}>

type BodyOf<B> = B extends { schema: infer S extends TSchema; check: BodyCheck } ? Static<S> : unknown

/** A route whose declaration the compiler remembers: the types of its calls are derived from it (types.ts). */
export type TypedRoute<Path extends string, R> = Route & Readonly<{ '~declared': R & Readonly<{ path: Path }> }>

export const route = <
  const Path extends string,
  const R extends Omit<Route, 'path' | 'handle'>,
  Query extends Schemas = Record<never, never>,
  Body extends Route['body'] = undefined,
>(
  declared: R & Handled<Path, Query, Body>,
) => declared as unknown as TypedRoute<Path, Omit<R, 'path' | 'handle'>>

export const answer = <S extends TSchema = never>(description: string, schema?: S) =>
  ({ description, ...(schema === undefined ? {} : { schema }) }) as Readonly<{ description: string; schema: S }>

export const body = <S extends TSchema>(schema: S) => ({ required: true, schema }) as const
export const optionalBody = <S extends TSchema>(schema: S) => ({ required: false, schema }) as const
/** A body that is checked before the handler runs. */
export const checkedBody = <S extends TSchema>(schema: S, check: BodyCheck) =>
  ({ required: true, schema, check }) as const

/** The status of a call that succeeds. */
export const successStatus = ({ answers = {} }: Pick<Route, 'answers'>): number =>
  Number(Object.keys(answers)[0] ?? 200)

/** The failures of a route whose path has the id of an endpoint. */
export const findsNoEndpoint = ['ID_MALFORMED', 'ENDPOINT_UNKNOWN'] as const

export const IfMatch = { 'If-Match': text }
export const IfNoneMatch = { 'If-None-Match': text }
