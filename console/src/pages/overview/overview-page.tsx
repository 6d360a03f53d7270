/** `/`: whether the service is ready, how its messages go, and what needs somebody. */

import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import type { Schemas } from '../../api/client.ts'
import type { EndpointRow } from '../../api/endpoint-row.ts'
import { queries } from '../../api/queries.ts'
import type { GroupList } from '../../api/records/replay-calls.ts'
import { useRefusal } from '../../api/session.ts'
import { LazyLineChart } from '../../ui/charts/lazy-line-chart.tsx'
import { COUNTED_AS_FAILED, minuteSeries } from '../../ui/charts/minute-series.ts'
import { TextLink } from '../../ui/controls/text-link.tsx'
import { Figures, share, shortNumber, wholeNumber } from '../../ui/data/figures.tsx'
import { StatusChip } from '../../ui/data/status-chip.tsx'
import { duration, Time } from '../../ui/data/time.tsx'
import { Answer, Empty, Page, QueryView, Section } from '../../ui/states/states.tsx'
import { VisibleText } from '../../ui/text/visible-text.tsx'
import { MllpPorts } from './mllp-ports.tsx'
import { TopicConsumers } from './topic-consumers.tsx'

export default function OverviewPage() {
  return (
    <Page title="Overview">
      <Answer of={queries.endpointsFound({ limit: 1 })}>
        {({ total }) =>
          total === 0 ? (
            <FirstStep />
          ) : (
            <>
              <ServiceTotals endpoints={total} />
              <div className="columns wide">
                <OpenGroups />
                <FaultyEndpoints />
                <TopicConsumers />
                <MllpPorts />
              </div>
            </>
          )
        }
      </Answer>
    </Page>
  )
}

function FirstStep() {
  const refused = useRefusal('author')
  return (
    <Empty
      title="This service has no endpoints yet"
      action={
        refused === undefined ? (
          <>
            <TextLink className="button primary" to="/endpoints" search={{ dialog: 'new' }} text="New endpoint" />
            <p className="quiet">
              or <TextLink to="/endpoints" search={{ dialog: 'import' }} text="import documents" /> that you have
            </p>
          </>
        ) : (
          <p className="quiet">{refused}</p>
        )
      }
    >
      <p>
        Crosswalk takes messages, turns them into the form that other systems want, and sends them on. What it does with
        a message stands in one JSON document, an endpoint.
      </p>
      <p>Paste one of your messages, and it becomes the first endpoint: you see at once what comes out.</p>
    </Empty>
  )
}

const EVERY_MS = 15_000
const HOUR = 60

function ServiceTotals({ endpoints }: Readonly<{ endpoints: number }>) {
  const query = useQuery({ ...queries.totals, refetchInterval: EVERY_MS })
  const { hour, day } = query.data ?? {}
  const settled = {
    hour: useSettledFailures('-1h', (hour?.failures ?? 0) > 0),
    day: useSettledFailures('-24h', (day?.failures ?? 0) > 0),
  }
  return (
    <QueryView query={query} what="Loading the counts">
      {(totals) => (
        <>
          <Figures label="All messages" figures={formatFigures(totals, endpoints, settled)} />
          {totals.hour.count > 0 && <LastHour minutes={totals.minutes} readAt={query.dataUpdatedAt} />}
        </>
      )}
    </QueryView>
  )
}

/**
 * Failures of a span that need no one any more: those that a replay repeated with success, and failed replays, whose messages
 * count themselves.
 */
function useSettledFailures(from: string, isOn: boolean): number {
  const select = ({ groups }: GroupList) => groups.reduce((sum, { count }) => sum + count, 0)
  const options = { enabled: isOn, refetchInterval: EVERY_MS, select }
  const replayed = { from, replayed: 'true' }
  const replays = { from, source: ['replay'] }
  const { data: repeated = 0 } = useQuery({ ...queries.groups(replayed), ...options })
  const { data: again = 0 } = useQuery({ ...queries.groups(replays), ...options })
  return repeated + again
}

function formatFigures(
  { perMinute, hour, day }: Schemas['Totals'],
  endpoints: number,
  settled: Readonly<{ hour: number; day: number }>,
) {
  const time = (ms: number | null) => (ms === null ? '–' : duration(ms))
  const bad = (failures: number, done: number) => (failures > done ? ('bad' as const) : undefined)
  const hint = ({ failures, count }: Schemas['Counts'], done: number) =>
    `of ${wholeNumber(count)}, ${share(failures, count)}${failures > 0 && failures <= done ? '; all replayed' : ''}`
  return [
    { name: 'Endpoints', value: wholeNumber(endpoints) },
    { name: 'Messages a minute', value: shortNumber(perMinute), hint: 'of the last 5 minutes' },
    {
      name: 'Failed, 1 h',
      value: wholeNumber(hour.failures),
      hint: hint(hour, settled.hour),
      tone: bad(hour.failures, settled.hour),
    },
    {
      name: 'Failed, 24 h',
      value: wholeNumber(day.failures),
      hint: hint(day, settled.day),
      tone: bad(day.failures, settled.day),
    },
    { name: 'p95, 1 h', value: time(hour.p95), hint: 'p95' },
    { name: 'p95, 24 h', value: time(day.p95), hint: 'p95' },
  ]
}

