/** Calls of the mapping view: what a draft makes of messages, and what it could map besides. */
import { api, jsonText, readData, type Schemas } from './client.ts'
import type { StoredTest } from './run-calls.ts'

export type MappingRun = Schemas['DryRunReport']
export type MappingSuggestions = Schemas['Suggestions']
export type SuggestedEntry = MappingSuggestions['suggestions'][number]
export type RecentMessage = Schemas['ListedMessage']

/** In: the request of a dry run as JSON text. Out: its report for the view of the mapping. Fails with an ApiFailure. */
export const runMapping = (request: string, signal?: AbortSignal): Promise<MappingRun> =>
  readData(api.POST('/endpoints/dry-run', { ...jsonText(request), signal: signal ?? null }))

/** In: the request as JSON text. Fails with an ApiFailure. */
export const suggestEntries = (request: string, signal?: AbortSignal): Promise<MappingSuggestions> =>
  readData(api.POST('/endpoints/suggest', { ...jsonText(request), signal: signal ?? null }))

/** The newest recorded messages of an endpoint. */
export async function recentMessages(endpointId: string, signal?: AbortSignal): Promise<readonly RecentMessage[]> {
  const query = { endpoint: [endpointId], limit: 20 }
  const { messages } = await readData(api.GET('/messages', { params: { query }, signal: signal ?? null }))
  return messages
}

/** What the first message of a test is given, as the request of a dry run has it; undefined if there is no such test. */
export function readTestInput(tests: readonly StoredTest[], name: string): object | undefined {
  const test = (tests as readonly StoredGiven[]).find((one) => one.name === name)
  if (test === undefined) return undefined
  const { message = {}, state, lookups, responses } = test.steps?.[0]?.given ?? test.given ?? {}
  return {
    message: { ...message, ...(state && { state }) },
    ...(lookups && { lookups }),
    ...(responses && { responses }),
  }
}

type Given = Readonly<{ message?: object; state?: object; lookups?: object; responses?: object }>
type StoredGiven = Readonly<{ name?: string; given?: Given; steps?: readonly Readonly<{ given?: Given }>[] }>
