/** `/endpoints`: every endpoint with what it does now; found, sorted and counted by the service. */
import { getRouteApi, Link } from '@tanstack/react-router'
import { listEndpoints } from '../../api/endpoint-calls.ts'
import { type EndpointRow, entrancesBesideRoute } from '../../api/endpoint-row.ts'
import { queryKeys } from '../../api/query-keys.ts'
import { useRefusal } from '../../api/session.ts'
import { MinutesBars } from '../../ui/charts/minutes-bars.tsx'
import { Button } from '../../ui/controls/button.tsx'
import { type Filter, FilterBar } from '../../ui/controls/filter-bar.tsx'
import { type Column, RowList, useRowPages } from '../../ui/data/data-table.tsx'
import { share, shortNumber, wholeNumber } from '../../ui/data/figures.tsx'
import { LabelChip, StatusChip } from '../../ui/data/status-chip.tsx'
import { duration, Time } from '../../ui/data/time.tsx'
import { EndpointActions } from '../../ui/endpoint/endpoint-actions.tsx'
import { ScheduleFacts } from '../../ui/endpoint/schedule-facts.tsx'
import { Empty, Page } from '../../ui/states/states.tsx'
import { VisibleText } from '../../ui/text/visible-text.tsx'
import { ENDPOINT_SORTS, type EndpointsSearch } from './endpoints-search.ts'
import { ImportDialog } from './import-dialog.tsx'
import { NewEndpointDialog } from './new-endpoint-dialog.tsx'

const ROWS_OF_A_PAGE = 200
/** The list loads again with each event; what slides out of its hour goes this often. */
const EVERY_MS = 30_000

const FILTERS: readonly Filter[] = [
  { name: 'q', label: 'Search', kind: 'search', placeholder: 'Name, path, description, label or id' },
  { name: 'label', label: 'Label', kind: 'text', placeholder: 'team=lab' },
]

const route = getRouteApi('/endpoints')

export default function EndpointsPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const pages = useEndpoints(search)
  const refused = useRefusal('author')
  const show = (dialog: EndpointsSearch['dialog']) => void navigate({ search: (before) => ({ ...before, dialog }) })
  const add = <Button text="New endpoint …" tone="primary" refused={refused} onPress={() => show('new')} />
  const close = () =>
    void navigate({ search: ({ dialog: _dialog, pattern: _pattern, method: _method, ...before }) => before })
  return (
    <Page
      title="Endpoints"
      actions={
        <>
          <Button text="Import …" refused={refused} onPress={() => show('import')} />
          <Button
            text="By example …"
            refused={refused}
            onPress={() => void navigate({ to: '/endpoints/by-example' })}
          />
          {add}
        </>
      }
    >
      <FilterBar filters={FILTERS} values={search} />
      <RowList
        label="Endpoints"
        columns={ENDPOINT_COLUMNS}
        pages={pages}
        getRowId={({ id }) => id}
        of={JSON.stringify([search.q, search.sort, search.label])}
        sort={search.sort ?? 'name'}
        onSort={(by) => {
          const sort = ENDPOINT_SORTS.find((one) => one === by)
          void navigate({ search: (before) => ({ ...before, sort }), replace: true })
        }}
        empty={
          search.q !== undefined || search.label !== undefined ? (
            <Empty title="No endpoint matches">
              Each word must be in the name, path, description, a label or the id.
            </Empty>
          ) : (
            <Empty title="There are no endpoints yet" action={add}>
              An endpoint takes messages at a path or from a topic, or runs by a schedule; it maps them and sends them
              on. It is one JSON document.
            </Empty>
          )
        }
      />
      {search.dialog === 'new' && refused === undefined && <NewEndpointDialog route={search} onClose={close} />}
      {search.dialog === 'import' && refused === undefined && <ImportDialog onClose={close} />}
    </Page>
  )
}

function useEndpoints({ q, sort, label }: EndpointsSearch) {
  const [name = '', ...value] = label?.split('=') ?? []
  return useRowPages({
    queryKey: queryKeys.endpointRows({ q, sort, label }),
    everyMs: EVERY_MS,
    readPage: async (cursor, signal) => {
      const { endpoints, ...page } = await listEndpoints(
        {
          limit: ROWS_OF_A_PAGE,
          ...(q && { q }),
          ...(sort && { sort }),
          ...(cursor && { cursor }),
          ...(label && { labels: { [name.trim()]: value.join('=').trim() } }),
        },
        signal,
      )
      return { rows: endpoints, ...page }
    },
  })
}

