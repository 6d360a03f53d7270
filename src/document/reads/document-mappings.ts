/** The mappings of a document: that of the output, those of bodies of requests, and that of the answer. */
import type { JsonObject } from '../../core/json.ts'
import type { Endpoint, LookupRequest, ResponseRequest } from '../schema/schema.ts'

/** `request`: whose body it makes. */
export type DocumentMapping = Readonly<{
  entries: JsonObject
  at: readonly [string, ...(string | number)[]]
  request?: LookupRequest | ResponseRequest
}>

/** Those with entries, in the order of the document; `inputMapping` first. */
export function listMappings({ inputMapping, requests, answer }: Endpoint): readonly DocumentMapping[] {
  const all: readonly DocumentMapping[] = [
    { entries: inputMapping, at: ['inputMapping'] },
    ...requests.lookup.map((request, index) => ({
      entries: request.config.body?.mapping ?? {},
      at: ['requests', 'lookup', index, 'config', 'body', 'mapping'] as const,
      request,
    })),
    ...requests.response.map((request, index) => ({
      entries: request.mapping ?? {},
      at: ['requests', 'response', index, 'mapping'] as const,
      request,
    })),
    { entries: answer?.mapping ?? {}, at: ['answer', 'mapping'] },
  ]
  return all.filter(({ entries }) => Object.keys(entries).length > 0)
}
