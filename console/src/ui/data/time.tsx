/** Times and durations as people read them; the exact ones are there too. */
import { createStore, useStore } from '../../api/store.ts'

const minute = createStore(Date.now())
setInterval(() => {
  if (!document.hidden) minute.set(Date.now())
}, 20_000)

const UNITS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
]
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' })
const absolute = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' })
const OLD_SECONDS = 7 * 86_400

/** `3 min. ago`; a date beyond a week. */
export function relativeTime(at: number, now: number): string {
  const seconds = Math.round((at - now) / 1000)
  if (Math.abs(seconds) > OLD_SECONDS) return exactTime(at)
  const [unit, size] = UNITS.find(([, one]) => Math.abs(seconds) >= one) ?? ['second', 1]
  return unit === 'second' && Math.abs(seconds) < 10 ? 'now' : relative.format(Math.round(seconds / size), unit)
}

/** `29 Nov 2026, 17:22:53`, on the reader's clock. In: ms since the epoch, or as the API has it (RFC 3339). */
export const exactTime = (at: number | string): string => absolute.format(typeof at === 'string' ? Date.parse(at) : at)

export type TimeProps = Readonly<{
  /** As the API has it (RFC 3339). */
  at: string | undefined
  /** The exact time instead of how long ago. */
  exact?: boolean
}>

export function Time({ at, exact = false }: TimeProps) {
  const now = useStore(minute)
  const ms = Date.parse(at ?? '')
  if (at === undefined || Number.isNaN(ms)) return <span className="quiet">–</span>
  const full = exactTime(ms)
  return (
    <time dateTime={at} title={`${full} (${at})`}>
      {exact ? full : relativeTime(ms, Math.max(now, ms))}
    </time>
  )
}

/** `0.4 ms`, `12 ms`, `1.3 s`, `2 min 5 s`. */
export function duration(ms: number): string {
  if (ms < 10) return `${Math.round(ms * 10) / 10} ms`
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`
  const seconds = Math.round(ms / 1_000)
  return `${Math.floor(seconds / 60)} min${seconds % 60 === 0 ? '' : ` ${seconds % 60} s`}`
}

/** `17 B`, `3.4 KB`, `10.0 MB`. */
export function byteCount(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`
  return bytes < 1_000_000 ? `${(bytes / 1_000).toFixed(1)} KB` : `${(bytes / 1_000_000).toFixed(1)} MB`
}
