/** The frame of the pages of one endpoint: its name, whether it is active, and the way to its other pages. */

import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { lazy, type ReactNode, Suspense, useEffect } from 'react'
import { type EndpointRow, formatEntrance } from '../../api/endpoint-row.ts'
import { queries } from '../../api/queries.ts'
import { useMe } from '../../api/session.ts'
import { StatusChip } from '../data/status-chip.tsx'
import { Page } from '../states/states.tsx'
import { VisibleText } from '../text/visible-text.tsx'
import { EndpointActions } from './endpoint-actions.tsx'

const EndpointSchedule = lazy(async () => ({ default: (await import('./endpoint-schedule.tsx')).EndpointSchedule }))

/** The row of an endpoint; null if there is none, or no longer. */
export function useEndpointRow(id: string) {
  return useQuery({ ...queries.endpointRow(id), enabled: id !== '' })
}

export type EndpointPageProps = Readonly<{
  id: string
  /** What the page shows of the endpoint, such as "Tests". */
  part: string
  /** What the page runs on, for the links to the editor and the mapping view. */
  data?: EndpointNavigationProps['data']
  actions?: ReactNode
  children: ReactNode
}>

export function EndpointPage({ id, part, data, actions, children }: EndpointPageProps) {
  const { data: row } = useEndpointRow(id)
  const name = row?.name ?? id
  return (
    <Page title={`${part} of ${name}`} above={<EndpointNavigation id={id} row={row} data={data} />} actions={actions}>
      {children}
    </Page>
  )
}

/** The pages of an endpoint that are built, in their order. */
const PAGES = [
  { to: '/endpoints/$id/edit', title: 'Editor', isView: true },
  { to: '/endpoints/$id/form', title: 'Form', isView: true },
  { to: '/endpoints/$id/mapping', title: 'Mapping', isView: true },
  { to: '/endpoints/$id/picture', title: 'Picture' },
  { to: '/endpoints/$id/tests', title: 'Tests' },
  { to: '/endpoints/$id/versions', title: 'Versions' },
  { to: '/endpoints/$id/stats', title: 'Statistics' },
] as const

export type EndpointNavigationProps = Readonly<{
  id: string
  /** Null for an endpoint that was deleted; undefined until that is known. */
  row: EndpointRow | null | undefined
  /** What the editor and the mapping view run on: they keep it from one to the other. */
  data?: Readonly<{ message?: string; test?: string }> | undefined
  /** The document is known to have a schedule. */
  hasSchedule?: boolean
}>

/** What the views of an endpoint ran on last: its other pages lead back to that. */
const lastData = new Map<string, EndpointNavigationProps['data']>()

/** What follows does not move when the schedule is there. */
const SCHEDULE_SPACE = <div className="endpoint-schedule row" />

export function EndpointNavigation({ id, row, data, hasSchedule = false }: EndpointNavigationProps) {
  const origin = useMe()?.messageOrigin ?? ''
  useEffect(() => {
    if (data !== undefined) lastData.set(id, data)
  }, [id, data])
  const kept = data ?? lastData.get(id) ?? {}
  return (
    <div className="endpoint-head row">
      <Link to="/endpoints">Endpoints</Link>
      <span aria-hidden="true" className="quiet">
        /
      </span>
      {row === undefined ? null : row === null ? (
        <StatusChip tone="quiet">There is no such endpoint now</StatusChip>
      ) : (
        <>
          <VisibleText code text={formatEntrance(row, origin)} max={200} />
          <span className="quiet">version {row.version}</span>
          {row.reason !== undefined && row.reason !== 'tolerated' && (
            <StatusChip tone={row.reason === 'pending' ? 'busy' : 'bad'}>
              {row.reason === 'pending' ? 'Not compiled yet' : 'Not active'}
            </StatusChip>
          )}
          {row.paused && <StatusChip tone="warn">Paused</StatusChip>}
          <EndpointActions row={row} />
        </>
      )}
      <nav className="nav row end-row" aria-label="Pages of the endpoint">
        {PAGES.map(({ to, title, ...page }) => (
          <Link
            key={to}
            to={to}
            params={{ id }}
            search={'isView' in page ? kept : {}}
            activeOptions={{ includeSearch: false }}
            activeProps={{ 'aria-current': 'page' }}
          >
            {title}
          </Link>
        ))}
      </nav>
      {(row?.schedule ?? (row === undefined && hasSchedule)) && (
        <Suspense fallback={SCHEDULE_SPACE}>
          {row?.schedule ? <EndpointSchedule row={row} schedule={row.schedule} /> : SCHEDULE_SPACE}
        </Suspense>
      )}
    </div>
  )
}
