/** Values over time as lines, and the same values as a table for screen readers; both lead to the messages of a time. */

import { useNavigate } from '@tanstack/react-router'
import { type KeyboardEvent, useEffect, useEffectEvent, useId, useRef, useState } from 'react'
import uPlot from 'uplot'
import type { MessageFilters } from '../../api/records/record-types.ts'
import { TextLink } from '../controls/text-link.tsx'
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
  /** The messages that it tells of, without their time; undefined leads nowhere. */
  messages?: MessageFilters
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
  const shown = useRef<uPlot>(undefined)
  const heading = useId()
  const navigate = useNavigate()
  const [chosen, setChosen] = useState(times.length - 1)
  const last = times.length - 1
  const at = Math.min(chosen, last)
  const stepMs = (times[1] ?? 0) - (times[0] ?? 0)
  const leads = series.some(({ messages }) => messages !== undefined)
  const searchFor = ({ messages }: ChartSeries, index: number) => {
    const from = times[index] ?? 0
    return { ...messages, from: new Date(from).toISOString(), to: new Date(from + stepMs).toISOString() }
  }
  const valueAt = ({ values }: ChartSeries, index: number) => {
    const value = values[index] ?? null
    return value === null ? '–' : format(value)
  }
  const open = (index: number, one = series[0]) => {
    if (one?.messages) void navigate({ to: '/messages', search: searchFor(one, index) })
  }
  /** The lowest bar or point that reaches the place of the click; above all, the highest. */
  const openAt = useEffectEvent(({ cursor: { idx, top }, posToVal }: uPlot) => {
    if (typeof idx !== 'number') return
    const valueIn = ({ values }: ChartSeries) => values[idx] ?? 0
    const there = series.filter((one) => valueIn(one) > 0).sort((one, other) => valueIn(one) - valueIn(other))
    open(idx, there.find((one) => valueIn(one) >= posToVal(top ?? 0, 'y')) ?? there.at(-1))
  })
  const go = (event: KeyboardEvent) => {
    if (event.key === 'Enter') open(at)
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: last }[event.key]
    if (to === undefined) return
    event.preventDefault()
    const next = Math.max(0, Math.min(to, last))
    setChosen(next)
    shown.current?.setCursor({ left: shown.current.valToPos((times[next] ?? 0) / 1000, 'x'), top: 0 })
  }
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
    shown.current = chart
    const again = () => {
      chart.destroy()
      chart = draw()
      shown.current = chart
    }
    const click = () => openAt(chart)
    element.addEventListener('click', click)
    const resized = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height: HEIGHT }))
    resized.observe(element)
    const stop = scheme.subscribe(again)
    return () => {
      stop()
      element.removeEventListener('click', click)
      resized.disconnect()
      chart.destroy()
    }
  }, [times, series, format])
  return (
    <figure className="panel" aria-labelledby={heading}>
      <figcaption id={heading}>{title}</figcaption>
      <div
        {...(leads && {
          className: 'chart-leads',
          role: 'slider',
          tabIndex: 0,
          'aria-label': `${title}: Enter shows the messages of a time`,
          'aria-valuemin': 0,
          'aria-valuemax': last,
          'aria-valuenow': at,
          'aria-valuetext': [exactTime(times[at] ?? 0), ...series.map((one) => `${one.name} ${valueAt(one, at)}`)].join(
            ', ',
          ),
          onKeyDown: go,
        })}
      >
        <div ref={host} aria-hidden="true" />
      </div>
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
              {times.map((ms, index) => (
                <tr key={ms}>
                  <th scope="row">{exactTime(ms)}</th>
                  {series.map((one) => (
                    <td key={one.name} className="end">
                      {one.messages && one.values[index] ? (
                        <TextLink to="/messages" search={searchFor(one, index)} text={valueAt(one, index)} />
                      ) : (
                        valueAt(one, index)
                      )}
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
