/** The message or test that the URL names. */

import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { queries } from '../../api/queries.ts'
import { useMe } from '../../api/session.ts'
import { NEW } from '../../draft/draft.ts'
import { readDraftTests } from '../../draft/kept-drafts.ts'
import type { EditorSearch } from './editor-search.ts'
import type { RunData } from './run/run-request.ts'

export type LoadedData = Readonly<{
  /** Set once the data that the URL names has been read. */
  data: Exclude<RunData, { kind: 'typed' }> | undefined
  failure: unknown
  /** The name of a test that the endpoint does not have. */
  missing: string | undefined
}>

export function useLoadedData(id: string, { message, test }: EditorSearch): LoadedData {
  const tests = useQuery({
    ...queries.endpointTests(id),
    enabled: test !== undefined && id !== NEW,
  })
  const who = useMe()?.who ?? ''
  const known = id === NEW ? readDraftTests(id, who) : tests.data?.file.tests
  const found = known?.find(({ name }) => name === test)
  const data = useMemo((): LoadedData['data'] => {
    if (message !== undefined) return { kind: 'recorded', messageId: message }
    return found && { kind: 'test', test: found }
  }, [message, found])
  if (message !== undefined) return { data, failure: null, missing: undefined }
  return {
    data,
    failure: tests.error,
    missing: tests.data !== undefined && found === undefined ? test : undefined,
  }
}
