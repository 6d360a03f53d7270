/** The types of the calls of the API for TypeScript callers, such as the console: derived from the table, in the form of openapi-fetch. */
import type { Static, TSchema } from 'typebox'
import type * as parts from '../core/schema.ts'
import type * as deliveries from '../deliveries/delivery-schemas.ts'
import type * as batchOperation from '../document/checks/batch-operation.ts'
import type * as dryRunRequest from '../document/checks/dry-run-request.ts'
import type * as suggestAnswer from '../try/suggestions/suggest-answer.ts'
import type * as suggestRequest from '../try/suggestions/suggest-request.ts'
import type * as testFile from '../try/tests/test-file-schema.ts'
import type * as access from './access.ts'
import type * as authoring from './authoring.ts'
import type * as dryRun from './dry-run.ts'
import type * as endpoints from './endpoints.ts'
import type * as graph from './graph.ts'
import type * as messages from './messages.ts'
import type * as operation from './operation.ts'
import type * as replays from './replays.ts'
import type { Answer, Content } from './route.ts'
import type { TypedRoutes } from './routes.ts'
import type * as schedule from './schedule.ts'
import type * as tables from './tables.ts'
import type * as tests from './tests.ts'

type Modules = typeof access &
  typeof authoring &
  typeof batchOperation &
  typeof deliveries &
  typeof dryRun &
  typeof dryRunRequest &
  typeof endpoints &
  typeof graph &
  typeof messages &
  typeof operation &
  typeof parts &
  typeof replays &
  typeof schedule &
  typeof suggestAnswer &
  typeof suggestRequest &
  typeof tables &
  typeof testFile &
  typeof tests

/** The types of the schemas that OpenAPI lists by name. */
export type Schemas = {
  [Key in keyof Modules as Modules[Key] extends { '~name': infer Name extends string } ? Name : never]: Static<
    Modules[Key] & TSchema
  >
}

type Declared = TypedRoutes['~declared']

/** `/endpoints/:id` as OpenAPI writes it: `/endpoints/{id}`. */
type Braced<Path extends string> = Path extends `${infer Before}:${infer Name}/${infer After}`
  ? `${Before}{${Name}}/${Braced<After>}`
  : Path extends `${infer Before}:${infer Name}`
    ? `${Before}{${Name}}`
    : Path

type ShownPath<R> = R extends { shownAs: infer Path extends string }
  ? Path
  : R extends { path: infer Path extends string }
    ? Braced<Path>
    : never

type ParamsIn<Path extends string> = Path extends `${string}{${infer Name}}${infer After}`
  ? Name | ParamsIn<After>
  : never

type Optional<S> = { [Name in keyof S]?: S[Name] extends TSchema ? Static<S[Name]> : never }

type JsonContent<C> = C extends { schema: infer S extends TSchema }
  ? [S] extends [never]
    ? unknown
    : Static<S>
  : unknown

type ResponseContent<C> = C extends { content: infer Content }
  ? { [Type in keyof Content]: unknown }
  : { 'application/json': JsonContent<C> }

type Parameters<R> = {
  query?: R extends { query: infer Q } ? Optional<Q> : never
  header?: R extends { headers: infer H } ? Optional<H> : never
  cookie?: never
} & ([ParamsIn<ShownPath<R>>] extends [never]
  ? { path?: never }
  : { path: { [Name in ParamsIn<ShownPath<R>>]: string | number } })

type Body<R> = R extends { body: infer B extends Content & Readonly<{ required: boolean }> }
  ? B['required'] extends true
    ? { requestBody: { content: ResponseContent<B> } }
    : { requestBody?: { content: ResponseContent<B> } }
  : { requestBody?: never }

type Operation<R> = Body<R> & {
  parameters: Parameters<R>
  responses: R extends { answers: infer A extends Readonly<Record<number, Answer>> }
    ? { [Status in keyof A]: { headers: Record<string, unknown>; content: ResponseContent<A[Status]> } }
    : Record<number, never>
}

type At<Path extends string, R = Declared> = R extends unknown ? (ShownPath<R> extends Path ? R : never) : never

/** By path and method, as `createClient` takes them. */
export type Paths = {
  [Path in ShownPath<Declared>]: {
    [R in At<Path> as R extends { method: infer Method extends string } ? Lowercase<Method> : never]: Operation<R>
  }
}
