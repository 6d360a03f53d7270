/** `/endpoints/:id/edit` and `/endpoints/new`: the document of an endpoint beside what it makes of a message. */
import { getRouteApi } from '@tanstack/react-router'
import { NEW } from '../../draft/draft.ts'
import { useDraft } from '../../draft/use-draft.ts'
import { DocumentState } from '../../ui/endpoint/document-state.tsx'
import type { EditorSearch } from './editor-search.ts'
import { EditorWorkspace } from './editor-workspace.tsx'

const stored = getRouteApi('/endpoints/$id/edit')
const fresh = getRouteApi('/endpoints/new')

export function EditorPage() {
  const { id } = stored.useParams()
  return <DraftEditor key={id} id={id} search={stored.useSearch()} />
}

export function NewEndpointPage() {
  return <DraftEditor id={NEW} search={fresh.useSearch()} />
}

function DraftEditor({ id, search }: Readonly<{ id: string; search: EditorSearch }>) {
  const opened = useDraft(id)
  const { draft } = opened
  if (draft !== undefined) return <EditorWorkspace draft={draft} stored={opened.stored} search={search} />
  return <DocumentState title="Endpoint" query={opened.stored} />
}
