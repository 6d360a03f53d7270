/** Drafts of the session, by endpoint: the editor and the mapping view of one endpoint have the same one. */

import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { StoredText } from '../api/document-calls.ts'
import { queries } from '../api/queries.ts'
import { useMe } from '../api/session.ts'
import { useStore } from '../api/store.ts'
import { createDraft, type Draft, type DraftBase, type DraftNow, NEW, toDraftBase } from './draft.ts'
import { forgetKept, forgetKeptDraft, keepDraft, readKeptDraft } from './kept-drafts.ts'

const KEPT_AFTER_MS = 300

const drafts = new Map<string, Draft>()

/** The initial document of a new endpoint. */
const FIRST_TEXT = `{
  "name": "",
  "endpoint": { "pattern": "/", "method": "POST" },
  "transformation": { "input": "JSON", "output": "JSON" },
  "inputMapping": {}
}
`

/** `draft` is undefined until the document has been read; the query then says why. */
export type OpenedDraft = Readonly<{
  draft: Draft | undefined
  /** The document as the service has it now; of an endpoint that is not stored yet, it never loads. */
  stored: UseQueryResult<StoredText>
}>

/** In: the id of an endpoint, or NEW. A draft without changes follows the stored document. */
export function useDraft(id: string): OpenedDraft {
  const who = useMe()?.who ?? ''
  const stored = useQuery({ ...queries.endpointText(id), enabled: id !== NEW })
  const draft = openDraft(id, who, id === NEW ? { text: FIRST_TEXT } : stored.data && toDraftBase(stored.data))
  useEffect(() => {
    if (draft !== undefined && stored.data !== undefined) follow(draft, stored.data)
  }, [draft, stored.data])
  return { draft, stored }
}

/** The text of a draft and what else changes with it. */
export const useDraftNow = (draft: Draft): DraftNow => useStore(draft.now)

/** Ends a draft, with what is kept of it: the next view of the endpoint starts from the stored document. */
export function discardDraft(id: string): void {
  drafts.delete(id)
  forgetKeptDraft(id)
  forgetKept(`by-example:${id}`)
}

function openDraft(id: string, who: string, base: DraftBase | undefined): Draft | undefined {
  const open = drafts.get(id)
  if (open !== undefined) return open
  const kept = readKeptDraft(id, who)
  const from = kept?.base ?? base
  if (from === undefined) return undefined
  const draft = createDraft(id, from, kept?.text)
  drafts.set(id, draft)
  keepWhileOpen(draft, who)
  return draft
}

/** Somebody else's change is taken over at once only where there is nothing to merge it with. */
function follow(draft: Draft, stored: StoredText): void {
  const { base, isDirty } = draft.now.get()
  if (isDirty || stored.etag === base.etag) return
  const next = toDraftBase(stored)
  draft.replaceText(next.text)
  draft.setBase(next)
}

function keepWhileOpen(draft: Draft, who: string): void {
  let timer: ReturnType<typeof setTimeout> | undefined
  const keep = () => {
    clearTimeout(timer)
    timer = undefined
    if (drafts.get(draft.id) !== draft) return
    const { isDirty, text, base } = draft.now.get()
    if (isDirty) keepDraft(draft.id, { who, text, base })
    else forgetKeptDraft(draft.id)
  }
  draft.now.subscribe(() => {
    timer ??= setTimeout(keep, KEPT_AFTER_MS)
  })
  addEventListener('pagehide', () => {
    if (timer !== undefined) keep()
  })
}
