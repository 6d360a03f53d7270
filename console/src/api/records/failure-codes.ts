/** The codes of failures, as the service has them. */
import { useQuery } from '@tanstack/react-query'
import { api, readData } from '../client.ts'
import { keyed, queryKeys } from '../query-keys.ts'

const NONE: readonly string[] = []

/** The codes of failures; none until the service has answered. */
export function useCodes(): readonly string[] {
  const { data } = useQuery({
    ...keyed(queryKeys.vocabulary, ({ signal }) => readData(api.GET('/endpoints/vocabulary', { signal }))),
    staleTime: Number.POSITIVE_INFINITY,
    select: ({ failures }) => failures.map(({ code }) => code).sort(),
  })
  return data ?? NONE
}
