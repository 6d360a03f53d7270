/** Values over time as lines, and the same values as a table for screen readers. */
import { useEffect, useId, useRef } from 'react'
import uPlot from 'uplot'
import { exactTime } from '../data/time.tsx'
import { scheme } from '../theme.ts'
import 'uplot/dist/uPlot.min.css'

export type ChartSeries = Readonly<{
  name: string
  tone: 'accent' | 'good' | 'bad' | 'warn' | 'quiet'
  /** One for each time; null where there is none. */
  values: readonly (number | null)[]
  /** A bar for each time: for counts, which have no value between two times. */
  isCount?: boolean
}>

export type LineChartProps = Readonly<{
  title: string
  /** In ms since the epoch, growing. */
  times: readonly number[]
  series: readonly ChartSeries[]
  /** A value with its unit. */
  format(value: number): string
}>

const HEIGHT = 200
/** Between the marks of an axis of values: no quarters, which a format with one decimal would round. */
const STEPS = [-1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9].flatMap((power) => [1, 2, 5].map((digit) => digit * 10 ** power))
/** Half a message is none, and its mark would be rounded to the next one. */
const WHOLE_STEPS = STEPS.filter((step) => step >= 1)
/** Above the highest value: half of the width of a line at the edge would be cut. */
const HEADROOM = 1.08
const bars = uPlot.paths.bars?.({ size: [0.8, 24, 1] })

/** A value between minutes without one isn't a line: it is drawn as a point. */
function lonePoints({ data }: uPlot, series: number): number[] {
  const values = data[series] ?? []
  const isThere = (at: number) => values[at] !== null && values[at] !== undefined
  return Array.from(values, (_, at) => at).filter((at) => isThere(at) && !isThere(at - 1) && !isThere(at + 1))
}

const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short' })
const formatTimeOfDay = (seconds: number): string => clock.format(seconds * 1000)

export function LineChart({ title, times, series, format }: LineChartProps) {
  const host = useRef<HTMLDivElement>(null)
  const heading = useId()
  useEffect(() => {
    const element = host.current
    if (element === null) return undefined
    const step = ((times[1] ?? 0) - (times[0] ?? 0)) / 1000
    const draw = () => {
      const style = getComputedStyle(element)
      const colour = (name: string) => style.getPropertyValue(`--${name}`)
      const thin = { stroke: colour('line'), width: 1 }
      const axis = { stroke: colour('quiet'), grid: thin, ticks: thin }
      return new uPlot(
        {
          width: element.clientWidth,
          height: HEIGHT,
          series: [
            { label: 'Time', value: (_: uPlot, at: number | null) => (at === null ? '–' : formatTimeOfDay(at)) },
            ...series.map(({ name, tone, isCount = false }) => ({
              label: name,
              stroke: colour(tone),
              width: isCount ? 0 : 2,
              ...(isCount && bars && { fill: colour(tone), paths: bars }),
              points: { show: !isCount, size: 5, filter: lonePoints },
              value: (_: uPlot, value: number | null) => (value === null ? '–' : format(value)),
            })),
          ],
          axes: [
            { ...axis, values: (_: uPlot, ticks: number[]) => ticks.map(formatTimeOfDay) },
            {
              ...axis,
              size: 70,
              incrs: series.every(({ isCount }) => isCount) ? WHOLE_STEPS : STEPS,
              values: (_: uPlot, ticks: number[]) => ticks.map(format),
            },
          ],
          scales: {
            // Room for one half of the first and of the last bar.
            x: { range: (_, first, last) => [first - step / 2, last + step / 2] },
            y: { range: (_, __, most) => [0, Math.max(most ?? 1, 1) * HEADROOM] },
          },
        },
        [times.map((ms) => ms / 1000), ...series.map(({ values }) => [...values])],
        element,
      )
    }
    let chart = draw()
    const again = () => {
      chart.destroy()
      chart = draw()
    }
    const resized = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height: HEIGHT }))
    resized.observe(element)
    const stop = scheme.subscribe(again)
    return () => {
      stop()
      resized.disconnect()
      chart.destroy()
    }
  }, [times, series, format])
  return (
    <figure className="panel" aria-labelledby={heading}>
      <figcaption id={heading}>{title}</figcaption>
      <div ref={host} aria-hidden="true" />
      <details>
        <summary>As a table</summary>
        {/* A region that scrolls must be reachable by keys. */}
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: see above */}
        <div className="chart-table" role="group" aria-label={`${title}, as a table`} tabIndex={0}>
          <table>
            <thead>
              <tr>
                <th scope="col">Time</th>
                {series.map(({ name }) => (
                  <th key={name} scope="col" className="end">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {times.map((ms, at) => (
                <tr key={ms}>
                  <th scope="row">{exactTime(ms)}</th>
                  {series.map(({ name, values }) => (
                    <td key={name} className="end">
                      {values[at] === null || values[at] === undefined ? '–' : format(values[at])}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </figure>
  )
}
