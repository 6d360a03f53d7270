/** The pages of the navigation and the palette, in their order. A page has a row when it is built. */
import type { LinkProps } from '@tanstack/react-router'
import type { Role } from '../api/session.ts'
import type { IconName } from '../ui/controls/icon.tsx'

export type NavigationRow = Readonly<{
  to: NonNullable<LinkProps['to']>
  title: string
  /** Without this role the page shows nothing, so it is not offered. */
  needs: Role
  icon: IconName
  /** What its pages have in common. Rows of a group follow each other. */
  group: 'Flow' | 'Traffic' | 'Codes' | 'Access'
}>

export const NAVIGATION: readonly NavigationRow[] = [
  { to: '/', title: 'Overview', needs: 'viewer', icon: 'overview', group: 'Flow' },
  { to: '/endpoints', title: 'Endpoints', needs: 'viewer', icon: 'endpoints', group: 'Flow' },
  { to: '/picture', title: 'Map', needs: 'viewer', icon: 'picture', group: 'Flow' },
  { to: '/messages', title: 'Messages', needs: 'viewer', icon: 'messages', group: 'Traffic' },
  { to: '/groups', title: 'Failures', needs: 'viewer', icon: 'failures', group: 'Traffic' },
  { to: '/replays', title: 'Replays', needs: 'viewer', icon: 'replays', group: 'Traffic' },
  { to: '/deliveries', title: 'Deliveries', needs: 'viewer', icon: 'deliveries', group: 'Traffic' },
  { to: '/tables', title: 'Tables', needs: 'viewer', icon: 'tables', group: 'Codes' },
  { to: '/unmapped', title: 'Unmapped codes', needs: 'viewer', icon: 'unmapped', group: 'Codes' },
  { to: '/audit', title: 'Audit log', needs: 'admin', icon: 'audit', group: 'Access' },
  { to: '/keys', title: 'API keys', needs: 'admin', icon: 'keys', group: 'Access' },
  { to: '/settings', title: 'Settings', needs: 'admin', icon: 'settings', group: 'Access' },
]
