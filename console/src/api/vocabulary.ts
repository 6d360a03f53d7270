/** What documents can say, as the service has it; it changes with the version of the service only. */

import { useQuery } from '@tanstack/react-query'
import { queries } from './queries.ts'
import type { Vocabulary } from './vocabulary-types.ts'

/** In: takes a part of it. */
export const useVocabulary = <Part = Vocabulary>(select?: (vocabulary: Vocabulary) => Part) =>
  useQuery({ ...queries.vocabulary, staleTime: Number.POSITIVE_INFINITY, ...(select && { select }) })

const NO_CODES: readonly string[] = []

/** The codes of failures; none until the service has answered. */
export function useCodes(): readonly string[] {
  const { data } = useVocabulary(({ failures }) => failures.map(({ code }) => code).sort())
  return data ?? NO_CODES
}
