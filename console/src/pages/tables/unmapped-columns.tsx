/** The columns of the list of unmapped codes. */
import { Link } from '@tanstack/react-router'
import { useSyncExternalStore } from 'react'
import type { Store } from '../../api/store.ts'
import type { TableRow, UnmappedCode } from '../../api/table-calls.ts'
import { Button } from '../../ui/controls/button.tsx'
import { TextField } from '../../ui/controls/fields.tsx'
import type { Column } from '../../ui/data/data-table.tsx'
import { wholeNumber } from '../../ui/data/figures.tsx'
import { StatusChip } from '../../ui/data/status-chip.tsx'
import { Time } from '../../ui/data/time.tsx'
import { VisibleText } from '../../ui/text/visible-text.tsx'

/** `fill`: the column to fill; undefined while the user has to choose it. */
export type MissedRow = UnmappedCode & Readonly<{ table: TableRow; fill: string | undefined }>

export const keyOf = ({ table, column, code }: MissedRow): string => JSON.stringify([table.name, column, code])

/** What is typed, by `keyOf`. */
export type Values = ReadonlyMap<string, string>

export type UnmappedColumnsOptions = Readonly<{
  values: Store<Values>
  /** Why the user may not fill codes. */
  refused: string | undefined
  onRemove(row: MissedRow): void
}>

const MAX_CHARACTERS = 200
const MAX_ENDPOINTS = 3

export const unmappedColumns = (options: UnmappedColumnsOptions): readonly Column<MissedRow>[] => [
  {
    title: 'Code',
    isName: true,
    render: ({ table: { name }, code }) => (
      <Link to="/messages" search={{ missed: [`${name}:${code}`] }} data-row title="Messages that missed it">
        <VisibleText code text={code} max={MAX_CHARACTERS} />
        <span className="visually-hidden">, messages that missed it in {name}</span>
      </Link>
    ),
  },
  {
    title: 'Table',
    render: ({ table: { name }, code, column }) => (
      <span>
        <Link to="/tables/$name" params={{ name }} search={{ search: code }}>
          {name}
        </Link>{' '}
        · <VisibleText text={column} max={MAX_CHARACTERS} />
      </span>
    ),
  },
  {
    title: 'Translated to',
    render: (row) =>
      row.filled ? (
        <StatusChip tone="good">filled</StatusChip>
      ) : options.refused !== undefined ? (
        <span className="quiet">–</span>
      ) : row.fill === undefined ? (
        <span className="quiet">Choose the column first</span>
      ) : (
        <ValueField row={row} values={options.values} />
      ),
  },
  { title: 'Missed', align: 'end', render: ({ count }) => wholeNumber(count) },
  { title: 'First', render: ({ firstAt }) => <Time at={firstAt} /> },
  {
    title: 'Last',
    render: ({ lastAt, messages: [newest] }) =>
      newest === undefined ? (
        <Time at={lastAt} />
      ) : (
        <Link to="/messages/$id" params={{ id: newest }} title="The newest message">
          <Time at={lastAt} />
        </Link>
      ),
  },
  {
    title: 'Endpoints',
    render: ({ endpoints }) => (
      <>
        {endpoints.slice(0, MAX_ENDPOINTS).map(({ id, name, count }) => (
          <div key={id}>
            <Link to="/endpoints/$id/edit" params={{ id }}>
              <VisibleText text={name} max={MAX_CHARACTERS} />
            </Link>{' '}
            <span className="quiet">{wholeNumber(count)}</span>
          </div>
        ))}
        {endpoints.length > MAX_ENDPOINTS && <span className="quiet">and {endpoints.length - MAX_ENDPOINTS} more</span>}
      </>
    ),
  },
  {
    title: 'Remove',
    render: (row) => (
      <Button
        text="×"
        tone="quiet"
        label={`Remove ${row.code} of ${row.table.name} from the list`}
        refused={options.refused}
        onPress={() => options.onRemove(row)}
      />
    ),
  },
]

/** Only the field whose value changes is rendered again. */
function ValueField({ row, values }: Readonly<{ row: MissedRow; values: Store<Values> }>) {
  const key = keyOf(row)
  return (
    <TextField
      label={`${row.fill} of ${row.code} in ${row.table.name}`}
      hideLabel
      value={useSyncExternalStore(values.subscribe, () => values.get().get(key) ?? '')}
      onChange={(value) => values.set(new Map(values.get()).set(key, value))}
    />
  )
}
