/** A list that the service gives in pages, whole: loading, failure, empty, new rows, the table, and the next page. */

import { type InfiniteData, type UseInfiniteQueryResult, useInfiniteQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import type { PagesKey } from '../../api/query-keys.ts'
import { Button } from '../controls/button.tsx'
import { QueryView } from '../states/states.tsx'
import { type Column, DataTable, type DataTableProps } from './data-table.tsx'
import { wholeNumber } from './figures.tsx'

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
