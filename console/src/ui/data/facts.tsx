/** Facts about one thing, each with its name. */
import type { ReactNode } from 'react'

export const Facts = ({ children }: Readonly<{ children: ReactNode }>) => (
  <dl className="facts columns wide">{children}</dl>
)

/** `isList`: several values beside each other. */
export const Fact = ({
  name,
  isList = false,
  children,
}: Readonly<{ name: string; isList?: boolean; children: ReactNode }>) => (
  <div>
    <dt>{name}</dt>
    <dd className={isList ? 'row' : undefined}>{children}</dd>
  </div>
)
