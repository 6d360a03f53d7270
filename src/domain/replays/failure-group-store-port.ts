/** The port of the store of what people say of groups of failures. */
import type { AuditEntry } from '../ports/audit-store-port.ts'
import type { GroupKey } from '../ports/message-store-port.ts'

export const GROUP_STATES = ['open', 'acknowledged', 'ignored'] as const
export type GroupState = (typeof GROUP_STATES)[number]

/** The last mark of a group. */
export type GroupMark = Readonly<{
  state: GroupState
  note?: string | undefined
  /** Who said it, as the audit log names callers. */
  by: string
  /** ISO 8601. */
  at: string
}>

/** Rejects with StoreUnavailable if the store does not answer. */
export interface FailureGroupStore {
  /**
   * Replaces the mark of a group, with `entry` in the audit log. If there are more than `most` marks then, the oldest are
   * removed.
   */
  put(group: GroupKey, mark: GroupMark, most: number, entry?: AuditEntry): Promise<void>
  /** The newest first. */
  list(): Promise<readonly Readonly<{ group: GroupKey; mark: GroupMark }>[]>
}
