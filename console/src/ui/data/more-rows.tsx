/** What is above and below a list that the service gives in pages. */

import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query'
import { Button } from '../controls/button.tsx'
import { wholeNumber } from './figures.tsx'

export type FreshRowsProps = Readonly<{
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

export type MoreRowsProps = Readonly<{
  shown: number
  /** If the service counts them. */
  total?: number | undefined
  pages: UseInfiniteQueryResult<InfiniteData<unknown>>
}>

/** Below a list: how many rows are shown, and the next page. */
export function MoreRows({ shown, total, pages }: MoreRowsProps) {
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
