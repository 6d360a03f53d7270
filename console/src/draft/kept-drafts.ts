/** Unsaved text, kept until the tab is closed so that a reload loses nothing. Signing out removes it. */
import { isStorageCleared } from '../api/credentials.ts'

/** Signing out removes every name that starts with `crosswalk`. */
const PREFIX = 'crosswalk-draft:'

/** `who`: the caller who typed it, as /me names it; other callers do not get it. */
export type KeptDraft = Readonly<{
  who: string
  text: string
  /** The stored document that it started from. */
  base: Readonly<{ text: string; etag?: string | undefined }>
}>

export function readKeptDraft(id: string, who: string): KeptDraft | undefined {
  try {
    const read: unknown = JSON.parse(sessionStorage.getItem(PREFIX + id) ?? 'null')
    return isKeptDraft(read) && read.who === who ? read : undefined
  } catch {
    // A browser may forbid storage, and anything may be in it.
    return undefined
  }
}

/** Out: whether it is kept; a browser may have no room or forbid it. */
export function keepDraft(id: string, draft: KeptDraft): boolean {
  if (isStorageCleared()) return false
  try {
    sessionStorage.setItem(PREFIX + id, JSON.stringify(draft))
    return true
  } catch {
    return false
  }
}

export function forgetKeptDraft(id: string): void {
  try {
    sessionStorage.removeItem(PREFIX + id)
  } catch {
    // Nothing is kept where storage is forbidden.
  }
}

function isKeptDraft(read: unknown): read is KeptDraft {
  if (typeof read !== 'object' || read === null) return false
  const { who, text, base } = read as Partial<KeptDraft>
  return typeof who === 'string' && typeof text === 'string' && typeof base?.text === 'string'
}
