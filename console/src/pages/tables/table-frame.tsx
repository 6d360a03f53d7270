/** The frame of the pages of one table. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { queries } from '../../api/queries.ts'
import type { TableRow } from '../../api/table-calls.ts'
import { wholeNumber } from '../../ui/data/figures.tsx'
import { StatusChip } from '../../ui/data/status-chip.tsx'
import { Time } from '../../ui/data/time.tsx'
import { Page } from '../../ui/states/page.tsx'
import { QueryView } from '../../ui/states/states.tsx'

const PAGES = [
  { to: '/tables/$name', title: 'Rows' },
  { to: '/tables/$name/versions', title: 'Versions' },
] as const

export type TableFrameProps = Readonly<{
  name: string
  part: string
  actions?: ReactNode
  /** In: the table as it is now; undefined if there is none, or none any more. */
  children(table: TableRow | undefined): ReactNode
}>

export function TableFrame({ name, part, actions, children }: TableFrameProps) {
  const query = useQuery(queries.tables)
  const table = query.data?.find((one) => one.name === name)
  return (
    <Page
      title={`${part} of ${name}`}
      actions={actions}
      above={
        <div className="endpoint-head row">
          <Link to="/tables">Tables</Link>
          {table === undefined ? null : (
            <span className="quiet">
              version {table.version}, <Time at={table.updatedAt} />
            </span>
          )}
          {query.data !== undefined && table === undefined && (
            <StatusChip tone="quiet">There is no such table now</StatusChip>
          )}
          <nav className="nav row end-row" aria-label="Pages of the table">
            {PAGES.map(({ to, title }) => (
              <Link
                key={to}
                to={to}
                params={{ name }}
                activeOptions={{ exact: true, includeSearch: false }}
                activeProps={{ 'aria-current': 'page' }}
              >
                {title}
              </Link>
            ))}
            <Link to="/unmapped" search={{ table: name }}>
              Unmapped codes{table === undefined || table.unmapped === 0 ? '' : ` (${wholeNumber(table.unmapped)})`}
            </Link>
          </nav>
        </div>
      }
    >
      <QueryView query={query} what="Loading the table">
        {() => children(table)}
      </QueryView>
    </Page>
  )
}
