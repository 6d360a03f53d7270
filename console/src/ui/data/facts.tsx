/** Facts about one thing, each with its name. */
import type { ReactNode } from 'react'

export const Facts = ({ children }: Readonly<{ children: ReactNode }>) => (
  <dl className="facts columns wide">{children}</dl>
)

type FactProps = Readonly<{ name: string; isList?: boolean; value?: ReactNode; children?: ReactNode }>

/** `isList`: several values beside each other. `value`, or `children` where that has parts: without, or with false, it is left out. */
export const Fact = ({ name, isList = false, value, children = value }: FactProps) =>
  children === undefined || children === false ? null : (
    <div>
      <dt>{name}</dt>
      <dd className={isList ? 'row' : undefined}>{children}</dd>
    </div>
  )
