/** `/tables/:name`: the rows of a table, searched by the service, changed in place. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { type ReactNode, useEffect, useEffectEvent, useRef, useState } from 'react'
import { ApiFailure } from '../../api/api-failure.ts'
import { queries } from '../../api/queries.ts'
import { queryKeys, queryParts, reload } from '../../api/query-keys.ts'
import { useRefusal } from '../../api/session.ts'
import {
  changeRows,
  compareRows,
  downloadTable,
  type RowsChange,
  readRows,
  type ShownRow,
  TABLE_FORMATS,
  type TableRow,
} from '../../api/table-calls.ts'
import { Button } from '../../ui/controls/button.tsx'
import { ConfirmButton } from '../../ui/controls/dialog.tsx'
import { Checkbox, TextField } from '../../ui/controls/fields.tsx'
import { type Filter, FilterBar } from '../../ui/controls/filter-bar.tsx'
import { TaskButton } from '../../ui/controls/plan-button.tsx'
import { downloadText } from '../../ui/data/clipboard.ts'
import { type Column, RowList, useRowPages } from '../../ui/data/data-table.tsx'
import { wholeNumber } from '../../ui/data/figures.tsx'
import { StatusChip } from '../../ui/data/status-chip.tsx'
import { Time } from '../../ui/data/time.tsx'
import { FailureNotice } from '../../ui/states/failure-notice.tsx'
import { notify } from '../../ui/states/notices.tsx'
import { Empty, Page, QueryView } from '../../ui/states/states.tsx'
import { StoreDialog } from '../../ui/table/store-dialog.tsx'
import { countRows } from '../../ui/table/table-changes.tsx'
import { VisibleText } from '../../ui/text/visible-text.tsx'
import { parsePasted, toRows } from './parse-pasted.ts'
import { UploadDialog } from './upload-dialog.tsx'
import './tables.css'

const ROWS_OF_A_PAGE = 100
const FILTERS: readonly Filter[] = [
  { name: 'search', label: 'Search', kind: 'search', placeholder: 'A part of any cell' },
]

const route = getRouteApi('/tables/$name')

type Asked = 'add' | 'upload' | Readonly<{ pasted: string }>

export default function TablePage() {
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
      {(table) =>
        table === undefined ? (
          <Empty title="There is no such table">
            It may have been deleted; its versions are kept, and can be restored.
          </Empty>
        ) : (
          <Rows key={name} {...{ table, refused, asked, setAsked }} />
        )
      }
    </TableFrame>
  )
}

type RowsProps = Readonly<{
  table: TableRow
  refused: string | undefined
  asked: Asked | undefined
  setAsked(asked: Asked | undefined): void
}>

function Rows({ table: { name, columns }, refused, asked, setAsked }: RowsProps) {
  const { search } = route.useSearch()
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
    await reload(queryParts.tables)
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
      <FilterBar filters={FILTERS} values={{ search }} />
      <div className="row">
        <ConfirmButton
          text={selected.size === 0 ? 'Delete rows …' : `Delete ${countRows(selected.size)} …`}
          title={`Delete ${countRows(selected.size)}`}
          confirm="Delete"
          tone="danger"
          refused={refused ?? (selected.size === 0 ? 'Select rows first.' : undefined)}
          onConfirm={remove}
        >
          The next message no longer finds these codes. The version before can be restored.
        </ConfirmButton>
        {TABLE_FORMATS.map(({ value, label, ending }) => (
          <TaskButton
            key={value}
            tone="quiet"
            text={`↓ ${label}`}
            label={`Download as ${label}`}
            run={async () => downloadText(await downloadTable(name, value), `${name}${ending}`)}
          />
        ))}
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

type RowColumnsOptions = Readonly<{
  name: string
  columns: readonly string[]
  refused: string | undefined
  selected: ReadonlySet<string>
  onToggle(key: string): void
  /** Fails with an ApiFailure. */
  onChange(change: RowsChange, ifMatch: string | undefined): Promise<void>
}>

const MAX_CELL_CHARACTERS = 300

function rowColumns(options: RowColumnsOptions): readonly Column<ShownRow>[] {
  const { name, columns, refused, selected, onToggle, onChange } = options
  const [keyColumn = ''] = columns
  const cells = columns.map(
    (title, index): Column<ShownRow> => ({
      id: title,
      title,
      isName: index === 0,
      render: ({ cells, etag }) => {
        const [key = ''] = cells
        const value = cells[index] ?? ''
        const save = async (text: string) => {
          if (index > 0) return onChange({ rows: [{ [keyColumn]: key, [title]: text }] }, etag)
          const row = Object.fromEntries(columns.map((column, at) => [column, at === 0 ? text : (cells[at] ?? '')]))
          const change = { rows: [row], remove: [key] }
          if ((await compareRows(name, change)).changed > 0)
            throw new ApiFailure(`There is a row ${text} already.`, { status: 409 })
          return onChange(change, etag)
        }
        return refused === undefined ? (
          <Cell value={value} label={`${title} of ${key}`} isKey={index === 0} onSave={save} />
        ) : (
          <span {...(index === 0 && { 'data-row': true, tabIndex: -1 })}>
            <VisibleText text={value} max={MAX_CELL_CHARACTERS} />
          </span>
        )
      },
    }),
  )
  if (refused !== undefined) return cells
  return [
    ...cells,
    {
      title: 'Select',
      render: ({ cells: [key = ''] }) => (
        <Checkbox checked={selected.has(key)} onChange={() => onToggle(key)}>
          <span className="visually-hidden">Select {key}</span>
        </Checkbox>
      ),
    },
  ]
}

