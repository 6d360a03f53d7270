/** `/endpoints/:id/stats`: how the messages of an endpoint went, as charts with their tables. */

import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { type ReactNode, useMemo } from 'react'
import type { Schemas } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { LazyLineChart } from '../../ui/charts/lazy-line-chart.tsx'
import { COUNTED_AS_FAILED, minuteSeries } from '../../ui/charts/minute-series.ts'
import { SelectField } from '../../ui/controls/fields.tsx'
import { TextLink } from '../../ui/controls/text-link.tsx'
import { type Column, DataTable } from '../../ui/data/data-table.tsx'
import { Figures, share, wholeNumber } from '../../ui/data/figures.tsx'
import { duration, Time } from '../../ui/data/time.tsx'
import { CaptureButton } from '../../ui/endpoint/capture-button.tsx'
import { EndpointPage } from '../../ui/endpoint/endpoint-page.tsx'
import { Answer, Empty, QueryView, Section } from '../../ui/states/states.tsx'
import { VisibleText } from '../../ui/text/visible-text.tsx'

/** Of the figures and of drift, for which at most one message a second is examined. */
const EVERY_MS = 30_000
const MINUTES = { hour: 60, day: 1_440 } as const
const CHOICES = [
  { value: 'hour', label: 'Last hour' },
  { value: 'day', label: 'Last 24 hours' },
] as const

const route = getRouteApi('/endpoints/$id/stats')

export default function StatsPage() {
  const { id } = route.useParams()
  const { period = 'hour' } = route.useSearch()
  const navigate = route.useNavigate()
  const query = useQuery({ ...queries.endpointStats(id), refetchInterval: EVERY_MS })
  return (
    <EndpointPage
      id={id}
      part="Statistics"
      actions={
        <>
          <TextLink className="button" to="/unmapped" search={{ endpoint: id }} text="Unmapped codes" />
          <CaptureButton id={id} />
        </>
      }
    >
      <QueryView query={query} what="Loading the statistics">
        {(stats) => (
          <>
            <div className="filter-bar row">
              <SelectField
                label="Period"
                value={period}
                choices={CHOICES}
                onChange={(value) =>
                  void navigate({ search: { period: value === 'hour' ? undefined : value }, replace: true })
                }
              />
            </div>
            <Counts id={id} counts={stats[period]} />
            {stats.day.count === 0 ? (
              <Empty title="No messages in the last 24 hours">
                When messages come, their numbers and durations are drawn here. They can come up to 10 seconds late.
              </Empty>
            ) : (
              <Charts id={id} minutes={stats.minutes} readAt={query.dataUpdatedAt} length={MINUTES[period]} />
            )}
          </>
        )}
      </QueryView>
      <DriftPanel id={id} />
    </EndpointPage>
  )
}

function Counts({ id, counts }: Readonly<{ id: string; counts: Schemas['Counts'] }>) {
  const { count, failures, p50, p95, p99 } = counts
  const time = (ms: number | null) => (ms === null ? '–' : duration(ms))
  return (
    <Figures
      label="Counts of the period"
      figures={[
        { name: 'Messages', value: wholeNumber(count) },
        {
          name: 'Failed',
          value: wholeNumber(failures),
          tone: failures > 0 ? 'bad' : undefined,
          hint:
            failures === 0 ? (
              '0 %'
            ) : (
              <Link to="/groups" search={{ endpoint: [id] }}>
                {share(failures, count)} of all
              </Link>
            ),
        },
        { name: 'p50', value: time(p50) },
        { name: 'p95', value: time(p95) },
        { name: 'p99', value: time(p99) },
      ]}
    />
  )
}

type ChartsProps = Readonly<{ id: string; minutes: Schemas['Stats']['minutes']; readAt: number; length: number }>

