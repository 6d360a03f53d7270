/** `/tables/:name`: the rows of a table, searched by the service, changed in place. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useEffect, useEffectEvent, useState } from 'react'
import { asFailure } from '../../api/api-failure.ts'
import { queryKeys, queryParts } from '../../api/query-keys.ts'
import { useRefusal } from '../../api/session.ts'
import {
  changeRows,
  downloadTable,
  type RowsChange,
  readRows,
  type ShownRow,
  TABLE_FORMATS,
  type TableMediaType,
  type TableRow,
} from '../../api/table-calls.ts'
import { Button } from '../../ui/controls/button.tsx'
import { ConfirmDialog } from '../../ui/controls/dialog.tsx'
import { type Filter, FilterBar } from '../../ui/controls/filter-bar.tsx'
import { downloadText } from '../../ui/data/clipboard.ts'
import { RowList, useRowPages } from '../../ui/data/row-list.tsx'
import { notify } from '../../ui/states/notices.tsx'
import { Empty } from '../../ui/states/states.tsx'
import { countRows } from '../../ui/table/table-changes.tsx'
import { rowColumns } from './row-columns.tsx'
import { AddRowDialog, PasteDialog } from './rows-dialog.tsx'
import { TableFrame } from './table-frame.tsx'
import { UploadDialog } from './upload-dialog.tsx'
import './tables.css'

const ROWS_OF_A_PAGE = 100
const FILTERS: readonly Filter[] = [
  { name: 'search', label: 'Search', kind: 'search', placeholder: 'A part of any cell' },
]

const route = getRouteApi('/tables/$name')

type Asked = 'add' | 'upload' | 'delete' | Readonly<{ pasted: string }>

export function TablePage() {
  const { name } = route.useParams()
  const refused = useRefusal('author')
  const [asked, setAsked] = useState<Asked>()
  const actions = (
    <>
      <Button text="Add a row …" refused={refused} onPress={() => setAsked('add')} />
      <Button text="Paste rows …" refused={refused} onPress={() => setAsked({ pasted: '' })} />
      <Button text="Upload …" refused={refused} onPress={() => setAsked('upload')} />
    </>
  )
  return (
    <TableFrame name={name} part="Rows" actions={actions}>
      {(table) => (table === undefined ? <NoTable /> : <Rows key={name} {...{ table, refused, asked, setAsked }} />)}
    </TableFrame>
  )
}

const NoTable = () => (
  <Empty title="There is no such table">It may have been deleted; its versions are kept, and can be restored.</Empty>
)

type RowsProps = Readonly<{
  table: TableRow
  refused: string | undefined
  asked: Asked | undefined
  setAsked(asked: Asked | undefined): void
}>

function Rows({ table: { name, columns }, refused, asked, setAsked }: RowsProps) {
  const { search } = route.useSearch()
  const navigate = route.useNavigate()
  const client = useQueryClient()
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const [round, setRound] = useState(0)
  const pages = useRowPages<ShownRow>({
    queryKey: queryKeys.tableRows(name, search ?? ''),
    readPage: async (cursor, signal) => {
      const { data, etag } = await readRows(name, { search, from: Number(cursor ?? 0), limit: ROWS_OF_A_PAGE }, signal)
      return { rows: data.rows.map((cells) => ({ cells, etag })), next: data.next?.toString(), total: data.matches }
    },
  })
  usePaste(refused === undefined && asked === undefined ? (pasted) => setAsked({ pasted }) : undefined)
  /** The reader's own changes are shown at once. */
  const settle = async () => {
    await client.invalidateQueries({ queryKey: queryParts.tables })
    setRound((before) => before + 1)
  }
  const change = async (rows: RowsChange, ifMatch: string | undefined) => {
    await changeRows(name, rows, { ifMatch })
    await settle()
  }
  const remove = async () => {
    await change({ rows: [], remove: [...selected] }, pages.data?.pages[0]?.rows[0]?.etag)
    notify(`${countRows(selected.size)} deleted.`)
    setSelected(new Set())
  }
  const toggle = (key: string) => {
    const next = new Set(selected)
    if (!next.delete(key)) next.add(key)
    setSelected(next)
  }
  const close = () => setAsked(undefined)
  const dialog = { name, columns, onStored: () => void settle(), onClose: close }
  return (
    <>
      <FilterBar
        filters={FILTERS}
        values={{ search }}
        onChange={(changes) => void navigate({ search: (before) => ({ ...before, ...changes }), replace: true })}
      />
      <div className="row">
        <Button
          tone="danger"
          refused={refused ?? (selected.size === 0 ? 'Select rows first.' : undefined)}
          onPress={() => setAsked('delete')}
        >
          {selected.size === 0 ? 'Delete rows …' : `Delete ${countRows(selected.size)} …`}
        </Button>
        <Downloads name={name} />
      </div>
      <div className="table-grid">
        <RowList
          label={`Rows of ${name}`}
          columns={rowColumns({ name, columns, refused, selected, onToggle: toggle, onChange: change })}
          pages={pages}
          getRowId={({ cells: [key = ''] }) => key}
          of={JSON.stringify([search, round])}
          empty={
            search === undefined ? (
              <Empty title="The table has no rows">Add one, paste rows from a spreadsheet, or upload a file.</Empty>
            ) : (
              <Empty title="No row matches">No cell has this text.</Empty>
            )
          }
        />
      </div>
      {asked === 'add' && <AddRowDialog {...dialog} />}
      {asked === 'upload' && <UploadDialog name={name} onClose={close} />}
      {typeof asked === 'object' && <PasteDialog pasted={asked.pasted} {...dialog} />}
      {asked === 'delete' && (
        <ConfirmDialog
          title={`Delete ${countRows(selected.size)}`}
          confirm="Delete"
          tone="danger"
          onConfirm={remove}
          onClose={close}
        >
          The next message no longer finds these codes. The version before can be restored.
        </ConfirmDialog>
      )}
    </>
  )
}

/** Rows that are pasted on the page, where nothing is typed. */
function usePaste(onPaste: ((text: string) => void) | undefined): void {
  const take = useEffectEvent((event: ClipboardEvent) => {
    const text = event.clipboardData?.getData('text/plain') ?? ''
    const isTyping = event.target instanceof HTMLElement && event.target.closest('input, textarea, [role="dialog"]')
    if (text.trim() !== '' && !isTyping) onPaste?.(text)
  })
  useEffect(() => {
    const listen = (event: ClipboardEvent) => take(event)
    document.addEventListener('paste', listen)
    return () => document.removeEventListener('paste', listen)
  }, [])
}

function Downloads({ name }: Readonly<{ name: string }>) {
  const { mutate, isPending, variables } = useMutation({
    mutationFn: (mediaType: TableMediaType) => downloadTable(name, mediaType),
    onSuccess: (content, mediaType) =>
      downloadText(content, `${name}${TABLE_FORMATS.find(({ value }) => value === mediaType)?.ending}`),
    onError: (thrown) => notify(asFailure(thrown).message, 'warn'),
  })
  return TABLE_FORMATS.map(({ value, label }) => (
    <Button
      key={value}
      tone="quiet"
      label={`Download as ${label}`}
      busy={isPending && variables === value}
      onPress={() => mutate(value)}
    >
      ↓ {label}
    </Button>
  ))
}
