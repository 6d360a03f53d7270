/** Recorded messages: lists, records, bodies, and the replay of one by hand. */

import type { Paths } from '../../../../src/api/types.ts'
import { api, get, readData, type Schemas } from '../client.ts'
import type { MessageFilters } from './record-types.ts'

type MessageQuery = NonNullable<Paths['/messages']['get']['parameters']['query']>

type PageRequest = Readonly<{ limit: number; cursor?: string | undefined }>

/** A page, newest first. Fails with an ApiFailure. */
export const listMessages = (filters: MessageFilters, { limit, cursor }: PageRequest, signal?: AbortSignal) =>
  // The API checks the values, and says which of them are wrong.
  get('/messages', { query: { ...(filters as MessageQuery), limit, ...(cursor && { cursor }) } }, signal)

/** The bytes of a body. Fails with an ApiFailure. */
export const readMessageBody = async (id: string, which: string, signal?: AbortSignal): Promise<ArrayBuffer> =>
  (await readData(
    api.GET('/messages/{id}/body/{which}', {
      params: { path: { id, which } },
      parseAs: 'arrayBuffer',
      signal: signal ?? null,
    }),
  )) as ArrayBuffer

export type GivenBody = Readonly<{ text: string; contentType: string }>

/** Whether the lookups of a replay use their recorded answers or are asked again. */
export type ReplayLookups = NonNullable<Schemas['Replayed']['lookups']>

type ReplayRequest = Readonly<{ body?: GivenBody | undefined; lookups?: ReplayLookups | undefined }>

/** Runs a message again, with another body if one is given. Out: the report of the service as text, which may be long. */
export async function replayMessage(id: string, { body, lookups }: ReplayRequest): Promise<string> {
  const params = { path: { id }, query: { ...(lookups && { lookups }) } }
  if (body === undefined) {
    return (await readData(api.POST('/messages/{id}/replay', { params, parseAs: 'text' }))) as unknown as string
  }
  // Without the second one, types that any page can send are refused.
  const headers = { 'content-type': body.contentType, 'x-requested-with': 'crosswalk-console' }
  const sent = { params, headers, body: body.text, bodySerializer: String, parseAs: 'text' } as const
  return (await readData(api.POST('/messages/{id}/replay', sent))) as unknown as string
}
