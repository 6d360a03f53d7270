/** Lists that the service gives in pages: rows never move under the reader, and the next page comes when it is asked for. */
import { useState } from 'react'
import { Button } from '../controls/button.tsx'

export type StableRows<Row> = Readonly<{
  /** In the order in which they were first shown, each as it is now. */
  rows: readonly Row[]
  /** How many rows the service has now that are not shown. */
  fresh: number
  /** Shows the rows as the service has them now. */
  show(): void
}>

type Shown = Readonly<{ of: string; ids: readonly string[]; last: ReadonlyMap<string, unknown> }>

/**
 * In: the rows of all pages that are loaded, and a text that changes with filters and order. A row that the service no longer
 * has stays until `show`. `isAppended` rows after the last shown one are part of the list at once: the reader asked for them.
 */
export function useStableRows<Row>(latest: readonly Row[], idOf: (row: Row) => string, of: string): StableRows<Row> {
  const [shown, setShown] = useState<Shown>(() => snapshot(latest, idOf, of))
  const now = new Map(latest.map((row) => [idOf(row), row]))
  const isOther = shown.of !== of || shown.ids.length === 0
  const known = new Set(shown.ids)
  const lastAt = latest.findLastIndex((row) => known.has(idOf(row)))
  const appended = isOther ? [] : latest.slice(lastAt + 1)
  if (isOther ? latest.length > 0 || shown.ids.length > 0 : appended.length > 0) {
    const next = isOther ? snapshot(latest, idOf, of) : extended(shown, appended, idOf)
    if (next.of !== shown.of || next.ids.length !== shown.ids.length) setShown(next)
  }
  const last = shown.last as ReadonlyMap<string, Row>
  const rows = isOther ? latest : shown.ids.map((id) => now.get(id) ?? last.get(id)).filter((row) => row !== undefined)
  const fresh = isOther ? 0 : latest.filter((row) => !known.has(idOf(row))).length - appended.length
  return { rows: isOther ? rows : [...rows, ...appended], fresh, show: () => setShown(snapshot(latest, idOf, of)) }
}

function snapshot<Row>(rows: readonly Row[], idOf: (row: Row) => string, of: string): Shown {
  return { of, ids: rows.map(idOf), last: new Map(rows.map((row) => [idOf(row), row])) }
}

function extended<Row>(shown: Shown, rows: readonly Row[], idOf: (row: Row) => string): Shown {
  const last = new Map(shown.last)
  for (const row of rows) last.set(idOf(row), row)
  return { ...shown, ids: [...shown.ids, ...rows.map(idOf)], last }
}

/** Above a list: new rows are there. Nothing while there are none. */
export function FreshRows({ rows }: Readonly<{ rows: Pick<StableRows<unknown>, 'fresh' | 'show'> }>) {
  return (
    <div className="fresh-rows" role="status">
      {rows.fresh > 0 && (
        <Button tone="quiet" onPress={rows.show}>
          {rows.fresh.toLocaleString('en')} new: show
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
