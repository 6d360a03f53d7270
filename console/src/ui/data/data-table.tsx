/** A table of rows that the service gave. On a narrow screen each row is a card with the titles of its columns. */

import { type InfiniteData, type UseInfiniteQueryResult, useInfiniteQuery } from '@tanstack/react-query'
import { type ReactNode, type RefObject, useCallback, useRef, useState } from 'react'
import type { PagesKey } from '../../api/query-keys.ts'
import { Button } from '../controls/button.tsx'
import { useKey } from '../keys/keymap.ts'
import { QueryView } from '../states/states.tsx'
import { wholeNumber } from './figures.tsx'

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

/** A page of rows; without `next` it is the last one. */
type RowPage<Row> = Readonly<{ rows: readonly Row[]; next?: string | undefined; total?: number | undefined }>

type RowListOptions<Row> = Readonly<{
  /** One of `queryKeys`, with the filters and the order. */
  queryKey: PagesKey<Row>
  readPage(cursor: string | undefined, signal: AbortSignal): Promise<RowPage<Row>>
  /** Beside the events that make the list load again (query-keys.ts): how often it does so by itself. */
  everyMs?: number
  /** Only the reader asks for it anew. */
  isStill?: boolean
}>

/** The pages of a list that are loaded. Rows of earlier filters stay until those of the new ones are there. */
export function useRowPages<Row>({ queryKey, readPage, everyMs, isStill = false }: RowListOptions<Row>) {
  return useInfiniteQuery({
    queryKey,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) => readPage(pageParam, signal),
    getNextPageParam: ({ next }) => next,
    placeholderData: (before) => before,
    ...(isStill && { refetchOnWindowFocus: false }),
    ...(everyMs !== undefined && { refetchInterval: everyMs }),
  })
}

type RowPages<Row> = ReturnType<typeof useRowPages<Row>>

export const flattenRows = <Row,>({ data }: RowPages<Row>): readonly Row[] =>
  data?.pages.flatMap(({ rows }) => rows) ?? []

/** True if the rows are those of the filters, and not older than the view. */
const isCurrent = <Row,>({ isPlaceholderData, isFetchedAfterMount }: RowPages<Row>): boolean =>
  !isPlaceholderData && isFetchedAfterMount

type RowListProps<Row> = Omit<DataTableProps<Row>, 'rows' | 'columns'> &
  Readonly<{
    pages: RowPages<Row>
    columns: readonly Column<Row>[]
    /** Instead of the rows of the pages: the same ones, with what the page knows beyond them. */
    rows?: readonly Row[]
    /** Rows that the service has beyond those of the pages, of a list that is still. */
    newer?: Omit<FreshRowsProps, 'gone'>
    /** A text that changes with filters and order. */
    of: string
    /** Shown in place of an empty table. */
    empty: ReactNode
  }>

export function RowList<Row>({ pages, rows, newer, of, empty, ...table }: RowListProps<Row>) {
  const stable = useStableRows(rows ?? flattenRows(pages), table.getRowId, isCurrent(pages) ? of : undefined)
  return (
    <>
      <FreshRows {...(newer ?? { fresh: stable.fresh, gone: stable.gone, onShow: stable.show })} />
      <QueryView query={pages} what={`Loading: ${table.label}`}>
        {(data) =>
          stable.rows.length === 0 ? (
            empty
          ) : (
            <>
              <DataTable {...table} rows={stable.rows} />
              <MoreRows shown={stable.rows.length} total={data.pages.at(-1)?.total} pages={pages} />
            </>
          )
        }
      </QueryView>
    </>
  )
}

type FreshRowsProps = Readonly<{
  fresh: number
  /** Rows that are shown, and that the service no longer has. */
  gone?: number
  /** There may be more than `fresh`. */
  orMore?: boolean
  onShow(): void
}>

