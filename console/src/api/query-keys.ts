/**
 * The keys under which answers of the API are kept. The first name is the part of the service that they show: events of the
 * service make all answers under it load again.
 */
import { QueryClient } from '@tanstack/react-query'
import { ApiFailure } from './api-failure.ts'

type Parameters = Readonly<Record<string, unknown>>

export const queryKeys = {
  endpoints: ['endpoints'],
  endpointLists: ['endpoints', 'list'],
  endpointList: (search: Parameters) => ['endpoints', 'list', search],
  endpoint: (id: string) => ['endpoints', 'one', id],
  /** The same document as text. */
  endpointText: (id: string) => ['endpoints', 'text', id],
  endpointFaults: (id: string) => ['endpoints', 'faults', id],
  endpointStats: (id: string) => ['counts', 'endpoint', id],
  capture: (id: string) => ['capture', id],
  endpointDrift: (id: string) => ['drift', id],
  endpointTests: (id: string) => ['endpoints', 'tests', id],
  versions: (id: string) => ['endpoints', 'versions', id],
  version: (id: string, version: number) => ['endpoints', 'version', id, version],
  counts: ['counts'],
  totals: ['counts', 'totals'],
  messages: ['messages'],
  /** Not below `messages`: a list that is read stays as it is, and `newerMessages` counts what came since. */
  messageList: (search: Parameters, round = 0) => ['message-list', search, round],
  newerMessages: (search: Parameters, newest: string | undefined) => ['messages', 'newer', search, newest],
  messageReplays: (id: string) => ['messages', 'replays', id],
  message: (id: string) => ['message', id],
  messageBody: (id: string, which: string) => ['message', id, 'body', which],
  groups: ['groups'],
  groupList: (search: Parameters) => ['groups', 'list', search],
  group: (key: string) => ['groups', 'one', key],
  groupMessages: (key: string) => ['messages', 'group', key],
  replays: ['replays'],
  replayList: ['replays', 'list'],
  replay: (plan: string) => ['replays', 'one', plan],
  keys: ['keys'],
  audit: (search: Parameters) => ['audit', search],
  health: ['health'],
  /** Beside health: the event `status` has changes of both. */
  consumers: ['health', 'consumers'],
  vocabulary: ['vocabulary'],
  /** By the text of its request. */
  mappingRun: (request: string) => ['mapping-run', request],
  suggestions: (request: string) => ['suggestions', request],
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
