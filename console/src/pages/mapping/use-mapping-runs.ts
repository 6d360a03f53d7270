/** Dry runs of the draft on the loaded messages: the service says what the mapping reads and writes. */

import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { type ApiFailure, asFailure } from '../../api/api-failure.ts'
import { readGiven } from '../../api/given-parts.ts'
import { type MappingRun, recentMessages } from '../../api/mapping-calls.ts'
import { queries } from '../../api/queries.ts'
import { keyed, queryKeys } from '../../api/query-keys.ts'
import { useMe } from '../../api/session.ts'
import { lintRequest } from '../../draft/document-faults.ts'
import { NEW } from '../../draft/draft.ts'
import { type Coverage, computeCoverage } from './model/run-coverage.ts'
import { useSettled } from './use-stable.ts'

const RUN_AFTER_MS = 600

/** What a draft runs on: recorded messages, a test, or a typed message. Each is a part of the request of a dry run. */
export type MessageData = Readonly<{
  /** In words, such as "message 01a…". */
  name: string
  given: readonly object[]
}>

export type MappingRuns = Readonly<{
  coverage: Coverage
  /** Of the first message; without one, what the service finds in the draft. */
  report: MappingRun | undefined
  failure: ApiFailure | undefined
  isRunning: boolean
  retry(): void
}>

/** The request of one run, with the document as typed. */
export function createRunRequest(id: string, document: string | undefined, given: object): string {
  const own = id === NEW ? {} : { endpointId: id }
  const parts = JSON.stringify({ ...own, ...given, view: 'mapping' }).slice(1)
  return document === undefined ? `{${parts}` : `{"endpoint":${document},${parts}`
}

/** `document`: the text of the draft; undefined while it isn't JSON, and the last answer stays. */
export function useMappingRuns(id: string, document: string | undefined, data: MessageData | undefined): MappingRuns {
  const may = useMe()?.may ?? []
  const settled = useSettled(document, RUN_AFTER_MS)
  // Who may not run drafts still sees what the stored document does.
  const ofDraft = may.includes('author') ? settled : undefined
  const isAllowed = may.includes('author') ? settled !== undefined : may.includes('operator')
  // Without a message, the service only checks the draft.
  const checked = ofDraft === undefined ? undefined : lintRequest(ofDraft, id === NEW ? undefined : id)
  const requests = data?.given.map((given) => createRunRequest(id, ofDraft, given)) ?? [checked ?? []].flat()
  const results = useQueries({
    queries: requests.map((request) => ({
      ...queries.mappingRun(request),
      enabled: isAllowed,
      staleTime: Number.POSITIVE_INFINITY,
      gcTime: 60_000,
      placeholderData: keepPreviousData,
    })),
  })
  const reports = results.flatMap((result) => result.data ?? [])
  const ran = useSame(reports)
  const coverage = useMemo(() => computeCoverage(ran), [ran])
  const failed = results.find(({ error }) => error !== null)
  return {
    coverage,
    report: results[0]?.data,
    failure: failed?.error == null ? undefined : asFailure(failed.error),
    isRunning: results.some(({ isFetching }) => isFetching),
    retry: () => void failed?.refetch(),
  }
}

/** The same list as before while its elements are the same ones. */
function useSame<Item>(list: readonly Item[]): readonly Item[] {
  const [known, setKnown] = useState(list)
  const isSame = known.length === list.length && known.every((one, at) => one === list[at])
  if (!isSame) setKnown(list)
  return isSame ? known : list
}

/** The newest messages of an endpoint; none of one that is not stored yet. */
export const useRecentMessages = (id: string) =>
  useQuery({
    ...keyed(queryKeys.recentMessages(id), ({ signal }) => recentMessages(id, signal)),
    enabled: id !== NEW,
  })

export const useTestData = (id: string, test: string | undefined) =>
  useQuery({
    ...queries.endpointTests(id),
    select: ({ file }) => {
      const found = file.tests.find(({ name }) => name === test)
      return found === undefined ? null : readGiven(found)
    },
    enabled: id !== NEW && test !== undefined,
  })
