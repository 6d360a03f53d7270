/** The key of a failure group in URLs and filters. It says what the group has in common, so that no search is needed for it. */

import { type MessageRecord, OUTCOMES } from '../../core/records/message-record.ts'
import type { GroupKey, MessageFilter } from '../../store/sql/messages.ts'

export function groupKeyText({ endpointId, stage, code, path }: GroupKey): string {
  const parts = [endpointId, stage, code, path].map((part) => part ?? null)
  return Buffer.from(JSON.stringify(parts)).toString('base64url')
}

/** The key of the group that a recorded message belongs to; undefined for one that ended done. */
export const groupKeyFor = ({ outcome, endpointId, stage, code, path }: MessageRecord): string | undefined =>
  outcome === 'done' ? undefined : groupKeyText({ endpointId, stage, code, path })

export function readGroupKey(text: string): GroupKey | undefined {
  try {
    const parts: unknown = JSON.parse(Buffer.from(text, 'base64url').toString())
    if (!Array.isArray(parts) || parts.length !== ACCEPTS.length) return undefined
    if (!ACCEPTS.every((accepts, index) => parts[index] === null || isText(parts[index], accepts))) return undefined
    const [endpointId, stage, code, path] = parts.map((part: string | null) => part ?? undefined)
    const key = { endpointId, stage, code, path }
    return groupKeyText(key) === text ? key : undefined
  } catch {
    return undefined
  }
}

/** Databases reject some texts, such as NUL; the path is escaped for them, and the others never hold any. */
const ACCEPTS = [/^[0-9a-f]{24}$/, /^\w{1,100}$/, /^\w{1,100}$/, /^.{1,10000}$/s] as const

const isText = (part: unknown, accepts: RegExp): boolean => typeof part === 'string' && accepts.test(part)

/** The outcomes that messages of groups have. */
export const NOT_DONE = OUTCOMES.filter((outcome) => outcome !== 'done')

/** Selects the messages of a group, together with outcomes other than done. Stores have '' for what is absent. */
export const groupFilter = ({ endpointId, stage, code, path }: GroupKey): MessageFilter => ({
  endpointId: [endpointId ?? ''],
  stage: [stage ?? ''],
  code: [code ?? ''],
  path: [path ?? ''],
})
