/** The frame of the pages of one endpoint: its name, the way back to the list, and the way to its other pages. */
import { useQuery } from '@tanstack/react-query'
import { Link, type LinkProps } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { readEndpoint } from '../../api/endpoint-calls.ts'
import { queryKeys } from '../../api/query-keys.ts'
import { Page } from '../states/page.tsx'

/** The pages of an endpoint that are built, in their order. */
const PAGES: readonly Readonly<{ to: NonNullable<LinkProps['to']>; title: string }>[] = [
  { to: '/endpoints/$id/mapping', title: 'Mapping' },
]

/** The stored document of an endpoint and its ETag; all pages of it share this answer. */
export const useEndpoint = (id: string) =>
  useQuery({ queryKey: queryKeys.endpoint(id), queryFn: ({ signal }) => readEndpoint(id, signal) })

export type EndpointPageProps = Readonly<{
  id: string
  /** What this page shows of the endpoint, such as "Versions". */
  part: string
  actions?: ReactNode
  children: ReactNode
}>

export function EndpointPage({ id, part, actions, children }: EndpointPageProps) {
  const { data } = useEndpoint(id)
  const above = (
    <div className="endpoint-head">
      <Link to="/endpoints">Endpoints</Link>
      <nav className="endpoint-pages" aria-label="Pages of the endpoint">
        {PAGES.map(({ to, title }) => (
          <Link key={to} to={to} params={{ id }} activeProps={{ 'aria-current': 'page' }}>
            {title}
          </Link>
        ))}
      </nav>
    </div>
  )
  return (
    <Page title={data === undefined ? part : `${data.data.name}: ${part}`} above={above} actions={actions}>
      {children}
    </Page>
  )
}
