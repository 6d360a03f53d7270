/** Links to the things that many pages name. */
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { VisibleText } from '../text/visible-text.tsx'

/** `name`: its id instead, if it has none any more. */
export const EndpointLink = ({
  id,
  name = id,
  max = 200,
}: Readonly<{ id: string; name?: string | undefined; max?: number }>) => (
  <Link to="/endpoints/$id/edit" params={{ id }}>
    <VisibleText text={name} max={max} />
  </Link>
)

export const MessageLink = ({ id, children }: Readonly<{ id: string; children: ReactNode }>) => (
  <Link to="/messages/$id" params={{ id }}>
    {children}
  </Link>
)
