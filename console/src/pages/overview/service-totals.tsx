/** Readiness, rate, failures and p95 of all endpoints together, and the last hour as a chart. */

import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { Schemas } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import type { GroupList } from '../../api/records/replay-calls.ts'
import { LazyLineChart } from '../../ui/charts/lazy-line-chart.tsx'
import { COUNTED_AS_FAILED, minuteSeries } from '../../ui/charts/minute-series.ts'
import { Figures, share, shortNumber, wholeNumber } from '../../ui/data/figures.tsx'
import { duration } from '../../ui/data/time.tsx'
import { QueryView } from '../../ui/states/states.tsx'

const EVERY_MS = 15_000
const HOUR = 60

export function ServiceTotals({ endpoints }: Readonly<{ endpoints: number }>) {
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
