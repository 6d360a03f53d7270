/** Calls of the public admin API, typed by its table of routes. The console uses nothing else of the service. */
import createClient from 'openapi-fetch'
import type { Paths, Schemas } from '../../../src/api/types.ts'
import { ApiFailure, serviceAway, toApiFailure } from './api-failure.ts'
import { reportAnswer, reportNoAnswer } from './connection.ts'
import { refusal, validKey } from './credentials.ts'

export type { Schemas }

const TIMEOUT_MS = 30_000

/** Sends a call with the key. `isEndless`: its answer does not end. Fails with an ApiFailure, of status 0 without an answer. */
export async function callService(request: Request, { isEndless = false } = {}): Promise<Response> {
  const key = await validKey()
  const headers = new Headers(request.headers)
  if (key !== undefined) headers.set('authorization', `Bearer ${key}`)
  // The service takes no change without it, not even one without a body.
  if (request.method !== 'GET' && !headers.has('content-type')) headers.set('content-type', 'application/json')
  const signal = isEndless ? request.signal : AbortSignal.any([request.signal, AbortSignal.timeout(TIMEOUT_MS)])
  try {
    const response = await fetch(new Request(request, { headers, signal, cache: 'no-store', credentials: 'omit' }))
    reportAnswer()
    return response
  } catch (thrown) {
    if (request.signal.aborted) throw thrown
    reportNoAnswer()
    throw serviceAway()
  }
}

/** `api.GET('/endpoints/{id}', { params: { path: { id } } })`; to be given to `readData` or `readAnswer`. */
export const api = createClient<Paths>({ baseUrl: location.origin, fetch: (request) => callService(request) })

type Call<Data> = Promise<Readonly<{ data?: Data; error?: unknown; response: Response }>>

export type Warning = Readonly<{ path: string; message: string }>

/** What a call gave, with the headers that calls of documents need. */
export type Answered<Data> = Readonly<{ data: Data; etag: string | undefined; warnings: readonly Warning[] }>

/** The data of an answer. Fails with an ApiFailure, the one that `FailureNotice` shows. */
export const readData = async <Data>(call: Call<Data>): Promise<Data> => (await readAnswer(call)).data

export type GetPath = { [Path in keyof Paths]: Paths[Path] extends { get: unknown } ? Path : never }[keyof Paths]
type Get<Path extends GetPath> = Paths[Path] extends { get: infer Operation } ? Operation : never
type QueryOf<Path extends GetPath> =
  Get<Path> extends { parameters: { query?: infer Given } } ? NonNullable<Given> : never
export type GetParams<Path extends GetPath> = Readonly<{
  query?: QueryOf<Path> | undefined
}> &
  (Get<Path> extends { parameters: { path: infer Given } } ? Readonly<{ path: Given }> : object)
export type Got<Path extends GetPath> =
  Get<Path> extends { responses: { 200: { content: { 'application/json': infer Data } } } } ? Data : never

/** The JSON that a GET answers. Fails with an ApiFailure. */
export const get = <Path extends GetPath>(path: Path, params: GetParams<Path>, signal?: AbortSignal) =>
  readData(api.GET(path, { params, signal: signal ?? null } as never) as Call<Got<Path>>)

/** A body that is JSON text: reading and writing it as a value would change numbers and the order of names. */
export const jsonText = (text: string) => ({ body: text as never, bodySerializer: String })

/** As `readData`, with the ETag and the warnings of the answer. */
export async function readAnswer<Data>(call: Call<Data>): Promise<Answered<Data>> {
  const { data, error, response } = await call.catch((thrown: unknown) => {
    if (thrown instanceof SyntaxError) throw new ApiFailure(NOT_JSON, { status: 0 })
    throw thrown
  })
  if (!response.ok) {
    const failure = toApiFailure(response, error)
    if (failure.status === 401) refusal.set(failure.message)
    throw failure
  }
  const warnings = readWarnings(response.headers.get('x-crosswalk-warnings'))
  return { data: data as Data, etag: response.headers.get('etag') ?? undefined, warnings }
}

const NOT_JSON = 'The answer is not JSON; is there something between this page and the service?'

function readWarnings(header: string | null): readonly Warning[] {
  try {
    return header === null ? [] : (JSON.parse(header) as readonly Warning[])
  } catch {
    return []
  }
}
