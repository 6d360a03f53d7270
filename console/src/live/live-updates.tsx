/** What happens in the service, for the views of the page: answers that events concern are read again. */
import type { Query, QueryFilters } from '@tanstack/react-query'
import { useEffect } from 'react'
import { queryClient, queryParts } from '../api/query-keys.ts'
import { createStore, useStore } from '../api/store.ts'
import { openEventStream, type StreamState } from './event-stream.ts'

export type LiveType = 'messages' | 'failures' | 'replay' | 'deliveries' | 'endpoints' | 'tables' | 'status' | 'reset'

/** The answers that each event concerns. */
const CONCERNED: Readonly<Record<LiveType, readonly (readonly string[])[]>> = {
  messages: [queryParts.counts, queryParts.messages, queryParts.endpointLists, queryParts.tableLists],
  failures: [queryParts.groups],
  // A replay that succeeds takes its message out of the group of its failure, and a run its codes out of those that tables lack.
  replay: [queryParts.replays, queryParts.groups, queryParts.tableLists],
  deliveries: [queryParts.deliveries],
  endpoints: [queryParts.endpoints],
  tables: [queryParts.tables],
  status: [queryParts.health],
  reset: [],
}

/** Events come each second; a view is read again at most this often. */
const MIN_INTERVAL_MS = 3_000
/** A list is read again with all its loaded pages: with more than these, it is at most this often. */
const FEW_PAGES = 3
const LONG_LIST_EVERY_MS = 30_000

const isDue = ({ state: { data, dataUpdatedAt } }: Query): boolean => {
  const pages = (data as { pages?: readonly unknown[] } | undefined)?.pages ?? []
  return pages.length <= FEW_PAGES || Date.now() - dataUpdatedAt > LONG_LIST_EVERY_MS
}

const streamState = createStore<StreamState>('connecting')

/** How current the page is. */
export const useStreamState = (): StreamState => useStore(streamState)

/** Keeps every view current while the component that calls this is shown. To be called once, by the shell. */
export function useLiveUpdates(): void {
  useEffect(() => {
    const refresh = createRefresher()
    const close = openEventStream({
      onState: streamState.set,
      onEvent: (type) => {
        if (isLiveType(type)) refresh(type)
      },
    })
    return () => {
      close()
      refresh.stop()
    }
  }, [])
}

const isLiveType = (type: string): type is LiveType => Object.hasOwn(CONCERNED, type)

/** The first answer of a view, or a further page of a list, is in progress. */
const isLoading = ({ state: { fetchStatus, fetchMeta, data } }: Query): boolean =>
  fetchStatus === 'fetching' && (data === undefined || fetchMeta?.fetchMore !== undefined)

function createRefresher(): ((type: LiveType) => void) & { stop(): void } {
  const waiting = new Map<LiveType, ReturnType<typeof setTimeout>>()
  const lastAt = new Map<LiveType, number>()
  const loading = new Set<Query>()
  /** What is loading may be older than what happened, and to invalidate it would keep an old answer or drop a page: it ends first. */
  const readAgain = (concerned: QueryFilters, isConcerned: (query: Query) => boolean = () => true) => {
    const queries = queryClient.getQueryCache().findAll({ ...concerned, predicate: isConcerned })
    for (const query of queries.filter((one) => isLoading(one) && !loading.has(one))) {
      loading.add(query)
      query
        .fetch()
        .catch(() => {})
        .finally(() => {
          loading.delete(query)
          void queryClient.invalidateQueries({ queryKey: query.queryKey, exact: true })
        })
    }
    void queryClient.invalidateQueries({ ...concerned, predicate: (query) => isConcerned(query) && !isLoading(query) })
  }
  const run = (type: LiveType) => {
    waiting.delete(type)
    lastAt.set(type, Date.now())
    if (type === 'reset') readAgain({})
    else for (const queryKey of CONCERNED[type]) readAgain({ queryKey }, isDue)
  }
  const refresh = (type: LiveType) => {
    if (waiting.has(type)) return
    const dueMs = (lastAt.get(type) ?? 0) + MIN_INTERVAL_MS - Date.now()
    if (dueMs <= 0) run(type)
    else
      waiting.set(
        type,
        setTimeout(() => run(type), dueMs),
      )
  }
  return Object.assign(refresh, {
    stop: () => {
      for (const timer of waiting.values()) clearTimeout(timer)
    },
  })
}
