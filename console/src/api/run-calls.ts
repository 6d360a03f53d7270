/** Dry runs and runs of tests. The documents in them are sent as text, so that their numbers and names stay as they were typed. */
import { ApiFailure } from './api-failure.ts'
import { api, jsonText, readAnswer, readData, type Schemas } from './client.ts'

export type CannedAnswer = Schemas['CannedAnswer']

/** One call of a dry run, as the service reports it. */
export type RunCall = Readonly<{
  kind: 'lookup' | 'response'
  id: string
  item?: number
  method?: string
  url?: string
  topic?: string
  key?: unknown
  headers?: Readonly<Record<string, unknown>>
  body?: string
  cut?: boolean
  at?: string
  ms: number | null
  answered: 'canned' | 'recorded' | 'live' | 'assumed' | 'missing' | 'not sent'
  answer?: Readonly<{
    status: number
    headers: Readonly<Record<string, unknown>>
    body: string
    cut?: boolean
    at?: string
  }>
  remark?: string
  token?: Readonly<{ from: string; how: string }>
  cached?: boolean
  stale?: string | number
  fault?: string
}>

export type RunReport = Omit<Schemas['DryRunReport'], 'calls'> & Readonly<{ calls?: readonly RunCall[] }>
export type RunStage = Schemas['DryRunStage']

/** In: the request as JSON text. Fails with an ApiFailure. */
export async function dryRun(request: string, signal?: AbortSignal): Promise<RunReport> {
  const report = await readData(api.POST('/endpoints/dry-run', { ...jsonText(request), signal: signal ?? null }))
  return report as unknown as RunReport
}

/** In: the request as JSON text, with `at`. Out: the whole value as text. Fails with an ApiFailure. */
export const dryRunValue = async (request: string): Promise<string> =>
  String(await readData(api.POST('/endpoints/dry-run/value', { ...jsonText(request), parseAs: 'text' })))

export type TestReport = Schemas['TestReport']

/** In: the request as JSON text. Fails with an ApiFailure. */
export const runTests = (request: string): Promise<TestReport> =>
  readData(api.POST('/endpoints/tests/run', { ...jsonText(request) }))

/** A test as its author writes it. */
export type StoredTest = Readonly<{ name: string; given?: Readonly<Record<string, unknown>> } & Record<string, unknown>>
export type StoredTests = Readonly<{
  file: Readonly<{ tests: readonly StoredTest[] } & Record<string, unknown>>
  etag: string | undefined
}>

/** The file of tests of an endpoint, with its ETag. Fails with an ApiFailure. */
export async function readTests(id: string, signal?: AbortSignal): Promise<StoredTests> {
  const { data, etag } = await readAnswer(
    api.GET('/endpoints/{id}/tests', { params: { path: { id } }, signal: signal ?? null }),
  )
  return { file: data as unknown as StoredTests['file'], etag }
}

const MAX_ATTEMPTS = 3

/** Stores the tests as `change` makes them of those that are stored now, also if others are meanwhile. Fails with an ApiFailure. */
export async function changeTests(
  id: string,
  change: (file: StoredTests['file']) => StoredTests['file'],
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const { file, etag } = await readTests(id)
    const params = { path: { id } }
    const headers = { ...(etag && { 'If-Match': etag }) }
    const body = change(file) as never
    try {
      await readData(api.PUT('/endpoints/{id}/tests', { params, headers, body }))
      return
    } catch (thrown) {
      if (!(thrown instanceof ApiFailure && thrown.status === 412 && attempt < MAX_ATTEMPTS)) throw thrown
    }
  }
}

export type RecordedTest = Readonly<{
  test: StoredTest
  notReproduced: readonly Readonly<{ path: string; reason: string }>[]
}>

/** A test of what a recorded message was given; `pseudonymise`: with other texts and numbers of the same form. */
export const makeRecordedTest = async (messageId: string, name: string, pseudonymise: boolean): Promise<RecordedTest> =>
  (await readData(
    api.POST('/messages/{id}/test', { params: { path: { id: messageId } }, body: { name, pseudonymise } }),
  )) as unknown as RecordedTest
