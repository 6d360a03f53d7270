/** Calls of the mapping view: what a draft makes of messages, and what it could map besides. */
import { api, jsonText, readData, type Schemas } from './client.ts'

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
