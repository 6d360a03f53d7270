/** What is above and below a list that the service gives in pages. */
import { Button } from '../controls/button.tsx'

export type FreshRowsProps = Readonly<{
  /** How many rows the service has that are not shown, and how many it has no longer. */
  fresh: number
  gone: number
  onShow(): void
}>

/** Above a list: its rows are others now. Nothing while they are the same. */
export function FreshRows({ fresh, gone, onShow }: FreshRowsProps) {
  return (
    <div className="fresh-rows" role="status">
      {(fresh > 0 || gone > 0) && (
        <Button tone="quiet" onPress={onShow}>
          {fresh > 0 ? `${fresh.toLocaleString('en')} new: show` : 'The list has changed: show'}
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
