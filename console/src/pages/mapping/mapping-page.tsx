/** `/endpoints/:id/mapping`: the mapping of a draft as a picture. */

import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import type { StoredText } from '../../api/document-calls.ts'
import { queries } from '../../api/queries.ts'
import { useRefusal } from '../../api/session.ts'
import type { Draft } from '../../draft/draft.ts'
import { useDraft, useDraftNow } from '../../draft/use-draft.ts'
import { usePublishing } from '../../publish/use-publishing.tsx'
import { Button } from '../../ui/controls/button.tsx'
import { TextLink } from '../../ui/controls/text-link.tsx'
import { DocumentState } from '../../ui/endpoint/document-state.tsx'
import { EndpointPage } from '../../ui/endpoint/endpoint-page.tsx'
import { Empty } from '../../ui/states/states.tsx'
import { MappingEditor } from './mapping-editor.tsx'
import { readMapping } from './model/mapping-entries.ts'

const route = getRouteApi('/endpoints/$id/mapping')

export default function MappingPage() {
  const { id } = route.useParams()
  const { draft, stored } = useDraft(id)
  if (draft !== undefined) return <DraftMapping key={id} draft={draft} stored={stored} />
  return <DocumentState title="Mapping" query={stored} />
}

function DraftMapping({ draft, stored }: Readonly<{ draft: Draft; stored: UseQueryResult<StoredText> }>) {
  const { message, test } = route.useSearch()
  const { text, canUndo, canRedo } = useDraftNow(draft)
  const publishing = usePublishing(draft, stored, useMessageGroup(message))
  const refused = useRefusal('author')
  const mapping = useMemo(() => readMapping(text), [text])
  const toEditor = { ...(message && { message }), ...(test && { test }) }
  const actions = (
    <>
      <Button
        text="Undo"
        refused={refused ?? (canUndo ? undefined : 'There is nothing to undo.')}
        onPress={draft.undo}
      />
      <Button
        text="Redo"
        refused={refused ?? (canRedo ? undefined : 'There is nothing to redo.')}
        onPress={draft.redo}
      />
      <TextLink className="button" to="/endpoints/by-example" search={{ endpoint: draft.id }} text="By example" />
      <Link className="button" to="/endpoints/$id/edit" params={{ id: draft.id }} search={toEditor}>
        Open in the editor
      </Link>
      {publishing.actions}
    </>
  )
  return (
    <EndpointPage id={draft.id} part="Mapping" data={toEditor} actions={actions}>
      {publishing.banner}
      {typeof mapping === 'string' ? (
        <Empty
          title="The mapping cannot be shown"
          action={
            <Link className="button primary" to="/endpoints/$id/edit" params={{ id: draft.id }} search={toEditor}>
              Open the editor
            </Link>
          }
        >
          {mapping} Fix it in the editor; nothing is lost.
        </Empty>
      ) : (
        <MappingEditor draft={draft} mapping={mapping} refused={refused} />
      )}
      {publishing.dialogs}
    </EndpointPage>
  )
}

/** The group of failures that a recorded message belongs to; undefined of one that did not fail. */
function useMessageGroup(message: string | undefined): string | undefined {
  const { data } = useQuery({ ...queries.message(message ?? ''), enabled: message !== undefined })
  return data?.group
}
