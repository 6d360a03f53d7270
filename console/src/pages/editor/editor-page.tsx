/** `/endpoints/:id/edit` and `/endpoints/new`: the document of an endpoint beside what it makes of a message. */
import { getRouteApi } from '@tanstack/react-router'
import { asFailure } from '../../api/api-failure.ts'
import { NEW } from '../../draft/draft.ts'
import { useDraft } from '../../draft/use-draft.ts'
import { FailureNotice } from '../../ui/states/failure-notice.tsx'
import { Page } from '../../ui/states/page.tsx'
import { Loading } from '../../ui/states/states.tsx'
import type { EditorSearch } from './editor-search.ts'
import { EditorWorkspace } from './editor-workspace.tsx'

const stored = getRouteApi('/endpoints/$id/edit')
const fresh = getRouteApi('/endpoints/new')

export function EditorPage() {
  const { id } = stored.useParams()
  return <EditorOf key={id} id={id} search={stored.useSearch()} />
}

export function NewEndpointPage() {
  return <EditorOf id={NEW} search={fresh.useSearch()} />
}

function EditorOf({ id, search }: Readonly<{ id: string; search: EditorSearch }>) {
  const opened = useDraft(id)
  const { draft } = opened
  if (draft !== undefined) return <EditorWorkspace draft={draft} stored={opened.stored} search={search} />
  const { error, refetch } = opened.stored
  return (
    <Page title="Endpoint">
      {error === null ? (
        <Loading what="Loading the document" />
      ) : (
        <FailureNotice failure={asFailure(error)} onRetry={() => void refetch()} />
      )}
    </Page>
  )
}