function Charts({ id, minutes, readAt, length }: ChartsProps) {
  const { times, counts, durations } = useMemo(() => {
    const { times, count, failures, p50, p95, p99 } = minuteSeries(minutes, readAt, length)
    const messages = { endpoint: [id] }
    return {
      times,
      counts: [
        { name: 'Messages', tone: 'accent', values: count, isCount: true, messages },
        {
          name: 'Failed',
          tone: 'bad',
          values: failures,
          isCount: true,
          messages: { ...messages, ...COUNTED_AS_FAILED },
        },
      ],
      durations: [
        { name: 'p50', tone: 'good', values: p50, messages },
        { name: 'p95', tone: 'accent', values: p95, messages },
        { name: 'p99', tone: 'warn', values: p99, messages },
      ],
    } as const
  }, [id, minutes, readAt, length])
  return (
    <div className="columns wide">
      <LazyLineChart title="Messages a minute" times={times} series={counts} format={wholeNumber} />
      <LazyLineChart title="Duration" times={times} series={durations} format={duration} />
    </div>
  )
}

type Drift = Schemas['Drift']

const DriftPanel = ({ id }: Readonly<{ id: string }>) => (
  <Section title="Drift of the messages" ground="panel">
    <Answer of={{ ...queries.endpointDrift(id), refetchInterval: EVERY_MS }} what="Loading the drift">
      {(drift) => (
        <>
          <Sampled {...drift} />
          {drift.sampled > 0 && <Fields id={id} drift={drift} />}
        </>
      )}
    </Answer>
  </Section>
)

function Sampled({ sample, sampled, cut, since, version }: Drift) {
  if (sample === 0) return <p className="quiet">No messages are examined: DRIFT_SAMPLE is 0.</p>
  if (sampled === 0) return <p className="quiet">No message of this version has been examined in the last 24 hours.</p>
  const messages = sampled === 1 ? '1 message' : `${sampled.toLocaleString('en')} messages`
  return (
    <p className="quiet">
      {messages} of version {version} examined in the last 24 hours, the first <Time at={since} />
      {cut > 0 && `; ${cut.toLocaleString('en')} of them were too large to be examined in whole`}. Names and types only,
      no values.
    </p>
  )
}

function Fields({ id, drift }: Readonly<{ id: string; drift: Drift }>) {
  const { unread, unreadUnknown, unreadCut, missing, missingNotShown = 0, sampled } = drift
  return (
    <>
      <h3>Present, but read by nothing</h3>
      {unreadUnknown !== undefined ? (
        <VisibleText as="p" className="quiet" text={unreadUnknown} />
      ) : (
        <Listed of={unread.length} none="Every field that arrived is read.">
          <DataTable
            label="Fields that nothing reads"
            columns={unreadColumns(sampled)}
            rows={unread}
            getRowId={getPath}
          />
          {unreadCut === true && <p className="quiet">There are more fields than are kept.</p>}
        </Listed>
      )}
      <h3>Read, but present in no examined message</h3>
      <Listed of={missing.length} none="Every field that is read arrived.">
        <DataTable label="Fields that were missing" columns={missingColumns(id)} rows={missing} getRowId={getPath} />
        {missingNotShown > 0 && <p className="quiet">… and {missingNotShown.toLocaleString('en')} more.</p>}
      </Listed>
    </>
  )
}

const Listed = ({ of, none, children }: Readonly<{ of: number; none: string; children: ReactNode }>) =>
  of === 0 ? <p className="quiet">{none}</p> : children

const getPath = ({ path }: Readonly<{ path: string }>): string => path

const unreadColumns = (sampled: number): readonly Column<Drift['unread'][number]>[] => [
  { title: 'Field', isName: true, render: ({ path }) => <VisibleText code text={path} max={300} /> },
  { title: 'Types', render: ({ types }) => types.join(', ') },
  {
    title: 'Seen in',
    align: 'end',
    render: ({ seen }) => `${seen.toLocaleString('en')} of ${sampled.toLocaleString('en')}`,
  },
]

const missingColumns = (id: string): readonly Column<Drift['missing'][number]>[] => [
  { title: 'Field', isName: true, render: ({ path }) => <VisibleText code text={path} max={300} /> },
  {
    title: 'Read by',
    render: ({ readBy }) => (
      <ul className="stack">
        {readBy.map((location) => (
          <li key={location}>
            <Link to="/endpoints/$id/edit" params={{ id }} search={{ path: location }}>
              <VisibleText code text={location} max={300} />
            </Link>
          </li>
        ))}
      </ul>
    ),
  },
  { title: 'Last seen', render: ({ lastSeen }) => (lastSeen === undefined ? 'never' : <Time at={lastSeen} />) },
]
