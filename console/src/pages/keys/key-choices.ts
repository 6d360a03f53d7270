/** What can be chosen for a new key: what each role may do, and how long the key is accepted. */
import type { Role } from '../../api/session.ts'

export const ROLE_CHOICES: readonly Readonly<{ role: Role; means: string }>[] = [
  { role: 'viewer', means: 'reads endpoints, tests, versions, statistics, and messages without their bodies' },
  { role: 'operator', means: 'the same, and reads bodies, replays messages, and marks groups of failures' },
  { role: 'author', means: 'what a viewer may, and changes, deletes and tests endpoints' },
  { role: 'admin', means: 'all of this, and makes keys and reads the audit log' },
]

export type KeyDays = 'never' | '30' | '90' | '365'

export const KEY_DAYS: readonly Readonly<{ value: KeyDays; label: string }>[] = [
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In a year' },
  { value: 'never', label: 'Never' },
]

const DAY_MS = 86_400_000

export const expiryIn = (days: KeyDays): Readonly<{ expiresAt?: string }> =>
  days === 'never' ? {} : { expiresAt: new Date(Date.now() + Number(days) * DAY_MS).toISOString() }
