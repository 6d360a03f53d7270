/** Somebody else has published meanwhile: both changes become one draft, and only what both changed is asked. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { readDocument } from '../api/document-calls.ts'
import { answerKey, keyed } from '../api/query-keys.ts'
import { layOutDocument } from '../draft/document-layout.ts'
import { type Draft, type DraftBase, toDraftBase } from '../draft/draft.ts'
import { type MergeChoice, type MergeConflict, type Merged, mergeDocuments } from '../draft/merge-documents.ts'
import { LazyDiffView } from '../ui/code/lazy-views.tsx'
import { Button } from '../ui/controls/button.tsx'
import { Dialog } from '../ui/controls/dialog.tsx'
import { QueryView } from '../ui/states/states.tsx'
import { VisibleText } from '../ui/text/visible-text.tsx'

export type MergeDialogProps = Readonly<{
  draft: Draft
  onClose(): void
  /** The draft is merged, and starts from the document that is stored now. */
  onMerged(): void
}>

export function MergeDialog({ draft, onClose, onMerged }: MergeDialogProps) {
  const query = useQuery({
    ...keyed(answerKey<DraftBase>('endpoints', 'merge', draft.id), async ({ signal }) =>
      toDraftBase(await readDocument(draft.id, signal)),
    ),
    staleTime: 0,
    gcTime: 0,
  })
  return (
    <Dialog title="The endpoint has changed meanwhile" size="large" onClose={onClose} isDismissable={false}>
      <QueryView query={query} what="Reading the stored document">
        {(stored) => <MergeForm draft={draft} stored={stored} onClose={onClose} onMerged={onMerged} />}
      </QueryView>
    </Dialog>
  )
}

type MergeFormProps = MergeDialogProps & Readonly<{ stored: DraftBase }>

function MergeForm({ draft, stored, onClose, onMerged }: MergeFormProps) {
  const [choices, setChoices] = useState<ReadonlyMap<string, MergeChoice>>(new Map())
  const { text, base } = draft.now.get()
  const merged = mergeDocuments(base.text, text, stored.text, choices)
  const open = merged?.conflicts.filter(({ path }) => !choices.has(path)).length ?? 0
  const take = () => {
    if (merged === undefined) return
    draft.replaceText(layOutDocument(merged.text))
    draft.setBase(stored)
    onMerged()
  }
  return (
    <>
      <p>
        Someone has published another version since you started. Your changes are kept in any case: you can undo the
        merge in the editor.
      </p>
      {merged === undefined ? (
        <p>The draft is not JSON, so it cannot be merged yet: close this, and fix it first.</p>
      ) : (
        <MergeParts
          merged={merged}
          choices={choices}
          onChoose={(path, choice) => setChoices(new Map(choices).set(path, choice))}
        />
      )}
      {merged !== undefined && (
        <section aria-label="What publishing would change">
          <h3>What publishing would change</h3>
          <LazyDiffView
            before={{ title: 'Stored now', text: stored.text }}
            after={{ title: 'Merged', text: layOutDocument(merged.text) }}
          />
        </section>
      )}
      <div className="row to-end">
        <Button text="Back to my draft" onPress={onClose} />
        <Button
          text="Take the merged document"
          tone="primary"
          refused={
            merged === undefined
              ? 'The draft is not JSON.'
              : open > 0
                ? `Choose for ${open === 1 ? 'the place' : `the ${open} places`} that both changed.`
                : undefined
          }
          onPress={take}
        />
      </div>
    </>
  )
}

type MergePartsProps = Readonly<{
  merged: Merged
  choices: ReadonlyMap<string, MergeChoice>
  onChoose(path: string, choice: MergeChoice): void
}>

function MergeParts({ merged: { taken, conflicts }, choices, onChoose }: MergePartsProps) {
  return (
    <>
      {taken.length > 0 && (
        <section aria-label="Taken from theirs">
          <h3>Taken from theirs</h3>
          <ul className="failure-details">
            {taken.map((path) => (
              <li key={path}>
                <VisibleText code text={path} max={300} />
              </li>
            ))}
          </ul>
        </section>
      )}
      {conflicts.length > 0 && (
        <section aria-label="Changed by both">
          <h3>Changed by both</h3>
          {conflicts.map((conflict) => (
            <ConflictChoice
              key={conflict.path}
              conflict={conflict}
              choice={choices.get(conflict.path)}
              onChoose={(choice) => onChoose(conflict.path, choice)}
            />
          ))}
        </section>
      )}
    </>
  )
}

type ConflictChoiceProps = Readonly<{
  conflict: MergeConflict
  choice: MergeChoice | undefined
  onChoose(choice: MergeChoice): void
}>

function ConflictChoice({ conflict: { path, base, mine, theirs }, choice, onChoose }: ConflictChoiceProps) {
  const values = { mine, theirs } as const
  return (
    <fieldset>
      <legend>
        <VisibleText code text={path} max={300} />
      </legend>
      <p className="quiet">
        Before: <ShownValue text={base} />
      </p>
      {(['mine', 'theirs'] as const).map((one) => (
        <label key={one} className="checkbox">
          <input type="radio" name={`conflict ${path}`} checked={choice === one} onChange={() => onChoose(one)} />
          <span>
            {one === 'mine' ? 'Mine' : 'Theirs'}: <ShownValue text={values[one]} />
          </span>
        </label>
      ))}
    </fieldset>
  )
}

const ShownValue = ({ text }: Readonly<{ text: string | undefined }>) =>
  text === undefined ? <em>removed</em> : <VisibleText code text={text} max={500} />
