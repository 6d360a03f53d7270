/**
 * The keys under which answers of the API are kept. The first name is the part of the service that they show: events of the
 * service make all answers under it load again. No key has the names of another one, and the type of a key says which answer
 * is under it: a query that reads anything else does not compile.
 */
import { QueryClient } from '@tanstack/react-query'
import { ApiFailure } from './api-failure.ts'
import type { Version, VersionDiff } from './changes/version-calls.ts'
import type { Schemas } from './client.ts'
import type { StoredText } from './document-calls.ts'
import type { EndpointPage } from './endpoint-calls.ts'
import type { EndpointRow } from './endpoint-row.ts'
import type { MappingRun, MappingSuggestions } from './mapping-calls.ts'
import type { Capture } from './records/capture-calls.ts'
import type { DeliveryCounts, DeliveryDetail, ListedDelivery, OutgoingRequest } from './records/delivery-calls.ts'
import type { MessagePage } from './records/message-calls.ts'
import type { FailureGroup, ListedMessage, MessageRecord, ReplayPlan } from './records/record-types.ts'
import type { GroupList } from './records/replay-calls.ts'
import type { StoredTests } from './run-calls.ts'
import type { ShownRow, TableDiff, TableRow, TableVersion } from './table-calls.ts'

declare const answer: unique symbol

type Names = readonly [part: string, name: string, ...parameters: unknown[]]

/** The key of one answer. */
export type AnswerKey<Answer> = Names & Readonly<{ [answer]: (of: Answer) => Answer }>
/** The key of a list that loads in pages of rows. */
export type PagesKey<Row> = Names & Readonly<{ [answer]: (of: { pageRow: Row }) => { pageRow: Row } }>

/** The names are written as texts where this is called (test/unit/architecture/console.test.ts compares them all). */
export const answerKey = <Answer>(...names: Names) => names as AnswerKey<Answer>
export const pagesKey = <Row>(...names: Names) => names as PagesKey<Row>

/** The key and the read of a query, as `useQuery` takes them. */
export const keyed = <Answer>(
  queryKey: AnswerKey<Answer>,
  queryFn: (context: Readonly<{ signal: AbortSignal }>) => NoInfer<Answer> | Promise<NoInfer<Answer>>,
) => ({ queryKey, queryFn })

type Parameters = Readonly<Record<string, unknown>>

/** The first names of keys: all answers under them load again at an event or after a change. */
export const queryParts = {
  endpoints: ['endpoints'],
  endpointLists: ['endpoints', 'list'],
  counts: ['counts'],
  messages: ['messages'],
  groups: ['groups'],
  replays: ['replays'],
  deliveries: ['deliveries'],
  tables: ['tables'],
  tableLists: ['tables', 'list'],
  health: ['health'],
} as const

