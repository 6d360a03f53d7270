/** `/endpoints/:id/edit` and `/endpoints/new`: the document of an endpoint as text beside what it makes of a message. */
import { getRouteApi } from '@tanstack/react-router'
import { NEW } from '../../draft/draft.ts'
import { DocumentPane } from './document/document-pane.tsx'
import { DraftEditor } from './draft-editor.tsx'

const stored = getRouteApi('/endpoints/$id/edit')
const fresh = getRouteApi('/endpoints/new')

export function EditorPage() {
  const { id } = stored.useParams()
  return <DraftEditor key={id} id={id} search={stored.useSearch()} Pane={DocumentPane} />
}

export function NewEndpointPage() {
  return <DraftEditor id={NEW} search={fresh.useSearch()} Pane={DocumentPane} />
}
