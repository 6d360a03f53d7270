/** A change of a table: what it would change is shown before it is stored. */
import { Link } from '@tanstack/react-router'
import type { Answered } from '../../api/client.ts'
import { type Change, readEtag } from '../../api/document-calls.ts'
import { queryParts, reload } from '../../api/query-keys.ts'
import { readRows, type TableDiff } from '../../api/table-calls.ts'
import { ChangeDialog, type ChangeDialogProps } from '../controls/change-dialog.tsx'
import { notifyStored } from '../states/notices.tsx'
import { TableChanges } from './table-changes.tsx'

type StoreDialogProps = Pick<
  ChangeDialogProps<TableDiff>,
  'title' | 'children' | 'refused' | 'isComplete' | 'onClose'
> &
  Readonly<{
    /** Of the table. */
    name: string
    compare(): Promise<TableDiff>
    store(change: Change): Promise<Answered<Readonly<{ version: number }>>>
    onStored?(): void
  }>

export function StoreDialog({ name, compare, store, onStored, ...dialog }: StoreDialogProps) {
  return (
    <ChangeDialog
      {...dialog}
      confirm="Store"
      // Of a table that there is: what is compared is replaced, and nothing newer.
      readPlan={async () => ({ etag: await readEtag(readRows(name, { limit: 1 })), diff: await compare() })}
      renderPlan={({ diff }) => <TableChanges diff={diff} />}
      store={async ({ etag }, note) => {
        const { data, warnings } = await store({ note, ifMatch: etag })
        await reload(queryParts.tables)
        const { version } = data
        const effect = (
          <Link to="/tables/$name/versions" params={{ name }} search={{ to: version }}>
            What it changes for past messages
          </Link>
        )
        notifyStored(`Version ${version} of the table ${name} is active.`, warnings, version > 1 ? effect : undefined)
        onStored?.()
      }}
    />
  )
}
