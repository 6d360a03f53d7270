/** Charts, loaded by the first view that shows one. */
import { lazyView } from '../code/lazy-views.tsx'

export const LazyLineChart = lazyView('Loading the chart', async () => (await import('./line-chart.tsx')).LineChart)