const MAX_LABELS = 3
const LAST_HOUR = '-1h'
const NOT_DONE = ['partial', 'refused', 'failed']

const ENDPOINT_COLUMNS: readonly Column<EndpointRow>[] = [
  {
    title: 'Name',
    sort: 'name',
    isName: true,
    render: ({ id, name, labels, ...row }) => (
      <>
        <Link to="/endpoints/$id/edit" params={{ id }} data-row className="row-link">
          <VisibleText text={name} max={200} />
        </Link>
        {row.active && row.reason === undefined ? null : <EndpointState {...row} />}
        {row.paused && <StatusChip tone="warn">Paused</StatusChip>}
        <Labels labels={labels} />
      </>
    ),
  },
  { title: 'Method', sort: 'method', render: ({ method }) => (method === undefined ? '–' : <code>{method}</code>) },
  {
    title: 'Pattern',
    sort: 'pattern',
    render: (row) => (
      <>
        {row.pattern === undefined ? null : <VisibleText as="code" className="wrap" text={row.pattern} max={200} />}
        {entrancesBesideRoute(row).map((entrance) => (
          <VisibleText as="div" key={entrance} className="quiet" text={entrance} max={200} />
        ))}
        {row.schedule && <ScheduleFacts schedule={row.schedule} />}
      </>
    ),
  },
  { title: 'Types', render: ({ input, output }) => (input === output ? output : `${input ?? '–'} → ${output}`) },
  {
    title: 'Messages/min',
    align: 'end',
    render: ({ stats: { perMinute } }) => (perMinute === 0 ? <span className="quiet">0</span> : shortNumber(perMinute)),
  },
  {
    title: 'Last hour',
    render: ({ id, stats: { counts, failed } }) =>
      counts === undefined ? (
        <span className="quiet">–</span>
      ) : (
        <Link to="/messages" search={{ endpoint: [id], from: LAST_HOUR }} aria-label="Messages of the last hour">
          <MinutesBars counts={counts} failed={failed ?? []} />
        </Link>
      ),
  },
  {
    title: 'Failed, 1 h',
    meaning: 'Of the messages of the last hour, those that did not end done',
    align: 'end',
    render: ({ id, stats: { count, failures } }) =>
      failures === 0 ? (
        <span className="quiet">0</span>
      ) : (
        <Link to="/messages" search={{ endpoint: [id], from: LAST_HOUR, outcome: NOT_DONE }} className="bad-text">
          {wholeNumber(failures)} of {wholeNumber(count)}, {share(failures, count)}
        </Link>
      ),
  },
  {
    title: 'p95, 1 h',
    align: 'end',
    render: ({ stats: { p95 } }) => (p95 == null ? <span className="quiet">–</span> : duration(p95)),
  },
  { title: 'Updated', sort: 'updatedAt', render: ({ updatedAt }) => <Time at={updatedAt} /> },
  { title: 'Actions', align: 'end', render: (row) => <EndpointActions row={row} inRow /> },
]

function EndpointState({ active, reason, faults }: Pick<EndpointRow, 'active' | 'reason' | 'faults'>) {
  const count = faults === 1 ? '1 fault' : `${faults} faults`
  if (reason === 'pending') return <StatusChip tone="busy">Not compiled yet</StatusChip>
  if (active) return <StatusChip tone="warn">Active with {count}</StatusChip>
  return <StatusChip tone="bad">Not active: {reason === 'clash' ? 'its name or route is taken' : count}</StatusChip>
}

function Labels({ labels }: Pick<EndpointRow, 'labels'>) {
  const all = Object.entries(labels)
  if (all.length === 0) return null
  return (
    <span className="row">
      {all.slice(0, MAX_LABELS).map(([name, value]) => (
        <LabelChip key={name} name={name} value={value} />
      ))}
      {all.length > MAX_LABELS && <span className="quiet">+{all.length - MAX_LABELS}</span>}
    </span>
  )
}
