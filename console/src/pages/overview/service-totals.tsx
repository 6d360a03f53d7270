/** Readiness, rate, failures and p95 of all endpoints together, and the last hour as a chart. */
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { api, dataOf, type Schemas } from '../../api/client.ts'
import { keyed, queryKeys } from '../../api/query-keys.ts'
import { LazyLineChart } from '../../ui/charts/lazy-line-chart.tsx'
import { minuteSeries } from '../../ui/charts/minute-series.ts'
import { Figures, share, shortNumber, wholeNumber } from '../../ui/data/figures.tsx'
import { duration } from '../../ui/data/time.tsx'
import { QueryView } from '../../ui/states/states.tsx'

const EVERY_MS = 15_000
const HOUR = 60

export function ServiceTotals({ endpoints }: Readonly<{ endpoints: number }>) {
  const query = useQuery({
    ...keyed(queryKeys.totals, ({ signal }) => dataOf(api.GET('/stats', { signal }))),
    refetchInterval: EVERY_MS,
  })
  return (
    <QueryView query={query} what="Loading the counts">
      {(totals) => (
        <>
          <Figures label="All messages" figures={figuresOf(totals, endpoints)} />
          {totals.hour.count > 0 && <LastHour minutes={totals.minutes} readAt={query.dataUpdatedAt} />}
        </>
      )}
    </QueryView>
  )
}

function figuresOf({ perMinute, hour, day }: Schemas['Totals'], endpoints: number) {
  const time = (ms: number | null) => (ms === null ? '–' : duration(ms))
  const bad = (failures: number) => (failures > 0 ? ('bad' as const) : undefined)
  return [
    { name: 'Endpoints', value: wholeNumber(endpoints) },
    { name: 'Messages a minute', value: shortNumber(perMinute), hint: 'of the last 5 minutes' },
    {
      name: 'Not done, 1 h',
      value: wholeNumber(hour.failures),
      hint: `of ${wholeNumber(hour.count)}, ${share(hour.failures, hour.count)}`,
      tone: bad(hour.failures),
    },
    {
      name: 'Not done, 24 h',
      value: wholeNumber(day.failures),
      hint: `of ${wholeNumber(day.count)}, ${share(day.failures, day.count)}`,
      tone: bad(day.failures),
    },
    { name: '95 % within, 1 h', value: time(hour.p95), hint: 'p95' },
    { name: '95 % within, 24 h', value: time(day.p95), hint: 'p95' },
  ]
}

function LastHour({ minutes, readAt }: Readonly<{ minutes: Schemas['Totals']['minutes']; readAt: number }>) {
  const { times, series } = useMemo(() => {
    const { times, count, failures } = minuteSeries(minutes, readAt, HOUR)
    return {
      times,
      series: [
        { name: 'Messages', tone: 'accent', values: count, isCount: true },
        { name: 'Not done', tone: 'bad', values: failures, isCount: true },
      ] as const,
    }
  }, [minutes, readAt])
  return <LazyLineChart title="Messages a minute, last hour" times={times} series={series} format={wholeNumber} />
}
