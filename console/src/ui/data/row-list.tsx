/** A list that the service gives in pages, whole: loading, failure, empty, new rows, the table, and the next page. */
import { useInfiniteQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { PagesKey } from '../../api/query-keys.ts'
import { QueryView } from '../states/states.tsx'
import { type Column, DataTable, type DataTableProps } from './data-table.tsx'
import { FreshRows, type FreshRowsProps, MoreRows } from './more-rows.tsx'
import { useStableRows } from './stable-rows.ts'

/** A page of rows; without `next` it is the last one. */
export type RowPage<Row> = Readonly<{ rows: readonly Row[]; next?: string | undefined; total?: number | undefined }>

export type RowListOptions<Row> = Readonly<{
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

export type RowPages<Row> = ReturnType<typeof useRowPages<Row>>

export const flattenRows = <Row,>({ data }: RowPages<Row>): readonly Row[] =>
  data?.pages.flatMap(({ rows }) => rows) ?? []

/** True if the rows are those of the filters, and not older than the view. */
const isCurrent = <Row,>({ isPlaceholderData, isFetchedAfterMount }: RowPages<Row>): boolean =>
  !isPlaceholderData && isFetchedAfterMount

export type RowListProps<Row> = Omit<DataTableProps<Row>, 'rows' | 'columns'> &
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
