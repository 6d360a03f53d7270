/** What is above and below a list that the service gives in pages. */
import { Button } from '../controls/button.tsx'

export type FreshRowsProps = Readonly<{
  fresh: number
  /** Whether there may be more than `fresh`. */
  orMore?: boolean
  onShow(): void
}>

/** Above a list: new rows are there. Nothing while there are none. */
export function FreshRows({ fresh, orMore = false, onShow }: FreshRowsProps) {
  return (
    <div className="fresh-rows" role="status">
      {fresh > 0 && (
        <Button tone="quiet" onPress={onShow}>
          {fresh.toLocaleString('en')}
          {orMore ? ' or more' : ''} new: show
        </Button>
      )}
    </div>
  )
}

export type MoreRowsProps = Readonly<{
  shown: number
  /** If the service counts them. */
  total?: number | undefined
  hasMore: boolean
  isLoading: boolean
  onMore(): void
}>

/** Below a list: how many rows are shown, and the next page. */
export function MoreRows({ shown, total, hasMore, isLoading, onMore }: MoreRowsProps) {
  return (
    <div className="more-rows">
      <p role="status">
        {shown.toLocaleString('en')}
        {total === undefined ? (hasMore ? ' shown' : ' in all') : ` of ${total.toLocaleString('en')}`}
      </p>
      {hasMore && (
        <Button busy={isLoading} onPress={onMore}>
          {isLoading ? 'Loading …' : 'Show more'}
        </Button>
      )}
    </div>
  )
}
