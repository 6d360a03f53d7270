/** Endpoints: the list as rows with counts, and one with its document. */
import type { Paths } from '../../../src/api/types.ts'
import { api, get, readData, type Schemas } from './client.ts'

export type EndpointPage = Schemas['SummaryPage']
type Query = NonNullable<Paths['/endpoints']['get']['parameters']['query']>

export type EndpointQuery = Pick<Query, 'q' | 'sort' | 'limit' | 'cursor' | 'faults'> &
  Readonly<{
    /** Label → value that it must have. */
    labels?: Readonly<Record<string, string>>
    /** Field path → values, of which it must have one. */
    fields?: Readonly<Record<string, readonly string[]>>
  }>

/** A page of rows. Fails with an ApiFailure. */
export async function listEndpoints(
  { labels = {}, fields = {}, ...query }: EndpointQuery,
  signal?: AbortSignal,
): Promise<EndpointPage> {
  // A dot within a name is written with a backslash in a path.
  const filters = Object.entries(labels).map(([name, value]) => [`labels.${name.replace(/[\\.]/g, '\\$&')}`, value])
  const answer = await get(
    '/endpoints',
    { query: { view: 'summary', ...fields, ...Object.fromEntries(filters), ...query } },
    signal,
  )
  if (Array.isArray(answer)) throw new TypeError('The list of endpoints is not a page of rows.')
  return answer
}

const MAX_NAMES = 20
const ID = /^[0-9a-f]{24}$/

/**
 * The names that a filter by endpoint means: the text itself if it is an id or a name, else the names that it is a part of.
 * Of none or too many, the text: the service says what is wrong with it. Fails with an ApiFailure.
 */
export async function endpointNamesFor(text: string): Promise<readonly string[]> {
  if (ID.test(text)) return [text]
  const { endpoints, total } = await listEndpoints({ q: text, limit: MAX_NAMES })
  const names = endpoints.map(({ name }) => name)
  const part = text.toLowerCase()
  const found = names.filter((name) => name.toLowerCase().includes(part))
  return names.includes(text) || found.length === 0 || total > MAX_NAMES ? [text] : found
}

export type Capture = Schemas['Capture']

const endpointParams = (id: string) => ({ params: { path: { id } } })

/** Starts one in place of the one before; the service says until when. Fails with an ApiFailure. */
export const startCapture = (id: string, messages: number): Promise<Capture> =>
  readData(api.POST('/endpoints/{id}/capture', { ...endpointParams(id), body: { messages } }))

/** Fails with an ApiFailure. */
export const stopCapture = (id: string) => readData(api.DELETE('/endpoints/{id}/capture', endpointParams(id)))

export type Schedule = Schemas['Schedule']
export type RunOfSchedule = Schemas['RunOfSchedule']

/** Runs the schedule now, and waits for the end of the run. Fails with an ApiFailure. */
export const runSchedule = (id: string): Promise<RunOfSchedule> =>
  readData(api.POST('/endpoints/{id}/run', { params: { path: { id } } }))
