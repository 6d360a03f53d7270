/** The pages of the navigation and the palette, in their order. A page has a row when it is built. */
import type { LinkProps } from '@tanstack/react-router'
import type { Role } from '../api/session.ts'

export type NavigationRow = Readonly<{
  to: NonNullable<LinkProps['to']>
  title: string
  /** Without this role the page shows nothing, so it is not offered. */
  needs: Role
}>

export const NAVIGATION: readonly NavigationRow[] = [
  { to: '/', title: 'Overview', needs: 'viewer' },
  { to: '/endpoints', title: 'Endpoints', needs: 'viewer' },
  { to: '/picture', title: 'Map', needs: 'viewer' },
  { to: '/messages', title: 'Messages', needs: 'viewer' },
  { to: '/groups', title: 'Failures', needs: 'viewer' },
  { to: '/replays', title: 'Replays', needs: 'viewer' },
  { to: '/deliveries', title: 'Deliveries', needs: 'viewer' },
  { to: '/tables', title: 'Tables', needs: 'viewer' },
  { to: '/unmapped', title: 'Unmapped codes', needs: 'viewer' },
  { to: '/audit', title: 'Audit log', needs: 'admin' },
  { to: '/keys', title: 'API keys', needs: 'admin' },
]
