/** Charts, loaded by the first view that shows one. */
import { lazy, Suspense } from 'react'
import { Loading } from '../states/states.tsx'
import type { LineChartProps } from './line-chart.tsx'

const Chart = lazy(() => import('./line-chart.tsx').then(({ LineChart }) => ({ default: LineChart })))

export const LazyLineChart = (props: LineChartProps) => (
  <Suspense fallback={<Loading what="Loading the chart" />}>
    <Chart {...props} />
  </Suspense>
)
