/** What a change of a table makes different: its counts, and its first rows. */
import type { Schemas } from '../../api/client.ts'
import type { TableDiff } from '../../api/table-calls.ts'
import { ChangeList } from '../endpoint/change-list.tsx'

export function TableChanges({ diff }: Readonly<{ diff: TableDiff }>) {
  const { added, changed, removed, rows, columns = { added: [], removed: [] } } = diff
  const counts = (['added', 'changed', 'removed'] as const).filter((kind) => diff[kind] > 0)
  if (counts.length === 0) return <p role="status">The rows are the same.</p>
  const shown =
    added + changed + removed > rows.length ? ` The first ${rows.length.toLocaleString('en')} are listed.` : ''
  return (
    <>
      <p role="status">
        {(['added', 'removed'] as const).map((verb) =>
          columns[verb].length === 0 ? '' : `Columns ${verb}: ${columns[verb].join(', ')}. `,
        )}
        {counts.map((kind) => `${countRows(diff[kind])} ${kind}`).join(', ')}.{shown}
      </p>
      <ChangeList changes={rows.flatMap(toChanges)} />
    </>
  )
}

export const countRows = (count: number): string => `${count.toLocaleString('en')} ${count === 1 ? 'row' : 'rows'}`

/** Of a row that changed, each cell that differs. */
function toChanges({ kind, key, from = {}, to = {} }: TableDiff['rows'][number]): readonly Schemas['DocumentChange'][] {
  if (kind === 'added') return [{ kind, path: key, to }]
  if (kind === 'removed') return [{ kind, path: key, from }]
  const columns = [...new Set([...Object.keys(from), ...Object.keys(to)])].filter((name) => from[name] !== to[name])
  return columns.map((name) => ({ kind, path: `${key} · ${name}`, from: from[name], to: to[name] }))
}
