/** A part of a page under its heading. */
import { type ReactNode, useId } from 'react'

export type SectionProps = Readonly<{
  title: string
  /** On a ground of its own; `wide`: over the whole width of the page. */
  ground?: 'panel' | 'wide'
  children: ReactNode
}>

export function Section({ title, ground, children }: SectionProps) {
  const heading = useId()
  const className = ground === undefined ? 'stack' : ground === 'wide' ? 'panel consumers' : 'panel'
  return (
    <section className={className} aria-labelledby={heading}>
      <h2 id={heading}>{title}</h2>
      {children}
    </section>
  )
}
