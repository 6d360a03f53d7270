/** A change of a table: what it would change is shown before it is stored. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useEffect, useEffectEvent, useState } from 'react'
import { ApiFailure } from '../../api/api-failure.ts'
import type { Answered } from '../../api/client.ts'
import type { Change } from '../../api/document-calls.ts'
import { queryParts } from '../../api/query-keys.ts'
import { readRows, type TableDiff } from '../../api/table-calls.ts'
import { Button } from '../controls/button.tsx'
import { Dialog } from '../controls/dialog.tsx'
import { TextField } from '../controls/fields.tsx'
import { FailureNotice } from '../states/failure-notice.tsx'
import { notify } from '../states/notices.tsx'
import { TableChanges } from './table-changes.tsx'

export type StoreDialogProps = Readonly<{
  title: string
  /** Of the table. */
  name: string
  /** What is changed, to fill in; undefined if that is known already: the changes are shown at once. */
  children?: ReactNode
  /** Why there is nothing to compare yet. */
  refused?: string | undefined
  /** The form is complete when it opens. */
  isComplete?: boolean
  compare(): Promise<TableDiff>
  store(change: Change): Promise<Answered<Readonly<{ version: number }>>>
  onStored?(): void
  onClose(): void
}>

export function StoreDialog({ title, name, children, refused, isComplete, ...given }: StoreDialogProps) {
  const { compare, store, onStored, onClose } = given
  const client = useQueryClient()
  const [note, setNote] = useState('')
  const plan = useMutation({ mutationFn: async () => ({ etag: await readEtag(name), diff: await compare() }) })
  const stored = useMutation({
    mutationFn: () => store({ note: note.trim(), ifMatch: plan.data?.etag }),
    onSuccess: async ({ data, warnings }) => {
      await client.invalidateQueries({ queryKey: queryParts.tables })
      const said = [
        `Version ${data.version} of the table ${name} is active.`,
        ...warnings.map(({ message }) => message),
      ]
      const { version } = data
      const effect = (
        <Link to="/tables/$name/versions" params={{ name }} search={{ to: version }}>
          What it changes for past messages
        </Link>
      )
      notify(said.join(' '), warnings.length === 0 ? 'good' : 'warn', version > 1 ? effect : undefined)
      onClose()
      onStored?.()
    },
  })
  const start = useEffectEvent(() => plan.mutate())
  const startsAtOnce = children === undefined || isComplete === true
  useEffect(() => {
    if (startsAtOnce) start()
  }, [startsAtOnce])
  const back = () => {
    plan.reset()
    stored.reset()
  }
  const failure = plan.error ?? stored.error
  const actions = (
    <>
      <Button text="Cancel" onPress={onClose} />
      {plan.data === undefined ? (
        <Button
          text="Show the changes"
          tone="primary"
          refused={refused}
          busy={plan.isPending}
          onPress={() => plan.mutate()}
        />
      ) : (
        <>
          {children !== undefined && <Button text="Back" onPress={back} />}
          <Button text="Store" tone="primary" busy={stored.isPending} onPress={() => stored.mutate()} />
        </>
      )}
    </>
  )
  return (
    <Dialog title={title} size="large" onClose={onClose} isDismissable={false} actions={actions}>
      {plan.data === undefined ? (
        children
      ) : (
        <>
          <TableChanges diff={plan.data.diff} />
          <TextField label="Note" value={note} onChange={setNote} hint="For the versions and the audit log" />
        </>
      )}
      <FailureNotice failure={failure} onRetry={stored.error === null ? undefined : startAgain} />
    </Dialog>
  )
  function startAgain() {
    stored.reset()
    plan.mutate()
  }
}

/** Of a table that there is: what is compared is replaced, and nothing newer. */
async function readEtag(name: string): Promise<string | undefined> {
  try {
    return (await readRows(name, { limit: 1 })).etag
  } catch (thrown) {
    if (thrown instanceof ApiFailure && thrown.status === 404) return undefined
    throw thrown
  }
}
