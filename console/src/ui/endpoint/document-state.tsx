/** Shown while the document of an endpoint loads, and where it cannot be read. */

import type { UseQueryResult } from '@tanstack/react-query'
import { asFailure } from '../../api/api-failure.ts'
import { TextLink } from '../controls/text-link.tsx'
import { FailureNotice } from '../states/failure-notice.tsx'
import { Loading, Page } from '../states/states.tsx'

/** The same id gives the same answer again: no such endpoint, and no id of an endpoint. */
const FINAL: ReadonlySet<number> = new Set([400, 404])

export type DocumentStateProps = Readonly<{ title: string; query: Pick<UseQueryResult, 'error' | 'refetch'> }>

export function DocumentState({ title, query: { error, refetch } }: DocumentStateProps) {
  const failure = error === null ? undefined : asFailure(error)
  const isFinal = failure !== undefined && FINAL.has(failure.status)
  return (
    <Page title={title}>
      {failure === undefined ? (
        <Loading what="Loading the document" />
      ) : (
        <FailureNotice failure={failure} onRetry={isFinal ? undefined : () => void refetch()} />
      )}
      {isFinal && (
        <p>
          <TextLink className="button" to="/endpoints" text="All endpoints" />
        </p>
      )}
    </Page>
  )
}
