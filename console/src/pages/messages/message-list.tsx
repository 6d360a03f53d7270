/** The messages of the filters, page by page. New ones are counted above the list, and shown when the reader asks for them. */

import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { queryKeys } from '../../api/query-keys.ts'
import { listMessages } from '../../api/records/message-calls.ts'
import type { ListedMessage, MessageFilters } from '../../api/records/record-types.ts'
import { DataTable } from '../../ui/data/data-table.tsx'
import { FreshRows, MoreRows } from '../../ui/data/more-rows.tsx'
import { useStableRows } from '../../ui/data/stable-rows.ts'
import { Empty, QueryView } from '../../ui/states/states.tsx'
import { MESSAGE_COLUMNS, NARROW_MESSAGE_COLUMNS } from './message-columns.tsx'

const ROWS_OF_A_PAGE = 50
/** Newer messages that are counted one by one. */
const MAX_COUNTED = 100

export type MessageListProps = Readonly<{
  filters: MessageFilters
  /** The message whose detail is open. */
  current: string | undefined
}>

export function MessageList({ filters, current }: MessageListProps) {
  const [round, setRound] = useState(0)
  const pages = useMessages(filters, round)
  const listed = pages.data?.pages.flatMap(({ messages }) => messages) ?? []
  const of = `${JSON.stringify(filters)} ${round}`
  const stable = useStableRows(listed, getRowId, pages.isPlaceholderData || !pages.isFetchedAfterMount ? undefined : of)
  const newer = useNewer(filters, stable.rows[0]?.id, pages.isSuccess && !pages.isPlaceholderData)
  return (
    <div className="message-list stack">
      <FreshRows
        fresh={newer}
        orMore={newer >= MAX_COUNTED}
        onShow={() => {
          stable.show()
          setRound(round + 1)
        }}
      />
      <QueryView query={pages} what="Loading messages">
        {() =>
          stable.rows.length === 0 ? (
            <NoMessages isFiltered={Object.keys(filters).length > 0} />
          ) : (
            <>
              <DataTable
                label="Messages"
                columns={current === undefined ? MESSAGE_COLUMNS : NARROW_MESSAGE_COLUMNS}
                rows={stable.rows}
                getRowId={getRowId}
                isCurrent={({ id }) => id === current}
              />
              <MoreRows shown={stable.rows.length} pages={pages} />
            </>
          )
        }
      </QueryView>
    </div>
  )
}

const getRowId = ({ id }: ListedMessage): string => id

/** Records do not change, so a list is read once: `round` counts how often the reader asked for the newest. */
function useMessages(filters: MessageFilters, round: number) {
  return useInfiniteQuery({
    queryKey: queryKeys.messageRows(filters, round),
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) => listMessages(filters, { limit: ROWS_OF_A_PAGE, cursor: pageParam }, signal),
    getNextPageParam: ({ next }) => next,
    placeholderData: keepPreviousData,
    refetchOnWindowFocus: false,
  })
}

/** How many messages match that are newer than the newest one in the list. */
function useNewer(filters: MessageFilters, newest: string | undefined, isOn: boolean): number {
  const { data } = useQuery({
    queryKey: queryKeys.newerMessages(filters, newest),
    enabled: isOn,
    // The list was read a moment ago: the first event asks again.
    initialData: 0,
    queryFn: async ({ signal }) => {
      const { messages } = await listMessages(filters, { limit: MAX_COUNTED }, signal)
      const at = messages.findIndex(({ id }) => id === newest)
      return at === -1 ? messages.length : at
    },
  })
  return data
}

function NoMessages({ isFiltered }: Readonly<{ isFiltered: boolean }>) {
  if (isFiltered) {
    return (
      <Empty title="No message matches">
        Records are kept for a time, and successful messages without bodies; the filters above say what is looked for.
      </Empty>
    )
  }
  return (
    <Empty title="There are no messages yet">
      Every message that an endpoint takes leaves a record here: when it came, how it ended, what it called, and why it
      failed. Send one to an endpoint; it appears at once.
    </Empty>
  )
}