/** Above a list: new rows are there, or some are gone. Nothing otherwise. */
export function FreshRows({ fresh, gone = 0, orMore = false, onShow }: FreshRowsProps) {
  const counts = [
    fresh > 0 && `${wholeNumber(fresh)}${orMore ? ' or more' : ''} new`,
    gone > 0 && `${wholeNumber(gone)} gone`,
  ]
  const said = counts.filter(Boolean).join(', ')
  return (
    <div className="fresh-rows" role="status">
      {said !== '' && (
        <Button tone="quiet" onPress={onShow}>
          {said}: show
        </Button>
      )}
    </div>
  )
}

type MoreRowsProps = Readonly<{
  shown: number
  /** If the service counts them. */
  total?: number | undefined
  pages: UseInfiniteQueryResult<InfiniteData<unknown>>
}>

/** Below a list: how many rows are shown, and the next page. */
function MoreRows({ shown, total, pages }: MoreRowsProps) {
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = pages
  return (
    <div className="more-rows row">
      <p role="status">
        {shown.toLocaleString('en')}
        {total === undefined ? (hasNextPage ? ' shown' : ' in all') : ` of ${total.toLocaleString('en')}`}
      </p>
      {hasNextPage && (
        <Button busy={isFetchingNextPage} onPress={() => void fetchNextPage()}>
          {isFetchingNextPage ? 'Loading …' : 'Show more'}
        </Button>
      )}
    </div>
  )
}

type StableRows<Row> = Readonly<{
  /** In the order in which they were first shown, each as it is now. */
  rows: readonly Row[]
  /** How many rows the service has now that are not shown. */
  fresh: number
  /** How many rows are shown that the service no longer has. */
  gone: number
  /** Shows the rows as the service has them now. */
  show(): void
}>

/** `last`: each shown row as it was when it was last there, by its id. */
type Shown<Row> = Readonly<{ of: string | undefined; ids: readonly string[]; last: ReadonlyMap<string, Row> }>

/**
 * Rows that never move under the reader: what is new is counted, and shown when the reader asks for it.
 * In: the rows of all pages that are loaded, and a text that changes with filters and order, undefined while the rows are
 * still those of the filters before. A row that the service no longer has stays until `show`. Rows after the last shown one
 * belong to the list at once: the reader asked for the next page.
 */
export function useStableRows<Row>(
  latest: readonly Row[],
  getRowId: (row: Row) => string,
  of: string | undefined,
): StableRows<Row> {
  const [shown, setShown] = useState(() => snapshot(latest, getRowId, of))
  const now = snapshot(latest, getRowId, of)
  const isOther = shown.ids.length === 0 || (of !== undefined && shown.of !== of)
  const next = isOther ? now : withAppended(shown, now)
  if (next !== shown && (next.of !== shown.of || next.ids.length !== shown.ids.length)) setShown(next)
  const rows = next.ids.map((id) => now.last.get(id) ?? next.last.get(id)).filter((row) => row !== undefined)
  const fresh = now.ids.filter((id) => !next.last.has(id)).length
  const gone = next === now ? 0 : next.ids.filter((id) => !now.last.has(id)).length
  return { rows, fresh, gone, show: () => setShown(now) }
}

const snapshot = <Row,>(rows: readonly Row[], getRowId: (row: Row) => string, of: string | undefined): Shown<Row> => ({
  of,
  ids: rows.map(getRowId),
  last: new Map(rows.map((row) => [getRowId(row), row])),
})

function withAppended<Row>(shown: Shown<Row>, now: Shown<Row>): Shown<Row> {
  const lastAt = now.ids.findLastIndex((id) => shown.last.has(id))
  const appended = lastAt === -1 ? [] : now.ids.slice(lastAt + 1)
  if (appended.length === 0) return shown
  const last = new Map(shown.last)
  for (const id of appended) {
    const row = now.last.get(id)
    if (row !== undefined) last.set(id, row)
  }
  return { ...shown, ids: [...shown.ids, ...appended], last }
}
