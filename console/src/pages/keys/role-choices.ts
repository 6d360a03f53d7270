/** What a key of each role may do, in the order of what it may. */
import type { Role } from '../../api/session.ts'

export const ROLE_CHOICES: readonly Readonly<{ role: Role; means: string }>[] = [
  { role: 'viewer', means: 'reads endpoints, tests, versions, statistics, and messages without their bodies' },
  { role: 'operator', means: 'the same, and reads bodies, replays messages, and marks groups of failures' },
  { role: 'author', means: 'what a viewer may, and changes, deletes and tests endpoints' },
  { role: 'admin', means: 'all of this, and makes keys and reads the audit log' },
]
