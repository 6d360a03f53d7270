/** A few figures with their names, such as the counts of a period. */
import type { ReactNode } from 'react'

export type Figure = Readonly<{ name: string; value: ReactNode; hint?: ReactNode; tone?: 'bad' | undefined }>

export function Figures({ label, figures }: Readonly<{ label: string; figures: readonly Figure[] }>) {
  return (
    <dl className="figures columns" aria-label={label}>
      {figures.map(({ name, value, hint, tone }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <span className={tone === 'bad' ? 'figure bad-text' : 'figure'}>{value}</span>
            {hint === undefined ? null : <span className="quiet">{hint}</span>}
          </dd>
        </div>
      ))}
    </dl>
  )
}

/** `1,234` */
export const wholeNumber = (value: number): string => Math.round(value).toLocaleString('en')

/** `0.4`, `12.5`, `1,230` */
export const shortNumber = (value: number): string => value.toLocaleString('en', { maximumSignificantDigits: 3 })

/** `2.5 %`; below a thousandth, `< 0.1 %`. */
export function share(part: number, whole: number): string {
  if (part === 0 || whole === 0) return '0 %'
  const percent = (part / whole) * 100
  return percent < 0.1 ? '< 0.1 %' : `${shortNumber(percent)} %`
}