function LastHour({ minutes, readAt }: Readonly<{ minutes: Schemas['Totals']['minutes']; readAt: number }>) {
  const { times, series } = useMemo(() => {
    const { times, count, failures } = minuteSeries(minutes, readAt, HOUR)
    return {
      times,
      series: [
        { name: 'Messages', tone: 'accent', values: count, isCount: true, messages: {} },
        { name: 'Failed', tone: 'bad', values: failures, isCount: true, messages: COUNTED_AS_FAILED },
      ] as const,
    }
  }, [minutes, readAt])
  return <LazyLineChart title="Messages a minute, last hour" times={times} series={series} format={wholeNumber} />
}

const MAX_GROUPS = 6
/** As /groups shows them first. */
const OPEN = { state: ['open'], replayed: 'false' } as const

function OpenGroups() {
  return (
    <Section title="Open failure groups" ground="panel">
      <Answer of={{ ...queries.groups(OPEN), refetchInterval: EVERY_MS }}>
        {({ groups }) =>
          groups.length === 0 ? (
            <p className="quiet">No recorded failures are open.</p>
          ) : (
            <>
              <ul className="rows stack">
                {groups.slice(0, MAX_GROUPS).map(({ key, endpoint, code, stage, path, count, lastSeen }) => (
                  <li key={key}>
                    <span className="row-number bad-text">{count.toLocaleString('en')}</span>
                    <span>
                      <Link to="/groups/$key" params={{ key }}>
                        <VisibleText text={endpoint ?? 'No endpoint'} max={100} />: {code ?? 'no code'}
                      </Link>
                      <span className="block quiet">
                        {stage ?? 'before the first stage'}
                        {path === undefined ? null : (
                          <>
                            {' '}
                            at <VisibleText code text={path} max={120} />
                          </>
                        )}
                        , last <Time at={lastSeen} />
                      </span>
                    </span>
                  </li>
                ))}
              </ul>
              <Link to="/groups">All groups ({groups.length.toLocaleString('en')})</Link>
            </>
          )
        }
      </Answer>
    </Section>
  )
}

const MAX_FAULTY = 10
const MAX_FAULTS = 5

function FaultyEndpoints() {
  return (
    <Section title="Endpoints with faults" ground="panel">
      <Answer of={queries.endpointsFound({ faults: 'true', limit: MAX_FAULTY })}>
        {({ endpoints, total }) =>
          total === 0 ? (
            <p className="quiet">Every endpoint is active, without faults.</p>
          ) : (
            <>
              <ul className="rows stack">
                {endpoints.map((row) => (
                  <FaultyEndpoint key={row.id} row={row} />
                ))}
              </ul>
              {total > MAX_FAULTY && <p className="quiet">… and {(total - MAX_FAULTY).toLocaleString('en')} more.</p>}
            </>
          )
        }
      </Answer>
    </Section>
  )
}

function FaultyEndpoint({ row: { id, name, active, reason } }: Readonly<{ row: EndpointRow }>) {
  return (
    <li className="faulty">
      <span>
        <Link to="/endpoints/$id/edit" params={{ id }}>
          <VisibleText text={name === '' ? id : name} max={100} />
        </Link>{' '}
        <StatusChip tone={reason === 'pending' ? 'busy' : active ? 'warn' : 'bad'}>
          {reason === 'pending' ? 'not compiled yet' : active ? 'active' : 'not active'}
        </StatusChip>
      </span>
      <Answer of={queries.endpointFaults(id)}>
        {({ error, faults }) => (
          <>
            {error === undefined ? null : <VisibleText as="span" className="quiet" text={error} />}
            <ul className="failure-details">
              {faults.slice(0, MAX_FAULTS).map(({ path = '', message = '' }) => (
                <li key={`${path} ${message}`}>
                  {path !== '' && (
                    <>
                      <Link to="/endpoints/$id/edit" params={{ id }} search={{ path }}>
                        <VisibleText code text={path} max={200} />
                      </Link>{' '}
                    </>
                  )}
                  <VisibleText text={message} />
                </li>
              ))}
              {faults.length > MAX_FAULTS && <li>… and {faults.length - MAX_FAULTS} more.</li>}
            </ul>
          </>
        )}
      </Answer>
    </li>
  )
}
