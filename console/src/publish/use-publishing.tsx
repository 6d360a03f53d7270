/** Publishing the draft of an endpoint, from whichever view it is edited in: its state, its buttons and their dialogs. */

import type { UseQueryResult } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { lazy, type ReactNode, Suspense, useEffect, useState } from 'react'
import { api, readData } from '../api/client.ts'
import type { StoredText } from '../api/document-calls.ts'
import { queryParts, reload } from '../api/query-keys.ts'
import { useRefusal } from '../api/session.ts'
import { type Draft, NEW } from '../draft/draft.ts'
import { forgetDraftTests } from '../draft/kept-drafts.ts'
import { discardDraft, useDraftNow } from '../draft/use-draft.ts'
import { Button } from '../ui/controls/button.tsx'
import { ConfirmButton } from '../ui/controls/dialog.tsx'
import { TextLink } from '../ui/controls/text-link.tsx'
import { StatusChip } from '../ui/data/status-chip.tsx'
import { useKey } from '../ui/keys/keymap.ts'
import { notify } from '../ui/states/notices.tsx'
import type { Published } from './publish-dialog.tsx'

/** Loaded after the view is shown, so that they open while the service is away, too. */
const loadPublish = () => import('./publish-dialog.tsx')
const loadMerge = () => import('./merge-dialog.tsx')
const PublishDialog = lazy(() => loadPublish().then((one) => ({ default: one.PublishDialog })))
const MergeDialog = lazy(() => loadMerge().then((one) => ({ default: one.MergeDialog })))

export type Publishing = Readonly<{
  /** The state of the draft, and the buttons, for the head of the page. */
  actions: ReactNode
  /** Says that the stored document is a newer one; null where it is not. */
  banner: ReactNode
  /** The dialog that is open. */
  dialogs: ReactNode
}>

/** `group`: of failures, of the message that the draft is fixed for. */
export function usePublishing(draft: Draft, stored: UseQueryResult<StoredText>, group: string | undefined): Publishing {
  const { isDirty, base } = useDraftNow(draft)
  const refusal = useRefusal('author')
  const [dialog, setDialog] = useState<'publish' | 'merge'>()
  const isNew = draft.id === NEW
  const refused = refusal ?? (isDirty || isNew ? undefined : 'The draft is the stored document.')
  const publish = () => {
    if (refused === undefined) setDialog('publish')
  }
  useKey('Control+s', 'Publish', publish)
  useEffect(() => {
    for (const load of [loadPublish, loadMerge]) load().catch(() => undefined)
  }, [])
  const close = () => setDialog(undefined)
  const finish = usePublished(draft, group, close)
  const isOlder = !isNew && isDirty && stored.data !== undefined && stored.data.etag !== base.etag
  return {
    actions: (
      <>
        <DraftState isDirty={isDirty} isNew={isNew} />
        <ConfirmButton
          text="Discard …"
          title="Discard your changes?"
          confirm="Discard"
          tone="quiet"
          refused={isDirty ? undefined : 'There are no changes.'}
          onConfirm={() => {
            draft.replaceText(base.text)
            forgetDraftTests(draft.id)
          }}
        >
          The draft becomes the stored document again. Undo brings your changes back while this page is open.
        </ConfirmButton>
        <Button text="Publish …" tone="primary" keys="Control+S" refused={refused} onPress={publish} />
      </>
    ),
    banner: isOlder ? (
      <div className="banner" role="status">
        <p>Someone has published another version since you started.</p>
        <Button text="Merge …" onPress={() => setDialog('merge')} />
      </div>
    ) : null,
    dialogs: (
      <Suspense>
        {dialog === 'publish' && (
          <PublishDialog draft={draft} onClose={close} onPublished={finish} onConflict={() => setDialog('merge')} />
        )}
        {dialog === 'merge' && <MergeDialog draft={draft} onClose={close} onMerged={() => setDialog('publish')} />}
      </Suspense>
    ),
  }
}

function DraftState({ isDirty, isNew }: Readonly<{ isDirty: boolean; isNew: boolean }>) {
  if (isNew) return <StatusChip tone="quiet">not published</StatusChip>
  return isDirty ? (
    <StatusChip tone="warn">draft with changes</StatusChip>
  ) : (
    <StatusChip tone="quiet">as stored</StatusChip>
  )
}

function usePublished(draft: Draft, group: string | undefined, close: () => void): (published: Published) => void {
  const navigate = useNavigate()
  return ({ id, etag, warnings }) => {
    close()
    draft.setBase({ text: draft.now.get().text, etag })
    const noted = warnings === 0 ? '' : warnings === 1 ? ' There is 1 warning.' : ` There are ${warnings} warnings.`
    void reload(queryParts.endpoints)
    if (draft.id === NEW) {
      discardDraft(NEW)
      notify(`The endpoint is published.${noted}`)
      void navigate({ to: '/endpoints/$id/edit', params: { id }, replace: true })
      return
    }
    const link = group && <TextLink to="/groups/$key" params={{ key: group }} text="Failures that are alike" />
    readData(api.GET('/endpoints/{id}/versions', { params: { path: { id } } })).then(
      ([newest]) => notify(`Published as version ${newest?.version ?? ''}.${noted}`, 'good', link),
      () => notify(`Published.${noted}`, 'good', link),
    )
  }
}
