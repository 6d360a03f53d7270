/**
 * The keys under which answers of the API are kept. The first name is the part of the service that they show: events of the
 * service make all answers under it load again. No key has the names of another one, and the type of a key says which answer
 * is under it: a query that reads anything else does not compile.
 */
import { QueryClient } from '@tanstack/react-query'
import { ApiFailure } from './api-failure.ts'
import type { Schemas } from './client.ts'
import type { EndpointRow } from './endpoint-row.ts'
import type { ListedDelivery } from './records/delivery-calls.ts'
import type { FailureGroup, ListedMessage, ReplayPlan } from './records/record-types.ts'
import type { ShownRow, TableRow } from './table-calls.ts'

declare const answer: unique symbol

type Names = readonly [part: string, ...names: unknown[]]

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

/** Keys of lists, and of what is read in one place only. */
export const queryKeys = {
  endpointRows: (search: Parameters) => pagesKey<EndpointRow>('endpoints', 'list', 'rows', search),
  /** Not below `messages`: a list that is read stays unchanged, and `newerMessages` counts what arrived since. */
  messageRows: (search: Parameters, round: number) => pagesKey<ListedMessage>('message-list', 'rows', search, round),
  recentMessages: (endpointId: string) => answerKey<readonly ListedMessage[]>('message-list', 'recent', endpointId),
  newerMessages: (search: Parameters, newest: string | undefined) =>
    answerKey<number>('messages', 'newer', search, newest),
  groupRows: (search: Parameters) => pagesKey<FailureGroup>('groups', 'rows', search),
  replayRows: pagesKey<ReplayPlan>('replays', 'rows'),
  deliveryRows: (search: Parameters) => pagesKey<ListedDelivery>('deliveries', 'rows', search),
  tableListRows: pagesKey<TableRow>('tables', 'list', 'rows'),
  tableRows: (name: string, search: string) => pagesKey<ShownRow>('tables', 'rows', name, search),
  audit: (search: Parameters) => pagesKey<Schemas['AuditEntry']>('audit', 'rows', search),
} as const

const FRESH_MS = 2_000

/** Old data stays while newer loads, and a call is repeated only by the user or by events. */
export const queryClient = new QueryClient({
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

/** All answers under a key load again, as after a change; without one, all that the page shows. */
export const reload = (queryKey: readonly unknown[] = []) => queryClient.invalidateQueries({ queryKey })
