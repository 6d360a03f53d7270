/**
 * What pages read from the service: the key under which each answer is kept, and its call. `useQuery(queries.group(key))`.
 * The first names of a key are the part of the service that the answer shows: events load all answers under it again.
 */

import { toApiFailure } from './api-failure.ts'
import { callService, type GetParams, type GetPath, type Got, get } from './client.ts'
import { readDocument, type StoredText } from './document-calls.ts'
import { type EndpointPage, type EndpointQuery, listEndpoints } from './endpoint-calls.ts'
import type { EndpointRow } from './endpoint-row.ts'
import type { GlossaryRow } from './glossary-row.ts'
import { type MappingRun, type MappingSuggestions, runMapping, suggestEntries } from './mapping-calls.ts'
import { answerKey, keyed, queryParts } from './query-keys.ts'
import { readMessageBody } from './records/message-calls.ts'
import type { MessageFilters } from './records/record-types.ts'
import { type GroupList, listGroups } from './records/replay-calls.ts'
import { readTests, type StoredTests } from './run-calls.ts'
import { compareTableVersions, type TableDiff } from './table-calls.ts'

/** One GET, kept by its path and parameters below a part of the service. */
const getQuery = <Path extends GetPath>(part: readonly [string, ...string[]], path: Path, params: GetParams<Path>) =>
  keyed(answerKey<Got<Path>>(...part, path, params), ({ signal }) => get(path, params, signal))

const byId = (id: string) => ({ path: { id } })
const byName = (name: string) => ({ path: { name } })

export const queries = {
  endpointRow: (id: string) =>
    keyed(answerKey<EndpointRow | null>('endpoints', 'list', 'row', id), async ({ signal }) => {
      const { endpoints } = await listEndpoints({ q: id, limit: 1 }, signal)
      return endpoints.find((row) => row.id === id) ?? null
    }),
  /** The first rows that the filters find. */
  endpointsFound: (query: EndpointQuery) =>
    keyed(answerKey<EndpointPage>('endpoints', 'list', 'found', query), ({ signal }) => listEndpoints(query, signal)),
  /** The stored document as text. */
  endpointText: (id: string) =>
    keyed(answerKey<StoredText>('endpoints', 'text', id), ({ signal }) => readDocument(id, signal)),
  endpointTests: (id: string) =>
    keyed(answerKey<StoredTests>('endpoints', 'tests', id), ({ signal }) => readTests(id, signal)),
  endpointFaults: (id: string) => getQuery(queryParts.endpoints, '/endpoints/{id}/faults', byId(id)),
  endpointStats: (id: string) => getQuery(queryParts.counts, '/endpoints/{id}/stats', byId(id)),
  endpointDrift: (id: string) => getQuery(['drift'], '/endpoints/{id}/drift', byId(id)),
  endpointGraph: (id: string) => getQuery(queryParts.endpoints, '/endpoints/{id}/graph', byId(id)),
  serviceGraph: (query: Readonly<{ q?: string | undefined; focus?: string | undefined }>) =>
    getQuery(queryParts.endpoints, '/endpoints/graph', { query: query as GetParams<'/endpoints/graph'>['query'] }),
  capture: (id: string) => getQuery(['capture'], '/endpoints/{id}/capture', byId(id)),
  versions: (id: string) => getQuery(queryParts.endpoints, '/endpoints/{id}/versions', byId(id)),
  versionDiff: (id: string, version: number, other: number) =>
    getQuery(queryParts.endpoints, '/endpoints/{id}/versions/{version}/diff/{other}', { path: { id, version, other } }),
  totals: getQuery(queryParts.counts, '/stats', {}),
  /** Messages as they are now; a list that is read stays unchanged instead (`queryKeys.messageRows`). */
  messages: (filters: MessageFilters, limit: number) =>
    getQuery(queryParts.messages, '/messages', { query: { ...(filters as GetParams<'/messages'>['query']), limit } }),
  message: (id: string) => getQuery(['message'], '/messages/{id}', byId(id)),
  messageBody: (id: string, which: string) =>
    keyed(answerKey<ArrayBuffer>('message', 'body', id, which), ({ signal }) => readMessageBody(id, which, signal)),
  groups: (filters: MessageFilters) =>
    keyed(answerKey<GroupList>('groups', 'list', filters), ({ signal }) => listGroups(filters, signal)),
  group: (key: string) => getQuery(queryParts.groups, '/messages/groups/{key}', { path: { key } }),
  replay: (plan: string) => getQuery(queryParts.replays, '/messages/replay/{plan}', { path: { plan } }),
  deliveryCounts: getQuery(queryParts.deliveries, '/deliveries/counts', {}),
  delivery: (id: string) => getQuery(queryParts.deliveries, '/deliveries/{id}', byId(id)),
  /** Not below `deliveries`: each read of it is noted in the audit log. */
  deliveryRequest: (id: string) => getQuery(['delivery-request'], '/deliveries/{id}/request', byId(id)),
  tables: getQuery(queryParts.tableLists, '/tables', {}),
  /** Those that were missed most often first. */
  unmapped: (name: string) =>
    getQuery(queryParts.tableLists, '/tables/{name}/unmapped', { ...byName(name), query: { limit: MAX_UNMAPPED } }),
  /** Newest first. */
  tableVersions: (name: string) => getQuery(queryParts.tables, '/tables/{name}/versions', byName(name)),
  tableDiff: (name: string, from: number, to: number) =>
    keyed(answerKey<TableDiff>('tables', 'diff', name, from, to), ({ signal }) =>
      compareTableVersions(name, from, to, signal),
    ),
  /** How many of the newest messages a version maps otherwise than the one before it. */
  tableEffect: (name: string, version: number) =>
    getQuery(['table-effect'], '/tables/{name}/versions/{version}/effect', { path: { name, version } }),
  keys: getQuery(['keys'], '/keys', {}),
  settings: getQuery(['settings'], '/settings', {}),
  signIn: getQuery(['sign-in'], '/sign-in', {}),
  /** Beside health: the event `status` has changes of both. */
  consumers: getQuery(queryParts.health, '/consumers', {}),
  samples: getQuery(['samples'], '/endpoints/samples', {}),
  /** The words of the guide, which is built with the console. */
  glossary: keyed(answerKey<readonly GlossaryRow[]>('guide', 'glossary'), async ({ signal }) => {
    const answer = await callService(new Request(`${location.origin}/console/docs/glossary.json`, { signal }))
    if (!answer.ok) throw toApiFailure(answer, undefined)
    return (await answer.json()) as readonly GlossaryRow[]
  }),
  fhirTypes: getQuery(['shapes'], '/endpoints/shapes/fhir-r4', {}),
  fhirShape: (type: string) => getQuery(['shapes', type], '/endpoints/shapes/fhir-r4/{type}', { path: { type } }),
  vocabulary: getQuery(['vocabulary'], '/endpoints/vocabulary', {}),
  /** By the text of its request. */
  mappingRun: (request: string) =>
    keyed(answerKey<MappingRun>('mapping-run', 'request', request), ({ signal }) => runMapping(request, signal)),
  suggestions: (request: string) =>
    keyed(answerKey<MappingSuggestions>('suggestions', 'request', request), ({ signal }) =>
      suggestEntries(request, signal),
    ),
} as const

const MAX_UNMAPPED = 1_000