type CellProps = Readonly<{ value: string; label: string; isKey: boolean; onSave(text: string): Promise<void> }>

/** What is typed stays until Enter stores it or Esc discards it. */
function Cell({ value, label, isKey, onSave }: CellProps) {
  const [text, setText] = useState<string>()
  /** After a change the cell has the focus again. */
  const isBack = useRef(false)
  const { mutate, isPending, error, reset } = useMutation({ mutationFn: onSave, onSuccess: () => end() })
  const end = () => {
    reset()
    isBack.current = true
    setText(undefined)
  }
  if (text === undefined) {
    return (
      <button
        type="button"
        className="table-cell"
        title={`Change ${label}`}
        ref={(button) => {
          if (isBack.current) button?.focus()
          isBack.current = false
        }}
        onClick={() => setText(value)}
        {...(isKey && { 'data-row': true })}
      >
        <VisibleText text={value} max={MAX_CELL_CHARACTERS} />
        <span className="visually-hidden">, change {label}</span>
      </button>
    )
  }
  return (
    <>
      <TextField
        label={label}
        hideLabel
        value={text}
        onChange={setText}
        onKeyDown={(event) => {
          if (event.key === 'Escape') end()
          else if (event.key !== 'Enter' || isPending) return
          else if (text === value) end()
          else mutate(text)
          event.stopPropagation()
        }}
        ref={focusField}
      />
      <FailureNotice failure={error} />
    </>
  )
}

const focusField = (field: HTMLInputElement | null): void => {
  field?.focus()
  field?.select()
}

type RowsDialogProps = Readonly<{ name: string; columns: readonly string[]; onStored(): void; onClose(): void }>

function AddRowDialog({ columns, ...dialog }: RowsDialogProps) {
  const { name } = dialog
  const [cells, setCells] = useState<readonly string[]>(columns.map(() => ''))
  const change = { rows: [Object.fromEntries(columns.map((column, index) => [column, cells[index] ?? '']))] }
  return (
    <StoreDialog
      {...dialog}
      title={`Add a row to ${name}`}
      refused={cells[0] === '' ? `Fill in ${columns[0]} first: it is the key.` : undefined}
      compare={() => compareRows(name, change)}
      store={(how) => changeRows(name, change, how)}
    >
      {columns.map((column, index) => (
        <TextField
          key={column}
          label={column}
          value={cells[index] ?? ''}
          onChange={(text) => setCells((before) => before.with(index, text))}
          isRequired={index === 0}
        />
      ))}
    </StoreDialog>
  )
}

/** `pasted`: on the page, before the dialog was open. */
function PasteDialog({ pasted, columns, ...dialog }: RowsDialogProps & Readonly<{ pasted: string }>) {
  const { name } = dialog
  const [text, setText] = useState(pasted)
  const change = { rows: toRows(parsePasted(text), columns) }
  return (
    <StoreDialog
      {...dialog}
      title={`Paste rows into ${name}`}
      refused={change.rows.length === 0 ? 'Paste rows first.' : undefined}
      isComplete={pasted !== ''}
      compare={() => compareRows(name, change)}
      store={(how) => changeRows(name, change, how)}
    >
      <p>
        Copy the rows in the spreadsheet and paste them here. Their cells are{' '}
        <VisibleText text={columns.join(', ')} max={500} />, in this order; or the first line names the columns. A row
        whose key is there already is changed; columns that are not pasted keep their values.
      </p>
      <TextField label="Rows" value={text} onChange={setText} rows={10} />
    </StoreDialog>
  )
}

const PAGES = [
  { to: '/tables/$name', title: 'Rows' },
  { to: '/tables/$name/versions', title: 'Versions' },
] as const

type TableFrameProps = Readonly<{
  name: string
  part: string
  actions?: ReactNode
  /** In: the table as it is now; undefined if there is none, or none any more. */
  children(table: TableRow | undefined): ReactNode
}>

export function TableFrame({ name, part, actions, children }: TableFrameProps) {
  const query = useQuery(queries.tables)
  const table = query.data?.find((one) => one.name === name)
  return (
    <Page
      title={`${part} of ${name}`}
      actions={actions}
      above={
        <div className="endpoint-head row">
          <Link to="/tables">Tables</Link>
          {table === undefined ? null : (
            <span className="quiet">
              version {table.version}, <Time at={table.updatedAt} />
            </span>
          )}
          {query.data !== undefined && table === undefined && (
            <StatusChip tone="quiet">There is no such table now</StatusChip>
          )}
          <nav className="nav row end-row" aria-label="Pages of the table">
            {PAGES.map(({ to, title }) => (
              <Link
                key={to}
                to={to}
                params={{ name }}
                activeOptions={{ exact: true, includeSearch: false }}
                activeProps={{ 'aria-current': 'page' }}
              >
                {title}
              </Link>
            ))}
            <Link to="/unmapped" search={{ table: name }}>
              Unmapped codes{table === undefined || table.unmapped === 0 ? '' : ` (${wholeNumber(table.unmapped)})`}
            </Link>
          </nav>
        </div>
      }
    >
      <QueryView query={query} what="Loading the table">
        {() => children(table)}
      </QueryView>
    </Page>
  )
}
