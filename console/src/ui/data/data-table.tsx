/** A table of rows that the service gave. On a narrow screen each row is a card with the titles of its columns. */
import { type ReactNode, type RefObject, useCallback, useRef } from 'react'
import { useKey } from '../keys/keymap.ts'

export type Column<Row> = Readonly<{
  title: string
  /** Where the title is not the only one of its kind. */
  id?: string
  /** What the column says, where its title does not say it all. */
  meaning?: string
  /** The name by which the API sorts; undefined if it cannot. */
  sort?: string
  align?: 'end'
  /** The column that names the row: it has the row's link, with `data-row`. Exactly one. */
  isName?: boolean
  render(row: Row): ReactNode
}>

export type DataTableProps<Row> = Readonly<{
  /** What the table lists, for readers of the screen. */
  label: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  getRowId(row: Row): string
  /** As the API has it: `name`, or `-name` descending. */
  sort?: string
  onSort?(sort: string): void
  /** Marks rows, such as the one whose detail is open. */
  isCurrent?(row: Row): boolean
}>

export function DataTable<Row>({ label, columns, rows, getRowId, sort, onSort, isCurrent }: DataTableProps<Row>) {
  const body = useRef<HTMLTableSectionElement>(null)
  useRowKeys(body)
  // Cards change how the elements are displayed, and with that browsers forget what they are: so each says its role.
  return (
    <table className="data-table" aria-label={label} role="table">
      <thead role="rowgroup">
        <tr role="row">
          {columns.map((column) => (
            <th
              key={column.id ?? column.title}
              scope="col"
              role="columnheader"
              className={column.align}
              title={column.meaning}
              aria-sort={toSortDirection(column.sort, sort)}
            >
              {column.sort === undefined || onSort === undefined ? (
                column.title
              ) : (
                <SortButton title={column.title} by={column.sort} sort={sort} onSort={onSort} />
              )}
            </th>
          ))}
        </tr>
      </thead>
      <tbody ref={body} role="rowgroup">
        {rows.map((row) => (
          <tr key={getRowId(row)} role="row" aria-current={isCurrent?.(row) || undefined}>
            {columns.map((column) => (
              <td
                key={column.id ?? column.title}
                role={column.isName ? 'rowheader' : 'cell'}
                className={[column.align, column.isName && 'name'].filter(Boolean).join(' ') || undefined}
                data-title={column.title}
                title={column.meaning}
              >
                {column.render(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function toSortDirection(by: string | undefined, sort: string | undefined): 'ascending' | 'descending' | undefined {
  if (by === undefined || sort?.replace('-', '') !== by) return undefined
  return sort.startsWith('-') ? 'descending' : 'ascending'
}

type SortButtonProps = Readonly<{ title: string; by: string; sort: string | undefined; onSort(sort: string): void }>

function SortButton({ title, by, sort, onSort }: SortButtonProps) {
  const order = toSortDirection(by, sort)
  return (
    <button type="button" className="sort" onClick={() => onSort(order === 'ascending' ? `-${by}` : by)}>
      {title}
      <span aria-hidden="true" className="sort-sign">
        {order === 'ascending' ? '▲' : order === 'descending' ? '▼' : ''}
      </span>
    </button>
  )
}

/** `j` and `k` go through the rows. Each has one link or button with `data-row`; Enter is its own. In: the element that has them. */
function useRowKeys(container: RefObject<HTMLElement | null>): void {
  const move = useCallback(
    (by: number) => {
      const rows = [...(container.current?.querySelectorAll<HTMLElement>('[data-row]') ?? [])]
      const focused = document.activeElement
      const focusedAt = rows.findIndex((row) => row === focused || row.closest('tr, li')?.contains(focused) === true)
      // The row whose detail is open is where the reader is, wherever the focus is.
      const at = focusedAt === -1 ? rows.findIndex((row) => row.closest('[aria-current]') !== null) : focusedAt
      const next = at === -1 ? (by > 0 ? 0 : rows.length - 1) : Math.min(rows.length - 1, Math.max(0, at + by))
      rows[next]?.focus()
      rows[next]?.scrollIntoView({ block: 'nearest' })
    },
    [container],
  )
  useKey('j', 'Next row', () => move(1))
  useKey('k', 'Previous row', () => move(-1))
}
