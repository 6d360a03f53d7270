/** Rows that never move under the reader: what is new is counted, and shown when the reader asks for it. */
import { useState } from 'react'

export type StableRows<Row> = Readonly<{
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

const snapshot = <Row>(rows: readonly Row[], getRowId: (row: Row) => string, of: string | undefined): Shown<Row> => ({
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
