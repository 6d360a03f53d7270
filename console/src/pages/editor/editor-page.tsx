/** `/endpoints/:id/edit` and `/endpoints/new`: the document of an endpoint as text beside what it makes of a message. */
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useEffect } from 'react'
import { queries } from '../../api/queries.ts'
import { NEW, toDraftBase } from '../../draft/draft.ts'
import { setValue } from '../../draft/json-edits.ts'
import { useDraft } from '../../draft/use-draft.ts'
import { DocumentState } from '../../ui/endpoint/document-state.tsx'
import { notify } from '../../ui/states/notices.tsx'
import { DocumentPane } from './document/document-pane.tsx'
import { DraftEditor } from './draft-editor.tsx'

const stored = getRouteApi('/endpoints/$id/edit')
const fresh = getRouteApi('/endpoints/new')

export function EditorPage() {
  const { id } = stored.useParams()
  return <DraftEditor key={id} id={id} search={stored.useSearch()} Pane={DocumentPane} />
}

export function NewEndpointPage() {
  const { copy, ...search } = fresh.useSearch()
  return copy === undefined ? (
    <DraftEditor id={NEW} search={search} Pane={DocumentPane} />
  ) : (
    <Copying key={copy} id={copy} />
  )
}

/** Makes the draft of a new endpoint the document of another, under a name and at a path that are free. */
function Copying({ id }: Readonly<{ id: string }>) {
  const query = useQuery(queries.endpointText(id))
  const { draft } = useDraft(NEW)
  const navigate = useNavigate()
  const { data } = query
  useEffect(() => {
    if (draft === undefined || data === undefined) return
    draft.replaceText(copyOf(toDraftBase(data).text))
    notify('The draft is a copy. Nothing is stored until you publish it.')
    void navigate({ to: '/endpoints/new', replace: true })
  }, [draft, data, navigate])
  return <DocumentState title="New endpoint" query={query} />
}

function copyOf(text: string): string {
  const { name, endpoint } = JSON.parse(text)
  const named = setValue(text, ['name'], `${name} copy`)
  const { pattern } = endpoint ?? {}
  return typeof pattern === 'string' ? setValue(named, ['endpoint', 'pattern'], `/copy${pattern}`) : named
}
