/** Times of filters: as the API takes them in a URL, and as fields of the browser show them. */

/** Spans that end now, as the API writes them. */
export const SPANS = [
  { value: '-15m', label: 'Last 15 minutes' },
  { value: '-1h', label: 'Last hour' },
  { value: '-24h', label: 'Last 24 hours' },
  { value: '-7d', label: 'Last 7 days' },
] as const

/** In: a time of the API (RFC 3339, a date, or such as `-1h`). Out: the local time of a datetime field; '' if it is none. */
export function localTime(text: string | undefined, nowMs: number): string {
  const ms = text === undefined ? Number.NaN : readMs(text, nowMs)
  if (Number.isNaN(ms)) return ''
  const date = new Date(ms)
  return new Date(ms - date.getTimezoneOffset() * MINUTE_MS).toISOString().slice(0, 'yyyy-mm-ddThh:mm'.length)
}

/** In: the value of a datetime field. Out: the same time as the API takes it; undefined if the field is empty. */
export function apiTime(local: string): string | undefined {
  const ms = Date.parse(local)
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString()
}

const MINUTE_MS = 60_000
const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: MINUTE_MS, h: 3_600_000, d: 86_400_000 }

function readMs(text: string, nowMs: number): number {
  const [, count, unit = ''] = /^-(\d+)([smhd])$/.exec(text) ?? []
  return count === undefined ? Date.parse(text) : nowMs - Number(count) * (UNIT_MS[unit] ?? 0)
}
