/**
 * The messages of the filters, page by page. New ones are counted above the list, and shown when the reader asks for them; live,
 * they are shown as they come while nobody reads the list.
 */

import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { keyed, queryKeys } from '../../api/query-keys.ts'
import { listMessages } from '../../api/records/message-calls.ts'
import type { ListedMessage, MessageFilters } from '../../api/records/record-types.ts'
import { Checkbox } from '../../ui/controls/fields.tsx'
import { flattenRows, RowList, useRowPages } from '../../ui/data/data-table.tsx'
import { Empty } from '../../ui/states/states.tsx'
import { MESSAGE_COLUMNS, NARROW_MESSAGE_COLUMNS } from './message-columns.tsx'

const ROWS_OF_A_PAGE = 50
/** Newer messages that are counted one by one. */
const MAX_COUNTED = 100

export type MessageListProps = Readonly<{
  filters: MessageFilters
  /** The message whose detail is open. */
  current: string | undefined
  isLive: boolean
  onLive(isLive: boolean): void
}>

export function MessageList({ filters, current, isLive, onLive }: MessageListProps) {
  /** Records do not change, so a list is read once: how often the reader asked for the newest. */
  const [round, setRound] = useState(0)
  const pages = useRowPages<ListedMessage>({
    queryKey: queryKeys.messageRows(filters, round),
    readPage: async (cursor, signal) => {
      const { messages, next } = await listMessages(filters, { limit: ROWS_OF_A_PAGE, cursor }, signal)
      return { rows: messages, next }
    },
    isStill: true,
  })
  const newer = useNewer(filters, flattenRows(pages)[0]?.id, pages.isSuccess && !pages.isPlaceholderData)
  const list = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (!isLive || newer === 0) return
    const follow = () => {
      if (!isRead(list.current)) setRound((before) => before + 1)
    }
    follow()
    // What was held back comes when the reader leaves.
    const left = ['pointermove', 'focusin', 'scroll'] as const
    for (const event of left) document.addEventListener(event, follow, { passive: true })
    return () => {
      for (const event of left) document.removeEventListener(event, follow)
    }
  }, [isLive, newer])
  return (
    <div className="message-list stack" ref={list}>
      <Checkbox text="Live: show new messages as they come" checked={isLive} onChange={onLive} />
      <RowList
        label="Messages"
        columns={current === undefined ? MESSAGE_COLUMNS : NARROW_MESSAGE_COLUMNS}
        pages={pages}
        newer={{ fresh: newer, orMore: newer >= MAX_COUNTED, onShow: () => setRound(round + 1) }}
        of={`${JSON.stringify(filters)} ${round}`}
        getRowId={({ id }) => id}
        isCurrent={({ id }) => id === current}
        empty={<NoMessages isFiltered={Object.keys(filters).length > 0} />}
      />
    </div>
  )
}

/** The pointer is on a row, a row has the focus, or the reader has scrolled: nothing may move. */
const isRead = (list: Element | null): boolean =>
  scrollY > 0 || list?.querySelector('table:hover, table :focus, tr[aria-current]') != null

/** How many messages match that are newer than the newest one in the list. */
function useNewer(filters: MessageFilters, newest: string | undefined, isOn: boolean): number {
  const { data } = useQuery({
    ...keyed(queryKeys.newerMessages(filters, newest), async ({ signal }) => {
      const { messages } = await listMessages(filters, { limit: MAX_COUNTED }, signal)
      const at = messages.findIndex(({ id }) => id === newest)
      return at === -1 ? messages.length : at
    }),
    enabled: isOn,
    // The list was read a moment ago: the first event asks again.
    initialData: 0,
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