export const queryKeys = {
  endpointRows: (search: Parameters) => pagesKey<EndpointRow>('endpoints', 'list', 'rows', search),
  /** The row of one endpoint. */
  endpointRow: (id: string) => answerKey<EndpointRow | null>('endpoints', 'list', 'row', id),
  /** The first rows that a text finds. */
  endpointsFound: (q: string, limit: number) => answerKey<EndpointPage>('endpoints', 'list', 'found', q, limit),
  endpointsWithFaults: answerKey<EndpointPage>('endpoints', 'list', 'faults'),
  /** The stored document as text. */
  endpointText: (id: string) => answerKey<StoredText>('endpoints', 'text', id),
  endpointFaults: (id: string) => answerKey<Schemas['EndpointFaults']>('endpoints', 'faults', id),
  endpointStats: (id: string) => answerKey<Schemas['Stats']>('counts', 'endpoint', id),
  capture: (id: string) => answerKey<Capture | null>('capture', 'endpoint', id),
  endpointDrift: (id: string) => answerKey<Schemas['Drift']>('drift', 'endpoint', id),
  endpointTests: (id: string) => answerKey<StoredTests>('endpoints', 'tests', id),
  versions: (id: string) => answerKey<readonly Version[]>('endpoints', 'versions', id),
  versionDiff: (id: string, from: number, to: number) =>
    answerKey<VersionDiff>('endpoints', 'version-diff', id, from, to),
  totals: answerKey<Schemas['Totals']>('counts', 'totals'),
  /** Not below `messages`: a list that is read stays unchanged, and `newerMessages` counts what arrived since. */
  messageRows: (search: Parameters, round: number) => pagesKey<ListedMessage>('message-list', 'rows', search, round),
  recentMessages: (endpointId: string) => answerKey<readonly ListedMessage[]>('message-list', 'recent', endpointId),
  newerMessages: (search: Parameters, newest: string | undefined) =>
    answerKey<number>('messages', 'newer', search, newest),
  messageReplays: (id: string) => answerKey<MessagePage>('messages', 'replays', id),
  message: (id: string) => answerKey<MessageRecord>('message', 'record', id),
  messageBody: (id: string, which: string) => answerKey<ArrayBuffer>('message', 'body', id, which),
  groupRows: (search: Parameters) => pagesKey<FailureGroup>('groups', 'rows', search),
  groupList: (search: Parameters) => answerKey<GroupList>('groups', 'list', search),
  group: (key: string) => answerKey<FailureGroup>('groups', 'one', key),
  groupMessages: (key: string) => answerKey<MessagePage>('messages', 'group', key),
  replayRows: pagesKey<ReplayPlan>('replays', 'rows'),
  replay: (plan: string) => answerKey<ReplayPlan>('replays', 'one', plan),
  deliveryRows: (search: Parameters) => pagesKey<ListedDelivery>('deliveries', 'rows', search),
  deliveryCounts: answerKey<DeliveryCounts>('deliveries', 'counts'),
  delivery: (id: string) => answerKey<DeliveryDetail>('deliveries', 'one', id),
  /** Not below `deliveries`: each read of it is noted in the audit log. */
  deliveryRequest: (id: string) => answerKey<OutgoingRequest>('delivery-request', 'one', id),
  tables: answerKey<readonly TableRow[]>('tables', 'list', 'all'),
  tableListRows: pagesKey<TableRow>('tables', 'list', 'rows'),
  unmapped: (name: string) => answerKey<Schemas['UnmappedCodes']>('tables', 'list', 'unmapped', name),
  tableRows: (name: string, search: string) => pagesKey<ShownRow>('tables', 'rows', name, search),
  tableVersions: (name: string) => answerKey<readonly TableVersion[]>('tables', 'versions', name),
  tableDiff: (name: string, from: number, to: number) => answerKey<TableDiff>('tables', 'diff', name, from, to),
  tableEffect: (name: string, version: number) =>
    answerKey<Schemas['TableEffect']>('table-effect', 'of', name, version),
  keys: answerKey<readonly Schemas['Key'][]>('keys', 'all'),
  audit: (search: Parameters) => pagesKey<Schemas['AuditEntry']>('audit', 'rows', search),
  /** Beside health: the event `status` has changes of both. */
  consumers: answerKey<readonly Schemas['Consumer'][]>('health', 'consumers'),
  vocabulary: answerKey<Schemas['Vocabulary']>('vocabulary', 'all'),
  /** By the text of its request. */
  mappingRun: (request: string) => answerKey<MappingRun>('mapping-run', 'request', request),
  suggestions: (request: string) => answerKey<MappingSuggestions>('suggestions', 'request', request),
} as const

const FRESH_MS = 2_000

/** One for each session; old data stays while newer loads, and a call is repeated only by the user or by events. */
export const createQueryClient = (): QueryClient =>
  new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: FRESH_MS,
        networkMode: 'always',
        refetchOnReconnect: false,
        retry: (count, thrown) => count < 1 && thrown instanceof ApiFailure && thrown.isAway,
      },
      mutations: { networkMode: 'always', retry: false },
    },
  })
